//! Which commits of a store stay when it is written anew, and the rows that these need.
//!
//! A commit stays when something names it or a descendant of it: a ref, an update of one that is young enough, or where a
//! session stands, stood, or is at. It stays with its number and its rows, so all that can be asked of it comes out as
//! before. A commit's own objects are the records between the commit before it and itself, and only it and its descendants
//! refer to them: they go with it.

use super::StoreError;
use super::progress::Progress;
use super::record::{Head, Number, RefUpdate, Session};
use super::rows::{Access, Writing};
use super::tables::{TIP, Tables, history_key, read_split_key};
use crate::model::CommitTime;
use std::collections::{BTreeMap, BTreeSet};

/// What stays, and how much goes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Keeping {
    /// The numbers of the commits that stay.
    commits: BTreeSet<Number>,
    /// The keys of the updates of refs that stay.
    updates: BTreeSet<Vec<u8>>,
    /// How much goes.
    pub dropped: Dropped,
}

/// How much of a store is left out when it is written anew.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Dropped {
    /// Commits that nothing names.
    pub commits: u64,
    /// Records of nodes and inner nodes, which only these refer to.
    pub objects: u64,
    /// Updates of refs that are too old.
    pub updates: u64,
}

impl Session {
    /// The numbers of the commits that it names.
    pub(super) fn commits(&self) -> Vec<Number> {
        let mut named: Vec<_> = self.orig_head.into_iter().collect();
        for head in [Some(&self.head), self.previous.as_ref()].into_iter().flatten() {
            match head {
                Head::Branch(_) => {}
                Head::Detached(number) => named.push(*number),
            }
        }
        match &self.progress {
            None => {}
            Some(Progress::Merge { theirs, name: _, message: _ }) => named.push(*theirs),
            Some(Progress::Revert { start, reached, commits, mainline: _, message: _ }) => {
                named.extend([start, reached].into_iter().chain(commits));
            }
            Some(Progress::Undo(undo)) => named.extend(&undo.commits),
        }
        named.extend(self.marks.iter().flat_map(|marks| marks.said.iter().flat_map(|(_, commits)| commits)));
        named
    }
}

impl Keeping {
    /// What stays of a store of which updates of refs before `oldest` may be forgotten, but for the last one of each name.
    ///
    /// `sessions` are those that stand somewhere without a row.
    pub fn of<A: Access>(
        tables: &Tables<A>,
        sessions: impl IntoIterator<Item = Session>,
        oldest: CommitTime,
    ) -> Result<Self, StoreError> {
        let mut keeping = Self::default();
        let mut open: BTreeSet<Number> = tables.references("")?.into_iter().map(|(_, number)| number).collect();
        let rows = tables.sessions()?.into_iter().map(|(_, session)| session);
        open.extend(rows.chain(sessions).flat_map(|session| session.commits()));
        open.extend(keeping.updates(tables, oldest)?);
        while let Some(number) = open.pop_last() {
            open.extend(tables.commit(number)?.parents);
            keeping.commits.insert(number);
        }
        for row in tables.commit.range(0..)? {
            keeping.dropped.commits += u64::from(!keeping.commits.contains(&row?.0.value()));
        }
        let mut owners = Owners::new(&keeping.commits);
        for row in tables.object.range(0..)? {
            keeping.dropped.objects += u64::from(!owners.keep(tables, row?.0.value())?);
        }
        Ok(keeping)
    }

