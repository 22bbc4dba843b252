//! `mnem fsck`

use super::context::Context;
use super::error::{CliError, Word};
use super::json::V;
use super::progress::Progress;
use super::text::{counted, escape_line};
use crate::ops::{self, FsckReport};
use crate::store::{Fault, Finding, Group, Note, Report, Stage};
use serde::Serialize;

/// How many commits and ids of one finding a person is told.
const SHOWN: usize = 5;

/// Check the whole store for damage
///
/// Looks at every page, every object and commit, the indexes, refs and their logs, sessions and staged changes, and writes
/// nothing. Prints one line a finding, and nothing for a sound store; ends with 128 where something is damaged.
#[derive(clap::Args, Debug)]
pub(super) struct FsckArgs {
    /// Write the rows again that follow from others, such as indexes, where what they follow from is sound
    #[arg(long)]
    repair: bool,
}

#[derive(Serialize)]
struct FindingJson<'a> {
    v: u8,
    r#type: &'static str,
    name: &'static str,
    about: &'a str,
    what: &'a str,
    repairable: bool,
    commits: Vec<String>,
    ids: Vec<&'a str>,
}

impl<'a> FindingJson<'a> {
    fn new(r#type: &'static str, finding: &'a Finding) -> Self {
        Self {
            v: V,
            r#type,
            name: finding.fault.name(),
            about: &finding.about,
            what: &finding.what,
            repairable: finding.is_repairable(),
            commits: finding.commits.iter().map(ToString::to_string).collect(),
            ids: finding.ids.iter().map(|id| id.as_str()).collect(),
        }
    }
}

pub(super) fn run(args: &FsckArgs, context: &mut Context) -> Result<(), CliError> {
    let store = if args.repair { context.store_to_write()? } else { context.store()? };
    let mut progress = Progress::begin(context);
    let told = ops::fsck(&store, args.repair, &mut |stage, done, all| progress.tell(stage_name(stage), done, all));
    drop(progress);
    let FsckReport { report, repaired, refused, warning } = told?;
    context.warn_error(warning);
    let rows = repaired.iter().map(|finding| ("repaired", finding));
    for (kind, finding) in rows.chain(report.findings.iter().map(|finding| ("finding", finding))) {
        if context.globals.json {
            context.json_line(&FindingJson::new(kind, finding))?;
        } else {
            let label = if kind == "repaired" { "repaired " } else { "" };
            context.line(&format!("{label}{}", line(finding, context)))?;
        }
    }
    report.notes.iter().for_each(|note| context.say(&note_text(note)));
    context.say(&sum(&report));
    match verdict(&report, refused) {
        None => Ok(()),
        Some(error) => {
            context.bring_out()?;
            Err(error)
        }
    }
}

fn stage_name(stage: Stage) -> &'static str {
    match stage {
        Stage::Pages => "looking at pages",
        Stage::Commits => "looking at commits",
        Stage::Indexes => "looking at indexes",
        Stage::Damage => "looking for what damage reaches",
        Stage::Staged => "looking at staged changes",
    }
}

fn line(finding: &Finding, context: &Context) -> String {
    let Finding { fault, about, what, commits, ids, .. } = finding;
    let paint = context.paint();
    let mut line = format!("{}: {}: {}", paint.removed(fault.name()), escape_line(about), escape_line(what));
    let shown = |all: Vec<String>| {
        let more = all.len().saturating_sub(SHOWN);
        let some = all.into_iter().take(SHOWN).collect::<Vec<_>>().join(", ");
        if more == 0 { some } else { format!("{some} and {more} more") }
    };
    if !commits.is_empty() {
        let ids = commits.iter().map(|id| id.to_string()[..10].to_owned());
        let head = if commits.len() == 1 { "commit" } else { "commits" };
        line.push_str(&format!("; {head} {}", shown(ids.collect())));
    }
    if !ids.is_empty() {
        let head = if ids.len() == 1 { "id" } else { "ids" };
        line.push_str(&format!(
            "; {head} {}",
            shown(ids.iter().map(|id| format!("'{}'", escape_line(id.as_str()))).collect())
        ));
    }
    line
}

fn note_text(note: &Note) -> String {
    match note {
        Note::RedactionLeft => "a redaction was interrupted; finish it with 'mnem redact --finish'".to_owned(),
        Note::Unrecovered => "the last writer did not close the file; the next one recovers it".to_owned(),
        Note::TornTail { session, bytes } => {
            format!(
                "the staged log of '{session}' ends with {bytes} bytes that are no whole frame: a write that was cut off"
            )
        }
    }
}

fn sum(report: &Report) -> String {
    let count = |count: u64, what| counted(usize::try_from(count).unwrap_or(usize::MAX), what);
    let found = match report.findings.len() {
        0 => "nothing is wrong".to_owned(),
        found => counted(found, "finding"),
    };
    format!("{} and {} looked at; {found}", count(report.commits, "commit"), count(report.objects, "object"))
}

/// The error that the findings come to.
fn verdict(report: &Report, refused: bool) -> Option<CliError> {
    let findings = &report.findings;
    let is_newer = |finding: &&Finding| finding.fault.group() == Group::Newer;
    let damage: Vec<_> = findings.iter().filter(|finding| !is_newer(finding)).collect();
    let first = findings.first()?;
    if damage.is_empty() {
        let word = match first.fault {
            Fault::UnsupportedKind => Word::StoredKind,
            _ => Word::UnsupportedFormat,
        };
        let error = CliError::new(word, "the memory store holds what this version does not read");
        return Some(error.hint("read it with a newer mnem"));
    }
    let error =
        CliError::new(Word::Corrupt, format!("the memory store is damaged: {}", counted(damage.len(), "finding")));
    Some(if refused {
        error.about("nothing was repaired, for objects or commits are damaged").hint(RESTORE)
    } else if damage.iter().all(|finding| finding.is_repairable()) {
        error.hint("mnem fsck --repair")
    } else {
        error.hint(RESTORE)
    })
}

const RESTORE: &str = "keep a copy of the store, and take what is lost from another copy or a bundle";
