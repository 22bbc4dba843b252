//! `mnem bisect find`

use crate::cli::commit_text::one_line;
use crate::cli::context::{AtRevision, Context};
use crate::cli::error::{CliError, Word};
use crate::cli::finding::{FoundJson, OriginJson, RemovalJson, blame, finding, found, removal};
use crate::cli::json::V;
use crate::cli::pattern::patterns;
use crate::cli::predicates::Predicates;
use crate::cli::shell::word;
use crate::graph::{Predicate, Revision, Selection};
use crate::ops::{self, FindReport, FindRequest, FlipReport, Touched, Turned};
use crate::store::Store;
use serde::Serialize;

/// Find the commit since which predicates hold, or no longer hold
///
/// Prints the id of the commit since which it is as it is at the end of the range and was not at its start, whichever
/// way that is; and on standard error what was found there before and after, and who made it so. A commit counts where it
/// is otherwise than in each of its parents. Looks at the versions of the nodes that are named, and runs no program.
///
/// It holds where all predicates do; 'mnem test --help' tells more of them. Where it is the same at both ends, the exit
/// status is 1. What is staged is not looked at.
#[derive(clap::Args, Debug)]
#[command(override_usage = "mnem bisect find [OPTIONS] [REV|A..B] [--not] PREDICATE…")]
pub(in crate::cli) struct FindArgs {
    /// Where to search: what B has and A has not; or all that REV has, from the empty memory before the first commit;
    /// HEAD if none is named
    #[arg(value_name = "REV|A..B", add = crate::cli::complete::ranges())]
    range: Option<String>,

    /// Print every commit since which it is otherwise than before, the newest first
    #[arg(long)]
    all: bool,

    /// Only commits that changed a node with such an id; repeatable
    #[arg(long, value_name = "PATTERN", allow_hyphen_values = true, add = crate::cli::complete::ids())]
    changed: Vec<String>,

    /// Follow only the first parent of each merge, and look at no other
    #[arg(long)]
    first_parent: bool,

    #[command(flatten)]
    predicates: Predicates,

    #[command(flatten)]
    at: AtRevision,
}

#[derive(Serialize)]
struct FlipJson<'a> {
    v: u8,
    r#type: &'static str,
    commit: String,
    parents: Vec<String>,
    author: &'a str,
    time: String,
    message: &'a str,
    holds: bool,
    turned: Vec<TurnedJson<'a>>,
}

#[derive(Serialize)]
struct TurnedJson<'a> {
    predicate: &'a [String],
    before: FoundJson<'a>,
    after: FoundJson<'a>,
    nodes: Vec<TouchedJson<'a>>,
}

#[derive(Serialize)]
struct TouchedJson<'a> {
    id: &'a str,
    origin: Option<OriginJson<'a>>,
    removal: Option<RemovalJson<'a>>,
}

impl<'a> FlipJson<'a> {
    fn new(FlipReport { entry, holds, turned }: &'a FlipReport<'_>) -> Result<Self, CliError> {
        let touched = |Touched { id, share, removal }: &'a Touched| {
            let removal = removal.as_ref().map(RemovalJson::new).transpose()?;
            Ok(TouchedJson { id: id.as_str(), origin: share.as_ref().map(OriginJson::new), removal })
        };
        let turned = turned.iter().map(|turned| {
            Ok(TurnedJson {
                predicate: turned.predicate.words(),
                before: FoundJson::new(&turned.before)?,
                after: FoundJson::new(&turned.after)?,
                nodes: turned.nodes.iter().map(touched).collect::<Result<_, CliError>>()?,
            })
        });
        Ok(Self {
            v: V,
            r#type: "flip",
            commit: entry.commit.id.to_string(),
            parents: entry.parents.iter().map(ToString::to_string).collect(),
            author: entry.commit.author.as_str(),
            time: entry.commit.time.to_string(),
            message: entry.commit.message.as_str(),
            holds: *holds,
            turned: turned.collect::<Result<_, CliError>>()?,
        })
    }
}

pub(in crate::cli) fn run(args: &FindArgs, context: &mut Context) -> Result<(), CliError> {
    let predicates = args.predicates.read("mnem bisect find --contains user/diet vegan")?;
    let changed = patterns(&args.changed, false).map_err(|error| error.hint("such as --changed 'user/*'"))?;
    let store = context.store()?;
    let session = context.session()?;
    let (start, end) = ends(args, context, &store)?;
    let request = FindRequest { start, end, predicates, changed, first_parent: args.first_parent, all: args.all };
    let report = ops::find(&store, &session, &request)?;
    context.warn_doubts(&report.doubts);
    for flip in &report.flips {
        tell(flip, &report, context);
        if context.globals.json {
            context.json_line(&FlipJson::new(flip)?)?;
        } else {
            context.line(&flip.entry.commit.id.to_string())?;
        }
    }
    if report.flips.is_empty() && args.all {
        context.answer_no();
        context.say(&format!("no commit is a flip: {}", at_ends(&request, &report)));
    } else if report.flips.is_empty() {
        return Err(nothing(args, &request, &report, context));
    } else if !args.all {
        tell_others(args, &request, &report, context);
    }
    Ok(())
}

