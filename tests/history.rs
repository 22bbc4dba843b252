//! What `log`, `ls`, `grep`, `merge-base` and `bisect find` find in random histories with merges and odd clocks, held against what a naive reading of each
//! question gives.

use mnemosyne::graph::{Found, NodeFilter, Predicate, Revision, Seen, Selection, State, TextChange, parse};
use mnemosyne::model::{
    Author, BranchName, CommitTime, Content, ContentKind, Message, Node, NodeId, Pattern, Provenance, SessionName,
    Timestamp,
};
use mnemosyne::object::{CommitId, New, encode_node, node_object_id, update};
use mnemosyne::ops::{
    Assertion, FindRequest, GrepRequest, LogFilter, LsRequest, check, find, grep, is_ancestor, log, ls, merge_base,
};
use mnemosyne::store::{CommitWords, Number, Store, StoreError, init};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use regex::Regex;
use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::time::Duration;

const IDS: [&str; 5] = ["a", "b", "x/a", "x/b", "x/y/a"];
const REFS: [&str; 3] = ["", "r", "s"];
const TIMES: [&str; 5] = [
    "1970-01-01T00:00:01Z",
    "1970-01-01T01:00:02+01:00",
    "1970-01-01T00:00:02.0000005Z",
    "1969-12-31T23:00:03-01:00",
    "1970-01-01T00:00:04Z",
];
/// As JSON.
const CONTENTS: [&str; 5] = [r#""a\nb\n""#, r#""b\na\n""#, r#""a\na""#, r#""\ud800a""#, "[\"a\",\n\"b\"]"];
const PATTERNS: [&[&str]; 6] = [&[], &[], &["a"], &["x/"], &["*", "x/b"], &["b", "x/y/a"]];

/// What a commit does to one id of its first parent's state.
#[derive(Clone, Debug)]
enum Edit {
    Set {
        content: usize,
        provenance: [Option<usize>; 4],
        event_time: Option<usize>,
    },
    Remove,
    /// As the last parent has it.
    Take,
}

#[derive(Clone, Debug)]
struct Step {
    parents: Vec<usize>,
    edits: BTreeMap<usize, Edit>,
    seconds: i64,
}

fn edit() -> impl Strategy<Value = Edit> {
    let set = (0..CONTENTS.len(), [(); 4].map(|()| option::of(0..REFS.len())), option::of(0..TIMES.len()));
    prop_oneof![
        4 => set.prop_map(|(content, provenance, event_time)| Edit::Set { content, provenance, event_time }),
        1 => Just(Edit::Remove),
        3 => Just(Edit::Take),
    ]
}

/// Histories of which most commits continue the last one, and every third is a merge.
fn steps() -> impl Strategy<Value = Vec<Step>> {
    let edits = proptest::collection::btree_map(0..IDS.len(), edit(), 0..5);
    vec((vec(any::<prop::sample::Index>(), 3), 0..12u8, edits, 0..6i64), 4..20).prop_map(|seeds| {
        let mut steps = Vec::new();
        for (picks, kind, edits, seconds) in seeds {
            let size = steps.len();
            let mut parents = Vec::new();
            if size > 0 && kind > 0 {
                let others = picks.iter().map(|pick| pick.index(size));
                let wanted = [size - 1].into_iter().filter(|_| kind > 3).chain(others);
                for parent in wanted.take(if kind < 8 { 1 } else { usize::from(kind) - 6 }) {
                    if !parents.contains(&parent) {
                        parents.push(parent);
                    }
                }
            }
            steps.push(Step { parents, edits, seconds });
        }
        steps
    })
}

/// A commit as it is remembered: the node of each id, and which commit wrote it.
#[derive(Clone, Debug)]
struct Known {
    id: CommitId,
    parents: Vec<usize>,
    seconds: i64,
    state: BTreeMap<NodeId, (Node, usize)>,
}

/// A store in a directory of its own, and all that is known of it.
struct History {
    store: Store,
    commits: Vec<Known>,
    _place: tempfile::TempDir,
}

fn time(seconds: i64) -> CommitTime {
    CommitTime::new(seconds * 1000, 60).expect("a time")
}

fn node(id: &NodeId, content: usize, provenance: [Option<usize>; 4], event_time: Option<usize>) -> Node {
    let [agent_step, observation, tool_call, source] = provenance.map(|at| at.map(|at| REFS[at].to_owned()));
    Node {
        id: id.clone(),
        content: Content::from_json(CONTENTS[content]).expect("JSON"),
        content_kind: ContentKind::Note,
        provenance: Provenance { agent_step, observation, tool_call, source, note: None },
        event_time: event_time.map(|at| Timestamp::parse(TIMES[at]).expect("a time")),
    }
}

impl History {
    fn of(steps: &[Step]) -> Self {
        let place = tempfile::tempdir().expect("a directory");
        let directory = place.path().join(".mnemosyne");
        init(&directory, &BranchName::new("main").expect("a name")).expect("a store");
        let store = Store::new(directory, Duration::from_secs(10));
        let mut commits: Vec<Known> = Vec::new();
        let written = store.write(store.snapshot().expect("a snapshot"), |tables| {
            let mut numbers: Vec<Number> = Vec::new();
            for (own, step) in steps.iter().enumerate() {
                let mut nodes: BTreeMap<NodeId, Node> = step.parents.first().map_or(BTreeMap::new(), |&first| {
                    commits[first].state.iter().map(|(id, (node, _))| (id.clone(), node.clone())).collect()
                });
                let mut changes = BTreeMap::new();
                for (&at, edit) in &step.edits {
                    let id = NodeId::new(IDS[at]).expect("an id");
                    let new = match edit {
                        Edit::Set { content, provenance, event_time } => {
                            Some(node(&id, *content, *provenance, *event_time))
                        }
                        Edit::Remove => None,
                        Edit::Take => {
                            let last = step.parents.last().and_then(|&last| commits[last].state.get(&id));
                            last.map(|(node, _)| node.clone())
                        }
                    };
                    match &new {
                        Some(node) => drop(nodes.insert(id.clone(), node.clone())),
                        None => drop(nodes.remove(&id)),
                    }
                    let bytes = new.as_ref().map(encode_node);
                    changes.insert(id, bytes.map(|payload| New { object: node_object_id(&payload), payload }));
                }
                let parents: Vec<_> = step.parents.iter().map(|&parent| numbers[parent]).collect();
                let words = CommitWords {
                    author: Author::new("Ada").expect("an author"),
                    time: time(step.seconds),
                    message: Message::new(&format!("commit {own}")).expect("a message"),
                };
                let update = update(tables, tables.root(parents.first().copied())?, changes)?;
                let (number, id) = tables.append_commit(parents, words, update)?;
                tables.set_reference("refs/heads/main", number, time(0), "test")?;
                numbers.push(number);
                let written = |(id, node): (NodeId, Node)| {
                    let mut kept = step.parents.iter().filter_map(|&parent| commits[parent].state.get(&id));
                    let writer = kept.find(|(other, _)| *other == node).map_or(own, |(_, writer)| *writer);
                    (id, (node, writer))
                };
                let state = nodes.into_iter().map(written).collect();
                commits.push(Known { id, parents: step.parents.clone(), seconds: step.seconds, state });
            }
            Ok::<_, StoreError>(())
        });
        written.expect("a history");
        Self { store, commits, _place: place }
    }

    /// The ancestors of a commit, the last one first.
    fn ancestors(&self, of: usize, first_parent: bool) -> Vec<usize> {
        let (mut found, mut open) = (BTreeSet::new(), vec![of]);
        while let Some(at) = open.pop() {
            if found.insert(at) {
                let parents = &self.commits[at].parents;
                open.extend(parents.iter().take(if first_parent { 1 } else { parents.len() }));
            }
        }
        found.into_iter().rev().collect()
    }

    fn admits(&self, filter: &NodeFilter, node: &Node, writer: usize) -> bool {
        let wanted = &filter.provenance;
        let found = &node.provenance;
        let is = |wanted: &Option<String>, found: &Option<String>| wanted.is_none() || wanted == found;
        let committed = time(self.commits[writer].seconds).instant();
        let time = node.event_time.as_ref().map_or(committed, Timestamp::instant);
        is(&wanted.source, &found.source)
            && is(&wanted.tool_call, &found.tool_call)
            && is(&wanted.agent_step, &found.agent_step)
            && is(&wanted.observation, &found.observation)
            && filter.event_since.is_none_or(|since| time >= since)
            && filter.event_until.is_none_or(|until| time <= until)
    }

    /// The ids of which a commit changed the node against its first parent as the filter says.
    fn changed(&self, at: usize, filter: &LogFilter) -> Vec<NodeId> {
        let commit = &self.commits[at];
        let first = commit.parents.first().map(|&first| &self.commits[first].state);
        let ids = IDS.map(|id| NodeId::new(id).expect("an id")).into_iter();
        ids.filter(|id| Pattern::choose(&filter.patterns, id.as_str()))
            .filter(|id| {
                let old = first.and_then(|state| state.get(id)).map(|(node, _)| node);
                let new = commit.state.get(id);
                let takes_all = filter.first_parent && commit.parents.len() > 1;
                let wrote = |(node, writer): &(Node, usize)| {
                    (*writer == at || takes_all) && self.admits(&filter.nodes, node, *writer)
                };
                let content = |node: &Node| node.content.clone();
                let (before, after) = (old.map(content), new.map(|(node, _)| content(node)));
                let is_made = |text: &TextChange| text.is_between(before.as_ref(), after.as_ref());
                let differs = old != new.map(|(node, _)| node) && filter.text.as_ref().is_none_or(is_made);
                differs && (filter.nodes == NodeFilter::default() || new.is_some_and(wrote))
            })
            .collect()
    }

    fn chosen(&self, at: usize, filter: &LogFilter) -> bool {
        let looks_at_nodes = filter.nodes != NodeFilter::default() || filter.text.is_some();
        if looks_at_nodes || filter.first_parent && !filter.patterns.is_empty() {
            return !self.changed(at, filter).is_empty();
        }
        let commit = &self.commits[at];
        filter.patterns.is_empty()
            || IDS.iter().map(|id| NodeId::new(*id).expect("an id")).any(|id| {
                let parents: Vec<_> =
                    commit.parents.iter().map(|&parent| commits_has(&self.commits[parent], &id)).collect();
                let wrote = match commit.state.get(&id) {
                    Some((_, writer)) => *writer == at,
                    None => !parents.is_empty() && parents.iter().all(|has| *has),
                };
                wrote && Pattern::choose(&filter.patterns, id.as_str())
            })
    }

    fn selection(&self, at: usize) -> Selection {
        Selection::Of(self.revision(at))
    }

    fn revision(&self, at: usize) -> Revision {
        Revision::parse(&self.commits[at].id.to_string(), &|_| None).expect("an id")
    }
}

/// Predicates of one node and of several, by patterns with and without a literal prefix.
const CLAIMS: [&[&str]; 16] = [
    &["--contains", "a", "b"],
    &["--not", "--contains", "a", "b"],
    &["--present", "x/a"],
    &["--absent", "b"],
    &["--equals-json", "a", "[\"a\",\"b\"]"],
    &["--path-exists", "x/b", "/0"],
    &["--contains", "a", "b", "--not", "--equals", "a", "a\na"],
    &["--contains", "a", "a", "--present", "b"],
    &["--present", "a", "--not", "--present", "x/a", "--absent", "x/b"],
    &["--count", "a", "eq", "1"],
    &["--count", "x/", "ge", "2"],
    &["--count", "x/*", "eq", "1", "--contains", "a", "b"],
    &["--any", "x/", "b\n"],
    &["--not", "--any", "x/**", "[\"a\""],
    &["--count", "*", "ne", "1"],
    &["--any", "**", "b\na", "--present", "x/y/a"],
];

/// A state as it is remembered.
struct Remembered<'k>(Option<&'k Known>);

