//! `mnem status`

use super::conflict::{self, ConflictJson, short};
use super::context::Context;
use super::error::CliError;
use super::json::{StagedJson, V, change_name};
use super::text::escape_line;
use crate::ops::{self, ProgressReport, StatusReport, Underway};
use crate::store::{Head, short_branch};
use serde::Serialize;
use std::io::{self, Write};

/// Show where this session stands and what it has staged
///
/// Names the other sessions too, and what to do next.
#[derive(clap::Args, Debug)]
pub(super) struct StatusArgs {}

#[derive(Serialize)]
struct StatusJson<'a> {
    v: u8,
    r#type: &'static str,
    session: &'a str,
    branch: Option<&'a str>,
    head: Option<String>,
    staged: Vec<StagedJson<'a>>,
    conflicts: Vec<&'a str>,
    in_progress: Option<ProgressJson<'a>>,
    sessions: Vec<SessionJson<'a>>,
    damaged: Vec<DamagedSessionJson<'a>>,
}

#[derive(Serialize)]
struct DamagedSessionJson<'a> {
    session: &'a str,
    message: String,
}

#[derive(Serialize)]
struct SessionJson<'a> {
    session: &'a str,
    branch: Option<&'a str>,
    head: Option<String>,
    staged: usize,
    in_progress: Option<&'static str>,
}

#[derive(Serialize)]
struct ProgressJson<'a> {
    kind: &'static str,
    name: Option<&'a str>,
    commit: Option<String>,
    to_come: usize,
    conflicts: Vec<ConflictJson<'a>>,
}

impl<'a> ProgressJson<'a> {
    fn new(progress: &'a ProgressReport) -> Result<Self, CliError> {
        Ok(Self {
            kind: progress.underway.name(),
            name: progress.name.as_deref(),
            commit: progress.commit.map(|id| id.to_string()),
            to_come: progress.to_come,
            conflicts: progress.conflicts.iter().map(ConflictJson::new).collect::<Result<_, _>>()?,
        })
    }
}

pub(super) fn run(_: &StatusArgs, context: &mut Context) -> Result<(), CliError> {
    let store = context.store()?;
    let session = context.session()?;
    let report = ops::status(&store, &session)?;
    if context.globals.json {
        return context.json_line(&json(&report, session.as_str())?);
    }
    let paint = context.paint();
    render(context.out(), &report, session.as_str(), paint)?;
    Ok(())
}

fn branch(head: &Head) -> Option<&str> {
    head.branch().map(short_branch)
}

fn json<'a>(report: &'a StatusReport, session: &'a str) -> Result<StatusJson<'a>, CliError> {
    Ok(StatusJson {
        v: V,
        r#type: "status",
        session,
        branch: branch(&report.head),
        head: report.commit.map(|commit| commit.to_string()),
        staged: report.staged.iter().map(|staged| StagedJson::new(staged, session)).collect(),
        conflicts: report.conflicts.iter().map(crate::model::NodeId::as_str).collect(),
        in_progress: report.progress.as_ref().map(ProgressJson::new).transpose()?,
        sessions: report
            .others
            .iter()
            .map(|other| SessionJson {
                session: other.name.as_str(),
                branch: branch(&other.head),
                head: other.commit.map(|commit| commit.to_string()),
                staged: other.staged,
                in_progress: other.underway.map(Underway::name),
            })
            .collect(),
        damaged: damaged(report).map(|(session, message)| DamagedSessionJson { session, message }).collect(),
    })
}

/// The sessions whose staged changes are damaged, and what is wrong.
fn damaged(report: &StatusReport) -> impl Iterator<Item = (&str, String)> {
    report.damaged.iter().map(|(name, error)| (name.as_str(), CliError::told(error)))
}

