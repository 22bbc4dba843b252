//! Which commit a revision names in a store.

use super::super::back::back;
use super::{Base, Revision, RevisionError, Selection, Step};
use crate::graph::{merge_bases, nearest};
use crate::object::CommitId;
use crate::store::{Access, Head, Number, RefUpdate, SessionView, StoreError, Tables, short_branch};

/// The shortest prefix of an id that names a commit.
const SHORTEST_PREFIX: usize = 4;
/// Digits of a full id.
const ID_LENGTH: usize = 64;
/// How many candidates of an ambiguous prefix are told.
const CANDIDATES: usize = 10;

/// What a name can stand for, in the order in which one is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meaning {
    /// The full id of a commit.
    Commit,
    /// A ref by its full name, or without `refs/`.
    Ref,
    /// A tag.
    Tag,
    /// A branch.
    Branch,
    /// The beginning of a commit's id.
    Prefix,
}

/// A name that stands for several things.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Doubt {
    /// The name.
    pub name: String,
    /// What was taken.
    pub taken: Meaning,
    /// What it also stands for.
    pub others: Vec<Meaning>,
}

/// The commit that a revision names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resolved {
    /// Its number.
    pub number: Number,
    /// What the name stands for beside what was taken.
    pub doubt: Option<Doubt>,
}

/// The ends of a walk.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ends {
    /// Where it begins.
    pub starts: Vec<Number>,
    /// Whose ancestors it leaves out.
    pub without: Vec<Number>,
    /// What names stand for beside what was taken.
    pub doubts: Vec<Doubt>,
}

/// The movements of HEAD or of a ref.
#[derive(Clone, Debug)]
pub struct RefLog {
    /// `HEAD`, or the full name of the ref.
    pub name: String,
    /// The updates, the newest first.
    pub updates: Vec<RefUpdate>,
    /// What the name stands for beside what was taken.
    pub doubt: Option<Doubt>,
}

/// Finds the commits that selections name. Where all only leave out, none is where they begin.
pub fn resolve_all<A: Access>(view: &SessionView<'_, A>, selections: &[Selection]) -> Result<Ends, RevisionError> {
    let mut ends = Ends::default();
    for selection in selections {
        let mut numbers = Vec::new();
        for (revision, left_out) in selection.ends() {
            let Resolved { number, doubt } = resolve(view, revision)?;
            if left_out { &mut ends.without } else { &mut ends.starts }.push(number);
            numbers.push(number);
            ends.doubts.extend(doubt);
        }
        if let (Selection::Either(..), &[one, other]) = (selection, &numbers[..]) {
            ends.without.extend(merge_bases(view.tables, one, other)?);
        }
    }
    Ok(ends)
}

/// Finds the commit that `revision` names for a session.
pub fn resolve<A: Access>(view: &SessionView<'_, A>, revision: &Revision) -> Result<Resolved, RevisionError> {
    let (target, doubt) = target(view, &revision.base)?;
    let mut number = match revision.nth {
        Some(nth) => logged(view, &target, revision, nth)?,
        None => target.number(view, revision)?,
    };
    let tables = view.tables;
    for step in &revision.steps {
        let text = || revision.text.clone();
        match *step {
            Step::Back(count) => {
                number = back(tables, number, count)?.ok_or_else(|| RevisionError::NoAncestor { text: text() })?;
            }
            Step::At(time) => loop {
                let commit = tables.commit(number)?;
                if commit.time.unix_ms() <= time.unix_ms() {
                    break;
                }
                number = *commit.parents.first().ok_or_else(|| RevisionError::NoneThatOld { text: text() })?;
            },
            Step::Parent(0) => {}
            Step::Parent(count) => {
                let parents = tables.commit(number)?.parents;
                let parent = usize::try_from(count - 1).ok().and_then(|at| parents.get(at));
                number = *parent.ok_or_else(|| RevisionError::NoParent { text: text() })?;
            }
        }
    }
    Ok(Resolved { number, doubt })
}

