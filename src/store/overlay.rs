//! A layer of memory over a database file that may not be written.
//!
//! After a kill redb must recover before it reads. Where the file may not be written, the recovery's writes go here and
//! are forgotten. The only lock taken is a shared one on redb's writer byte, held while the database opens and recovers,
//! so that no live writer is underneath. Later a writer may come; then records fail their checks, and the reader begins
//! again from the top.

use super::StoreError;
use redb::{BackendError, DatabaseError, StorageBackend};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::io;
use std::ops::Bound;
use std::sync::Mutex;

const PAGE: u64 = 4096;

/// The byte that a writing process locks, by redb's design document.
pub const WRITER_BYTE: (Bound<u64>, Bound<u64>) = (Bound::Included(1 << 62), Bound::Included(1 << 62));

/// A file as it is read, and what was written over it.
#[derive(Debug)]
pub struct Overlay<B> {
    file: B,
    file_length: u64,
    memory: Mutex<Memory>,
}

#[derive(Debug)]
struct Memory {
    length: u64,
    pages: BTreeMap<u64, Vec<u8>>,
}

/// Opens the database in `file` without writing to it; waits for a live writer. `lock` is the same file, opened again.
pub fn open_over<B: StorageBackend>(file: B, lock: &B, cache_bytes: usize) -> Result<redb::Database, StoreError> {
    lock.lock_shared_range(WRITER_BYTE.0, WRITER_BYTE.1).map_err(DatabaseError::from)?;
    let length = file.len().map_err(DatabaseError::from)?;
    let overlay = Overlay { file, file_length: length, memory: Mutex::new(Memory { length, pages: BTreeMap::new() }) };
    let database = redb::Builder::new().set_cache_size(cache_bytes).create_with_backend(overlay);
    lock.unlock_range(WRITER_BYTE.0, WRITER_BYTE.1).map_err(DatabaseError::from)?;
    Ok(database?)
}

impl<B: StorageBackend> Overlay<B> {
    /// Lays memory over `file`, which begins with these bytes, whatever becomes of them there.
    pub fn over(file: B, beginning: &[u8]) -> Result<Self, StoreError> {
        let length = file.len().map_err(DatabaseError::from)?;
        let overlay = Self { file, file_length: length, memory: Mutex::new(Memory { length, pages: BTreeMap::new() }) };
        overlay.write(0, beginning).map_err(DatabaseError::from)?;
        Ok(overlay)
    }

    /// Calls `visit` for each piece of a page that `offset..offset + length` covers: page, first byte in it, range in
    /// the caller's buffer.
    fn pieces(offset: u64, length: usize) -> impl Iterator<Item = (u64, usize, std::ops::Range<usize>)> {
        let mut done = 0;
        std::iter::from_fn(move || {
            if done == length {
                return None;
            }
            let at = offset + done as u64;
            let within = usize::try_from(at % PAGE).expect("a page is small");
            let count = (usize::try_from(PAGE).expect("a page is small") - within).min(length - done);
            let piece = (at / PAGE, within, done..done + count);
            done += count;
            Some(piece)
        })
    }

    fn page_of_file(&self, page: u64) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; usize::try_from(PAGE).expect("a page is small")];
        let start = page * PAGE;
        if start < self.file_length {
            let count = usize::try_from((self.file_length - start).min(PAGE)).expect("a page is small");
            self.file.read(start, &mut bytes[..count])?;
        }
        Ok(bytes)
    }

    fn memory(&self) -> io::Result<std::sync::MutexGuard<'_, Memory>> {
        self.memory.lock().map_err(|_| io::Error::other("a thread that read the store panicked"))
    }
}

impl<B: StorageBackend> StorageBackend for Overlay<B> {
    fn len(&self) -> io::Result<u64> {
        Ok(self.memory()?.length)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let memory = self.memory()?;
        if offset.checked_add(out.len() as u64).is_none_or(|end| end > memory.length) {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        for (page, within, range) in Self::pieces(offset, out.len()) {
            let out = &mut out[range];
            match memory.pages.get(&page) {
                Some(bytes) => out.copy_from_slice(&bytes[within..within + out.len()]),
                None if (page + 1) * PAGE <= self.file_length => self.file.read(page * PAGE + within as u64, out)?,
                None => out.copy_from_slice(&self.page_of_file(page)?[within..within + out.len()]),
            }
        }
        Ok(())
    }

    fn set_len(&self, length: u64) -> io::Result<()> {
        self.memory()?.length = length;
        Ok(())
    }

    fn sync_data(&self) -> io::Result<()> {
        Ok(())
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        let mut memory = self.memory()?;
        for (page, within, range) in Self::pieces(offset, data.len()) {
            let data = &data[range];
            let bytes = match memory.pages.entry(page) {
                Entry::Occupied(entry) => entry.into_mut(),
                Entry::Vacant(entry) => entry.insert(self.page_of_file(page)?),
            };
            bytes[within..within + data.len()].copy_from_slice(data);
        }
        memory.length = memory.length.max(offset + data.len() as u64);
        Ok(())
    }

    fn try_lock_range(&self, _: Bound<u64>, _: Bound<u64>) -> Result<bool, BackendError> {
        Ok(true)
    }

    fn try_lock_shared_range(&self, _: Bound<u64>, _: Bound<u64>) -> Result<bool, BackendError> {
        Ok(true)
    }

    fn lock_range(&self, _: Bound<u64>, _: Bound<u64>) -> Result<(), BackendError> {
        Ok(())
    }

    fn lock_shared_range(&self, _: Bound<u64>, _: Bound<u64>) -> Result<(), BackendError> {
        Ok(())
    }

    fn unlock_range(&self, _: Bound<u64>, _: Bound<u64>) -> Result<(), BackendError> {
        Ok(())
    }

    fn query_lock_range(&self, _: Bound<u64>, _: Bound<u64>) -> Result<bool, BackendError> {
        Ok(false)
    }
}
