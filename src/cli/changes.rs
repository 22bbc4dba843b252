//! How changed nodes are shown, wherever a command shows some: as patches, as a list or as sums.

use super::context::Context;
use super::error::CliError;
use super::json::{ChangeJson, ChangedJson, letter};
use super::patch::{self, Patch};
use super::text::escape_line;
use crate::graph::{By, Changed, Comparison};
use crate::object::CommitId;
use std::borrow::Cow;
use std::io;

/// In which form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// What each node was and is.
    Patch,
    /// How many lines or leaves of each.
    Stat,
    /// Ids behind a letter.
    NameStatus,
    /// Ids.
    NameOnly,
}

/// The options that ask for another form than patches.
const FORMS: [&str; 3] = ["stat", "name_status", "name_only"];

/// The form of changes
#[derive(clap::Args, Debug)]
pub(super) struct ChangeStyle {
    /// The changed nodes, and how many lines of each text and leaves of each JSON value come in and go, as a patch shows them
    #[arg(long, conflicts_with_all = ["name_status", "name_only"])]
    stat: bool,

    /// Only the ids of the changed nodes, behind A, M or D
    #[arg(long, conflicts_with = "name_only")]
    name_status: bool,

    /// Only the ids of the changed nodes
    #[arg(long)]
    name_only: bool,

    /// Show COUNT unchanged lines around each change, and not 3
    #[arg(short = 'U', long, value_name = "COUNT", allow_negative_numbers = true, conflicts_with_all = FORMS)]
    unified: Option<usize>,

    /// Mark words within a line, as [-gone-]{+come+}
    #[arg(long, conflicts_with_all = FORMS)]
    word_diff: bool,

    /// Compare texts by line and JSON values by leaf (auto, if nothing is said), both by line, or both by leaf
    #[arg(long, value_name = "UNIT", value_parser = ["auto", "line", "path"], conflicts_with_all = FORMS)]
    by: Option<String>,

    /// Show the provenance and the event time of every changed node
    #[arg(long, conflicts_with_all = FORMS)]
    provenance: bool,
}

impl ChangeStyle {
    /// The form that is asked for, if one is.
    pub fn form(&self) -> Option<Form> {
        match self {
            Self { stat: true, .. } => Some(Form::Stat),
            Self { name_status: true, .. } => Some(Form::NameStatus),
            Self { name_only: true, .. } => Some(Form::NameOnly),
            Self { unified: None, word_diff: false, by: None, provenance: false, .. } => None,
            _ => Some(Form::Patch),
        }
    }

    fn by(&self) -> By {
        match self.by.as_deref() {
            Some("line") => By::Line,
            Some("path") => By::Path,
            _ => By::Auto,
        }
    }

    /// Shows changed nodes; `commit` is the one that changed them, where one did.
    pub fn show(
        &self,
        form: Form,
        commit: Option<&CommitId>,
        changed: &[Changed],
        context: &mut Context,
    ) -> Result<(), CliError> {
        match form {
            Form::Patch => self.patches(changed, context),
            Form::Stat | Form::NameStatus | Form::NameOnly if context.globals.json => {
                for changed in changed {
                    let counted = (form == Form::Stat).then(|| Counted::of(changed, context));
                    let lines = counted.is_some().then(|| count(changed, By::Line, context).0);
                    let leaves = counted.filter(|counted| counted.are_leaves).map(|counted| counted.count);
                    context.json_line(&ChangedJson::new(commit, changed, lines, leaves))?;
                }
                Ok(())
            }
            Form::Stat => Ok(self.stat(changed, context)?),
            Form::NameStatus => {
                for changed in changed {
                    let letter = letter(changed.effect().into()).to_string();
                    let (letter, id) = (context.paint().state(changed.effect().into(), &letter), id(changed, context));
                    context.line(&format!("{letter} {}", context.paint().id(&id)))?;
                }
                Ok(())
            }
            Form::NameOnly => Ok(changed.iter().try_for_each(|changed| context.id_line(changed.id()))?),
        }
    }

    fn patches(&self, changed: &[Changed], context: &mut Context) -> Result<(), CliError> {
        let around = self.unified.unwrap_or(3);
        for (at, changed) in changed.iter().enumerate() {
            let (old, new) = changed.contents();
            let comparison = Comparison::of(old, new, self.by());
            let edits = comparison.edits(Some(context.deadline()));
            if edits.simplified() {
                let id = escape_line(changed.id().as_str());
                context.say(&format!("note: the comparison of '{id}' is simplified: less may differ than is shown"));
            }
            if context.globals.json {
                context.json_line(&ChangeJson::new(changed, &edits, around)?)?;
                continue;
            }
            let paint = context.paint();
            let patch = Patch { paint, word_diff: self.word_diff, context: around, deadline: context.deadline() };
            let out = context.out();
            if at > 0 {
                writeln!(out)?;
            }
            patch::header(out, changed, &edits, paint)?;
            patch::provenance(out, changed, self.provenance, paint)?;
            patch.contents(out, &edits)?;
        }
        Ok(())
    }

    fn stat(&self, changed: &[Changed], context: &mut Context) -> io::Result<()> {
        let paint = context.paint();
        let ids: Vec<_> = changed.iter().map(|changed| id(changed, context)).collect();
        let width = ids.iter().map(|id| console::measure_text_width(id)).max().unwrap_or(0);
        let (mut lines, mut leaves) = ((0, 0), (0, 0));
        for (changed, id) in changed.iter().zip(&ids) {
            let Counted { count: (more, less), are_leaves } = Counted::of(changed, context);
            let sum = if are_leaves { &mut leaves } else { &mut lines };
            *sum = (sum.0 + more, sum.1 + less);
            let pad = " ".repeat(width - console::measure_text_width(id));
            let letter = paint.state(changed.effect().into(), &letter(changed.effect().into()).to_string());
            let (id, more, less) = (paint.id(id), paint.added(&format!("+{more}")), paint.removed(&format!("-{less}")));
            context.line(&format!(" {id}{pad} | {letter} {more} {less}"))?;
        }
        let nodes = if changed.len() == 1 { "node" } else { "nodes" };
        let mut sums = vec![format!("{} {nodes} changed", changed.len())];
        if lines != (0, 0) || leaves == (0, 0) {
            sums.push(format!("+{} -{} lines", lines.0, lines.1));
        }
        if leaves != (0, 0) {
            sums.push(format!("+{} -{} leaves", leaves.0, leaves.1));
        }
        context.line(&format!(" {}", sums.join(", ")))
    }
}

/// How much of a node comes in and goes, in the unit in which a patch shows it.
struct Counted {
    count: (usize, usize),
    are_leaves: bool,
}

impl Counted {
    fn of(changed: &Changed, context: &Context) -> Self {
        let (count, are_leaves) = count(changed, By::Auto, context);
        Self { count, are_leaves }
    }
}

/// How many lines or leaves a change adds and takes away, and whether it is leaves.
fn count(changed: &Changed, by: By, context: &Context) -> ((usize, usize), bool) {
    let (old, new) = changed.contents();
    let comparison = Comparison::of(old, new, by);
    (comparison.edits(Some(context.deadline())).count(), matches!(comparison, Comparison::Values(..)))
}

/// The id of a changed node: for people escaped, exact where lines end with NUL.
fn id<'a>(changed: &'a Changed, context: &Context) -> Cow<'a, str> {
    let id = changed.id().as_str();
    if context.globals.nul { Cow::Borrowed(id) } else { escape_line(id) }
}