    /// Chooses the updates that stay and returns the commits that they name. Whatever the clock said, those behind one that is
    /// young stay with it, so that a log is without gaps. The last one of a name names only where it led to, if it is old.
    fn updates<A: Access>(&mut self, tables: &Tables<A>, oldest: CommitTime) -> Result<Vec<Number>, StoreError> {
        let mut named = Vec::new();
        let mut last: Option<(Vec<u8>, RefUpdate)> = None;
        let mut young = None;
        let mut pass = |keeping: &mut Self, key: Vec<u8>, update: RefUpdate, is_last: bool| {
            let name = read_split_key(&key).map(|(name, _)| name.to_owned()).ok();
            let is_young = update.time.unix_ms() >= oldest.unix_ms() || young == name;
            if is_young {
                young = name;
            }
            if is_young || is_last {
                named.extend(update.new.into_iter().chain(update.old.filter(|_| is_young)));
                keeping.updates.insert(key);
            } else {
                keeping.dropped.updates += 1;
            }
        };
        for row in tables.reflog.range::<&[u8]>(..)? {
            let (key, row) = row?;
            let (name, _) = read_split_key(key.value())?;
            let update = RefUpdate::decode(row.bytes())
                .map_err(|error| StoreError::decode(format!("the log of the ref '{name}'"), error))?;
            if let Some((before, update)) = last.take() {
                let is_last = read_split_key(&before)?.0 != name;
                pass(self, before, update, is_last);
            }
            last = Some((key.value().to_vec(), update));
        }
        if let Some((key, update)) = last {
            pass(self, key, update, true);
        }
        Ok(named)
    }

    /// Writes the rows that stay into the tables of an empty store.
    pub fn fill<A: Access>(&self, to: &mut Tables<Writing<'_>>, from: &Tables<A>) -> Result<(), StoreError> {
        let mut owners = Owners::new(&self.commits);
        for row in from.object.range(0..)? {
            let (key, row) = row?;
            if owners.keep(from, key.value())? {
                to.object.insert(key.value(), row.bytes())?;
            }
        }
        let mut tips: BTreeMap<Number, u64> = BTreeMap::new();
        for &number in &self.commits {
            let commit = from.commit(number)?;
            let tip = tips.entry(commit.place.chain).or_default();
            *tip = commit.place.position.max(*tip);
            to.commit.insert(number, &commit.encode(number))?;
            to.hash.insert(commit.id.as_bytes(), &number.to_le_bytes())?;
        }
        for row in from.chain.range((0, 0)..)? {
            let (key, row) = row?;
            let (chain, position) = key.value();
            match tips.get(&chain) {
                Some(tip) if position == TIP => to.chain.insert((chain, TIP), &tip.to_le_bytes())?,
                Some(tip) if position <= *tip => to.chain.insert((chain, position), row.bytes())?,
                Some(_) | None => {}
            }
        }
        self.fill_history(to, from)?;
        to.fill_loose(from, |key, mut update| {
            update.old = update.old.filter(|old| self.commits.contains(old));
            self.updates.contains(key).then_some(update)
        })
    }

    /// The rows of an id are linked, each to the one before.
    fn fill_history<A: Access>(&self, to: &mut Tables<Writing<'_>>, from: &Tables<A>) -> Result<(), StoreError> {
        let (mut id, mut previous) = (String::new(), Number::MIN);
        for row in from.history.range::<&[u8]>(..)? {
            let (key, _) = row?;
            let (own, number) = read_split_key(key.value())?;
            if own != id {
                (id, previous) = (own.to_owned(), 0);
            }
            if self.commits.contains(&number) {
                to.history.insert(&history_key(&id, number)[..], &previous.to_le_bytes())?;
                previous = number;
            }
        }
        Ok(())
    }
}

/// To whom records belong, asked in the order of their numbers.
struct Owners<'k> {
    commits: &'k BTreeSet<Number>,
    /// The first commit behind the record that was asked for last; `None` before any and behind all.
    owner: Option<Number>,
}

impl<'k> Owners<'k> {
    fn new(commits: &'k BTreeSet<Number>) -> Self {
        Self { commits, owner: None }
    }

    /// Whether the commit stays to which a record belongs. One that belongs to none does not.
    fn keep<A: Access>(&mut self, tables: &Tables<A>, record: Number) -> Result<bool, StoreError> {
        if self.owner.is_none_or(|owner| owner < record) {
            self.owner = tables.commit.range(record..)?.next().transpose()?.map(|(key, _)| key.value());
        }
        Ok(self.owner.is_some_and(|owner| self.commits.contains(&owner)))
    }
}

#[cfg(test)]
mod tests {
    use super::super::marks::{Marked, Marks};
    use super::super::progress::Undo;
    use super::super::{CommitWords, Store, init};
    use super::*;
    use crate::model::{Author, BranchName, Content, ContentKind, Message, Node, NodeId, Provenance, SessionName};
    use crate::object::encode_node;
    use std::time::Duration;

