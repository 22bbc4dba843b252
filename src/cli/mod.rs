//! The command line: parses, prints, and asks clock, environment and terminal. Nothing below does.

mod assertions;
mod bisect;
mod blame;
mod branch;
mod bundle;
mod changes;
mod check;
mod child;
mod commit;
mod commit_text;
mod complete;
mod completions;
mod config;
mod conflict;
mod context;
mod demo;
mod diff;
mod editor;
mod error;
mod exec;
mod export;
mod finding;
mod folder;
mod fsck;
mod gc;
mod get;
mod grep;
mod import;
mod init;
mod input;
mod json;
mod junit;
mod lanes;
mod log;
mod ls;
mod merge;
mod merge_base;
mod node_filter;
mod output;
mod pager;
mod paint;
mod patch;
mod pattern;
mod predicates;
mod progress;
mod put;
mod redact;
mod reflog;
mod refs;
mod reset;
mod restore;
mod rev_parse;
mod revert;
mod rm;
#[cfg(feature = "internals")]
pub mod rows;
#[cfg(not(feature = "internals"))]
mod rows;
mod settle;
mod shell;
mod show;
mod staging;
mod status;
mod switch;
mod tag;
mod test;
mod text;
mod undo;
mod version;
mod when;
mod world;
mod writer_text;

pub use world::World;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, Parser, Subcommand};
use context::{Context, Globals};
use error::{CliError, Word};
use std::ffi::OsString;
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Version control for the memory of AI agents
///
/// Keeps memory nodes in a store, commits them, and tells when a belief entered and from where.
#[derive(Parser, Debug)]
#[command(
    name = "mnem",
    version,
    about,
    long_about,
    infer_subcommands = false,
    infer_long_args = false,
    arg_required_else_help = true,
    disable_help_subcommand = true,
    max_term_width = 100,
    after_help = "See 'mnem COMMAND --help' for what a command does, and 'mnem demo' for a tour."
)]
struct Cli {
    #[command(flatten)]
    globals: Globals,
    #[command(subcommand)]
    command: Verb,
}

#[derive(Subcommand, Debug)]
enum Verb {
    Init(init::InitArgs),
    Put(Box<put::PutArgs>),
    Rm(rm::RmArgs),
    Restore(restore::RestoreArgs),
    Status(status::StatusArgs),
    Reset(reset::ResetArgs),
    Commit(commit::CommitArgs),
    Branch(branch::BranchArgs),
    Switch(switch::SwitchArgs),
    Tag(tag::TagArgs),
    Merge(merge::MergeArgs),
    Revert(revert::RevertArgs),
    Get(get::GetArgs),
    Ls(ls::LsArgs),
    Grep(grep::GrepArgs),
    Log(Box<log::LogArgs>),
    Show(show::ShowArgs),
    Diff(diff::DiffArgs),
    Blame(blame::BlameArgs),
    Bisect(bisect::BisectArgs),
    RevParse(rev_parse::RevParseArgs),
    MergeBase(merge_base::MergeBaseArgs),
    Reflog(reflog::ReflogArgs),
    Test(test::TestArgs),
    Check(check::CheckArgs),
    Exec(exec::ExecArgs),
    Export(export::ExportArgs),
    Import(import::ImportArgs),
    Bundle(bundle::BundleArgs),
    Gc(gc::GcArgs),
    Redact(redact::RedactArgs),
    Config(config::ConfigArgs),
    Fsck(fsck::FsckArgs),
    Completions(completions::CompletionsArgs),
    Version(version::VersionArgs),
    Demo(demo::DemoArgs),
}

/// The definition of the command line, for man pages and completions.
pub fn command() -> clap::Command {
    Cli::command()
}

/// Runs the command that the arguments name and returns its exit status.
pub fn run() -> ExitCode {
    // The database may panic on damaged pages. That is caught and told as damage; no trace is printed.
    std::panic::set_hook(Box::new(|_| {}));
    complete::answer();
    // A file-size limit is then an error of the write and not the end of the process.
    let _ignored = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, Arc::new(AtomicBool::new(false)));

    ExitCode::from(run_in(World::process()))
}