/// The full name of the ref that `revision` is by name, that of its branch for HEAD, and `HEAD` where that is on none;
/// `None` where it names a commit in another way.
pub fn ref_named<A: Access>(view: &SessionView<'_, A>, revision: &Revision) -> Result<Option<String>, RevisionError> {
    let Some(base) = revision.alone() else { return Ok(None) };
    Ok(match target(view, base)?.0 {
        Target::Head => Some(view.head.branch().unwrap_or("HEAD").to_owned()),
        Target::Ref(name) => Some(name),
        Target::Commit(_) => None,
    })
}

/// The shortest name by which the ref `name` is found: without `refs/heads/` or `refs/tags/`, or where something else is
/// found by that, without `refs/`.
pub fn abbreviated<'n, A: Access>(tables: &Tables<A>, name: &'n str) -> Result<&'n str, StoreError> {
    let short = short_ref(name);
    let is_name =
        Revision::parse(short, &|_| None).is_ok_and(|revision| matches!(revision.alone(), Some(Base::Name(_))));
    let found = meanings(tables, short)?;
    Ok(match found.first() {
        _ if name == "HEAD" => name,
        Some((_, Target::Ref(first))) if is_name && first == name => short,
        None if is_name => short,
        Some(_) | None => name.strip_prefix("refs/").unwrap_or(name),
    })
}

/// The log of HEAD or of a ref, also of one that was deleted.
pub fn ref_log<A: Access>(view: &SessionView<'_, A>, revision: &Revision) -> Result<RefLog, RevisionError> {
    let no_log = || RevisionError::NoLog { text: revision.text.clone() };
    let (target, doubt) = target(view, revision.alone().ok_or_else(no_log)?)?;
    let (name, updates) = target.log(view)?.ok_or_else(no_log)?;
    Ok(RefLog { name, updates, doubt })
}

/// The shortest beginning of an id, of `least` digits or more, that no other commit's id has.
pub fn shortest<A: Access>(tables: &Tables<A>, id: &CommitId, least: usize) -> Result<String, StoreError> {
    let id = id.to_string();
    for length in least..ID_LENGTH {
        if tables.commits_with_prefix(&id[..length], 2)?.len() < 2 {
            return Ok(id[..length].to_owned());
        }
    }
    Ok(id)
}

/// What the base of a revision stands for.
enum Target {
    Head,
    /// By its full name. It may be unborn or deleted.
    Ref(String),
    Commit(Number),
}

impl Target {
    fn number<A: Access>(&self, view: &SessionView<'_, A>, revision: &Revision) -> Result<Number, RevisionError> {
        let unborn = |name: &str| RevisionError::Unborn { branch: short_branch(name).to_owned() };
        match self {
            Self::Head => Ok(view.head_commit()?.ok_or_else(|| unborn(view.head.branch().unwrap_or_default()))?),
            Self::Commit(number) => Ok(*number),
            Self::Ref(name) => match view.tables.reference(name)? {
                Some(number) => Ok(number),
                None if view.tables.last_update(name)?.is_none() => Err(unborn(name)),
                None => Err(RevisionError::Deleted { text: revision.text.clone(), name: name.clone() }),
            },
        }
    }

    /// The name of what is logged, and its updates.
    fn log<A: Access>(&self, view: &SessionView<'_, A>) -> Result<Option<(String, Vec<RefUpdate>)>, StoreError> {
        Ok(match self {
            Self::Head => Some(("HEAD".to_owned(), view.tables.updates(&view.log_name())?)),
            Self::Ref(name) => Some((name.clone(), view.tables.updates(name)?)),
            Self::Commit(_) => None,
        })
    }
}

