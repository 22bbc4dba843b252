//! Who is blamed in histories that the verbs have merged.

use crate::body::{Body, Value};
use crate::history::{At, History};
use crate::origin::{Held, origins};
use crate::place::{Place, Played};
use crate::script::Shape;
use mnemosyne::graph::{Blame, Parts, Unit};
use mnemosyne::model::NodeId;
use mnemosyne::ops::{BlameReport, BlameRequest, blame};
use std::collections::BTreeMap;

struct Claims<'c> {
    script: &'c History,
    place: &'c Place,
    origins: Vec<BTreeMap<NodeId, Held>>,
}

impl Claims<'_> {
    fn blame(&self, at: At, id: &NodeId, unit: Unit) -> Blame {
        let parts = Parts { unit: Some(unit), ..Parts::default() };
        let request = BlameRequest { revision: Some(self.place.revision(at)), parts, ..BlameRequest::default() };
        match blame(&self.place.store, &Played::session(), id, &request).expect("an answer").0 {
            BlameReport::Stands(blame) => *blame,
            BlameReport::Removed(_) => panic!("'{id}' stands at {at}"),
        }
    }

    fn is_by(&self, blame: &Blame, part: usize, origin: At, of: (At, &NodeId)) {
        let commit = blame.writers[&blame.parts[part].version].commit.as_ref().map(|commit| commit.id);
        assert_eq!(commit, Some(self.place.ids[origin]), "part {part} of '{}' at {}: {blame:?}", of.1, of.0);
    }

    /// Asks for each node of a commit that is not as its first parent has it.
    fn hold(&self, at: At) -> usize {
        let changed = self.script.changes(at);
        for (id, known) in changed.iter().filter_map(|(id, known)| Some((*id, (*known)?))) {
            let held = &self.origins[at][id];
            let whole = self.blame(at, id, Unit::Node);
            self.is_by(&whole, 0, held.content_at, (at, id));
            let rewritten = whole.rewritten.as_ref().and_then(|writer| writer.commit.as_ref()).map(|commit| commit.id);
            let is_rewritten = held.writer != held.content_at;
            assert_eq!(rewritten, is_rewritten.then(|| self.place.ids[held.writer]), "'{id}' at {at}");
            match &known.body {
                Body::Text(lines) => {
                    let blame = self.blame(at, id, Unit::Line);
                    assert_eq!(blame.parts.len(), lines.len());
                    for (nth, (_, line)) in lines.iter().enumerate() {
                        let text = blame.parts[nth].content.as_ref().expect("a line").readable();
                        assert_eq!(text, format!("line {}", line.json()));
                        let Value::Scalar(tag) = line else { panic!("a line is a scalar") };
                        self.is_by(&blame, nth, held.tags[tag], (at, id));
                    }
                }
                Body::Value(value) => {
                    let blame = self.blame(at, id, Unit::Leaf);
                    let mut nth = 0;
                    value.leaves("", &mut |path, leaf| {
                        let part = &blame.parts[nth];
                        assert_eq!(
                            (part.path.as_deref(), part.content.as_ref().expect("a leaf").json()),
                            (Some(&path[..]), &leaf.json()[..])
                        );
                        if let Value::Scalar(tag) = leaf {
                            self.is_by(&blame, nth, held.tags[tag], (at, id));
                        }
                        nth += 1;
                    });
                    assert_eq!(blame.parts.len(), nth);
                }
            }
        }
        changed.len()
    }
}

/// Plays and asks; how many nodes, and how many commits that merged.
fn hold(seed: u64, copies: bool) -> (usize, usize) {
    let shape =
        Shape { commits: 60, ids: 7, branches: 5, copies, records: false, settles_freely: copies, sources: &[] };
    let (script, steps) = History::played(seed, shape);
    let place = Place::by_verbs(&script, &steps);
    let claims = Claims { script: &script, place: &place, origins: origins(&script) };
    let asked = (0..script.commits.len()).map(|at| claims.hold(at)).sum();
    (asked, script.commits.iter().filter(|commit| commit.parents.len() > 1).count())
}

#[test]
fn what_was_merged_is_blamed_on_those_who_wrote_it() {
    let (mut asked, mut merges) = (0, 0);
    for seed in 0..6 {
        let (more_asked, more_merges) = hold(1_000 + seed, false);
        (asked, merges) = (asked + more_asked, merges + more_merges);
    }
    assert!(asked > 600 && merges > 60, "{asked} {merges}");
}
