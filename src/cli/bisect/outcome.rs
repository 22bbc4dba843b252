//! How a search by a program ended, and how that is told.

use super::super::context::Context;
use super::super::error::{CliError, Word};
use super::super::json::{CommitJson, V};
use super::super::text::counted;
use super::belief::{Belief, BeliefJson, percent};
use super::culprit::{self, Found};
use super::narrowed::Narrowed;
use super::rates::Rates;
use super::round::UsedUp;
use super::tester::Tester;
use crate::object::CommitId;
use crate::ops::{self, BisectEnds, ShowReport};
use crate::store::Number;
use serde::Serialize;

/// How a search ended.
pub enum End {
    /// With one commit.
    Found { culprit: Number, one_of_several: bool },
    /// With these commits left, ancestors before descendants; none where what was tested does not go together.
    Undecided { left: Vec<Number>, why: Why },
}

impl End {
    pub fn undecided(left: Vec<Number>, why: Why) -> Self {
        Self::Undecided { left, why }
    }
}

/// Why a search came to no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// There may be no more runs.
    UsedUp(UsedUp),
    /// What is left cannot be tested.
    Skipped,
    /// A commit is good though it descends from a bad one.
    Contradiction,
    /// What was found says something else the second time.
    Unsteady,
    /// The same where only some commits were candidates.
    Elsewhere,
}

impl Why {
    fn message(self) -> &'static str {
        match self {
            Self::UsedUp(what) => what.message(),
            Self::Skipped => "only commits are left that cannot be tested",
            Self::Contradiction => {
                "what was tested does not go together: a commit is good though it descends from a bad one"
            }
            Self::Unsteady => "tested again, what was found says something else",
            Self::Elsewhere => "what was found, or what stood before it, says something else",
        }
    }

    /// What to do about it with so many commits left; `go_on` is the line that goes on where a report is written.
    fn hint(self, is_flaky: bool, left: usize, go_on: Option<&str>) -> String {
        match (self, is_flaky) {
            (Self::UsedUp(_), true) => match go_on {
                Some(line) => format!("go on with: {line}"),
                None => "allow more; a search that writes a --report can be resumed".to_owned(),
            },
            (Self::UsedUp(_), false) if left == 1 => "allow more".to_owned(),
            (Self::UsedUp(_), false) => "allow more, or look at fewer commits with --changed".to_owned(),
            (Self::Skipped, true) => "look at them by hand, or name other ends".to_owned(),
            (Self::Skipped, false) => "look at them by hand: mnem bisect start BAD GOOD".to_owned(),
            (Self::Contradiction, _) => {
                "a test that is not steady needs --flaky; what changed more than once, 'mnem bisect find --all'"
                    .to_owned()
            }
            (Self::Unsteady, _) => "a test that is not steady needs --flaky".to_owned(),
            (Self::Elsewhere, _) => "another commit may have done it: search without --changed".to_owned(),
        }
    }
}

/// How a search ended, as it is printed.
#[derive(Serialize)]
struct ResultJson<'a> {
    v: u8,
    r#type: &'static str,
    outcome: &'static str,
    commit: Option<CommitJson<'a>>,
    candidates: &'a [String],
    bad: &'a str,
    good: &'a [String],
    runs: usize,
    spared: usize,
    one_of_several: bool,
    flaky: Option<BeliefJson<'a>>,
}

/// All that there is to tell of a search.
pub struct Answer {
    outcome: Outcome,
    /// What is believed where the test is not steady.
    belief: Option<Belief>,
    /// The commit that was found, or those that are left.
    candidates: Vec<String>,
    bad: String,
    good: Vec<String>,
    runs: usize,
    spared: usize,
}

/// An end with what is told of it.
enum Outcome {
    Found { id: CommitId, shown: Box<ShowReport>, one_of_several: bool },
    Undecided(Why),
}

