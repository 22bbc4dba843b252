//! The seven questions of an audit, asked of a history of a thousand commits.

mod script;

use super::support::{Files, Place, lines};
use script::{COMMITS, Commit, DIET, Held, POISON, POISONED, Part, SOURCES, Said, message, rows, script};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

/// The script, and the files of the store that it made.
struct History {
    commits: Vec<Commit>,
    files: Files,
}

/// Made once; each test asks a copy of its own.
fn history() -> (Place, &'static [Commit]) {
    static HISTORY: OnceLock<History> = OnceLock::new();
    let History { commits, files } = HISTORY.get_or_init(|| {
        let (place, commits) = (Place::with_store(), script());
        let ids: Vec<_> = commits.iter().map(|commit| commit.id.as_str()).collect();
        place.mnem(&["put", "--jsonl", "-", "--commits"]).input(rows(&commits)).says(&lines(&ids), "");
        History { files: place.files(), commits }
    });
    (Place::with_files(files), commits)
}

/// Some commits from the first to the last.
fn some(every: usize) -> impl Iterator<Item = usize> {
    (0..COMMITS).step_by(every).chain([POISON - 1, POISON, COMMITS - 1])
}

/// Every id that ever was.
fn ids(commits: &[Commit]) -> BTreeSet<&str> {
    commits.iter().flat_map(|commit| &commit.changed).map(String::as_str).collect()
}

/// Who wrote a version: such as `3f9c2a81b0 ~2025-12-01T08:00:00.000+00:00 Ada <ada@example.org> (source: web)`.
fn header(commits: &[Commit], at: usize, id: &str) -> String {
    let (commit, held) = (&commits[at], &commits[at].state[id]);
    let time = held.event_time.clone().unwrap_or_else(|| format!("~{}", commit.time()));
    let set: Vec<_> = held.provenance.iter().map(|(key, text)| format!("{key}: {text}")).collect();
    let provenance = if set.is_empty() { String::new() } else { format!(" ({})", set.join(", ")) };
    format!("{} {time} {}{provenance}\n", &commit.id[..10], commit.author)
}

fn indented(text: &str) -> String {
    text.lines().map(|line| format!("    {line}\n")).collect()
}

#[test]
fn what_is_believed_now() {
    let (place, commits) = history();
    let state = &commits[COMMITS - 1].state;
    place.mnem(&["ls"]).says(&lines(&state.keys().collect::<Vec<_>>()), "");
    for (id, held) in state {
        place.mnem(&["get", id]).says(&held.said.text(), "");
    }
    let rows: String = state.iter().map(|(id, held)| held.node(id).row()).collect();
    place.mnem(&["get", "--json"]).arguments(state.keys()).says(&rows, "");
}

#[test]
fn what_was_believed_at_a_commit_and_at_a_time() {
    let (place, commits) = history();
    for at in some(151) {
        let Commit { id, state, .. } = &commits[at];
        place.mnem(&["ls", "-r", id]).says(&lines(&state.keys().collect::<Vec<_>>()), "");
        let rows: String = state.iter().map(|(id, held)| held.node(id).row()).collect();
        place.mnem(&["get", "--json", "-r", id]).arguments(state.keys()).says(&rows, "");
        if let Some(held) = state.get(DIET) {
            place.mnem(&["get", DIET, "-r", id]).says(&held.said.text(), "");
        }
    }
    // Just when a commit was made, before and after; around the clocks that go back too.
    for seconds in [38, 39, 40, 41, 555, POISON, 999].map(|at| commits[at].seconds) {
        for seconds in [seconds - 1, seconds, seconds + 1, seconds + 900] {
            let found = commits.iter().rfind(|commit| commit.seconds <= seconds).expect("one that old");
            let revision = format!("main@{{@{seconds}}}");
            let rows: String = found.state.iter().map(|(id, held)| held.node(id).row()).collect();
            place.mnem(&["get", "--json", "-r", &revision]).arguments(found.state.keys()).says(&rows, "");
        }
    }
    let early = format!("HEAD@{{@{}}}", commits[0].seconds - 1);
    assert_eq!(place.mnem(&["get", DIET, "-r", &early]).answer().status, 128);
}

