//! To which nodes a commit was narrowed down, as it is told.

use super::super::context::Context;
use super::super::error::{CliError, Word};
use super::super::json::{BlameJson, V};
use super::super::text::counted;
use super::super::writer_text;
use super::round::UsedUp;
use crate::model::{NodeId, Pattern, SessionName};
use crate::object::CommitId;
use crate::ops;
use crate::store::Store;
use serde::Serialize;

/// How a search for the nodes ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// With a minimal set.
    Found,
    /// There may be no more runs.
    UsedUp(UsedUp),
    /// Tried again, what was found does not fail.
    Unsteady,
    /// The rates at which it fails where it is good and where it is bad are too near to each other.
    TooNear,
    /// With all changes it cannot be tested.
    Untested,
    /// It fails without any change.
    FailsWithout,
    /// It does not fail with all of them.
    PassesWithAll,
}

/// What it took.
#[derive(Clone, Copy, Debug)]
pub struct Counts {
    /// How many nodes differ.
    pub changes: usize,
    /// How many sets of them were tried.
    pub tries: usize,
    /// How many sets could not be tested that lack one of what was found.
    pub untested: usize,
    /// How often the program was run.
    pub runs: usize,
}

/// What there is to tell of it.
pub struct Narrowed {
    end: End,
    /// A minimal set where one was found, else the smallest with which it fails as far as one is known.
    nodes: Vec<NodeId>,
    blamed: ops::Rows,
    good: CommitId,
    bad: CommitId,
    counts: Counts,
}

#[derive(Serialize)]
struct NarrowJson<'a> {
    v: u8,
    r#type: &'static str,
    outcome: &'static str,
    nodes: Vec<&'a str>,
    blame: Vec<BlameJson<'a>>,
    good: String,
    bad: String,
    changes: usize,
    tries: usize,
    untested: usize,
    runs: usize,
}

impl Narrowed {
    /// What there is to tell, with who wrote each node as it is at the bad commit.
    pub fn of(
        (store, session): (&Store, &SessionName),
        (end, nodes): (End, Vec<NodeId>),
        [good, bad]: [CommitId; 2],
        counts: Counts,
    ) -> Result<Self, CliError> {
        let patterns: Vec<_> = nodes.iter().cloned().map(Pattern::from).collect();
        let blamed = if patterns.is_empty() {
            ops::Rows::default()
        } else {
            ops::blame_all(store, session, &patterns, Some(&super::revision(&bad)))?
        };
        Ok(Self { end, nodes, blamed, good, bad, counts })
    }

    /// The first of them.
    pub fn node(&self) -> Option<&NodeId> {
        self.nodes.first()
    }

    /// Prints the ids.
    pub fn print(&self, context: &mut Context) -> Result<(), CliError> {
        if !context.globals.json {
            return Ok(self.nodes.iter().try_for_each(|id| context.id_line(id))?);
        }
        let rows = self.blamed.rows.iter().map(BlameJson::row);
        let removed = self.blamed.removed.iter().map(|(id, removal)| BlameJson::removed(id, removal, None));
        context.json_line(&NarrowJson {
            v: V,
            r#type: "bisect_narrow",
            outcome: if self.end == End::Found { "found" } else { "undecided" },
            nodes: self.nodes.iter().map(NodeId::as_str).collect(),
            blame: rows.chain(removed).collect::<Result<_, _>>()?,
            good: self.good.to_string(),
            bad: self.bad.to_string(),
            changes: self.counts.changes,
            tries: self.counts.tries,
            untested: self.counts.untested,
            runs: self.counts.runs,
        })
    }

    /// Says who wrote each, and what it took.
    pub fn say(&self, context: &Context) {
        let paint = context.err_paint();
        self.blamed.rows.iter().for_each(|row| context.say(&writer_text::row(row, paint)));
        for (id, removal) in &self.blamed.removed {
            context.say(&writer_text::removed(id, removal, paint));
        }
        if self.end == End::Found {
            let Counts { changes: all, untested, runs, .. } = self.counts;
            let (found, runs) = (self.nodes.len(), counted(runs, "run"));
            if untested > 0 {
                let sets = counted(untested, "set");
                context.warn(&format!("fewer may do: without one of these {sets} could not be tested"));
            }
            context.say(&format!("narrowed down to {found} of {} with {runs}", counted(all, "change")));
        }
    }

    /// Whether a minimal set was found.
    pub fn is_found(&self) -> bool {
        self.end == End::Found
    }

    /// The error of a search that found none. `go_on` is the line that goes on with it.
    pub fn refused(&self, go_on: Option<&str>) -> Result<(), CliError> {
        let word = match self.end {
            End::FailsWithout | End::PassesWithAll | End::Untested => Word::BisectEndpoints,
            End::Found | End::UsedUp(_) | End::Unsteady | End::TooNear => Word::BisectInconclusive,
        };
        self.told(word, "", go_on)
    }

    /// The same behind a commit that was found: that stands.
    pub fn refused_behind(&self, go_on: Option<&str>) -> Result<(), CliError> {
        self.told(Word::BisectInconclusive, "not narrowed down to nodes: ", go_on)
    }

    fn told(&self, word: Word, before: &str, go_on: Option<&str>) -> Result<(), CliError> {
        let left = self.nodes.len();
        let (message, hint) = match self.end {
            End::Found => return Ok(()),
            End::UsedUp(what) => {
                let with =
                    if left == 0 { String::new() } else { format!("; it fails with {}", counted(left, "change")) };
                let hint = match go_on {
                    Some(line) => format!("go on with: {line}"),
                    None => "allow more; with --report FILE it goes on where it was".to_owned(),
                };
                (format!("{}{with}", what.message()), hint)
            }
            End::Unsteady => ("tried again, what was found does not fail".to_owned(), UNSTEADY.to_owned()),
            End::TooNear => (
                "it fails about as often at either end".to_owned(),
                "say when a set is bad: --repeat, --bad-if".to_owned(),
            ),
            End::Untested => {
                (format!("with all changes it cannot be tested, as at {}", self.bad), super::LOOK.to_owned())
            }
            End::FailsWithout => (
                format!("it fails without any change, as at {}", self.good),
                "name a commit where it does not: --range GOOD..BAD".to_owned(),
            ),
            End::PassesWithAll => (
                format!("it does not fail with all changes, as at {}", self.bad),
                "name a commit where it does: --range GOOD..BAD".to_owned(),
            ),
        };
        Err(CliError::new(word, format!("{before}{message}")).hint(hint))
    }
}

const UNSTEADY: &str = "a test that is not steady needs more of --repeat, or the --report of a search with --flaky";
