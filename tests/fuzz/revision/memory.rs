//! A store that never changes, with an example of each thing that can be named, and of names that can mean several.

use mnemosyne::model::{Author, BranchName, CommitTime, Message, SessionName};
use mnemosyne::store::{
    CommitRecord, CommitWords, Head, Number, Reading, Session, SessionView, Snapshot, Store, StoreError, Tables,
    Writing, init,
};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

/// One on a branch, one on a commit, one without a row, one on a branch without commits, one that came from a branch
/// which is gone.
pub const SESSIONS: [&str; 5] = ["default", "detached", "fresh", "unborn", "left"];

/// First commits whose ids begin with the same four digits, and with none of another's.
const TWINS: [&str; 2] = ["twin 337", "twin 419"];

pub struct Memory {
    snapshot: Snapshot,
    /// All commits by their numbers.
    pub commits: BTreeMap<Number, CommitRecord>,
}

impl Memory {
    pub fn new() -> Self {
        let place = tempfile::tempdir().expect("a directory");
        let directory = place.path().join(".mnemosyne");
        init(&directory, &BranchName::new("main").expect("a name")).expect("a store");
        let store = Store::new(directory, Duration::from_secs(10));
        let written = store.write(store.snapshot().expect("a snapshot"), fill);
        let (numbers, _) = written.expect("a history");
        let snapshot = store.snapshot().expect("a snapshot");
        let commits = numbers.into_iter().map(|number| (number, snapshot.commit(number).expect("a commit"))).collect();
        // The file stays as long as the snapshot has it open.
        Self { snapshot, commits }
    }

    pub fn view(&self, name: &str) -> SessionView<'_, Reading> {
        SessionView::new(&self.snapshot, &session(name), Path::new(""), &[]).expect("a session")
    }
}

fn session(name: &str) -> SessionName {
    SessionName::new(name).expect("a name")
}

fn time(minutes: i64) -> CommitTime {
    CommitTime::new(minutes * 60_000, 0).expect("a time")
}

fn words(minutes: i64, message: &str) -> CommitWords {
    let author = Author::new("Ada").expect("an author");
    CommitWords { author, time: time(minutes), message: Message::new(message).expect("a message") }
}

/// Makes the history and names its commits; returns their numbers.
fn fill(tables: &mut Tables<Writing<'_>>) -> Result<Vec<Number>, StoreError> {
    let mut numbers = Vec::new();
    let mut commit = |tables: &mut Tables<Writing<'_>>, parents: &[Number], minutes, message: &str| {
        let update = tables.update_from(tables.root(parents.first().copied())?, BTreeMap::new())?;
        let (number, _) = tables.append_commit(parents.to_vec(), words(minutes, message), update)?;
        numbers.push(number);
        Ok::<_, StoreError>(number)
    };
    let mut trunk = Vec::new();
    for at in 0..20 {
        // One clock was far ahead.
        let minutes = if at == 10 { 1000 } else { at };
        trunk.push(commit(tables, trunk.last().map_or(&[], std::slice::from_ref), minutes, "on the trunk")?);
    }
    // Each of two has merged the other, so they have two best common ancestors.
    let (one, other) = (commit(tables, &[trunk[5]], 21, "one")?, commit(tables, &[trunk[5]], 22, "other")?);
    let crossed = commit(tables, &[one, other], 23, "crossed")?;
    let back = commit(tables, &[other, one], 24, "crossed back")?;
    let many = commit(tables, &[trunk[19], crossed, back], 25, "many")?;
    let twins = [commit(tables, &[], 1, TWINS[0])?, commit(tables, &[], 1, TWINS[1])?];

    let (whole, begun) = (tables.commit_id(trunk[3])?.to_string(), tables.commit_id(trunk[4])?.to_string());
    for (name, number) in [
        ("refs/heads/main", trunk[0]),
        ("refs/heads/main", trunk[19]),
        ("refs/heads/main", many),
        ("refs/heads/one", crossed),
        ("refs/heads/other", back),
        ("refs/heads/root", twins[0]),
        ("refs/tags/v", trunk[1]),
        ("refs/heads/v", trunk[2]),
        ("refs/v", trunk[6]),
        ("refs/tags/t", trunk[1]),
        ("refs/heads/t", trunk[2]),
        ("refs/heads/tags/t", trunk[7]),
        ("refs/heads/refs/tags/t", trunk[8]),
        ("refs/heads/HEAD", trunk[9]),
        ("refs/heads/ORIG_HEAD", trunk[9]),
        ("refs/heads/a@b{c}", trunk[11]),
        ("refs/heads/feature/é", trunk[12]),
        (&format!("refs/tags/{whole}"), trunk[13]),
        (&format!("refs/heads/{}", &begun[..8]), trunk[14]),
        ("refs/heads/gone", trunk[15]),
        ("refs/heads/gone", trunk[16]),
        ("refs/tags/gone-too", trunk[17]),
    ] {
        tables.set_reference(name, number, time(30), "set")?;
    }

    stand(tables, "default", [branch("one"), branch("main")], None)?;
    stand(tables, "detached", [branch("main"), Head::Detached(trunk[18])], Some(trunk[19]))?;
    stand(tables, "unborn", [Head::Detached(crossed), branch("new")], None)?;
    stand(tables, "left", [branch("gone"), branch("other")], Some(twins[1]))?;
    for name in ["refs/heads/gone", "refs/tags/gone-too"] {
        tables.remove_reference(name, time(31), "delete")?;
    }
    Ok(numbers)
}

fn branch(name: &str) -> Head {
    Head::Branch(format!("refs/heads/{name}"))
}

/// Lets a session go from one place to the next.
fn stand(
    tables: &mut Tables<Writing<'_>>,
    name: &str,
    places: [Head; 2],
    orig_head: Option<Number>,
) -> Result<(), StoreError> {
    let [first, second] = places;
    let mut row = Session { orig_head, ..Session::at(first) };
    tables.switch_head(&session(name), &mut row, second, time(30), "switch")
}