impl Remembered<'_> {
    fn contents(&self) -> impl Iterator<Item = (&NodeId, &Content)> {
        self.0.into_iter().flat_map(|known| &known.state).map(|(id, (node, _))| (id, &node.content))
    }
}

impl State for Remembered<'_> {
    type Error = Infallible;

    fn seen(&self, id: &NodeId) -> Result<Seen, Infallible> {
        let found = self.contents().find(|(other, _)| *other == id);
        Ok(found.map_or(Seen::Absent, |(_, content)| Seen::Content(content.clone())))
    }

    fn count(&self, pattern: &Pattern) -> Result<u64, Infallible> {
        Ok(self.contents().filter(|(id, _)| pattern.matches(id.as_str())).count() as u64)
    }

    fn first(
        &self,
        pattern: &Pattern,
        mut wanted: impl FnMut(&Content) -> bool,
    ) -> Result<Option<(NodeId, Content)>, Infallible> {
        let mut found = self.contents().filter(|(id, content)| pattern.matches(id.as_str()) && wanted(content));
        Ok(found.next().map(|(id, content)| (id.clone(), content.clone())))
    }
}

impl History {
    /// Whether a predicate holds at a commit, or in the empty memory, and what it finds.
    fn evaluated(&self, predicate: &Predicate, at: Option<usize>) -> (bool, Found) {
        let Ok(evaluation) = predicate.evaluate(&Remembered(at.map(|at| &self.commits[at])));
        (evaluation.holds, evaluation.found)
    }

