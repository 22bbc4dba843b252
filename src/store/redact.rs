//! Taking what nodes said out of a store for good: markers in their place, and no byte of them left in a file.
//!
//! What is to be redacted is kept in the store first, then the staged logs are written anew one by one, then the database,
//! into a file that takes its place and that does not hold the request any more. So whatever was stored when it began is
//! gone when it is over; and where it was killed, it can be finished.

use super::disk::Disk;
use super::open::Store;
use super::record::{ObjectRecord, push_time, read_time};
use super::rows::{Access, Writing};
use super::tables::Tables;
use super::{StoreError, staged};
use crate::model::{Author, CommitTime, NodeId};
use crate::object::{
    DecodeError, Reader, Redaction, decode_node, encode_redaction, is_marker, kept_id_in, node_object_id, push_bytes,
    push_varint,
};
use std::collections::BTreeMap;

/// Which versions of nodes are to be redacted, and what their markers say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redacting {
    /// Only of these nodes; of all where there is none.
    pub ids: Vec<NodeId>,
    /// Only what came from this source, exactly as it was given.
    pub source: Option<String>,
    /// When.
    pub time: CommitTime,
    /// By whom.
    pub by: Author,
    /// Why.
    pub reason: Option<String>,
}

/// How many versions of each node were redacted.
pub type RedactedVersions = BTreeMap<NodeId, RedactedCount>;

/// How many versions of a node were redacted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RedactedCount {
    /// Records of commits.
    pub versions: u64,
    /// Staged changes.
    pub staged: u64,
}

impl Redacting {
    /// Writes the request as a store keeps it: the ids as a list, the source behind a byte that says whether there is one, the
    /// time, who, and the reason up to the end, which is empty where there is none.
    pub(super) fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        push_varint(&mut out, self.ids.len() as u64);
        for id in &self.ids {
            push_bytes(&mut out, id.as_str().as_bytes());
        }
        out.push(u8::from(self.source.is_some()));
        push_bytes(&mut out, self.source.as_deref().unwrap_or_default().as_bytes());
        push_time(&mut out, self.time);
        push_bytes(&mut out, self.by.as_str().as_bytes());
        out.extend_from_slice(self.reason.as_deref().unwrap_or_default().as_bytes());
        out
    }

    /// Reads what [`Redacting::encode`] wrote.
    pub(super) fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        let fault = |what| DecodeError::NotCanonical(what);
        let mut reader = Reader::new(bytes);
        let id = |text| NodeId::new(text).map_err(|_| fault("an id can't be one"));
        let ids = (0..reader.varint()?).map(|_| id(reader.text()?)).collect::<Result<_, _>>()?;
        let has_source = reader.byte()? == 1;
        let source = reader.text()?.to_owned();
        let time = read_time(&mut reader)?;
        let by = Author::new(reader.text()?).map_err(|_| fault("nobody redacts"))?;
        let reason = std::str::from_utf8(reader.rest()).map_err(|_| fault("a reason is not UTF-8"))?;
        let reason = (!reason.is_empty()).then(|| reason.to_owned());
        let read = Self { ids, source: has_source.then_some(source), time, by, reason };
        if read.encode() == bytes { Ok(read) } else { Err(fault("a request to redact is spelled otherwise")) }
    }

    /// The marker that is to stand in the place of a version; `None` where that is to stay, and where it is a marker.
    pub fn marker(&self, version: &[u8]) -> Result<Option<Redaction>, DecodeError> {
        if is_marker(version) {
            return Ok(None);
        }
        let id = kept_id_in(version)?;
        if !self.ids.is_empty() && !self.ids.contains(&id) {
            return Ok(None);
        }
        if self.source.is_some() && decode_node(version)?.provenance.source != self.source {
            return Ok(None);
        }
        let (object, by, reason) = (node_object_id(version), self.by.clone(), self.reason.clone());
        Ok(Some(Redaction { object, id, time: self.time, by, reason }))
    }

    /// How many versions in these tables it is about.
    pub fn count<A: Access>(&self, tables: &Tables<A>) -> Result<RedactedVersions, StoreError> {
        let mut found = RedactedVersions::new();
        self.each(tables, |_, _, marker| {
            if let Some(marker) = marker {
                found.entry(marker.id).or_default().versions += 1;
            }
            Ok(())
        })?;
        Ok(found)
    }

    /// Visits each object with its number, its record, and the marker that is to stand in its place, if one is.
    fn each<A: Access>(
        &self,
        tables: &Tables<A>,
        mut visit: impl FnMut(u64, &[u8], Option<Redaction>) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        for row in tables.object.range(0..)? {
            let (key, row) = row?;
            let what = || format!("object {}", key.value());
            let record = ObjectRecord::decode(row.bytes()).map_err(|error| StoreError::decode(what(), error))?;
            let marker = match record {
                ObjectRecord::Node(version) => {
                    self.marker(version).map_err(|error| StoreError::decode(what(), error))?
                }
                ObjectRecord::Inner(_) | ObjectRecord::Redacted(_) => None,
            };
            visit(key.value(), row.bytes(), marker)?;
        }
        Ok(())
    }

    /// Writes all rows into the tables of an empty store, with markers where they are to stand.
    fn fill<A: Access>(
        &self,
        to: &mut Tables<Writing<'_>>,
        from: &Tables<A>,
        found: &mut RedactedVersions,
    ) -> Result<(), StoreError> {
        self.each(from, |number, record, marker| match marker {
            None => to.object.insert(number, record),
            Some(marker) => {
                let bytes = encode_redaction(&marker);
                found.entry(marker.id).or_default().versions += 1;
                to.object.insert(number, &ObjectRecord::Redacted(&bytes).encode())
            }
        })?;
        to.fill_but_objects(from)?;
        // Of another request nothing is done yet.
        if to.redacting()?.as_ref() == Some(self) {
            to.set_redacting(None)?;
        }
        Ok(())
    }
}

