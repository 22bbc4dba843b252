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
mod outcome;
mod program;
mod rates;
mod report;
mod resume;
mod round;
mod run;
mod tester;

use super::context::Context;
use super::error::{CliError, Word};
use crate::graph::Revision;
use crate::object::CommitId;
use crate::store::Marked;
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

fn counted(runs: usize) -> String {
    if runs == 1 { "1 run".to_owned() } else { format!("{runs} runs") }
}

fn changes(count: usize) -> String {
    if count == 1 { "1 change".to_owned() } else { format!("{count} changes") }
}

/// Says that a signal ended a search after so many runs, and which line goes on with it.
fn say_interrupted(runs: usize, go_on: Option<&str>, context: &Context) {
    context.say(&format!("interrupted after {}", counted(runs)));
    if let Some(line) = go_on {
        context.say(&format!("go on with: {line}"));
    }
}