#[test]
fn when_a_belief_first_went_wrong() {
    let (place, commits) = history();
    let said = |at: usize| commits[at].state.get(DIET).map(|held| held.said.text());
    let is_wrong = |at: usize| said(at).is_some_and(|text| text.contains("steak"));
    assert!(!is_wrong(POISON - 1) && (POISON..COMMITS).all(is_wrong));
    place.mnem(&["log", "-S", "steak", "--ids", "--", DIET]).says(&lines(&[&commits[POISON].id]), "");
    // Every version of it is behind one of the commits that log names, and each is what get says there.
    let changed: Vec<_> = (0..COMMITS).rev().filter(|&at| commits[at].changed.iter().any(|id| id == DIET)).collect();
    let named: Vec<_> = changed.iter().map(|&at| commits[at].id.as_str()).collect();
    place.mnem(&["log", "--ids", "--", DIET]).says(&lines(&named), "");
    for &at in changed.iter().filter(|at| at.abs_diff(POISON) < 40) {
        place.mnem(&["get", DIET, "-r", &commits[at].id]).says(&said(at).expect("it stands"), "");
    }
    // A search by halves ends at the same commit.
    let (mut good, mut bad) = (0, COMMITS - 1);
    while bad - good > 1 {
        let middle = usize::midpoint(good, bad);
        let found =
            said(middle).map_or_else(|| format!("there is no node '{DIET}'"), |text| format!("'{DIET}' is \"{text}\""));
        let test = place.mnem(&["test", "--contains", DIET, "steak", "-r", &commits[middle].id]);
        if is_wrong(middle) {
            test.says("", "");
            bad = middle;
        } else {
            test.ends(1, "", &format!("--contains {DIET} steak: {found}\n"));
            good = middle;
        }
    }
    assert_eq!(bad, POISON);
    place.mnem(&["test", "--equals", DIET, POISONED, "-r", &commits[POISON].id]).says("", "");
}

/// Of what is to be told of a node that stands, line by line and member by member.
fn blame(commits: &[Commit], id: &str, held: &Held) -> String {
    let parts: Vec<(String, usize)> = match &held.said {
        Said::Line(_) => {
            let whole = header(commits, held.content_at, id) + &indented(&held.said.text());
            let anew = format!("provenance or event time written anew:\n{}", header(commits, held.writer, id));
            return if held.content_at == held.writer { whole } else { whole + &anew };
        }
        Said::Text(lines) => {
            let width = lines.len().to_string().len();
            let line = |(nth, (line, at)): (usize, &Part)| (format!("    {:>width$}  {line}\n", nth + 1), *at);
            lines.iter().enumerate().map(line).collect()
        }
        Said::Value(members) => {
            members.iter().map(|(key, (token, at))| (format!("    /{key}: {token}\n"), *at)).collect()
        }
    };
    let mut told = String::new();
    for (nth, (text, at)) in parts.iter().enumerate() {
        if nth == 0 || parts[nth - 1].1 != *at {
            told += &header(commits, *at, id);
        }
        told += text;
    }
    told
}

#[test]
fn which_observation_set_it() {
    let (place, commits) = history();
    for (id, held) in &commits[COMMITS - 1].state {
        place.mnem(&["blame", id]).says(&blame(commits, id, held), "");
    }
    for at in some(301) {
        let Commit { id: commit, state, .. } = &commits[at];
        for (id, held) in state.iter().step_by(4) {
            place.mnem(&["blame", id, "-r", commit]).says(&blame(commits, id, held), "");
        }
    }
    let poisoned = place.mnem(&["blame", DIET, "-r", &commits[POISON].id]).output();
    assert!(poisoned.contains(&format!("source: {}", SOURCES[0])), "{poisoned}");
}

/// A range of lines as it stands in a hunk.
fn span(start: usize, count: usize) -> String {
    match count {
        0 => format!("{start},0"),
        1 => (start + 1).to_string(),
        _ => format!("{},{count}", start + 1),
    }
}

