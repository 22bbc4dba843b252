//! Reading what is given on standard input or in a file, before anything is locked.

use super::context::Context;
use super::error::{CliError, Word};
use crate::model::MAX_CONTENT_BYTES;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// All of standard input for `-`, else all of the file; refused while reading when it is over `limit` bytes.
pub fn read_bytes(context: &Context, path: &Path, limit: u64) -> Result<Vec<u8>, CliError> {
    let name = path.display().to_string();
    let mut bytes = Vec::new();
    let read = if path == Path::new("-") {
        context.stdin().take(limit + 1).read_to_end(&mut bytes)
    } else {
        File::open(context.path(path)).and_then(|file| file.take(limit + 1).read_to_end(&mut bytes))
    };
    match read {
        Ok(_) if bytes.len() as u64 > limit => {
            Err(CliError::new(Word::TooLarge, format!("'{name}' has more than {limit} bytes"))
                .hint("store where it lies instead, such as its path"))
        }
        Ok(_) => Ok(bytes),
        Err(error) => Err(io_error(error, &name)),
    }
}

/// Refuses a content whose JSON text has so many bytes, if that is more than a content may have.
pub fn refuse_too_large(length: u64, subject: &str) -> Result<(), CliError> {
    if length <= MAX_CONTENT_BYTES {
        return Ok(());
    }
    Err(CliError::new(Word::TooLarge, format!("{subject} has more than {MAX_CONTENT_BYTES} bytes as JSON text"))
        .hint("store where it lies instead, such as its path"))
}

/// The same as text; what is not UTF-8 is refused with the offset of the first bad byte.
pub fn read_text(context: &Context, path: &Path) -> Result<String, CliError> {
    // JSON may have white space around the value that is no content.
    let bytes = read_bytes(context, path, MAX_CONTENT_BYTES + (1 << 20))?;
    String::from_utf8(bytes).map_err(|error| not_utf8(&path.display().to_string(), error.utf8_error().valid_up_to()))
}

/// Text that is not UTF-8, named by where it came from.
pub fn not_utf8(name: &str, offset: usize) -> CliError {
    CliError::new(Word::BadUtf8, format!("'{name}' is not UTF-8: byte {offset} is the first bad one"))
        .hint("store bytes as text, such as the output of 'base64 -w0 FILE'")
}

fn io_error(error: io::Error, name: &str) -> CliError {
    // A closed pipe on the way in is no reader that has gone away.
    let kind = error.kind();
    let error = if kind == io::ErrorKind::BrokenPipe { io::Error::other(error) } else { error };
    CliError::from(error).about(&format!("cannot read '{name}'"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_content_may_have_just_so_many_bytes() {
        assert!(refuse_too_large(MAX_CONTENT_BYTES, "it").is_ok());
        assert_eq!(refuse_too_large(MAX_CONTENT_BYTES + 1, "it").map_err(|error| error.exit()), Err(129));
    }
}