fn render(out: &mut dyn Write, report: &StatusReport, session: &str, paint: super::paint::Paint) -> io::Result<()> {
    let place = |head: &Head, commit: Option<crate::object::CommitId>| {
        let commit = commit.map(|commit| commit.to_string()[..10].to_owned());
        match (branch(head), commit) {
            (Some(branch), Some(commit)) => {
                format!("on branch {} at {}", paint.branch(&escape_line(branch)), paint.commit(&commit))
            }
            (Some(branch), None) => format!("on branch {}, no commit yet", paint.branch(&escape_line(branch))),
            (None, commit) => format!("on no branch, at {}", paint.commit(&commit.unwrap_or_default())),
        }
    };
    writeln!(out, "session {session} {}", place(&report.head, report.commit))?;
    if let Some(progress) = &report.progress {
        writeln!(out, "{}", told_progress(progress))?;
        for found in &progress.conflicts {
            conflict::render(out, found, "  ", paint)?;
        }
    }
    if !report.staged.is_empty() {
        writeln!(out, "staged changes:")?;
    }
    for staged in &report.staged {
        let conflict = if report.conflicts.contains(&staged.id) { "  (changed on the branch too)" } else { "" };
        let change = paint.state(staged.state, &format!("{:9}", change_name(staged.state)));
        writeln!(out, "  {change} {}{conflict}", paint.id(&escape_line(staged.id.as_str())))?;
    }
    if !report.others.is_empty() || !report.damaged.is_empty() {
        writeln!(out, "other sessions:")?;
    }
    for other in &report.others {
        let changes = if other.staged == 1 { "change" } else { "changes" };
        let (name, place) = (other.name.as_str(), place(&other.head, other.commit));
        let underway = other.underway.map_or(String::new(), |underway| format!(", a {} in progress", underway.name()));
        writeln!(out, "  {name} {place}, {} staged {changes}{underway}", other.staged)?;
    }
    for (name, message) in damaged(report) {
        writeln!(out, "  {name}: {}", paint.removed(&escape_line(&message)))?;
    }
    if let Some(progress) = &report.progress {
        let name = progress.underway.name();
        let open = progress.conflicts.iter().any(|conflict| conflict.settled.is_none());
        return if open {
            writeln!(
                out,
                "settle each with 'mnem {name} --resolve ID=ours|theirs|base|delete' or 'mnem put ID CONTENT'; leave it with 'mnem {name} --abort'"
            )
        } else {
            writeln!(
                out,
                "all is settled: finish it with 'mnem {name} --continue', or leave it with 'mnem {name} --abort'"
            )
        };
    }
    let next = if !report.conflicts.is_empty() {
        "take the branch's version with 'mnem restore ID', or yours with 'mnem commit --overwrite -m MESSAGE'"
    } else if report.staged.is_empty() {
        "nothing to commit; stage a change with 'mnem put ID CONTENT'"
    } else {
        "commit with 'mnem commit -m MESSAGE', or take back with 'mnem restore ID'"
    };
    writeln!(out, "{next}")
}

/// What is begun, and how many conflicts there are.
fn told_progress(progress: &ProgressReport) -> String {
    let what = match (progress.underway, &progress.name, progress.commit) {
        (Underway::Merge, Some(name), Some(id)) => format!("merging {} ({})", escape_line(name), short(&id)),
        (Underway::Revert, _, Some(id)) => format!("undoing {}", short(&id)),
        (Underway::Merge | Underway::Revert, name, _) => {
            format!("undoing what came from {}", escape_line(name.as_deref().unwrap_or_default()))
        }
    };
    let to_come = match progress.to_come {
        0 => String::new(),
        1 => ", 1 commit to come".to_owned(),
        several => format!(", {several} commits to come"),
    };
    let count = progress.conflicts.len();
    let open = progress.conflicts.iter().filter(|conflict| conflict.settled.is_none()).count();
    let conflicts = if count == 1 { "conflict" } else { "conflicts" };
    format!("{what}: {count} {conflicts}, {open} to settle{to_come}")
}