    fn holds(&self, predicates: &[Predicate], at: Option<usize>) -> bool {
        predicates.iter().all(|predicate| self.evaluated(predicate, at).0)
    }

    /// The parents against which a commit is held, or the empty memory.
    fn before(&self, at: usize, first_parent: bool) -> Vec<Option<usize>> {
        let parents = &self.commits[at].parents;
        let followed = parents.iter().take(if first_parent { 1 } else { parents.len() });
        if parents.is_empty() { vec![None] } else { followed.map(|&parent| Some(parent)).collect() }
    }
}

fn commits_has(commit: &Known, id: &NodeId) -> bool {
    commit.state.contains_key(id)
}

fn node_filter() -> impl Strategy<Value = NodeFilter> {
    let field = || option::weighted(0.12, (0..REFS.len()).prop_map(|at| REFS[at].to_owned()));
    let time = || {
        option::weighted(0.3, (0..TIMES.len()).prop_map(|at| Timestamp::parse(TIMES[at]).expect("a time").instant()))
    };
    (field(), field(), field(), field(), time(), time()).prop_map(
        |(source, tool_call, agent_step, observation, event_since, event_until)| NodeFilter {
            provenance: Provenance { source, tool_call, agent_step, observation, note: None },
            event_since,
            event_until,
        },
    )
}

