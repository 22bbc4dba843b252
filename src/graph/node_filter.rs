//! Which nodes are wanted, by where they come from and when.

use super::Held;
use crate::model::Provenance;
use crate::object::Kept;
use crate::store::{Access, StoreError, Tables};
use chrono::{DateTime, FixedOffset};

/// What must hold of a node, all of it of the same one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NodeFilter {
    /// The fields that are set must be just these.
    pub provenance: Provenance,
    /// Only beliefs formed at this instant or later. A node without an event time has the time of the commit that wrote
    /// it; what is staged without one is later than all.
    pub event_since: Option<DateTime<FixedOffset>>,
    /// Only beliefs formed at this instant or earlier.
    pub event_until: Option<DateTime<FixedOffset>>,
}

impl NodeFilter {
    /// Whether it admits every node.
    pub fn is_open(&self) -> bool {
        *self == Self::default()
    }

    /// Whether `node`, which is held as `held`, is as wanted. Of one that is redacted only the time of its commit is known.
    pub fn admits<A: Access>(&self, tables: &Tables<A>, held: Held<'_>, node: &Kept) -> Result<bool, StoreError> {
        let none = Provenance::default();
        let found = node.provenance().unwrap_or(&none);
        let mut fields = self.provenance.fields().into_iter().zip(found.fields());
        if !fields.all(|((_, wanted), (_, found))| wanted.is_none() || wanted == found) {
            return Ok(false);
        }
        if self.event_since.is_none() && self.event_until.is_none() {
            return Ok(true);
        }
        let time = match (node.event_time(), held) {
            (Some(time), _) => time.instant(),
            (None, Held::Stored((record, _))) => tables.commit_that_wrote(record)?.1.time.instant(),
            (None, Held::Staged(_)) => return Ok(self.event_until.is_none()),
        };
        Ok(self.event_since.is_none_or(|since| time >= since) && self.event_until.is_none_or(|until| time <= until))
    }
}