/// The N-th newest value; what an empty log would begin with is the present one.
fn logged<A: Access>(
    view: &SessionView<'_, A>,
    target: &Target,
    revision: &Revision,
    nth: u64,
) -> Result<Number, RevisionError> {
    let text = || revision.text.clone();
    let (name, updates) = target.log(view)?.ok_or_else(|| RevisionError::NoLog { text: text() })?;
    let nth = usize::try_from(nth).unwrap_or(usize::MAX);
    match updates.get(nth) {
        Some(update) => update.new.ok_or_else(|| RevisionError::NoCommitThen { text: text() }),
        None if nth == 0 => target.number(view, revision),
        None => {
            let before = updates.last().filter(|_| nth == updates.len()).and_then(|first| first.old);
            before.ok_or_else(|| RevisionError::OutOfLog { text: text(), name, count: updates.len() })
        }
    }
}

fn target<A: Access>(view: &SessionView<'_, A>, base: &Base) -> Result<(Target, Option<Doubt>), RevisionError> {
    let at = |head: &Head| match head {
        Head::Branch(name) => Target::Ref(name.clone()),
        Head::Detached(number) => Target::Commit(*number),
    };
    let row = view.row.as_ref();
    let target = match base {
        Base::Head => Target::Head,
        Base::HeadBranch => view.head.branch().map_or(Target::Head, |name| Target::Ref(name.to_owned())),
        Base::OrigHead => Target::Commit(row.and_then(|row| row.orig_head).ok_or(RevisionError::NoOrigHead)?),
        Base::Previous => at(row.and_then(|row| row.previous.as_ref()).ok_or(RevisionError::NoPrevious)?),
        Base::Name(name) => return named(view, name),
    };
    Ok((target, None))
}

/// The commit of which `name` is the full id, and the refs that are called so, in the order in which one is taken.
fn meanings<A: Access>(tables: &Tables<A>, name: &str) -> Result<Vec<(Meaning, Target)>, StoreError> {
    let mut found = Vec::new();
    let id = CommitId::parse(name);
    if let Some(number) = id.map(|id| tables.commit_number(&id)).transpose()?.flatten() {
        found.push((Meaning::Commit, Target::Commit(number)));
    }
    for (meaning, name) in full_names(name) {
        if tables.reference(&name)?.is_some() {
            found.push((meaning, Target::Ref(name)));
        }
    }
    Ok(found)
}

/// The refs that a name can stand for, in the order in which one is taken.
fn full_names(name: &str) -> Vec<(Meaning, String)> {
    let mut names = Vec::new();
    if name.starts_with("refs/") {
        names.push((Meaning::Ref, name.to_owned()));
    }
    names.extend([
        (Meaning::Ref, format!("refs/{name}")),
        (Meaning::Tag, format!("refs/tags/{name}")),
        (Meaning::Branch, format!("refs/heads/{name}")),
    ]);
    names
}

fn named<A: Access>(view: &SessionView<'_, A>, name: &str) -> Result<(Target, Option<Doubt>), RevisionError> {
    let tables = view.tables;
    let prefixed = if is_prefix(name) { tables.commits_with_prefix(name, CANDIDATES + 1)? } else { Vec::new() };
    let mut meanings = meanings(tables, name)?.into_iter();
    if let Some((taken, target)) = meanings.next() {
        let mut others: Vec<_> = meanings.map(|(meaning, _)| meaning).collect();
        if taken != Meaning::Commit && !prefixed.is_empty() {
            others.push(Meaning::Prefix);
        }
        let doubt = (!others.is_empty()).then(|| Doubt { name: name.to_owned(), taken, others });
        return Ok((target, doubt));
    }
    match prefixed.as_slice() {
        [(_, number)] => Ok((Target::Commit(*number), None)),
        [] => absent(view, name).map(|name| (Target::Ref(name), None)),
        several => {
            let candidates = several.iter().take(CANDIDATES).map(|&(id, number)| {
                let subject = tables.commit(number)?.message.subject().to_owned();
                Ok((id, subject))
            });
            let candidates = candidates.collect::<Result<_, StoreError>>()?;
            let more = several.len() > CANDIDATES;
            Err(RevisionError::Ambiguous { text: name.to_owned(), candidates, more })
        }
    }
}