fn text_change() -> impl Strategy<Value = Option<TextChange>> {
    option::of((0..4usize).prop_map(|at| match at {
        0 => TextChange::Occurrences("a".to_owned()),
        1 => TextChange::Occurrences("b\n".to_owned()),
        2 => TextChange::Line(Regex::new("^a$").expect("a regex")),
        _ => TextChange::Line(Regex::new("b").expect("a regex")),
    }))
}

fn patterns() -> impl Strategy<Value = Vec<Pattern>> {
    let read = |text: &&str| Pattern::parse(text, false).expect("a pattern");
    (0..PATTERNS.len()).prop_map(move |at| PATTERNS[at].iter().map(read).collect())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn log_chooses_what_wrote_such_a_node(
        steps in steps(),
        questions in vec((node_filter(), text_change(), patterns(), any::<bool>(), 0..3usize), 16),
    ) {
        let history = History::of(&steps);
        for (nodes, text, patterns, first_parent, start) in questions {
            let start = steps.len() - 1 - start;
            let revisions = vec![history.selection(start)];
            let filter = LogFilter { revisions, patterns, nodes, text, first_parent, changed: true, ..LogFilter::default() };
            let report = log(&history.store, &SessionName::default(), &filter).expect("a log");
            let wanted = history.ancestors(start, first_parent).into_iter().filter(|&at| history.chosen(at, &filter));
            let wanted: Vec<_> = wanted.map(|at| (history.commits[at].id, history.changed(at, &filter))).collect();
            let changed = report.changed.iter().map(|changed| changed.iter().map(|changed| changed.id().clone()).collect());
            let found: Vec<_> = report.entries.iter().map(|entry| entry.commit.id).zip(changed).collect();
            prop_assert_eq!(found, wanted, "{:?}", filter);
        }
    }

    #[test]
    fn ls_lists_what_stands_of_such_nodes(
        steps in steps(),
        questions in vec((node_filter(), patterns(), 0..4usize), 16),
    ) {
        let history = History::of(&steps);
        for (filter, patterns, at) in questions {
            let at = steps.len() - 1 - at;
            let revision = Some(history.revision(at));
            let request = LsRequest { patterns, filter, revision, ..LsRequest::default() };
            let report = ls(&history.store, &SessionName::default(), &request).expect("a list");
            let state = history.commits[at].state.iter();
            let wanted = state.filter(|(id, (node, writer))| {
                Pattern::choose(&request.patterns, id.as_str()) && history.admits(&request.filter, node, *writer)
            });
            let found: Vec<_> = report.nodes.iter().map(|row| &row.id).collect();
            prop_assert_eq!(found, wanted.map(|(id, _)| id).collect::<Vec<_>>(), "{:?}", request);
        }
    }

    #[test]
    fn grep_finds_the_lines_of_what_stands(
        steps in steps(),
        questions in vec((0..4usize, patterns(), any::<bool>(), 0..4usize), 8),
    ) {
        let history = History::of(&steps);
        for (regex, patterns, lines, at) in questions {
            let at = steps.len() - 1 - at;
            let regex = Regex::new(["a", "^b", "a$", ""][regex]).expect("a regex");
            let request = GrepRequest { regex, patterns, revision: Some(history.revision(at)), lines };
            let report = grep(&history.store, &SessionName::default(), &request).expect("a search");
            let mut wanted = Vec::new();
            for (id, (node, _)) in &history.commits[at].state {
                let text = node.content.text().map_or_else(|| node.content.json().to_owned(), |text| text.into_owned());
                let mut lines: Vec<_> = text.split('\n').collect();
                if lines.last() == Some(&"") {
                    lines.pop();
                }
                let numbered = lines.into_iter().zip(1..).filter(|(line, _)| request.regex.is_match(line));
                let found: Vec<(usize, String)> = numbered.map(|(line, number)| (number, line.to_owned())).collect();
                if !found.is_empty() && Pattern::choose(&request.patterns, id.as_str()) {
                    wanted.push((id.clone(), found.len(), if request.lines { found } else { Vec::new() }));
                }
            }
            let found: Vec<_> = report.nodes.into_iter().map(|node| {
                let lines = node.lines.into_iter().map(|line| (line.number, line.text)).collect();
                (node.id, node.count, lines)
            }).collect();
            prop_assert_eq!(found, wanted, "{:?}", request);
        }
    }

    #[test]
    fn find_finds_what_an_evaluation_at_every_commit_does(
        steps in steps(),
        is_line in any::<bool>(),
        questions in vec(
            (0..CLAIMS.len(), option::of(any::<prop::sample::Index>()), 0..4usize, any::<bool>(), 0..8usize),
            24,
        ),
    ) {
        let mut steps = steps;
        if is_line {
            steps.iter_mut().for_each(|step| step.parents.truncate(1));
        }
        let history = History::of(&steps);
        for (claim, start, end, first_parent, changed) in questions {
            let words: Vec<_> = CLAIMS[claim].iter().map(|word| (*word).to_owned()).collect();
            let predicates = parse(&words).expect("predicates");
            let (start, end) = (start.map(|start| start.index(steps.len())), steps.len() - 1 - end);
            let changed = PATTERNS.get(changed).copied().unwrap_or_default();
            let changed: Vec<_> = changed.iter().map(|text| Pattern::parse(text, false).expect("a pattern")).collect();
            let left_out = start.map_or(Vec::new(), |start| history.ancestors(start, false));
            let range = history.ancestors(end, first_parent).into_iter();
            let range: Vec<_> = range.filter(|at| !left_out.contains(at)).collect();
            let holds = |at: Option<usize>| history.holds(&predicates, at);
            let flips = range.iter().copied().filter(|&at| {
                history.before(at, first_parent).into_iter().all(|parent| holds(parent) != holds(Some(at)))
            });
            let flips: Vec<_> = flips.collect();
            let filter = LogFilter { patterns: changed.clone(), first_parent, ..LogFilter::default() };
            let admitted: Vec<_> = flips.iter().copied().filter(|&at| history.chosen(at, &filter)).collect();
            let (at_start, at_end) = (holds(start), holds(Some(end)));
            // Those as the end is from which a path of such leads to the end.
            let mut same = BTreeSet::new();
            let mut open = vec![end];
            while let Some(at) = open.pop() {
                if range.contains(&at) && holds(Some(at)) == at_end && same.insert(at) {
                    open.extend(history.before(at, first_parent).into_iter().flatten());
                }
            }
            let origins = admitted.iter().copied().filter(|at| at_start != at_end && same.contains(at));
            let origins: Vec<_> = origins.collect();

            for all in [false, true] {
                let request = FindRequest {
                    start: start.map(|at| history.revision(at)),
                    end: history.revision(end),
                    predicates: predicates.clone(),
                    changed: changed.clone(),
                    first_parent,
                    all,
                };
                let report = find(&history.store, &SessionName::default(), &request).expect("an answer");
                let told = format!("{request:?} of {steps:?}, {start:?}..{end}, {flips:?}");
                prop_assert_eq!((report.at_start, report.at_end), (at_start, at_end), "{}", &told);
                prop_assert_eq!((report.count, report.origins), (admitted.len(), origins.len()), "{}", &told);
                let is_reversed = start.is_some_and(|start| start != end && left_out.contains(&end));
                prop_assert_eq!(report.is_reversed, is_reversed, "{}", &told);
                let expected = if all { &admitted[..] } else { &origins[..origins.len().min(1)] };
                let found: Vec<_> = report.flips.iter().map(|flip| (flip.entry.commit.id, flip.holds)).collect();
                let expected_ids = expected.iter().map(|&at| (history.commits[at].id, holds(Some(at))));
                prop_assert_eq!(found, expected_ids.collect::<Vec<_>>(), "{}", &told);
                for (flip, &at) in report.flips.iter().zip(expected) {
                    let turned = predicates.iter().filter_map(|predicate| {
                        let (now, after) = history.evaluated(predicate, Some(at));
                        let before = history.before(at, first_parent).into_iter();
                        let mut before = before.map(|parent| history.evaluated(predicate, parent));
                        let (_, before) = before.find(|(was, _)| *was != now)?;
                        Some((predicate.words().to_vec(), before, after))
                    });
                    let found = flip.turned.iter().map(|turned| {
                        (turned.predicate.words().to_vec(), turned.before.clone(), turned.after.clone())
                    });
                    prop_assert_eq!(found.collect::<Vec<_>>(), turned.collect::<Vec<_>>(), "{}", &told);
                    for touched in flip.turned.iter().flat_map(|turned| &turned.nodes) {
                        let node = history.commits[at].state.get(&touched.id);
                        let writer = node.map(|(_, writer)| history.commits[*writer].id);
                        let share = touched.share.as_ref().map(|share| share.writer.commit.as_ref());
                        let share = share.map(|commit| commit.expect("it is stored").id);
                        prop_assert_eq!(share, writer, "{}", &told);
                        prop_assert_eq!(touched.removal.is_none(), node.is_some(), "{}", &told);
                    }
                }
            }
        }
    }

    #[test]
    fn histories_part_at_the_last_commits_of_both(
        steps in steps(),
        pairs in vec((any::<prop::sample::Index>(), any::<prop::sample::Index>()), 16),
    ) {
        let history = History::of(&steps);
        let report = history.store.fsck(&mut |_, _, _| ()).expect("no refusal");
        prop_assert_eq!(report.findings, vec![]);
        for (one, other) in pairs {
            let (one, other) = (one.index(steps.len()), other.index(steps.len()));
            let (ours, theirs) = (history.ancestors(one, false), history.ancestors(other, false));
            let common: Vec<_> = ours.iter().copied().filter(|at| theirs.contains(at)).collect();
            let best = common.iter().copied().filter(|at| {
                common.iter().all(|other| other == at || !history.ancestors(*other, false).contains(at))
            });
            let (store, session) = (&history.store, SessionName::default());
            let (old, new) = (history.revision(one), history.revision(other));
            let (bases, doubts) = merge_base(store, &session, &old, &new).expect("merge bases");
            prop_assert_eq!(bases, best.map(|at| history.commits[at].id).collect::<Vec<_>>());
            prop_assert!(doubts.is_empty());
            let (found, _) = is_ancestor(store, &session, &old, &new).expect("an answer");
            prop_assert_eq!(found, theirs.contains(&one));
        }
    }
}