/// The hunks between two texts in which no line stands twice and none moves.
fn hunks(old: &[&str], new: &[&str]) -> String {
    // Every line once, as it goes, comes or stays, with how many of each side are before it.
    let (mut rows, mut old_at, mut new_at) = (Vec::new(), 0, 0);
    while old_at < old.len() || new_at < new.len() {
        let goes = old.get(old_at).is_some_and(|line| !new.contains(line));
        let comes = new.get(new_at).is_some_and(|line| !old.contains(line));
        let (sign, line) = if goes { ('-', old[old_at]) } else { (if comes { '+' } else { ' ' }, new[new_at]) };
        rows.push((sign, line, old_at, new_at));
        old_at += usize::from(sign != '+');
        new_at += usize::from(sign != '-');
    }
    let near = |at: usize| rows[at.saturating_sub(3)..rows.len().min(at + 4)].iter().any(|row| row.0 != ' ');
    let mut told = String::new();
    for at in (0..rows.len()).filter(|&at| near(at) && (at == 0 || !near(at - 1))) {
        let hunk = &rows[at..(at..rows.len()).find(|&at| !near(at)).unwrap_or(rows.len())];
        let count = |other: char| hunk.iter().filter(|row| row.0 != other).count();
        told += &format!("@@ -{} +{} @@\n", span(rows[at].2, count('+')), span(rows[at].3, count('-')));
        hunk.iter().for_each(|(sign, line, ..)| told += &format!("{sign}{line}\n"));
    }
    told
}

/// What became of a node, between two states that are one commit apart or where it is a text.
fn patch(id: &str, old: Option<&Held>, new: Option<&Held>) -> String {
    let word = match (old, new) {
        (None, _) => "added",
        (_, None) => "removed",
        _ => "modified",
    };
    if let (Some(old), Some(new)) = (old, new)
        && old.said.json() == new.said.json()
    {
        let fact =
            |held: &Held, key: &str| held.provenance.iter().find(|(set, _)| *set == key).map(|(_, text)| text.clone());
        let mut told = format!("modified {id} (provenance only)\n");
        for key in ["agent_step", "observation", "source", "note"] {
            let (before, after) = (fact(old, key), fact(new, key));
            for (sign, value) in [('-', &before), ('+', &after)].into_iter().filter(|_| before != after) {
                value.iter().for_each(|value| told += &format!("{sign} {key}: {value}\n"));
            }
        }
        return told;
    }
    let content = |held: Option<&Held>| held.map_or(String::new(), |held| held.said.text());
    let (before, after) = (content(old), content(new));
    let members = |held: Option<&Held>| match held.map(|held| &held.said) {
        Some(Said::Value(members)) => members.iter().map(|(key, (token, _))| format!("/{key}: {token}\n")).collect(),
        _ => Vec::new(),
    };
    let (old_members, new_members) = (members(old), members(new));
    let told = if old_members.is_empty() && new_members.is_empty() {
        hunks(&before.lines().collect::<Vec<_>>(), &after.lines().collect::<Vec<_>>())
    } else {
        let side = |sign: char, own: &[String], other: &[String]| {
            own.iter().filter(|row| !other.contains(row)).map(|row| format!("{sign} {row}")).collect::<String>()
        };
        side('-', &old_members, &new_members) + &side('+', &new_members, &old_members)
    };
    format!("{word} {id}\n{told}")
}

