//! Writing a file that somebody named.

use super::error::CliError;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// Why a file was not written.
pub enum WriteError {
    /// The system refused.
    Output(io::Error),
    /// What was to be written could not be had.
    Other(CliError),
}

impl From<io::Error> for WriteError {
    fn from(error: io::Error) -> Self {
        Self::Output(error)
    }
}

/// Writes a file whole, or leaves what stood there: a regular file is replaced when the new one is complete and on the disk.
///
/// A new file is for its owner alone where it is a `memory`, and else as the umask says.
pub fn write_file<T, E: Into<WriteError>>(
    path: &Path,
    memory: bool,
    write: impl FnOnce(&mut dyn Write) -> Result<T, E>,
) -> Result<T, CliError> {
    let mode = fs::Permissions::from_mode(if memory { 0o600 } else { 0o666 });
    replace(path, mode, |out| write(out).map_err(E::into)).map_err(|error| match error {
        WriteError::Output(error) => CliError::from(error).about(&format!("writing '{}' failed", path.display())),
        WriteError::Other(error) => error,
    })
}

fn replace<T>(
    path: &Path,
    mode: fs::Permissions,
    write: impl FnOnce(&mut dyn Write) -> Result<T, WriteError>,
) -> Result<T, WriteError> {
    let regular = fs::symlink_metadata(path).map_or(true, |metadata| metadata.is_file());
    let (Some(folder), true) = (path.parent(), regular) else {
        let mut file = BufWriter::new(File::create(path)?);
        let written = write(&mut file)?;
        file.flush()?;
        return Ok(written);
    };
    let new = tempfile::Builder::new().permissions(mode).tempfile_in(folder).map_err(|error| {
        // Its own text has a name that nobody gave.
        fs::metadata(folder).err().unwrap_or_else(|| error.kind().into())
    })?;
    let mut file = BufWriter::new(new);
    let written = write(&mut file)?;
    let file = file.into_inner().map_err(io::IntoInnerError::into_error)?;
    file.as_file().sync_all()?;
    file.persist(path).map_err(|error| error.error)?;
    File::open(folder)?.sync_all()?;
    Ok(written)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stood_there_stays_until_the_new_file_is_complete() {
        let folder = tempfile::tempdir().expect("a directory");
        let path = folder.path().join("file");
        let names = || fs::read_dir(folder.path()).expect("a directory").count();
        // More than is buffered, so that it has left for the disk.
        let half = |out: &mut dyn Write| -> io::Result<()> {
            out.write_all(&[b'x'; 100_000]).and(Err(io::Error::other("no more")))
        };
        let refused = write_file(&path, true, half).expect_err("half a file");
        assert_eq!(refused.to_string(), format!("writing '{}' failed: no more", path.display()));
        assert_eq!(names(), 0);
        fs::write(&path, "old").expect("a file");
        write_file(&path, true, half).expect_err("half a file");
        assert_eq!((fs::read_to_string(&path).expect("a file").as_str(), names()), ("old", 1));
        write_file(&path, true, |out| out.write_all(b"new")).expect("a file");
        assert_eq!((fs::read_to_string(&path).expect("a file").as_str(), names()), ("new", 1));
    }

    #[test]
    fn where_no_file_can_be_made_only_the_name_that_was_given_is_told() {
        let folder = tempfile::tempdir().expect("a directory");
        let path = folder.path().join("none/file");
        let refused = write_file(&path, true, |_| io::Result::Ok(())).expect_err("no folder");
        let said = format!("writing '{}' failed: No such file or directory (os error 2)", path.display());
        assert_eq!(refused.to_string(), said);
        fs::write(folder.path().join("none"), "").expect("a file");
        let refused = write_file(&path, true, |_| io::Result::Ok(())).expect_err("no folder").to_string();
        assert_eq!(refused, format!("writing '{}' failed: not a directory", path.display()));
    }

    #[test]
    fn a_memory_is_for_its_owner_alone_and_a_report_as_the_umask_says() {
        let folder = tempfile::tempdir().expect("a directory");
        let mode = |name: &str| fs::metadata(folder.path().join(name)).expect("a file").permissions().mode() & 0o777;
        write_file(&folder.path().join("memory"), true, |out| out.write_all(b"x")).expect("a file");
        write_file(&folder.path().join("report"), false, |out| out.write_all(b"x")).expect("a file");
        File::create(folder.path().join("other")).expect("a file");
        assert_eq!((mode("memory"), mode("report")), (0o600, mode("other")));
    }
}