    const NEW: i64 = 1_000_000;

    struct Place {
        _directory: tempfile::TempDir,
        store: Store,
        /// A commit that the branch has, and one behind it that nothing names.
        kept: Number,
        lost: Number,
    }

    fn time(unix_ms: i64) -> CommitTime {
        CommitTime::new(unix_ms, 0).expect("a time")
    }

    fn name(name: &str) -> SessionName {
        SessionName::new(name).expect("a name")
    }

    fn commit(tables: &mut Tables<Writing<'_>>, parent: Option<Number>, text: &str) -> Number {
        let id = NodeId::new("n").expect("an id");
        let (content, provenance) = (Content::from_text(text), Provenance::default());
        let node = Node { id: id.clone(), content, content_kind: ContentKind::Note, provenance, event_time: None };
        let changes = BTreeMap::from([(id, Some(encode_node(&node)))]);
        let update = tables.update_from(tables.root(parent).expect("sound"), changes).expect("an update");
        let words = CommitWords {
            author: Author::new("a").expect("an author"),
            time: time(0),
            message: Message::new(text).expect("a message"),
        };
        tables.append_commit(parent.into_iter().collect(), words, update).expect("a commit").0
    }

    fn place() -> Place {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("store");
        init(&path, &BranchName::new("main").expect("a name")).expect("a store");
        let store = Store::new(path, Duration::from_secs(60));
        let ((kept, lost), _) = store
            .write(store.snapshot().expect("sound"), |tables| {
                let kept = commit(tables, None, "kept");
                let lost = commit(tables, Some(kept), "lost");
                tables.set_reference("refs/heads/main", kept, time(0), "set")?;
                Ok::<_, StoreError>((kept, lost))
            })
            .expect("commits");
        Place { _directory: directory, store, kept, lost }
    }

    impl Place {
        fn write(&self, write: impl FnOnce(&mut Tables<Writing<'_>>) -> Result<(), StoreError>) {
            self.store.write(self.store.snapshot().expect("sound"), write).expect("written");
        }

        /// What is left out where updates before [`NEW`] may be.
        fn dropped(&self, sessions: Vec<Session>) -> Dropped {
            let snapshot = self.store.snapshot().expect("sound");
            Keeping::of(&*snapshot, sessions, time(NEW)).expect("sound").dropped
        }
    }

    const LOST: Dropped = Dropped { commits: 1, objects: 1, updates: 0 };
    const NOTHING: Dropped = Dropped { commits: 0, objects: 0, updates: 0 };

    #[test]
    fn what_nothing_names_is_dropped() {
        assert_eq!(place().dropped(Vec::new()), LOST);
    }

    #[test]
    fn whatever_a_session_names_stays() {
        type Name = fn(&mut Session, Number);
        let names: [(&str, Name); 10] = [
            ("HEAD", |session, lost| session.head = Head::Detached(lost)),
            ("ORIG_HEAD", |session, lost| session.orig_head = Some(lost)),
            ("where it stood before", |session, lost| session.previous = Some(Head::Detached(lost))),
            ("what it merges", |session, lost| {
                session.progress = Some(Progress::Merge { theirs: lost, name: "x".to_owned(), message: None });
            }),
            ("where it began to revert", |session, lost| {
                session.progress = Some(revert(lost, session.orig_head.unwrap_or(1), Vec::new()));
            }),
            ("where a revert stopped", |session, lost| session.progress = Some(revert(1, lost, Vec::new()))),
            ("what it is to revert", |session, lost| session.progress = Some(revert(1, 1, vec![lost]))),
            ("whose nodes it undoes", |session, lost| {
                session.progress = Some(Progress::Undo(Undo {
                    provenance: Provenance::default(),
                    ids: Vec::new(),
                    commits: vec![lost],
                    message: "m".to_owned(),
                }));
            }),
            ("what is good", |session, lost| session.marks = Some(said(Marked::Good, lost))),
            ("what is skipped", |session, lost| session.marks = Some(said(Marked::Skip, lost))),
        ];
        for (what, name_it) in names {
            let place = place();
            let mut session = Session::at(Head::Branch("refs/heads/main".to_owned()));
            // The first commit of a store has the number behind its objects.
            session.orig_head = Some(place.kept);
            name_it(&mut session, place.lost);
            fix_ones(&mut session, place.kept);
            assert_eq!(place.dropped(vec![session.clone()]), NOTHING, "{what}, without a row");
            place.write(|tables| tables.set_session(&name("s"), &session));
            assert_eq!(place.dropped(Vec::new()), NOTHING, "{what}");
        }
    }