/// The start and the end of what is searched.
fn ends(args: &FindArgs, context: &Context, store: &Store) -> Result<(Option<Revision>, Revision), CliError> {
    let Some(text) = &args.range else {
        let end = context.revision(&args.at, store)?;
        return Ok((None, end.unwrap_or(Revision::head())));
    };
    if args.at.rev.is_some() {
        return Err(CliError::usage("REV and --rev both name a revision").hint("mnem bisect find REV PREDICATE"));
    }
    match context.read_selection(text)? {
        Selection::Of(end) => Ok((None, end)),
        Selection::Between(start, end) => Ok((Some(start), end)),
        Selection::Without(_) | Selection::Either(..) => {
            let error = CliError::usage(format!("'{text}' has no start and end to search between"));
            Err(error.hint("mnem bisect find A..B PREDICATE"))
        }
    }
}

/// A flip, what was found before and after it, and who made it so.
fn tell(FlipReport { entry, holds, turned }: &FlipReport<'_>, report: &FindReport<'_>, context: &Context) {
    let paint = context.err_paint();
    let since = if *holds { "holds since" } else { "no longer holds since" };
    context.say(&format!("{since} {}", one_line(entry, report.head_branch.as_deref(), paint)));
    for Turned { predicate, before, after, nodes } in turned {
        context.say(&format!("    {}", finding(predicate, after)));
        context.say(&format!("    before: {}", found(before)));
        let lines = nodes.iter().flat_map(|Touched { share, removal: end, .. }| {
            let removed = end.iter().flat_map(|end| removal(end, paint));
            share.iter().map(|share| blame(share, paint)).chain(removed)
        });
        lines.for_each(|line| context.say(&format!("    {line}")));
    }
}

/// That the one that was told is not the only one.
fn tell_others(args: &FindArgs, request: &FindRequest, report: &FindReport<'_>, context: &Context) {
    if report.origins > 1 {
        context.say(&format!("{} commits on parallel branches made it so; this is the newest", report.origins));
    }
    if report.count > 1 {
        let all = typed(args, args.range.as_deref(), true, &request.predicates, context);
        context.say(&format!("{} flips in all; to see them: {all}", report.count));
    }
}

/// Why nothing was found.
fn nothing(args: &FindArgs, request: &FindRequest, report: &FindReport<'_>, context: &Context) -> CliError {
    let at_ends = at_ends(request, report);
    let typed = |range: Option<&str>, all| typed(args, range, all, &request.predicates, context);
    let error = |message: String| CliError::new(Word::BisectEndpoints, message);
    if report.at_start == report.at_end {
        return match report.count {
            0 => error(at_ends).hint("name two ends between which it changes, such as A..B; see 'mnem log --oneline'"),
            1 => error(format!("{at_ends}; between them is 1 flip")).hint(typed(args.range.as_deref(), true)),
            count => {
                error(format!("{at_ends}; between them are {count} flips")).hint(typed(args.range.as_deref(), true))
            }
        };
    }
    match &request.start {
        Some(start) if report.is_reversed => {
            let end = &request.end;
            error(format!("{at_ends}; but '{end}' is an ancestor of '{start}'"))
                .hint(typed(Some(&format!("{end}..{start}")), args.all))
        }
        _ if !request.changed.is_empty() => {
            error(format!("{at_ends}; but no commit that changed such a node made it so")).hint("leave out --changed")
        }
        _ => error(format!("{at_ends}; but no commit between made it so"))
            .hint(typed(Some(&request.end.to_string()), args.all)),
    }
}

/// Whether it holds at the ends.
fn at_ends(request: &FindRequest, report: &FindReport<'_>) -> String {
    let end = format!("at '{}'", request.end);
    let start = request.start.as_ref().map_or("before the first commit".to_owned(), |start| format!("at '{start}'"));
    match (report.at_start, report.at_end) {
        (true, true) => format!("it holds at both ends, {start} and {end}"),
        (false, false) => format!("it holds at neither end, {start} or {end}"),
        (true, false) => format!("it holds {start} and not {end}"),
        (false, true) => format!("it holds {end} and not {start}"),
    }
}

/// The same search as it is typed, in another range or for all.
fn typed(args: &FindArgs, range: Option<&str>, all: bool, predicates: &[Predicate], context: &Context) -> String {
    let mut words: Vec<_> = ["bisect", "find"].into_iter().chain(range).map(word).collect();
    if let (None, Some(rev)) = (range, &args.at.rev) {
        words.push(word(rev));
    }
    words.extend(all.then(|| "--all".to_owned()));
    words.extend(args.first_parent.then(|| "--first-parent".to_owned()));
    words.extend(args.changed.iter().flat_map(|pattern| ["--changed".to_owned(), word(pattern)]));
    words.extend(predicates.iter().flat_map(Predicate::words).map(|text| word(text)));
    format!("{} {}", context.typed(), words.join(" "))
}