#[test]
fn where_several_or_no_histories_meet_the_command_says_so() {
    let step = |parents: &[usize]| Step { parents: parents.to_vec(), edits: BTreeMap::new(), seconds: 0 };
    // Two roots, and two merges of both that cross.
    let history = History::of(&[step(&[]), step(&[]), step(&[0, 1]), step(&[1, 0])]);
    let id = |at: usize| history.commits[at].id.to_string();
    let merge_base = |arguments: &[&str]| {
        let mut mnem = std::process::Command::new(env!("CARGO_BIN_EXE_mnem"));
        mnem.arg("merge-base").args(arguments).env_clear().env("MNEM_DIR", history.store.directory());
        let output = mnem.output().expect("mnem runs");
        assert!(output.stderr.is_empty(), "{output:?}");
        (output.status.code(), String::from_utf8(output.stdout).expect("UTF-8"))
    };
    let (first, second, one, other) = (id(0), id(1), id(2), id(3));
    assert_eq!(merge_base(&[&first, &second]), (Some(1), String::new()));
    assert_eq!(merge_base(&["--json", &first, &second]), (Some(1), String::new()));
    assert_eq!(merge_base(&[&one, &other]), (Some(0), format!("{second}\n")));
    assert_eq!(merge_base(&["--all", &one, &other]), (Some(0), format!("{second}\n{first}\n")));
}