impl<D: Disk> Store<D> {
    /// Redacts all that `redacting` is about. Where it is interrupted, the store knows what is left to be done.
    pub fn redact(&self, redacting: &Redacting) -> Result<RedactedVersions, StoreError> {
        let (_, closed) = self.write(self.snapshot()?, |tables| tables.set_redacting(Some(redacting)))?;
        closed.map_or(Ok(()), Err)?;
        self.finish(redacting)
    }

    /// Does what is left to be done of a request.
    pub fn finish(&self, redacting: &Redacting) -> Result<RedactedVersions, StoreError> {
        let mut found = RedactedVersions::new();
        for session in self.disk().logs()? {
            let mut log = self.lock_log(&session)?;
            let bytes = log.read()?;
            let snapshot = self.snapshot()?;
            let consumed = snapshot.guarded(|tables| tables.session(&session))?.map_or(0, |row| row.consumed);
            let staged = staged::Staged::scan(log.path(), &bytes, consumed)?;
            let (frame, redacted) = staged.redacted(|version| redacting.marker(version))?;
            for id in redacted {
                found.entry(id).or_default().staged += 1;
            }
            match frame {
                Some(frame) => drop(log.append(&frame)?),
                None => log.clear()?,
            }
        }
        self.rewrite(self.snapshot()?, |old, new| redacting.fill(new, old, &mut found))?;
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn redacting(ids: &[&str], source: Option<&str>, reason: Option<&str>) -> Redacting {
        Redacting {
            ids: ids.iter().map(|id| NodeId::new(*id).expect("an id")).collect(),
            source: source.map(str::to_owned),
            time: CommitTime::parse("2026-05-06T07:08:09.010+05:30").expect("a time"),
            by: Author::new("Ada").expect("an author"),
            reason: reason.map(str::to_owned),
        }
    }

    #[test]
    fn a_request_comes_back_and_nothing_else_is_one() {
        for request in [
            redacting(&["a", "b/c"], None, Some("why")),
            redacting(&[], Some("web"), None),
            redacting(&["a"], Some(""), Some("because\nof this")),
        ] {
            let bytes = request.encode();
            assert_eq!(Redacting::decode(&bytes), Ok(request));
        }
        let bytes = redacting(&["a"], Some("web"), None).encode();
        for end in 0..bytes.len() {
            assert!(Redacting::decode(&bytes[..end]).is_err(), "{end}");
        }
        let mut odd = bytes.clone();
        odd[3] = 2;
        assert_eq!(bytes[3], 1, "whether there is a source");
        assert!(Redacting::decode(&odd).is_err());
    }

    #[test]
    fn a_marker_is_for_the_nodes_and_the_source_that_are_named() {
        let version = |id: &str, source: &str| {
            format!(r#"{{"id":"{id}","content":"x","content_kind":"note","provenance":{{"source":"{source}"}}}}"#)
                .into_bytes()
        };
        for (ids, source, chosen) in [
            (&["a", "b"][..], None, [true, true, true]),
            (&["b"], None, [false, false, true]),
            (&[], Some("web"), [true, false, true]),
            (&["a"], Some("web"), [true, false, false]),
            (&["a"], Some("other"), [false, false, false]),
        ] {
            let request = redacting(ids, source, None);
            for ((id, from), chosen) in [("a", "web"), ("a", "mail"), ("b", "web")].into_iter().zip(chosen) {
                let bytes = version(id, from);
                let marker = request.marker(&bytes).expect("sound");
                assert_eq!(marker.is_some(), chosen, "{id} from {from} by {request:?}");
                if let Some(marker) = marker {
                    assert_eq!((marker.object, marker.id.as_str()), (node_object_id(&bytes), id));
                    let marker = encode_redaction(&marker);
                    assert_eq!(request.marker(&marker), Ok(None), "once is enough");
                }
            }
        }
        assert!(redacting(&["a"], None, None).marker(b"{}").is_err());
    }
}
