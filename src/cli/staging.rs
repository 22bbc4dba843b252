//! What `put` and `rm` have in common: they stage changes, or commit them at once, and tell what became of each.

use super::context::Context;
use super::error::CliError;
use super::json::StagedJson;
use crate::model::SessionName;
use crate::ops::{self, Condition, StagedReport, Write};
use crate::store::{CommitWords, Store};

/// What became of some changes.
pub struct Staging {
    /// Each of them.
    pub reports: Vec<StagedReport>,
    /// `Some` where they were to be committed at once: the commit's id, `None` where HEAD had it all.
    commit: Option<Option<String>>,
}

impl Staging {
    /// Changes that were only staged, or only tried.
    pub fn staged(reports: Vec<StagedReport>) -> Self {
        Self { reports, commit: None }
    }

    /// Stages changes, or commits just them where `words` say what the commit says.
    pub fn new(
        context: &Context,
        store: &Store,
        session: &SessionName,
        writes: Vec<Write>,
        condition: Condition,
        words: Option<&CommitWords>,
    ) -> Result<Self, CliError> {
        let Some(words) = words else { return Ok(Self::staged(ops::put(store, session, writes, condition)?)) };
        let report = ops::put_and_commit(store, session, writes, condition, words)?;
        context.warn_error(report.warning);
        Ok(Self { reports: report.reports, commit: Some(report.commit.map(|commit| commit.to_string())) })
    }

    /// Prints the ids, or the rows of JSON.
    pub fn show(&self, context: &mut Context, session: &SessionName) -> Result<(), CliError> {
        for report in &self.reports {
            if !context.globals.json {
                context.id_line(&report.id)?;
                continue;
            }
            let row = StagedJson::new(report, session.as_str());
            match &self.commit {
                None => context.json_line(&row)?,
                Some(commit) => context.json_line(&row.committed(commit.as_deref()))?,
            }
        }
        Ok(())
    }
}
