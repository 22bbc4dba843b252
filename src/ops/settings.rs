//! The settings that a store keeps.

use super::OpError;
use crate::model::SessionName;
use crate::store::{Disk, Store, StoreError};

/// All settings that have a value, in the order of their keys.
pub fn settings<D: Disk>(store: &Store<D>, session: &SessionName) -> Result<Vec<(String, String)>, OpError> {
    store.read(session, |view| Ok(view.tables.settings()?))
}

/// The value of a setting.
pub fn setting<D: Disk>(store: &Store<D>, key: &str) -> Result<Option<String>, OpError> {
    Ok(store.snapshot()?.setting(key)?)
}

/// Gives a setting a value, or takes it away. Says what failed after that was durable.
pub fn set<D: Disk>(store: &Store<D>, key: &str, value: Option<&str>) -> Result<Option<StoreError>, OpError> {
    let snapshot = store.snapshot()?;
    let ((), warning) = store.write(snapshot, |tables| tables.set_setting(key, value))?;
    Ok(warning)
}