/// Runs the command that the arguments of `world` name and returns its exit status.
pub fn run_in(world: World) -> u8 {
    let world = Rc::new(world);
    let mut shown = Shown::before_parsing(&world.arguments);
    let fault = |_| Err(CliError::new(Word::Corrupt, "the memory store is damaged, or this is a fault of mnem"));
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        let Some(cli) = parse(&world)? else { return Ok(0) };
        shown = Shown { json: cli.globals.json, color: cli.globals.color.clone() };
        dispatch(cli, &world)
    }));
    match outcome.unwrap_or_else(fault) {
        Ok(status) => status,
        Err(error) if error.is_closed_pipe() => 0,
        Err(error) => {
            let paint = world.paint(&shown.color, world.terminals.1);
            // Where standard error is closed too, the exit status has to do.
            let _closed = error.write(&mut *world.commentary.borrow_mut(), shown.json, paint);
            error.exit()
        }
    }
}

/// How an error is to be shown.
struct Shown {
    json: bool,
    color: String,
}

impl Shown {
    /// As far as the arguments tell without being parsed.
    fn before_parsing(arguments: &[OsString]) -> Self {
        let (mut json, mut color) = (false, "auto");
        let mut words = arguments.iter().map_while(|word| if word == "--" { None } else { Some(word.to_str()) });
        while let Some(word) = words.next() {
            match word {
                Some("--json") => json = true,
                Some("--color") => color = words.next().flatten().unwrap_or(color),
                Some(word) => color = word.strip_prefix("--color=").unwrap_or(color),
                None => {}
            }
        }
        Self { json, color: color.to_owned() }
    }
}

/// Reads the arguments; help and version are answered here.
fn parse(world: &World) -> Result<Option<Cli>, CliError> {
    let arguments = &world.arguments;
    match Cli::try_parse_from(arguments) {
        Ok(cli) => Ok(Some(cli)),
        Err(error) => match error.kind() {
            ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
                let mut output = world.output.borrow_mut();
                let written = write!(output, "{}", error.render()).and_then(|()| output.flush());
                written.map_err(|error| CliError::from(error).about("standard output"))?;
                Ok(None)
            }
            ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand | ErrorKind::MissingSubcommand => {
                Err(CliError::usage("no command is named").hint(where_help_is(arguments)))
            }
            _ => Err(usage(&error, arguments)),
        },
    }
}

/// What clap says of a wrong call, as one of our errors.
fn usage(error: &clap::Error, arguments: &[OsString]) -> CliError {
    let not_text = arguments.iter().skip(1).find(|argument| argument.to_str().is_none());
    if let (ErrorKind::InvalidUtf8, Some(argument)) = (error.kind(), not_text) {
        let bytes = argument.as_encoded_bytes();
        let offset = std::str::from_utf8(bytes).map_or_else(|error| error.valid_up_to(), str::len);
        let shown = argument.display();
        let message = format!("the argument '{shown}' is not UTF-8: byte {offset} is the first bad one");
        return CliError::new(Word::BadUtf8, message)
            .hint("store bytes as text, such as the output of 'base64 -w0 FILE'");
    }
    let text = error.render().to_string();
    let mut paragraphs = text.split("\n\n");
    let message = paragraphs.next().unwrap_or(&text).trim_start_matches("error: ");
    let message = message.lines().map(str::trim).collect::<Vec<_>>().join(" ");
    let hint = paragraphs.find_map(|paragraph| {
        paragraph.trim().strip_prefix("tip: ").map(|tip| tip.lines().next().unwrap_or(tip).to_owned())
    });
    // That a word goes behind '--' is offered for every place, also where none that begins with a dash can stand.
    let hint = hint.filter(|tip| !tip.starts_with("to pass '")).or_else(|| behind_dashes(error, arguments));
    CliError::usage(message).hint(hint.unwrap_or_else(|| where_help_is(arguments)))
}

