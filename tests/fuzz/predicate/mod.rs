//! Words of predicates, and a memory that they are asked of. Lines of an id, a tab and a JSON text are its nodes; behind
//! an empty line each line is a word. All is held against [`naive`].

mod naive;
mod pattern;

use crate::json;
use crate::node::is_id;
use mnemosyne::graph::{Evaluation, Predicate, Seen, State, Subject, parse};
use mnemosyne::model::{Content, NodeId, Pattern};
use std::collections::BTreeMap;
use std::convert::Infallible;

/// The memory as the program has it.
struct Memory(BTreeMap<NodeId, Content>);

impl State for Memory {
    type Error = Infallible;

    fn seen(&self, id: &NodeId) -> Result<Seen, Infallible> {
        Ok(seen(self.0.get(id)))
    }

    fn count(&self, pattern: &Pattern) -> Result<u64, Infallible> {
        Ok(self.0.keys().filter(|id| pattern.matches(id.as_str())).count() as u64)
    }

    fn first(
        &self,
        pattern: &Pattern,
        mut wanted: impl FnMut(&Content) -> bool,
    ) -> Result<Option<(NodeId, Content)>, Infallible> {
        let found = self.0.iter().find(|(id, content)| pattern.matches(id.as_str()) && wanted(content));
        Ok(found.map(|(id, content)| (id.clone(), content.clone())))
    }
}

fn seen(content: Option<&Content>) -> Seen {
    content.map_or(Seen::Absent, |content| Seen::Content(content.clone()))
}

/// Checks one input; bytes that are no text are left alone.
pub fn check(data: &[u8]) {
    outcomes(data);
}

/// The name of each predicate, and whether it holds; `None` where the words are none.
fn outcomes(data: &[u8]) -> Option<Vec<(String, bool)>> {
    let text = str::from_utf8(data).ok()?;
    let lines: Vec<_> = text.split('\n').collect();
    let nodes = lines.iter().take_while(|line| !line.is_empty()).count();
    let words: Vec<_> = lines.iter().skip(nodes + 1).map(|word| (*word).to_owned()).collect();
    let (mut memory, mut spelled) = (Memory(BTreeMap::new()), naive::Memory::new());
    for line in &lines[..nodes] {
        let Some((id, json)) = line.split_once('\t') else { continue };
        let (node_id, content) = (NodeId::new(id), Content::from_json(json));
        let value = json::read(json);
        assert_eq!(node_id.is_ok(), is_id(id));
        assert_eq!(content.as_ref().ok().map(Content::json), value.as_ref().map(|value| value.text));
        if let (Ok(node_id), Ok(content), Some(value)) = (node_id, content, value) {
            memory.0.insert(node_id, content);
            spelled.insert(id, value);
        }
    }

    let parsed = parse(&words);
    let claims = naive::parse(&words);
    assert_eq!(parsed.is_ok(), claims.is_some(), "{parsed:?}");
    let (predicates, claims) = (parsed.ok()?, claims?);
    let told: Vec<_> = predicates.iter().flat_map(Predicate::words).collect();
    assert_eq!(told, words.iter().collect::<Vec<_>>());
    assert_eq!(predicates.len(), claims.len());
    let pairs = predicates.iter().zip(&claims);
    let outcome = |(predicate, claim): (&_, &naive::Claim<'_>)| {
        (claim.name.to_owned(), evaluated(&memory, &spelled, predicate, claim))
    };
    Some(pairs.map(outcome).collect())
}

fn evaluated(memory: &Memory, spelled: &naive::Memory<'_>, predicate: &Predicate, claim: &naive::Claim<'_>) -> bool {
    let Ok(Evaluation { holds, found }) = predicate.evaluate(memory);
    let naive = claim.evaluate(spelled);
    assert_eq!(found, naive.found);
    if let Some(claimed) = naive.claimed {
        assert_eq!(holds, claimed != claim.is_negated);
    }

    // By the sum over the nodes, and for a memory of one node alone.
    let mut sum: u64 = memory.0.iter().map(|(id, content)| predicate.weight(id, &seen(Some(content)))).sum();
    match predicate.subject() {
        Subject::Node(id) => {
            let content = memory.0.get(id);
            if content.is_none() {
                sum += predicate.weight(id, &Seen::Absent);
            }
            assert!(predicate.looks_at(id));
            assert_eq!(predicate.holds_with(id, &seen(content)), holds);
        }
        Subject::Nodes(pattern) => {
            for (id, content) in memory.0.iter().filter(|(id, _)| pattern.matches(id.as_str())) {
                let alone = Memory([(id.clone(), content.clone())].into());
                let Ok(evaluation) = predicate.evaluate(&alone);
                assert_eq!(predicate.holds_with(id, &seen(Some(content))), evaluation.holds);
                assert!(predicate.looks_at(id));
            }
        }
    }
    assert_eq!(predicate.holds_at(sum), holds);
    holds
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::corpus;
    use mnemosyne::graph::Kind;

    #[test]
    fn of_each_predicate_the_corpus_has_one_that_holds_and_one_that_does_not() {
        let met: Vec<_> = corpus("predicate").iter().filter_map(|(_, input)| outcomes(input)).flatten().collect();
        for kind in Kind::ALL {
            for holds in [true, false] {
                assert!(met.contains(&(kind.name().to_owned(), holds)), "{} {holds}", kind.name());
            }
        }
    }
}