impl Answer {
    /// What there is to tell of an end, behind so many runs and so many that were spared.
    pub fn of(
        (end, belief): (End, Option<Belief>),
        ends: &BisectEnds,
        (runs, spared): (usize, usize),
        tester: &Tester,
    ) -> Result<Self, CliError> {
        let (store, session) = (&tester.store, &tester.session);
        let ids = |numbers: &[Number]| super::ids(store, session, numbers);
        let (outcome, candidates) = match end {
            End::Found { culprit, one_of_several } => {
                let id = ops::commit_ids(store, session, &[culprit])?.remove(0);
                let shown = Box::new(ops::show(store, session, &super::revision(&id), &[])?);
                (Outcome::Found { id, shown, one_of_several }, vec![id.to_string()])
            }
            End::Undecided { left, why } => (Outcome::Undecided(why), ids(&left)?),
        };
        let (bad, good) = (ids(&[ends.bad])?.remove(0), ids(&ends.good)?);
        Ok(Self { outcome, belief, candidates, bad, good, runs, spared })
    }

    /// The commit that was found, and how often the test failed before it and from it on where that is believed.
    pub fn culprit(&self) -> Option<(CommitId, Option<Rates>)> {
        match self.outcome {
            Outcome::Found { id, .. } => Some((id, self.belief.as_ref().map(Belief::rates))),
            Outcome::Undecided(_) => None,
        }
    }

    /// The line that a report ends with.
    pub fn json(&self) -> impl Serialize {
        let (outcome, commit, one_of_several) = match &self.outcome {
            Outcome::Found { shown, one_of_several, .. } => {
                ("found", Some(CommitJson::new(&shown.entry)), *one_of_several)
            }
            Outcome::Undecided(_) => ("undecided", None, false),
        };
        ResultJson {
            v: V,
            r#type: "bisect",
            outcome,
            commit,
            candidates: &self.candidates,
            bad: &self.bad,
            good: &self.good,
            runs: self.runs,
            spared: self.spared,
            one_of_several,
            flaky: self.belief.as_ref().map(Belief::json),
        }
    }

    /// Tells it: the answer on standard output, with the nodes to which it was narrowed down, and on standard error what a
    /// person asks next. `go_on` is the line that goes on with the search.
    pub fn tell(
        &self,
        narrowed: Option<&Narrowed>,
        go_on: Option<&str>,
        context: &mut Context,
    ) -> Result<(), CliError> {
        if context.globals.json {
            context.json_line(&self.json())?;
        } else {
            self.candidates.iter().try_for_each(|id| context.line(id))?;
        }
        if let Some(narrowed) = narrowed {
            narrowed.print(context)?;
        }
        context.bring_out()?;
        if let Some(belief) = &self.belief {
            belief.say(context);
        }
        match &self.outcome {
            Outcome::Found { id, shown, one_of_several } => {
                if let Some(narrowed) = narrowed {
                    narrowed.say(context);
                }
                let runs = counted(self.runs, "run");
                let how = match &self.belief {
                    Some(belief) => format!("{runs}, probability {}", percent(belief.probability())),
                    None => runs,
                };
                let node = narrowed.and_then(Narrowed::node);
                let is_whole = narrowed.is_none_or(Narrowed::is_found);
                let found = Found { runs: &how, one_of_several: *one_of_several, node, is_whole };
                culprit::tell(shown, &id.to_string(), &found, context);
                narrowed.map_or(Ok(()), |narrowed| narrowed.refused_behind(go_on))
            }
            Outcome::Undecided(why) => Err(self.undecided(*why, go_on)),
        }
    }

    fn undecided(&self, why: Why, go_on: Option<&str>) -> CliError {
        let (left, is_flaky) = (self.candidates.len(), self.belief.is_some());
        let said = match (left, why) {
            (1, Why::UsedUp(_)) if is_flaky => "; 1 commit is as probable as is asked for".to_owned(),
            (_, Why::UsedUp(_)) if is_flaky => format!("; {left} commits together are as probable as is asked for"),
            (0, _) => String::new(),
            (1, _) => "; 1 commit is left".to_owned(),
            (_, _) => format!("; {left} commits are left"),
        };
        let message = format!("{}{said}", why.message());
        CliError::new(Word::BisectInconclusive, message).hint(why.hint(is_flaky, left, go_on))
    }
}