/// The line to type if what is no option was to be the first word of the command: an id, a pattern or a path.
fn behind_dashes(error: &clap::Error, arguments: &[OsString]) -> Option<String> {
    let Some(ContextValue::String(argument)) = error.get(ContextKind::InvalidArg) else { return None };
    let (names, command) = (called(arguments), command());
    let called = names.iter().try_fold(&command, |command, name| command.find_subcommand(name))?;
    let first = called.get_positionals().next()?;
    let takes_dashes = first.get_value_names()?.iter().any(|name| {
        let name = name.as_str();
        name.contains("ID") || name.contains("PATTERN") || matches!(name, "FILE" | "PATH")
    });
    let is_one = error.kind() == ErrorKind::UnknownArgument && argument.starts_with('-') && takes_dashes;
    is_one.then(|| format!("mnem {} -- {}", names.join(" "), shell::word(argument)))
}

/// The names of the command that was called and of those inside it, as far as that can be told.
fn called(arguments: &[OsString]) -> Vec<String> {
    let mut names = Vec::new();
    let matches = Cli::command().ignore_errors(true).try_get_matches_from(arguments).ok();
    let mut inner = matches.as_ref().and_then(clap::ArgMatches::subcommand);
    while let Some((name, matches)) = inner {
        names.push(name.to_owned());
        inner = matches.subcommand();
    }
    names
}

/// The help of the command that was called.
fn where_help_is(arguments: &[OsString]) -> String {
    let words: Vec<_> = ["mnem".to_owned()].into_iter().chain(called(arguments)).collect();
    format!("see '{} --help'", words.join(" "))
}

/// Runs the command and returns its exit status, 1 where the answer to its question is no.
fn dispatch(cli: Cli, world: &Rc<World>) -> Result<u8, CliError> {
    let mut context = Context::new(world, cli.globals)?;
    match cli.command {
        Verb::Init(args) => init::run(&args, &mut context)?,
        Verb::Put(args) => put::run(&args, &mut context)?,
        Verb::Get(args) => get::run(&args, &mut context)?,
        Verb::Commit(args) => commit::run(&args, &mut context)?,
        Verb::Branch(args) => branch::run(&args, &mut context)?,
        Verb::Switch(args) => switch::run(&args, &mut context)?,
        Verb::Tag(args) => tag::run(&args, &mut context)?,
        Verb::Merge(args) => merge::run(&args, &mut context)?,
        Verb::Revert(args) => revert::run(&args, &mut context)?,
        Verb::Rm(args) => rm::run(&args, &mut context)?,
        Verb::Reset(args) => reset::run(&args, &mut context)?,
        Verb::Status(args) => status::run(&args, &mut context)?,
        Verb::Ls(args) => ls::run(&args, &mut context)?,
        Verb::Grep(args) => grep::run(&args, &mut context)?,
        Verb::Export(args) => export::run(&args, &mut context)?,
        Verb::Import(args) => import::run(&args, &mut context)?,
        Verb::Bundle(args) => bundle::run(&args, &mut context)?,
        Verb::Gc(args) => gc::run(&args, &mut context)?,
        Verb::Redact(args) => redact::run(&args, &mut context)?,
        Verb::Config(args) => config::run(&args, &mut context)?,
        Verb::Fsck(args) => fsck::run(&args, &mut context)?,
        Verb::Completions(args) => completions::run(&args, &mut context)?,
        Verb::Restore(args) => restore::run(&args, &mut context)?,
        Verb::Log(args) => log::run(&args, &mut context)?,
        Verb::Show(args) => show::run(&args, &mut context)?,
        Verb::Diff(args) => diff::run(&args, &mut context)?,
        Verb::Blame(args) => blame::run(&args, &mut context)?,
        Verb::Bisect(args) => bisect::run(&args, &mut context)?,
        Verb::RevParse(args) => rev_parse::run(&args, &mut context)?,
        Verb::MergeBase(args) => merge_base::run(&args, &mut context)?,
        Verb::Reflog(args) => reflog::run(&args, &mut context)?,
        Verb::Test(args) => test::run(&args, &mut context)?,
        Verb::Check(args) => check::run(&args, &mut context)?,
        Verb::Exec(args) => exec::run(&args, &mut context)?,
        Verb::Version(args) => version::run(&args, &mut context)?,
        Verb::Demo(args) => demo::run(&args, &mut context)?,
    }
    Ok(context.finish()?)
}
