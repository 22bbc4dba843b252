//! A bundle that is read.

use super::super::context::Context;
use super::super::error::CliError;
use super::super::input::{io_error, name};
use crate::ops::OpError;
use crate::store::{BUNDLE_MAGIC, BundleFile, Summary};
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;

/// Opens a bundle and reads all of it, before anything is locked. What is no regular file is read into one that has no name.
pub fn open(path: &Path, context: &Context) -> Result<(BundleFile<File>, Summary), CliError> {
    let name = name(path);
    let file = if path == Path::new("-") {
        held(&mut *context.stdin(), &name, context)?
    } else {
        let file = File::open(context.path(path)).map_err(|error| io_error(error, &name))?;
        let is_file = file.metadata().map_err(|error| io_error(error, &name))?.is_file();
        if is_file { file } else { held(file, &name, context)? }
    };
    let mut bundle = BundleFile::open(name, file).map_err(OpError::from)?;
    let summary = bundle.summary().map_err(OpError::from)?;
    Ok((bundle, summary))
}

/// A file of what comes in; of what is no bundle only the beginning.
fn held(mut from: impl Read, name: &str, context: &Context) -> Result<File, CliError> {
    let directory = context.temporary_directory();
    let failed =
        |error: io::Error| CliError::from(error).about(&format!("writing to '{}' failed", directory.display()));
    let mut file = tempfile::tempfile_in(&directory).map_err(failed)?;
    let mut begin = Vec::new();
    (&mut from).take(BUNDLE_MAGIC.len() as u64).read_to_end(&mut begin).map_err(|error| io_error(error, name))?;
    file.write_all(&begin).map_err(failed)?;
    if begin != BUNDLE_MAGIC {
        return Ok(file);
    }
    let mut piece = vec![0; 1 << 16];
    loop {
        match from.read(&mut piece) {
            Ok(0) => return Ok(file),
            Ok(count) => file.write_all(&piece[..count]).map_err(failed)?,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(io_error(error, name)),
        }
    }
}
