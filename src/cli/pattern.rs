//! Id patterns in arguments.

use super::error::CliError;
use super::get::shortened;
use crate::graph::RevisionError;
use crate::model::Pattern;
use crate::ops::OpError;

/// Reads an id pattern: an id, an id with `/` behind it for all below, or a glob; `literal` turns globs off.
pub fn pattern(text: &str, literal: bool) -> Result<Pattern, CliError> {
    Pattern::parse(text, literal).map_err(|error| CliError::from(error).about(&shortened(text)))
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