/// The ref without a commit that a name stands for: the session's own branch, or one that was deleted.
fn absent<A: Access>(view: &SessionView<'_, A>, name: &str) -> Result<String, RevisionError> {
    for (_, full) in full_names(name) {
        if view.head.branch() == Some(&full) || view.tables.last_update(&full)?.is_some() {
            return Ok(full);
        }
    }
    if is_prefix(name) {
        view.tables.check_no_commit_begins_with(name)?;
    }
    Err(RevisionError::Unknown { text: name.to_owned(), near: near(view.tables, name)? })
}

fn is_prefix(name: &str) -> bool {
    (SHORTEST_PREFIX..=ID_LENGTH).contains(&name.len()) && name.bytes().all(|b| b.is_ascii_hexdigit())
}

fn short_ref(name: &str) -> &str {
    ["refs/heads/", "refs/tags/"].iter().find_map(|prefix| name.strip_prefix(prefix)).unwrap_or(name)
}

/// Branches and tags whose names are like `name`, the likest first.
fn near<A: Access>(tables: &Tables<A>, name: &str) -> Result<Vec<String>, StoreError> {
    let refs = tables.references("refs/")?;
    let told = |full| if name.starts_with("refs/") { full } else { short_ref(full) };
    Ok(nearest(short_ref(name), refs.iter().map(|(full, _)| (short_ref(full), told(full)))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Author, BranchName, CommitTime, Message, SessionName};
    use crate::store::{CommitWords, Store, init};
    use std::collections::BTreeMap;
    use std::time::Duration;

    /// A store in which commits change nothing and are told apart by their messages.
    struct Place {
        store: Store,
        commits: Vec<(Number, CommitId)>,
        _directory: tempfile::TempDir,
    }

    fn session(name: &str) -> SessionName {
        SessionName::new(name).expect("a name")
    }

    fn time() -> CommitTime {
        CommitTime::new(0, 0).expect("a time")
    }

    impl Place {
        fn new() -> Self {
            let directory = tempfile::tempdir().expect("a directory");
            let path = directory.path().join(".mnemosyne");
            init(&path, &BranchName::new("main").expect("a name")).expect("a store");
            Self { store: Store::new(path, Duration::from_secs(10)), commits: Vec::new(), _directory: directory }
        }

        /// The next commit where a session stands.
        fn commit(&mut self, name: &str) {
            let name = session(name);
            let row = self.store.read(&name, |view| Ok::<_, StoreError>(view.next_row())).expect("a session");
            let words = CommitWords {
                author: Author::new("Ada").expect("an author"),
                time: time(),
                message: Message::new(&self.commits.len().to_string()).expect("a message"),
            };
            let made = self.store.write(self.store.snapshot().expect("a snapshot"), |tables| {
                tables.commit_on_head(&name, row, BTreeMap::new(), words, "commit")
            });
            self.commits.push(made.expect("a commit").0);
        }

        fn set(&self, name: &str, at: usize) {
            let number = self.commits[at].0;
            let set = self.store.write(self.store.snapshot().expect("a snapshot"), |tables| {
                tables.set_reference(name, number, time(), "set")
            });
            set.expect("a ref");
        }

        fn remove(&self, name: &str) {
            let removed = self.store.write(self.store.snapshot().expect("a snapshot"), |tables| {
                tables.remove_reference(name, time(), "delete")
            });
            removed.expect("a ref that goes");
        }

        fn switch(&self, name: &str, head: Head) {
            let name = session(name);
            let mut row = self.store.read(&name, |view| Ok::<_, StoreError>(view.next_row())).expect("a session");
            row.orig_head = Some(self.commits[0].0);
            let switched = self.store.write(self.store.snapshot().expect("a snapshot"), |tables| {
                tables.switch_head(&name, &mut row, head, time(), "switch")
            });
            switched.expect("a switch");
        }

        fn detached(&self, at: usize) -> Head {
            Head::Detached(self.commits[at].0)
        }

        fn resolve(&self, name: &str, text: &str) -> Result<Resolved, RevisionError> {
            let revision = Revision::parse(text, &|_| None).expect("a revision");
            self.store.read(&session(name), |view| resolve(view, &revision))
        }

        /// Which commit a revision names for a session, from 0; no name is in doubt.
        #[track_caller]
        fn finds(&self, name: &str, text: &str, at: usize) {
            let resolved = self.resolve(name, text).expect(text);
            assert_eq!(resolved, Resolved { number: self.commits[at].0, doubt: None }, "{text}");
        }

        /// Which commit a revision names for the default session, and what it stands for otherwise.
        #[track_caller]
        fn prefers(&self, text: &str, at: usize, taken: Meaning, others: &[Meaning]) {
            let doubt = Doubt { name: text.to_owned(), taken, others: others.to_vec() };
            let resolved = self.resolve("default", text).expect(text);
            assert_eq!(resolved, Resolved { number: self.commits[at].0, doubt: Some(doubt) }, "{text}");
        }

        /// What is said of a revision that names no commit for a session.
        #[track_caller]
        fn refuses(&self, name: &str, text: &str, said: &str) {
            assert_eq!(self.resolve(name, text).expect_err(text).to_string(), said, "{text}");
        }

        fn names(&self, name: &str, text: &str) -> Option<(String, String)> {
            let revision = Revision::parse(text, &|_| None).expect("a revision");
            let names = |view: &SessionView<'_, _>| {
                let Some(name) = ref_named(view, &revision)? else { return Ok(None) };
                let short = abbreviated(view.tables, &name)?.to_owned();
                Ok::<_, RevisionError>(Some((name, short)))
            };
            self.store.read(&session(name), names).expect("a name")
        }
    }

    fn branch(name: &str) -> Head {
        Head::Branch(format!("refs/heads/{name}"))
    }

    #[test]
    fn a_name_stands_for_a_full_id_a_ref_a_tag_a_branch_or_a_prefix_in_this_order() {
        let mut place = Place::new();
        (0..5).for_each(|_| place.commit("default"));
        place.set("refs/tags/v", 0);
        place.set("refs/heads/b", 1);
        for (text, at) in
            [("v", 0), ("tags/v", 0), ("refs/tags/v", 0), ("b", 1), ("heads/b", 1), ("refs/heads/b", 1), ("b~", 0)]
        {
            place.finds("default", text, at);
        }
        place.set("refs/tags/b", 2);
        place.prefers("b", 2, Meaning::Tag, &[Meaning::Branch]);
        place.finds("default", "heads/b", 1);
        place.finds("default", "tags/b", 2);
        place.set("refs/heads/tags/b", 3);
        place.prefers("tags/b", 2, Meaning::Ref, &[Meaning::Branch]);
        place.set("refs/heads/refs/tags/b", 3);
        place.prefers("refs/tags/b", 2, Meaning::Ref, &[Meaning::Branch]);

        let id = place.commits[4].1.to_string();
        place.finds("default", &id, 4);
        place.finds("default", &id.to_uppercase(), 4);
        place.finds("default", &id[..8], 4);
        place.set(&format!("refs/heads/{id}"), 0);
        place.prefers(&id, 4, Meaning::Commit, &[Meaning::Branch]);
        place.set(&format!("refs/heads/{}", &id[..8]), 0);
        place.prefers(&id[..8], 0, Meaning::Branch, &[Meaning::Prefix]);
        place.set(&format!("refs/tags/{}", &id[..8]), 1);
        place.prefers(&id[..8], 1, Meaning::Tag, &[Meaning::Branch, Meaning::Prefix]);
        place.finds("default", &id[..9], 4);
    }

    #[test]
    fn a_number_counts_in_the_log_of_what_stands_before_it() {
        let mut place = Place::new();
        place.commit("default");
        place.commit("other");
        place.commit("default");
        for (name, text, at) in [
            ("default", "HEAD", 2),
            ("default", "HEAD@{0}", 2),
            ("default", "@@{1}", 0),
            ("default", "main@{1}", 1),
            ("default", "@{1}", 1),
            ("default", "@{1}~", 0),
            ("default", "refs/heads/main@{2}", 0),
            ("other", "HEAD", 2),
            ("other", "HEAD@{0}", 1),
            ("other", "HEAD@{1}", 0),
            ("other", "@{0}", 2),
            ("new", "HEAD@{0}", 2),
            ("new", "@{2}", 0),
        ] {
            place.finds(name, text, at);
        }
        place.refuses("default", "main@{3}", "'main@{3}' is not in the log of 'refs/heads/main': it has 3 entries");
        place.refuses(
            "default",
            "@{18446744073709551615}~2",
            "'@{18446744073709551615}~2' is not in the log of 'refs/heads/main': it has 3 entries",
        );
        place.refuses("other", "HEAD@{2}", "'HEAD@{2}' is not in the log of 'HEAD': it has one entry");
        place.refuses("new", "HEAD@{1}", "'HEAD@{1}' is not in the log of 'HEAD': it has no entries");
        let id = place.commits[0].1.to_string();
        let said = format!("'{id}@{{0}}' has no log: only HEAD and refs have one");
        place.refuses("default", &format!("{id}@{{0}}"), &said);
    }

    #[test]
    fn where_a_session_stood_is_known_to_it_alone() {
        let mut place = Place::new();
        (0..3).for_each(|_| place.commit("default"));
        let none = "this session has not switched yet, so there is no '@{-1}'";
        place.refuses("default", "@{-1}", none);
        let unmoved = "no command of this session has moved HEAD away, so there is no ORIG_HEAD";
        place.refuses("default", "ORIG_HEAD", unmoved);

        place.switch("default", place.detached(1));
        for (text, at) in
            [("HEAD", 1), ("@{-1}", 2), ("@{-1}@{1}", 1), ("@{-1}~2", 0), ("ORIG_HEAD", 0), ("HEAD@{1}", 2)]
        {
            place.finds("default", text, at);
        }
        // On no branch, a number alone counts in the log of HEAD.
        place.finds("default", "@{1}", 2);
        place.refuses("default", "ORIG_HEAD@{0}", "'ORIG_HEAD@{0}' has no log: only HEAD and refs have one");
        place.refuses("other", "@{-1}", none);
        place.refuses("other", "ORIG_HEAD", unmoved);

        place.switch("default", branch("main"));
        place.finds("default", "@{-1}", 1);
        place.refuses("default", "@{-1}@{0}", "'@{-1}@{0}' has no log: only HEAD and refs have one");
    }

    #[test]
    fn a_deleted_ref_leaves_its_log() {
        let mut place = Place::new();
        (0..2).for_each(|_| place.commit("default"));
        place.set("refs/heads/gone", 0);
        place.set("refs/heads/gone", 1);
        place.switch("default", branch("gone"));
        place.switch("default", branch("main"));
        place.remove("refs/heads/gone");
        place.refuses("default", "gone", "'gone' names 'refs/heads/gone', which was deleted");
        place.refuses("default", "@{-1}~1", "'@{-1}~1' names 'refs/heads/gone', which was deleted");
        place.refuses("default", "gone@{0}", "'gone@{0}' is no commit: there was none at that time");
        for (text, at) in [("gone@{1}", 1), ("gone@{2}", 0), ("heads/gone@{1}~1", 0), ("@{-1}@{2}", 0)] {
            place.finds("default", text, at);
        }
        let log = |text: &str| {
            let revision = Revision::parse(text, &|_| None).expect("a revision");
            place.store.read(&session("default"), |view| ref_log(view, &revision)).expect("a log")
        };
        let newest = &log("gone").updates[0];
        assert_eq!((newest.old, newest.new), (Some(place.commits[1].0), None));
        // Where a ref of that name stands, it is meant.
        place.set("refs/tags/gone", 1);
        place.finds("default", "gone", 1);
        assert_eq!(log("gone").name, "refs/tags/gone");
    }

    #[test]
    fn a_branch_without_commits_is_unborn() {
        let mut place = Place::new();
        for text in ["HEAD", "@{0}", "HEAD@{0}", "main", "heads/main", "refs/heads/main", "main@{0}", "main~1"] {
            place.refuses("default", text, "no commit yet on 'main'");
        }
        place.refuses("default", "@{1}", "'@{1}' is not in the log of 'refs/heads/main': it has no entries");
        place.commit("default");
        place.switch("default", branch("new"));
        place.refuses("default", "HEAD", "no commit yet on 'new'");
        place.refuses("default", "HEAD@{0}", "'HEAD@{0}' is no commit: there was none at that time");
        place.finds("default", "HEAD@{1}", 0);
        place.switch("default", branch("main"));
        place.refuses("default", "@{-1}", "no commit yet on 'new'");
        place.refuses("default", "new", "unknown revision 'new'");
    }

    #[test]
    fn names_that_are_like_a_branch_or_a_tag_are_told() {
        let mut place = Place::new();
        place.commit("default");
        place.set("refs/tags/release", 0);
        place.set("refs/heads/release", 0);
        place.set("refs/heads/releases", 0);
        let near = |text| match place.resolve("default", text) {
            Err(RevisionError::Unknown { near, .. }) => near,
            other => panic!("{other:?}"),
        };
        assert_eq!(near("relaese"), ["release", "releases"]);
        assert_eq!(near("refs/heads/relaese"), ["refs/heads/release", "refs/tags/release", "refs/heads/releases"]);
        assert!(near("zz").is_empty());
    }

    #[test]
    fn what_is_a_name_has_a_long_and_a_short_one() {
        let mut place = Place::new();
        let pair = |long: &str, short: &str| Some((long.to_owned(), short.to_owned()));
        assert_eq!(place.names("default", "HEAD"), pair("refs/heads/main", "main"));
        (0..2).for_each(|_| place.commit("default"));
        place.set("refs/tags/v", 0);
        place.set("refs/heads/v", 0);
        place.set("refs/tags/t", 0);
        place.set("refs/heads/ORIG_HEAD", 0);
        place.set("refs/heads/refs/tags/t", 0);
        place.set("refs/heads/tags/t", 0);
        let id = place.commits[0].1.to_string();
        place.set(&format!("refs/heads/{id}"), 0);
        for (text, names) in [
            ("@", pair("refs/heads/main", "main")),
            ("main", pair("refs/heads/main", "main")),
            ("v", pair("refs/tags/v", "v")),
            ("heads/v", pair("refs/heads/v", "heads/v")),
            ("refs/tags/t", pair("refs/tags/t", "t")),
            ("refs/heads/ORIG_HEAD", pair("refs/heads/ORIG_HEAD", "heads/ORIG_HEAD")),
            ("refs/heads/tags/t", pair("refs/heads/tags/t", "heads/tags/t")),
            (&format!("refs/heads/{id}"), pair(&format!("refs/heads/{id}"), &format!("heads/{id}"))),
            (&id, None),
            (&id[..6], None),
            ("main~0", None),
            ("main@{0}", None),
        ] {
            assert_eq!(place.names("default", text), names, "{text}");
        }
        place.switch("default", place.detached(1));
        assert_eq!(place.names("default", "HEAD"), pair("HEAD", "HEAD"));
        assert_eq!(place.names("default", "@{-1}"), pair("refs/heads/main", "main"));
        assert_eq!(place.names("default", "ORIG_HEAD"), None);
    }

    #[test]
    fn a_prefix_has_four_digits_at_least() {
        assert!(is_prefix("0aF9"));
        assert!(!is_prefix("0aF"));
        assert!(!is_prefix("0aFg"));
        assert!(is_prefix(&"a".repeat(64)));
        assert!(!is_prefix(&"a".repeat(65)));
    }
}
