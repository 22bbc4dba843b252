//! Revisions read from their end: what stands last is the last step, and before it stands a revision again. Slow, and
//! without the indexes that the program uses.

use super::memory::Memory;
use super::time;
use mnemosyne::model::CommitTime;
use mnemosyne::store::{Head, Number, Reading, SessionView, Tables};
use std::collections::BTreeSet;

/// A revision in its parts.
pub struct Parts<'t> {
    /// The name, `@{-1}`, or nothing.
    base: &'t str,
    /// `@{N}` behind it.
    nth: Option<u64>,
    /// The last one first.
    steps: Vec<Step>,
}

enum Step {
    Back(u64),
    Parent(u64),
    At(CommitTime),
}

/// What a revision means.
#[derive(Debug, PartialEq, Eq)]
pub struct Meant {
    pub commit: Number,
    /// Whether the name means something else too.
    pub doubtful: bool,
}

/// Something with a name.
struct Thing {
    /// Its commit, if it has one.
    now: Option<Number>,
    /// The name of its log, if it has one.
    log: Option<String>,
}

/// Takes a revision apart; `None` where the text is none.
pub fn revision(text: &str) -> Option<Parts<'_>> {
    if text.contains("..") {
        return None;
    }
    let (mut base, mut steps) = (text, Vec::new());
    let nth = loop {
        let bare = base.trim_end_matches(|c: char| c.is_ascii_digit());
        if let Some(before) = bare.strip_suffix(['~', '^']) {
            let digits = &base[bare.len()..];
            let count = if digits.is_empty() { 1 } else { digits.parse().ok()? };
            steps.push(if bare.ends_with('~') { Step::Back(count) } else { Step::Parent(count) });
            base = before;
            continue;
        }
        let Some((before, inside)) = base.strip_suffix('}').and_then(|open| open.rsplit_once("@{")) else { break None };
        if let Some(time) = time(inside) {
            steps.push(Step::At(time));
        } else if !inside.is_empty() && inside.bytes().all(|b| b.is_ascii_digit()) {
            base = before;
            break Some(inside.parse().ok()?);
        } else {
            break None;
        }
        base = before;
    };
    let may_lack_a_name = nth.is_some() || matches!(steps.last(), Some(Step::At(_)));
    let is_base = match base {
        "" => may_lack_a_name,
        "@{-1}" => true,
        name => {
            !name.contains(['~', '^'])
                && !name.contains("@{")
                && !name.contains(|c: char| c.is_whitespace() || c.is_control())
        }
    };
    is_base.then_some(Parts { base, nth, steps })
}

/// Whether a text is a selection. An end that is left out is HEAD.
pub fn is_selection(text: &str) -> bool {
    let is_end = |text: &str| text.is_empty() || revision(text).is_some();
    if let Some(without) = text.strip_prefix('^') {
        return revision(without).is_some();
    }
    match text.split_once("...").or_else(|| text.split_once("..")) {
        Some((one, other)) => is_end(one) && is_end(other),
        None => revision(text).is_some(),
    }
}

/// The commit that a revision means to a session, if it means one.
pub fn commit(memory: &Memory, view: &SessionView<'_, Reading>, text: &str) -> Option<Meant> {
    let Parts { base, nth, steps } = revision(text)?;
    let things = things(memory, view, base, nth.is_some());
    let first = things.first()?;
    let mut commit = match nth {
        None => first.now,
        Some(nth) => {
            let updates = view.tables.updates(first.log.as_ref()?).expect("a log");
            let mut values: Vec<_> = updates.iter().map(|update| update.new).collect();
            values.push(updates.last().map_or(first.now, |oldest| oldest.old));
            *values.get(usize::try_from(nth).ok()?)?
        }
    }?;
    for step in steps.iter().rev() {
        let parents = |commit: Number| &memory.commits[&commit].parents;
        match *step {
            Step::Back(count) => {
                for _ in 0..count {
                    commit = *parents(commit).first()?;
                }
            }
            Step::Parent(0) => {}
            Step::Parent(nth) => commit = *parents(commit).get(usize::try_from(nth - 1).ok()?)?,
            Step::At(time) => {
                while memory.commits[&commit].time.unix_ms() > time.unix_ms() {
                    commit = *parents(commit).first()?;
                }
            }
        }
    }
    Some(Meant { commit, doubtful: things.len() > 1 })
}

/// All that a base means, what is taken first. What has no commit is meant only where nothing else is.
fn things(memory: &Memory, view: &SessionView<'_, Reading>, base: &str, counted: bool) -> Vec<Thing> {
    let (tables, row) = (view.tables, view.row.as_ref());
    let commit = |number| Thing { now: Some(number), log: None };
    let at = |head: &Head| match head {
        Head::Branch(name) => reference(tables, name),
        Head::Detached(number) => commit(*number),
    };
    match (base, &view.head) {
        ("", head @ Head::Branch(_)) if counted => vec![at(head)],
        ("" | "@" | "HEAD", head) => vec![Thing { log: Some(view.log_name()), ..at(head) }],
        ("ORIG_HEAD", _) => row.and_then(|row| row.orig_head).map(commit).into_iter().collect(),
        ("@{-1}", _) => row.and_then(|row| row.previous.as_ref()).map(at).into_iter().collect(),
        (name, head) => {
            let full = name.starts_with("refs/").then(|| name.to_owned());
            let refs = ["refs/", "refs/tags/", "refs/heads/"].map(|before| format!("{before}{name}"));
            let refs: Vec<_> = full.into_iter().chain(refs).collect();
            let is_hexadecimal = name.bytes().all(|b| b.is_ascii_hexdigit());
            let begins_with = |name: &str| -> Vec<Number> {
                let name = name.to_ascii_lowercase();
                let ids = memory.commits.iter().filter(|(_, commit)| commit.id.to_string().starts_with(&name));
                ids.map(|(&number, _)| number).collect()
            };
            let ids = if name.len() >= 4 && is_hexadecimal { begins_with(name) } else { Vec::new() };
            let by_id = match ids[..] {
                [] => None,
                [number] => Some(commit(number)),
                _ => Some(Thing { now: None, log: None }),
            };
            let (whole, prefix) = if name.len() == 64 { (by_id, None) } else { (None, by_id) };
            let standing = refs.iter().map(|name| reference(tables, name)).filter(|thing| thing.now.is_some());
            let mut things: Vec<_> = whole.into_iter().chain(standing).chain(prefix).collect();
            if things.is_empty() {
                let is_known = |name: &&String| {
                    *head == Head::Branch((*name).clone()) || !tables.updates(name).expect("a log").is_empty()
                };
                things.extend(refs.iter().find(is_known).map(|name| reference(tables, name)));
            }
            things
        }
    }
}

fn reference(tables: &Tables<Reading>, name: &str) -> Thing {
    Thing { now: tables.reference(name).expect("a ref"), log: Some(name.to_owned()) }
}

/// The common ancestors that are no parent of another one.
pub fn merge_bases(memory: &Memory, one: Number, other: Number) -> BTreeSet<Number> {
    let ancestors = |of: Number| {
        let (mut found, mut open) = (BTreeSet::new(), vec![of]);
        while let Some(number) = open.pop() {
            if found.insert(number) {
                open.extend(&memory.commits[&number].parents);
            }
        }
        found
    };
    let common = &ancestors(one) & &ancestors(other);
    let inner: BTreeSet<_> = common.iter().flat_map(|number| memory.commits[number].parents.clone()).collect();
    &common - &inner
}
