//! Id patterns and regular expressions in arguments.

use super::context::Context;
use super::error::{CliError, Word};
use super::get::shortened;
use super::text::escape_line;
use crate::graph::RevisionError;
use crate::model::Pattern;
use crate::ops::OpError;
use regex::{Regex, RegexBuilder};

/// Reads an id pattern: an id, an id with `/` behind it for all below, or a glob; `literal` turns globs off.
pub fn pattern(text: &str, literal: bool) -> Result<Pattern, CliError> {
    Pattern::parse(text, literal).map_err(|error| CliError::from(error).about(&shortened(text)))
}

/// Reads several id patterns.
pub fn patterns(texts: &[String], literal: bool) -> Result<Vec<Pattern>, CliError> {
    texts.iter().map(|text| pattern(text, literal)).collect()
}

/// The error of a command that takes revisions, and patterns behind `--`: who gave an id for a revision learns where it
/// belongs.
pub fn or_pattern(error: OpError, command: &str) -> CliError {
    let unknown = matches!(&error, OpError::Revision(RevisionError::Unknown { near, .. }) if near.is_empty());
    let error = CliError::from(error);
    if unknown {
        error.hint(format!("see 'mnem log --oneline'; ids stand behind '--', such as 'mnem {command} -- ID'"))
    } else {
        error
    }
}

/// Notes, where nothing was chosen, that a pattern behind `--` is an option by its looks.
pub fn note_options(texts: &[String], context: &Context) {
    if let Some(text) = texts.iter().find(|text| text.starts_with("--")) {
        context.say(&format!("note: '{}' is a pattern; options stand before the '--'", escape_line(text)));
    }
}

/// Reads a regular expression, whose `^` and `$` stand at the ends of lines; `what` is the argument.
pub fn regex(what: &str, text: &str, ignore_case: bool) -> Result<Regex, CliError> {
    RegexBuilder::new(text).multi_line(true).case_insensitive(ignore_case).build().map_err(|error| {
        let message = error.to_string();
        let last = message.lines().last().unwrap_or("no regular expression").trim_start_matches("error: ").to_owned();
        CliError::new(Word::BadPattern, format!("{what} '{text}': {last}"))
    })
}
