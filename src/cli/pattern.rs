//! Id patterns in arguments.

use super::error::CliError;
use super::get::shortened;
use crate::model::Pattern;

/// Reads an id pattern: an id, an id with `/` behind it for all below, or a glob; `literal` turns globs off.
pub fn pattern(text: &str, literal: bool) -> Result<Pattern, CliError> {
    Pattern::parse(text, literal).map_err(|error| CliError::from(error).about(&shortened(text)))
}
