//! Reading what is given on standard input or in a file, before anything is locked.

use super::context::Context;
use super::error::{CliError, Word};
use crate::model::MAX_CONTENT_BYTES;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// What a message calls that from which is read.
pub fn name(path: &Path) -> String {
    if path == Path::new("-") { "standard input".to_owned() } else { path.display().to_string() }
}

/// All of standard input for `-`, else all of the file; refused while reading when it is over `limit` bytes.
pub fn read_bytes(context: &Context, path: &Path, limit: u64) -> Result<Vec<u8>, CliError> {
    let name = name(path);
    if path == Path::new("-") {
        return read_up_to(&mut *context.stdin(), limit, &name);
    }
    let file = File::open(context.path(path)).map_err(|error| io_error(error, &name))?;
    read_up_to(file, limit, &name)
}

fn read_up_to(from: impl Read, limit: u64, name: &str) -> Result<Vec<u8>, CliError> {
    let mut bytes = Vec::new();
    from.take(limit + 1).read_to_end(&mut bytes).map_err(|error| io_error(error, name))?;
    if bytes.len() as u64 <= limit {
        return Ok(bytes);
    }
    Err(CliError::new(Word::TooLarge, format!("'{name}' has more than {limit} bytes"))
        .hint("store where it lies instead, such as its path"))
}

/// Refuses a content whose JSON text has so many bytes, if that is more than `limit`.
pub fn refuse_too_large(length: u64, limit: u64, subject: &str) -> Result<(), CliError> {
    if length <= limit {
        return Ok(());
    }
    Err(CliError::new(Word::TooLarge, format!("{subject} has more than {limit} bytes as JSON text"))
        .hint("store where it lies instead, such as its path"))
}

/// The same as text; what is not UTF-8 is refused with the offset of the first bad byte.
pub fn read_text(context: &Context, path: &Path) -> Result<String, CliError> {
    // JSON may have white space around the value that is no content.
    let bytes = read_bytes(context, path, MAX_CONTENT_BYTES + (1 << 20))?;
    String::from_utf8(bytes).map_err(|error| not_utf8(&name(path), error.utf8_error().valid_up_to()))
}

/// Text that is not UTF-8, named by where it came from.
pub fn not_utf8(name: &str, offset: usize) -> CliError {
    CliError::new(Word::BadUtf8, format!("'{name}' is not UTF-8: byte {offset} is the first bad one"))
        .hint("store bytes as text, such as the output of 'base64 -w0 FILE'")
}

/// Why something could not be read.
pub fn io_error(error: io::Error, name: &str) -> CliError {
    // A closed pipe on the way in is no reader that has gone away.
    let kind = error.kind();
    let error = if kind == io::ErrorKind::BrokenPipe { io::Error::other(error) } else { error };
    let told = CliError::from(error).about(&format!("cannot read '{name}'"));
    if kind == io::ErrorKind::NotFound { told.hint("name a file that is there; - is standard input") } else { told }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_is_read_than_there_may_be() {
        assert_eq!(read_up_to(&b"123"[..], 3, "it").expect("few enough"), b"123");
        for endless in [&mut &b"1234"[..] as &mut dyn Read, &mut io::repeat(0)] {
            let refused = read_up_to(endless, 3, "it").expect_err("too many");
            assert_eq!((refused.exit(), refused.to_string().as_str()), (129, "'it' has more than 3 bytes"));
        }
    }
}