#[test]
fn through_merges_who_is_to_blame_is_who_took_it_away_on_a_side_or_else_the_merge() {
    // Both contents with a "b", and two without.
    let (with, with_too, without, without_too) = (0, 1, 2, 3);
    let set = |content: usize| {
        let at = |source: usize| [None, None, None, Some(source)];
        move |source: usize| Edit::Set { content, provenance: at(source), event_time: None }
    };
    let step = |parents: &[usize], edit: Option<Edit>| Step {
        parents: parents.to_vec(),
        edits: edit.map(|edit| (0, edit)).into_iter().collect(),
        seconds: 0,
    };
    let wrote = |parents: &[usize], content: usize| step(parents, Some(set(content)(1)));
    let rewrote = |parents: &[usize], content: usize| step(parents, Some(set(content)(2)));
    let took = |parents: &[usize]| step(parents, Some(Edit::Take));
    let removed = |parents: &[usize]| step(parents, Some(Edit::Remove));
    let kept = |parents: &[usize]| step(parents, None);
    for (claim, steps, blamed, remover) in [
        (
            "the merge took the side that lacks it",
            vec![wrote(&[], with), wrote(&[0], without), kept(&[0]), took(&[2, 1])],
            &[1][..],
            None,
        ),
        (
            "the first parent is the side that lacks it",
            vec![wrote(&[], with), wrote(&[0], without), wrote(&[0], with_too), kept(&[1, 2])],
            &[1],
            None,
        ),
        (
            "both sides had it and the merge wrote another",
            vec![wrote(&[], with), wrote(&[0], with_too), kept(&[0]), wrote(&[1, 2], without)],
            &[3],
            None,
        ),
        (
            "the merge wrote another, and a side had lost it before",
            vec![wrote(&[], with), wrote(&[0], without), wrote(&[0], with_too), wrote(&[2, 1], without_too)],
            &[1],
            None,
        ),
        (
            "both sides had lost it",
            vec![wrote(&[], with), wrote(&[0], without), rewrote(&[0], without), wrote(&[1, 2], without_too)],
            &[2],
            None,
        ),
        (
            "the merge wrote another, and the other side never had it",
            vec![wrote(&[], without), wrote(&[0], with), rewrote(&[0], without), wrote(&[1, 2], without_too)],
            &[3],
            None,
        ),
        (
            "the merge wrote another, and the other side lost it before it came back on this one",
            vec![
                wrote(&[], with),
                wrote(&[0], without),
                wrote(&[1], with_too),
                rewrote(&[1], without),
                wrote(&[2, 3], without_too),
            ],
            &[4],
            None,
        ),
        ("the merge took a removal", vec![wrote(&[], with), removed(&[0]), kept(&[0]), took(&[2, 1])], &[], Some(1)),
        (
            "it was lost, and then the node was removed on a side",
            vec![wrote(&[], with), wrote(&[0], without), kept(&[1]), removed(&[1]), took(&[2, 3])],
            &[1],
            Some(3),
        ),
        (
            "it was removed, and a side wrote the node anew without it",
            vec![wrote(&[], with), removed(&[0]), wrote(&[1], without), kept(&[1]), took(&[3, 2])],
            &[2],
            Some(1),
        ),
        (
            "neither side ever had it",
            vec![wrote(&[], without), rewrote(&[0], without), kept(&[0]), wrote(&[1, 2], without_too)],
            &[3],
            None,
        ),
    ] {
        let history = History::of(&steps);
        let words = ["--contains", "a", "b"].map(str::to_owned);
        let assertions = [Assertion { name: claim.to_owned(), predicates: parse(&words).expect("a predicate") }];
        let revision = history.revision(steps.len() - 1);
        let checked = check(&history.store, &SessionName::default(), Some(&revision), &assertions);
        let (failures, _) = checked.expect("an answer");
        let [failure] = &failures[0][..] else { panic!("{claim}: {failures:?}") };
        let number = |commit: CommitId| history.commits.iter().position(|known| known.id == commit);
        let writers = failure.shares.iter().filter_map(|share| number(share.writer.commit.as_ref()?.id));
        assert_eq!(writers.collect::<Vec<_>>(), blamed, "{claim}");
        let removal = failure.removal.as_ref().and_then(|removal| number(removal.commit.as_ref()?.id));
        assert_eq!(removal, remover, "{claim}");
    }
}

