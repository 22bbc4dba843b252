//! `mnem bisect narrow`

use super::super::child::Children;
use super::super::context::Context;
use super::super::error::CliError;
use super::between::range_ends;
use super::narrowing::Narrowing;
use super::program::ProgramArgs;
use super::report::Report;
use super::resume::Earlier;
use crate::graph::Revision;
use crate::model::SessionName;
use crate::ops::{self, Next, OpError};
use crate::store::Store;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

/// Find the nodes that make something bad
///
/// Of the nodes that differ between a good and a bad commit a minimal set is searched for that still makes CMD fail: with
/// all of them it does, and without any one of them it does not (delta debugging). CMD is run as by 'mnem bisect run', in
/// private copies of the store, whose HEAD is the good commit with some of the changes; the store itself is not written.
/// Without a range the bad commit is the one that a report names, or that the search by hand has found, and the good one
/// its first parent. Prints the ids, and on standard error who wrote each.
#[derive(clap::Args, Debug)]
pub(super) struct NarrowArgs {
    /// The good and the bad commit
    #[arg(long, value_name = "A..B", add = super::super::complete::revisions())]
    range: Option<String>,

    /// The report of a search: the commit that it found, and how often the test failed where it was --flaky. Each try is written
    /// behind it, and those that are there are not made again. With a range the file need not be there
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,

    #[command(flatten)]
    program: ProgramArgs,
}

pub(super) fn run(args: &NarrowArgs, context: &mut Context) -> Result<(), CliError> {
    let limits = args.program.limits()?;
    let store = context.store()?;
    let session = context.session()?;
    let earlier = args.earlier(context)?;
    let (good, bad) = args.ends(&earlier, &store, &session, context)?;
    let plan = ops::narrow_plan(&store, &session, good.as_ref(), &bad)?;
    context.warn_doubts(&plan.doubts);
    let mut report = match &args.report {
        Some(_) => Report::open(earlier.path(), &earlier)?,
        None => Report::default(),
    };
    let children = Arc::new(Children::new()?);
    let narrowing = Narrowing {
        program: &args.program,
        limits: &limits,
        meter: &limits.meter(earlier.last()),
        children: &children,
        rates: earlier.found.as_ref().and_then(|(_, rates)| *rates).filter(|_| args.range.is_none()),
        known: BTreeMap::new(),
        earlier: &earlier,
    };
    let narrowed = narrowing.narrow((&store, &session), &plan, &mut report, context)?;
    let go_on = args.report.as_ref().map(|_| context.shown_words(&[]));
    match (children.interrupted(), narrowed) {
        (None, Some(narrowed)) => {
            narrowed.print(context)?;
            context.bring_out()?;
            narrowed.say(context);
            narrowed.refused(go_on.as_deref())
        }
        (Some(_), _) | (_, None) => {
            let runs = narrowing.meter.runs() - earlier.last();
            super::end_interrupted(&children, runs, go_on.as_deref(), context);
            Ok(())
        }
    }
}

impl NarrowArgs {
    /// What is known before.
    fn earlier(&self, context: &Context) -> Result<Earlier, CliError> {
        match self.report.as_ref().map(|path| context.path(path)) {
            Some(path) if self.range.is_some() && !path.exists() => Ok(Earlier::none(&path)),
            Some(path) => Earlier::read(&path),
            None => Ok(Earlier::default()),
        }
    }

    /// The good commit where one is named, and the bad one.
    fn ends(
        &self,
        earlier: &Earlier,
        store: &Store,
        session: &SessionName,
        context: &Context,
    ) -> Result<(Option<Revision>, Revision), CliError> {
        let refused = |message: String| CliError::usage(message).hint("name the two commits: --range GOOD..BAD");
        if let Some(range) = &self.range {
            let (good, bad) = range_ends(range, context)?;
            return Ok((Some(good), bad));
        }
        if self.report.is_some() {
            return match &earlier.found {
                Some((culprit, _)) => Ok((None, context.read_revision(culprit)?)),
                None => Err(refused(format!("'{}' names no first bad commit", earlier.path().display()))),
            };
        }
        match ops::marks(store, session)?.ok_or(OpError::NoBisect)?.next {
            Next::Found(culprit) => Ok((None, super::revision(&culprit))),
            Next::NeedsBad | Next::NeedsGood | Next::Test { .. } | Next::Unsure(_) => {
                Err(refused("the search by hand has found no commit yet".to_owned()))
            }
        }
    }
}