    fn revert(start: Number, reached: Number, commits: Vec<Number>) -> Progress {
        Progress::Revert { start, reached, commits, mainline: 0, message: None }
    }

    fn said(marked: Marked, number: Number) -> Marks {
        Marks { said: vec![(marked, vec![number])], ..Marks::default() }
    }

    /// Puts a commit that is there in the place of 1.
    fn fix_ones(session: &mut Session, kept: Number) {
        if let Some(Progress::Revert { start, reached, .. }) = &mut session.progress {
            for number in [start, reached] {
                if *number == 1 {
                    *number = kept;
                }
            }
        }
    }

    #[test]
    fn a_young_update_keeps_both_ends_and_an_old_one_counts_only_as_the_last() {
        for (at, by, dropped) in [
            (NEW, "new", NOTHING),
            (NEW, "old", NOTHING),
            (NEW - 1, "old", LOST),
            // It is the last one of its name, and that leads there.
            (NEW - 1, "new", NOTHING),
        ] {
            let place = place();
            let (kept, lost) = (Some(place.kept), Some(place.lost));
            let (old, new) = if by == "new" { (kept, lost) } else { (lost, kept) };
            let update = RefUpdate { old, new, time: time(at), reason: "moved".to_owned() };
            place.write(|tables| tables.log_update("session/s", &update));
            assert_eq!(place.dropped(Vec::new()), dropped, "{by} at {at}");
        }
        let place = place();
        let (kept, lost) = (Some(place.kept), Some(place.lost));
        place.write(|tables| {
            for (old, new) in [(kept, lost), (lost, kept)] {
                tables.log_update("session/s", &RefUpdate { old, new, time: time(NEW - 1), reason: String::new() })?;
            }
            Ok(())
        });
        assert_eq!(place.dropped(Vec::new()), Dropped { updates: 1, ..LOST });
    }

    #[test]
    fn rows_are_as_if_what_is_dropped_had_never_been_and_numbers_go_on() {
        let place = place();
        let update =
            RefUpdate { old: Some(place.lost), new: Some(place.kept), time: time(0), reason: "back".to_owned() };
        place.write(|tables| {
            tables.log_update("session/s", &update)?;
            let later = commit(tables, Some(place.lost), "later");
            let other = commit(tables, Some(place.kept), "other");
            assert!(place.lost < later && later < other);
            tables.set_reference("refs/heads/other", other, time(0), "set")
        });
        let snapshot = place.store.snapshot().expect("sound");
        let other = snapshot.reference("refs/heads/other").expect("sound").expect("a commit");
        place
            .store
            .rewrite(snapshot, |old, new| {
                let keeping = Keeping::of(old, Vec::new(), time(NEW))?;
                assert_eq!(keeping.dropped, Dropped { commits: 2, objects: 2, updates: 0 });
                keeping.fill(new, old)
            })
            .expect("written anew");
        let snapshot = place.store.snapshot().expect("sound");
        let id = NodeId::new("n").expect("an id");
        assert_eq!(snapshot.versions(&id).expect("linked anew"), [other, place.kept]);
        assert!(snapshot.commit(place.lost).is_err());
        // Where the dropped commit stood in the chain, the next one stands.
        let position = snapshot.commit(place.kept).expect("it").place;
        assert_eq!(snapshot.chain_tip(position.chain).expect("a tip"), position.position);
        assert_eq!(snapshot.updates("session/s").expect("sound"), [RefUpdate { old: None, ..update }]);
        drop(snapshot);
        place.write(|tables| {
            let next = commit(tables, Some(place.kept), "next");
            assert_eq!(next, other + 2, "a node and the commit, behind all that ever was");
            assert_eq!(tables.commit(next)?.place.position, position.position + 1);
            Ok(())
        });
    }
}