#[test]
fn what_a_commit_changed() {
    let (place, commits) = history();
    let nothing = BTreeMap::new();
    for at in some(11).filter(|at| at + 1 < COMMITS) {
        let Commit { id, author, changed, state, .. } = &commits[at];
        let old = at.checked_sub(1).map_or(&nothing, |parent| &commits[parent].state);
        let patches: Vec<_> = changed.iter().map(|id| patch(id, old.get(id), state.get(id))).collect();
        let header = format!("commit {id}\nAuthor: {author}\nDate:   {}\n\n    {}\n", commits[at].time(), message(at));
        place.mnem(&["show", id]).says(&format!("{header}\n{}", patches.join("\n")), "");
        if at > 0 {
            place.mnem(&["diff", &format!("{id}~1"), id]).says(&patches.join("\n"), "");
        }
    }
    for (old_at, new_at) in [(10, 400), (POISON - 40, POISON), (500, 501), (999, 3), (700, 999), (120, 120)] {
        let (old, new) = (&commits[old_at], &commits[new_at]);
        let (mut letters, mut patches) = (Vec::new(), Vec::new());
        for id in ids(commits) {
            let (before, after) = (old.state.get(id), new.state.get(id));
            let letter = match (before, after) {
                (None, Some(_)) => 'A',
                (Some(_), None) => 'D',
                (Some(before), Some(after)) if before.node(id) != after.node(id) => 'M',
                _ => continue,
            };
            letters.push(format!("{letter} {id}"));
            if id.starts_with("note/") {
                patches.push(patch(id, before, after));
            }
        }
        place.mnem(&["diff", &old.id, &new.id, "--name-status"]).says(&lines(&letters), "");
        place.mnem(&["diff", &old.id, &new.id, "--", "note/"]).says(&patches.join("\n"), "");
    }
}

#[test]
fn what_came_from_a_source_ever() {
    let (place, commits) = history();
    for source in SOURCES {
        let is_from = |held: &Held| held.source() == Some(source);
        let wrote = |at: &usize| {
            let Commit { changed, state, .. } = &commits[*at];
            changed.iter().any(|id| state.get(id).is_some_and(is_from))
        };
        let found: Vec<_> = (0..COMMITS).rev().filter(wrote).collect();
        assert!(found.len() > 10, "{source}");
        let named: Vec<_> = found.iter().map(|&at| commits[at].id.as_str()).collect();
        place.mnem(&["log", "--source", source, "--ids"]).says(&lines(&named), "");
        let state = &commits[COMMITS - 1].state;
        let standing: Vec<_> = state.iter().filter(|(_, held)| is_from(held)).map(|(id, _)| id).collect();
        place.mnem(&["ls", "--source", source]).says(&lines(&standing), "");
        let early = &commits[POISON];
        let standing: Vec<_> = early.state.iter().filter(|(_, held)| is_from(held)).map(|(id, _)| id).collect();
        place.mnem(&["ls", "--source", source, "-r", &early.id]).says(&lines(&standing), "");
    }
    for id in ids(commits) {
        let mut told = String::new();
        for at in (0..COMMITS).rev().filter(|&at| commits[at].changed.iter().any(|changed| changed == id)) {
            told += &match commits[at].state.get(id) {
                Some(held) => header(commits, at, id) + &indented(&held.said.text()),
                None => removed(commits, at),
            };
        }
        place.mnem(&["blame", "--history", id]).says(&told, "");
    }
}

fn removed(commits: &[Commit], at: usize) -> String {
    let commit = &commits[at];
    format!("{} ~{} {} removed\n", &commit.id[..10], commit.time(), commit.author)
}

#[test]
fn who_removed_it_and_what_did_it_say() {
    let (place, commits) = history();
    let mut asked = 0;
    for at in some(83) {
        let Commit { id: commit, state, .. } = &commits[at];
        for id in ids(commits).into_iter().filter(|id| !state.contains_key(*id)) {
            let had = |at: &usize| *at > 0 && commits[*at - 1].state.contains_key(id);
            let Some(end) = (1..=at).rev().find(had) else { continue };
            asked += 1;
            let last = &commits[end - 1].state[id];
            let told = removed(commits, end) + &header(commits, last.writer, id) + &indented(&last.said.text());
            let error = format!(
                "mnem: error[no-node]: no node '{id}': commit {} removed it\nhint: mnem blame --history -- '{id}'\n",
                &commits[end].id[..10]
            );
            place.mnem(&["blame", id, "-r", commit]).ends(1, &told, &error);
            if at + 1 == COMMITS {
                place.mnem(&["blame", id]).ends(1, &told, &error);
            }
        }
    }
    assert!(asked > 20, "{asked}");
}
