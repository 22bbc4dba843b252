//! How predicates fare while a memory changes node by node, without a look at what stays.

use crate::graph::{Predicate, Seen, Subject};
use crate::model::NodeId;

/// Of each predicate, what the nodes of a memory come to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tally(Vec<u64>);

impl Tally {
    /// That of the empty memory.
    pub fn of_nothing(predicates: &[Predicate]) -> Self {
        let of_nothing = |predicate: &Predicate| match predicate.subject() {
            Subject::Node(id) => predicate.weight(id, &Seen::Absent),
            Subject::Nodes(_) => 0,
        };
        Self(predicates.iter().map(of_nothing).collect())
    }

    /// What one node comes to, or its absence.
    pub fn of_node(predicates: &[Predicate], id: &NodeId, seen: &Seen) -> Self {
        Self(predicates.iter().map(|predicate| predicate.weight(id, seen)).collect())
    }

    /// That of the memory in which a node comes to `new` and no longer to `old`; `None` where it never came to `old`.
    #[must_use]
    pub fn with(mut self, old: &Self, new: &Self) -> Option<Self> {
        for ((number, old), new) in self.0.iter_mut().zip(&old.0).zip(&new.0) {
            *number = (*number + new).checked_sub(*old)?;
        }
        Some(self)
    }

    /// Whether all predicates hold.
    pub fn holds(&self, predicates: &[Predicate]) -> bool {
        self.0.iter().zip(predicates).all(|(&number, predicate)| predicate.holds_at(number))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::parse;
    use crate::model::Content;

    fn predicates(words: &[&str]) -> Vec<Predicate> {
        parse(&words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>()).expect("predicates")
    }

    #[test]
    fn all_predicates_have_to_hold_and_the_empty_memory_is_where_it_begins() {
        let predicates = predicates(&["--absent", "a", "--count", "x/", "eq", "1"]);
        let (a, x) = (NodeId::new("a").expect("an id"), NodeId::new("x/1").expect("an id"));
        let text = Seen::Content(Content::from_text("it"));
        let there = |id| Tally::of_node(&predicates, id, &text);
        let absent = |id| Tally::of_node(&predicates, id, &Seen::Absent);
        let nothing = Tally::of_nothing(&predicates);
        assert!(!nothing.holds(&predicates));
        let one = nothing.clone().with(&absent(&x), &there(&x)).expect("counted");
        assert!(one.holds(&predicates));
        let both = one.clone().with(&absent(&a), &there(&a)).expect("counted");
        assert!(!both.holds(&predicates));
        assert_eq!(both.with(&there(&a), &absent(&a)), Some(one.clone()));
        assert_eq!(one.with(&there(&x), &absent(&x)), Some(nothing));
    }

    #[test]
    fn what_never_was_cannot_go() {
        let predicates = predicates(&["--any", "x/", "it"]);
        let x = NodeId::new("x/1").expect("an id");
        let (there, absent) = (Seen::Content(Content::from_text("it")), Seen::Absent);
        let of = |seen| Tally::of_node(&predicates, &x, seen);
        assert_eq!(Tally::of_nothing(&predicates).with(&of(&there), &of(&absent)), None);
    }
}
