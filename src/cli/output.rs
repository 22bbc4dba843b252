//! Writing a file that somebody named.

use super::error::CliError;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::Path;

/// Writes a file whole, or leaves what stood there: a regular file is replaced when the new one is complete.
pub fn write_file(path: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), CliError> {
    let failed = |error| CliError::from(error).about(&format!("writing '{}' failed", path.display()));
    replace(path, write).map_err(failed)
}

fn replace(path: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let regular = fs::symlink_metadata(path).map_or(true, |metadata| metadata.is_file());
    let (Some(folder), true) = (path.parent(), regular) else {
        let mut file = BufWriter::new(File::create(path)?);
        write(&mut file)?;
        return file.flush();
    };
    let mut file = BufWriter::new(tempfile::NamedTempFile::new_in(folder)?);
    write(&mut file)?;
    let file = file.into_inner().map_err(io::IntoInnerError::into_error)?;
    file.persist(path).map(|_| ()).map_err(|error| error.error)
}
