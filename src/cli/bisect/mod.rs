//! `mnem bisect`

mod belief;
mod between;
mod culprit;
mod driver;
mod exact;
mod find;
mod flaky;
mod manual;
mod narrow;
mod narrowed;
mod narrowing;
mod outcome;
mod program;
mod rates;
mod report;
mod resume;
mod round;
mod run;
mod tester;

use super::child::Children;
use super::context::Context;
use super::error::{CliError, Word};
use super::text::counted;
use crate::graph::Revision;
use crate::model::SessionName;
use crate::object::CommitId;
use crate::ops::{self, ScratchRequest};
use crate::store::{Extent, Marked, Number, Scratch, Store};
use tester::Verdict;

/// Find the commit that first made something bad
///
/// With predicates 'mnem bisect find' looks it up, and with a program that tests a commit 'mnem bisect run' finds it, also
/// where the test does not say the same each time; 'mnem bisect narrow' goes on to the nodes. By hand, 'mnem bisect start'
/// names the ends, and 'mnem bisect good', 'bad' and 'skip' say what a commit is, until the first bad one is found.
#[derive(clap::Args, Debug)]
#[command(subcommand_required = true, arg_required_else_help = true, disable_help_subcommand = true)]
pub(super) struct BisectArgs {
    #[command(subcommand)]
    verb: BisectVerb,
}

#[derive(clap::Subcommand, Debug)]
enum BisectVerb {
    Run(Box<run::RunArgs>),
    Narrow(Box<narrow::NarrowArgs>),
    Find(find::FindArgs),
    Start(manual::StartArgs),
    /// Say that commits are good
    Good(manual::MarkArgs),
    /// Say that commits are bad
    Bad(manual::MarkArgs),
    /// Say that commits cannot be tested; ranges too
    Skip(manual::MarkArgs),
    /// Take back what was said last
    Undo,
    /// Show what is to be tested next
    Status,
    /// Print what was said, as commands that say it again
    Log,
    Replay(manual::ReplayArgs),
    /// End the search; where there is none, do nothing
    Reset,
    /// Open a shell in which mnem reads the commit to test; its exit status marks it
    Shell,
    #[command(external_subcommand)]
    Term(Vec<String>),
}

pub(super) fn run(args: &BisectArgs, context: &mut Context) -> Result<(), CliError> {
    match &args.verb {
        BisectVerb::Run(args) => run::run(args, context),
        BisectVerb::Narrow(args) => narrow::run(args, context),
        BisectVerb::Find(args) => find::run(args, context),
        BisectVerb::Start(args) => manual::start(args, context),
        BisectVerb::Good(args) => manual::mark(Marked::Good, args, context),
        BisectVerb::Bad(args) => manual::mark(Marked::Bad, args, context),
        BisectVerb::Skip(args) => manual::mark(Marked::Skip, args, context),
        BisectVerb::Undo => manual::undo(context),
        BisectVerb::Status => manual::status(context),
        BisectVerb::Log => manual::log(context),
        BisectVerb::Replay(args) => manual::replay(args, context),
        BisectVerb::Reset => manual::reset(context),
        BisectVerb::Shell => manual::shell(context),
        BisectVerb::Term(words) => manual::term(words, context),
    }
}

/// A commit by its full id.
fn revision(id: &CommitId) -> Revision {
    Revision::parse(&id.to_string(), &|_| None).expect("a full id is a revision")
}

/// What a verdict marks.
fn marked(verdict: Verdict) -> Marked {
    match verdict {
        Verdict::Good => Marked::Good,
        Verdict::Bad => Marked::Bad,
        Verdict::Skip => Marked::Skip,
    }
}

/// The end of a search whose program did what says nothing of a commit.
fn aborted(id: &CommitId, how: &str) -> CliError {
    let id = &id.to_string()[..10];
    CliError::new(Word::Io, format!("the program {how} at {id}, so the search ends"))
        .hint("0 is good, 1 to 124 are bad, 125 is skip; what is missing or killed says nothing of a commit")
}

/// What to do where an end of a search is not what it is to be.
const LOOK: &str = "look at what the program says there: mnem exec -r REV CMD";

/// The status of who was interrupted and can't say by what.
const INTERRUPTED: u8 = 130;

/// Ends a search that a signal ended after so many runs, and says which line goes on with it.
fn end_interrupted(children: &Children, runs: usize, go_on: Option<&str>, context: &mut Context) {
    context.say(&format!("interrupted after {}", counted(runs, "run")));
    if let Some(line) = go_on {
        context.say(&format!("go on with: {line}"));
    }
    context.end_with(children.interrupted().unwrap_or(INTERRUPTED));
}

/// How far a search is: how many commits may be the culprit, and about how many tests are to come.
fn far(left: usize, steps: u32) -> String {
    format!("{left} commits left, about {}", counted(usize::try_from(steps).unwrap_or(usize::MAX), "step"))
}

/// The error of an end of a search that is not what it is to be.
fn wrong_end(what: &str, id: &str, found: &str) -> CliError {
    let error = CliError::new(Word::BisectEndpoints, format!("{what} end {id} {found}"));
    error.hint(LOOK)
}

/// The full ids of commits.
fn ids(store: &Store, session: &SessionName, numbers: &[Number]) -> Result<Vec<String>, CliError> {
    Ok(ops::commit_ids(store, session, numbers)?.iter().map(CommitId::to_string).collect())
}

/// A private copy of the store in which a session stands on a commit, and of which clones are made; `None` where a signal came.
fn private_copy(
    store: &Store,
    at: &CommitId,
    children: &Children,
    context: &Context,
) -> Result<Option<Scratch>, CliError> {
    let request = ScratchRequest {
        revision: &revision(at),
        extent: Extent::History,
        temporary: &context.temporary_directory(),
        go_on: &|| children.interrupted().is_none(),
    };
    Ok(ops::scratch(store, &context.session()?, &request)?.map(|report| report.scratch))
}
