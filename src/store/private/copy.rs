//! What is in a private copy: a store as any other, with one session, which stands on one commit.

use super::super::init::{build, build_directory};
use super::super::record::{Head, RefUpdate, Session, session_log_name};
use super::super::rows::{Access, Writing};
use super::super::tables::Tables;
use super::super::{Number, SessionView, StoreError};
use super::state::fill_with_state;
use crate::model::SessionName;
use std::path::Path;

/// How much of a store is copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// All of it, under the numbers that it has.
    History,
    /// The memory at one commit: the copy has one commit, without parents, that says what this one says.
    State,
}

/// What to copy.
pub struct Copying<'a> {
    /// The commit on which the session stands in the copy.
    pub at: Number,
    /// How much.
    pub extent: Extent,
    /// Asked again and again whether to go on.
    pub go_on: &'a dyn Fn() -> bool,
}

/// The reason in the log of HEAD.
const REASON: &str = "private copy";

/// Makes a store at `to`, where nothing may be, of what the session sees but for its staged changes; `false` where it was
/// told to stop.
///
/// Rows are read, checked and written one at a time. Of the sessions only this one is taken along, and `default`, which
/// every store has, stands where it does.
pub fn copy<A: Access>(view: &SessionView<'_, A>, copying: &Copying<'_>, to: &Path) -> Result<bool, StoreError> {
    let Copying { at, extent, go_on } = *copying;
    build_directory(to)?;
    build(to, |tables| {
        let mut session = Session::at(Head::Detached(at));
        let mut old = None;
        let filled = match extent {
            Extent::History => {
                session.orig_head = view.row.as_ref().and_then(|row| row.orig_head);
                session.previous = Some(view.head.clone());
                old = view.head_commit()?;
                tables.fill(view.tables, go_on)?
            }
            Extent::State => fill_with_state(tables, view.tables, at, go_on)?,
        };
        if filled {
            stand(tables, &view.name, &session, old, at)?;
        }
        Ok(filled)
    })
}

/// Keeps the row of the session, which stands on the commit `at`, lets `default` stand beside it, and logs that: at the time of the
/// commit, so that copies of one commit are the same.
pub fn stand(
    tables: &mut Tables<Writing<'_>>,
    name: &SessionName,
    session: &Session,
    old: Option<Number>,
    at: Number,
) -> Result<(), StoreError> {
    let (new, time, default) = (Some(at), tables.commit(at)?.time, SessionName::default());
    for name in [&default, name].into_iter().take(if *name == default { 1 } else { 2 }) {
        tables.set_session(name, session)?;
        tables.log_update(&session_log_name(name), &RefUpdate { old, new, time, reason: REASON.to_owned() })?;
    }
    Ok(())
}
