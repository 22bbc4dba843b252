//! Between which commits a search by a program takes place.

use super::super::context::Context;
use super::super::error::{CliError, Word};
use super::super::pattern::patterns;
use crate::graph::bisect::Bounds;
use crate::graph::{Revision, Selection};
use crate::model::{Pattern, SessionName};
use crate::ops::{self, BisectEnds, BisectPlan, GoodEnds, OpError};
use crate::store::{Marked, Number, Store};

#[derive(clap::Args, Debug)]
pub(super) struct BetweenArgs {
    /// The good and the bad end
    #[arg(long, value_name = "A..B", conflicts_with_all = ["good", "bad"], add = super::super::complete::revisions())]
    range: Option<String>,

    /// A good end; with auto the first of HEAD~1, ~2, ~4 and so on that tests good
    #[arg(long, value_name = "REV|auto", requires = "bad", add = super::super::complete::revisions())]
    good: Vec<String>,

    /// The bad end
    #[arg(long, value_name = "REV", requires = "good", add = super::super::complete::revisions())]
    bad: Option<String>,

    /// Follow first parents only
    #[arg(long)]
    first_parent: bool,

    /// Only commits that changed a node with such an id: an id, an id with / behind it for all below, or a glob
    #[arg(long, value_name = "PATTERN", add = super::super::complete::ids())]
    changed: Vec<String>,

    /// Take * ? [ in patterns as they are
    #[arg(long)]
    literal: bool,

    /// Commits that are not to be tested
    #[arg(long, value_name = "REV", add = super::super::complete::revisions())]
    skip: Vec<String>,
}

/// What the options ask for.
pub struct Asked {
    /// The ends that are named; `None` where those are meant that are marked.
    named: Option<(Revision, GoodEnds)>,
    patterns: Vec<Pattern>,
    first_parent: bool,
    skip: Vec<Selection>,
}

impl BetweenArgs {
    /// Reads the options.
    pub fn asked(&self, context: &Context) -> Result<Asked, CliError> {
        Ok(Asked {
            named: self.named(context)?,
            patterns: patterns(&self.changed, self.literal)?,
            first_parent: self.first_parent,
            skip: self.skip.iter().map(|text| context.read_selection(text)).collect::<Result<_, _>>()?,
        })
    }

    fn named(&self, context: &Context) -> Result<Option<(Revision, GoodEnds)>, CliError> {
        if let Some(range) = &self.range {
            let (good, bad) = range_ends(range, context)?;
            return Ok(Some((bad, GoodEnds::Named(vec![good]))));
        }
        let Some(bad) = &self.bad else { return Ok(None) };
        let bad = context.read_revision(bad)?;
        if self.good.iter().any(|good| good == "auto") {
            return match &self.good[..] {
                [_] => Ok(Some((bad, GoodEnds::Auto))),
                _ => {
                    Err(CliError::usage("--good auto stands alone").hint("mnem bisect run --good auto --bad HEAD CMD"))
                }
            };
        }
        let good = self.good.iter().map(|text| context.read_revision(text)).collect::<Result<_, _>>()?;
        Ok(Some((bad, GoodEnds::Named(good))))
    }
}

/// The good and the bad end of a range.
pub fn range_ends(range: &str, context: &Context) -> Result<(Revision, Revision), CliError> {
    match context.read_selection(range)? {
        Selection::Between(good, bad) => Ok((good, bad)),
        Selection::Of(_) | Selection::Without(_) | Selection::Either(..) => {
            Err(CliError::usage(format!("'{range}' has no two ends")).hint("such as --range GOOD..BAD"))
        }
    }
}

/// The ends of a search, and what it is among.
pub struct Between {
    pub ends: BisectEnds,
    pub first_parent: bool,
    patterns: Vec<Pattern>,
    /// Commits that are marked as ones that are not to be tested.
    skipped: Vec<Number>,
    skip: Vec<Selection>,
}

impl Asked {
    /// Whether the ends are those that the session's search by hand has.
    pub fn is_marked(&self) -> bool {
        self.named.is_none()
    }

    /// Whether a good end is to be looked for.
    pub fn is_auto(&self) -> bool {
        matches!(self.named, Some((_, GoodEnds::Auto)))
    }

    /// Finds the ends.
    pub fn find(self, store: &Store, session: &SessionName) -> Result<Between, CliError> {
        let Self { named, patterns, first_parent, skip } = self;
        match named {
            Some((bad, good)) => {
                let ends = ops::bisect_ends(store, session, &bad, &good)?;
                Ok(Between { ends, first_parent, patterns, skipped: Vec::new(), skip })
            }
            None => of_marks(store, session, (patterns, first_parent, skip)),
        }
    }
}

/// The ends that the session's search by hand has, and what it is among.
fn of_marks(
    store: &Store,
    session: &SessionName,
    (mut chosen, first_parent, skip): (Vec<Pattern>, bool, Vec<Selection>),
) -> Result<Between, CliError> {
    let marks = ops::marks(store, session)?.ok_or(OpError::NoBisect)?.marks;
    let missing = |end: &str| {
        let error = CliError::usage(format!("no {end} commit is marked"));
        Err(error.hint(format!("mnem bisect {end} REV")))
    };
    let (mut also_bad, good) = (marks.of(Marked::Bad), marks.of(Marked::Good));
    let Some(bad) = also_bad.pop() else { return missing("bad") };
    if good.is_empty() {
        return missing("good");
    }
    chosen.extend(patterns(&marks.patterns, marks.literal)?);
    Ok(Between {
        ends: BisectEnds { bad, also_bad, good, ..BisectEnds::default() },
        first_parent: first_parent || marks.first_parent,
        patterns: chosen,
        skipped: marks.of(Marked::Skip),
        skip,
    })
}

impl Between {
    /// Whether only commits are candidates that changed certain nodes.
    pub fn is_partial(&self) -> bool {
        !self.patterns.is_empty()
    }

    /// The candidates, at least one, and which of them are not to be tested. A good end has to be known.
    pub fn plan(&self, store: &Store, session: &SessionName) -> Result<BisectPlan, CliError> {
        let Self { ends, first_parent, patterns, skipped, skip } = self;
        let bad = ends.also_bad.iter().copied().chain([ends.bad]).collect();
        let bounds = Bounds { bad, good: ends.good.clone(), first_parent: *first_parent };
        let mut plan = ops::bisect_plan(store, session, &bounds, patterns, skip).map_err(|error| match error {
            OpError::SwappedEnds { bad, good } => {
                CliError::from(error).hint(format!("are the two swapped? mnem bisect run --range {bad}..{good} CMD"))
            }
            other => other.into(),
        })?;
        if plan.candidates.numbers().is_empty() {
            let message = "no commit between the ends changed such a node";
            return Err(CliError::new(Word::BisectEndpoints, message).hint("search without --changed"));
        }
        plan.skipped.extend(skipped);
        Ok(plan)
    }
}
