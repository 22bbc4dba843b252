//! How a search by a program ended, and how that is told.

use super::super::context::Context;
use super::super::error::{CliError, Word};
use super::super::json::{CommitJson, V};
use super::belief::{Belief, BeliefJson, percent};
use super::culprit::{self, Found};
use super::narrowed::Narrowed;
use super::rates::Rates;
use super::round::UsedUp;
use super::tester::Tester;
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
    end: End,
    /// What is believed where the test is not steady.
    belief: Option<Belief>,
    /// The commit that was found.
    shown: Option<ShowReport>,
    candidates: Vec<String>,
    bad: String,
    good: Vec<String>,
    runs: usize,
    spared: usize,
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
        let ids = |numbers: &[Number]| -> Result<Vec<String>, CliError> {
            let subjects = ops::bisect_subjects(store, session, numbers)?;
            Ok(subjects.into_iter().map(|subject| subject.id.to_string()).collect())
        };
        let (shown, candidates) = match &end {
            End::Found { culprit, .. } => {
                let id = ops::bisect_subjects(store, session, &[*culprit])?.remove(0).id;
                let shown = ops::show(store, session, &super::revision(&id), &[])?;
                (Some(shown), vec![id.to_string()])
            }
            End::Undecided { left, .. } => (None, ids(left)?),
        };
        let (bad, good) = (ids(&[ends.bad])?.remove(0), ids(&ends.good)?);
        Ok(Self { end, belief, shown, candidates, bad, good, runs, spared })
    }

    /// The commit that was found, and how often the test fails before it and from it on where that is believed.
    pub fn culprit(&self) -> Option<(Number, Option<Rates>)> {
        match self.end {
            End::Found { culprit, .. } => Some((culprit, self.belief.as_ref().map(Belief::rates))),
            End::Undecided { .. } => None,
        }
    }

    /// The line that a report ends with.
    pub fn json(&self) -> impl Serialize {
        ResultJson {
            v: V,
            r#type: "bisect",
            outcome: if self.shown.is_some() { "found" } else { "undecided" },
            commit: self.shown.as_ref().map(|shown| CommitJson::new(&shown.entry)),
            candidates: &self.candidates,
            bad: &self.bad,
            good: &self.good,
            runs: self.runs,
            spared: self.spared,
            one_of_several: matches!(self.end, End::Found { one_of_several: true, .. }),
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
        match (&self.end, &self.shown) {
            (End::Found { one_of_several, .. }, Some(shown)) => {
                if let Some(narrowed) = narrowed {
                    narrowed.say(context);
                }
                let runs = super::counted(self.runs);
                let how = match &self.belief {
                    Some(belief) => format!("{runs}, probability {}", percent(belief.probability())),
                    None => runs,
                };
                let node = narrowed.and_then(Narrowed::node);
                let is_whole = narrowed.is_none_or(Narrowed::is_found);
                let found = Found { runs: &how, one_of_several: *one_of_several, node, is_whole };
                culprit::tell(shown, &self.candidates[0], &found, context);
                narrowed.map_or(Ok(()), |narrowed| narrowed.refused_behind(go_on))
            }
            (End::Undecided { why, .. }, _) => {
                let message = match self.candidates.len() {
                    count if self.belief.is_some() && matches!(why, Why::UsedUp(_)) => {
                        let commits =
                            if count == 1 { "1 commit is".to_owned() } else { format!("{count} commits together are") };
                        format!("{}; {commits} as probable as is asked for", why.message())
                    }
                    0 => why.message().to_owned(),
                    1 => format!("{}; 1 commit is left", why.message()),
                    count => format!("{}; {count} commits are left", why.message()),
                };
                let hint = why.hint(self.belief.is_some(), self.candidates.len(), go_on);
                Err(CliError::new(Word::BisectInconclusive, message).hint(hint))
            }
            (End::Found { .. }, None) => Ok(()),
        }
    }
}