#[test]
fn a_flip_that_was_not_handed_on_to_the_end_is_not_since_when_it_is_so() {
    let step = |parents: &[usize], edit: Option<Edit>| Step {
        parents: parents.to_vec(),
        edits: edit.map(|edit| (0, edit)).into_iter().collect(),
        seconds: 0,
    };
    let wrote = |parents: &[usize], content: usize| {
        let provenance = [None, None, None, Some(1)];
        step(parents, Some(Edit::Set { content, provenance, event_time: None }))
    };
    // Written with a "b", lost, written so again, lost again; and by a merge taken from before it was lost.
    let history = History::of(&[
        wrote(&[], 0),
        wrote(&[0], 2),
        wrote(&[1], 1),
        wrote(&[2], 3),
        step(&[0], None),
        step(&[3, 4], Some(Edit::Take)),
    ]);
    let found = |start: Option<usize>| {
        let request = FindRequest {
            start: start.map(|at| history.revision(at)),
            end: history.revision(5),
            predicates: parse(&["--contains", "a", "b"].map(str::to_owned)).expect("a predicate"),
            changed: Vec::new(),
            first_parent: false,
            all: false,
        };
        let report = find(&history.store, &SessionName::default(), &request).expect("an answer");
        (report.flips.iter().map(|flip| flip.entry.commit.id).collect::<Vec<_>>(), report.count)
    };
    assert_eq!(found(Some(1)), (Vec::new(), 2));
    assert_eq!(found(None), (vec![history.commits[0].id], 4));
}
