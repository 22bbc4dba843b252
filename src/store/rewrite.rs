//! Writing the database anew, into a file that takes its place.
//!
//! Nothing of what is left out is in that file, neither in its pages nor between them, and it is as small as it can be.
//! Whoever has the old file open reads on in it as if nothing had happened; whoever waits to write to it looks, when it is
//! their turn, whether it is still the one that its name leads to.

use super::StoreError;
use super::disk::Disk;
use super::open::{Snapshot, Store, builder, guarded};
use super::rows::Writing;
use super::tables::Tables;
use crate::store::MayBeDamage;

impl<D: Disk> Store<D> {
    /// Calls `fill` with what the store holds and with the tables of an empty one, which then is the store; an error leaves
    /// all as it was. Other writers wait.
    ///
    /// What was `seen` must show that the store is ours and that there is something to do.
    pub fn rewrite<R, E: MayBeDamage>(
        &self,
        seen: Snapshot,
        fill: impl FnOnce(&Tables<Writing<'_>>, &mut Tables<Writing<'_>>) -> Result<R, E>,
    ) -> Result<R, E> {
        let (database, transaction) = self.begin(seen)?;
        let work = || -> Result<R, E> {
            let old = Tables::open_to_write(&transaction)?;
            let mut successor =
                builder().create_with_backend(self.disk().create_successor()?).map_err(StoreError::from)?;
            let writing = successor.begin_write().map_err(StoreError::from)?;
            let value = fill(&old, &mut Tables::create(&writing)?)?;
            writing.commit().map_err(StoreError::from)?;
            // It was made longer by more than it took.
            successor.compact().map_err(StoreError::from)?;
            successor.close().map_err(StoreError::from)?;
            self.disk().install_successor()?;
            Ok(value)
        };
        let value = guarded(work).unwrap_or_else(|damage| Err(damage.into()));
        if value.is_err() {
            // The error is what there is to tell; what stays is removed by whoever does this next.
            let _removed = self.disk().remove_successor();
        }
        // Nothing was written to the old file.
        let _closed = guarded(move || (transaction.abort(), database.close()));
        value.map_err(|error: E| error.located(self.directory()))
    }
}
