//! `mnem gc`

use super::context::Context;
use super::error::CliError;
use super::json::V;
use super::text::counted;
use crate::model::CommitTime;
use crate::ops::{self, GcReport};
use serde::Serialize;

/// The setting that says how many days the movements of refs are kept.
const REFLOG_DAYS: &str = "reflog-days";
/// How many where nobody says.
const DEFAULT_DAYS: u32 = 90;

/// Drop what nothing names any more, and make the store as small as it can be
///
/// Commits that no branch, no tag, no session and no movement of a ref within the last days names are dropped, with the
/// versions of nodes that only they have; older movements too, but for the last one of each ref. Whatever can be reached
/// stays as it is, under the same ids. Readers go on meanwhile; writers wait.
#[derive(clap::Args, Debug)]
pub(super) struct GcArgs {
    /// Only say what would be dropped
    #[arg(long)]
    dry_run: bool,

    /// For how many days the movements of refs are kept; the setting of that name if it is left out, else 90
    #[arg(long, value_name = "DAYS")]
    reflog_days: Option<u32>,
}

#[derive(Serialize)]
struct GcJson {
    v: u8,
    r#type: &'static str,
    dry_run: bool,
    commits: u64,
    objects: u64,
    movements: u64,
    bytes_before: u64,
    bytes_after: Option<u64>,
}

pub(super) fn run(args: &GcArgs, context: &mut Context) -> Result<(), CliError> {
    let store = if args.dry_run { context.store()? } else { context.store_to_write()? };
    let days = match args.reflog_days {
        Some(days) => days,
        // What 'config' has let in is a number.
        None => ops::setting(&store, REFLOG_DAYS)?.and_then(|days| days.parse().ok()).unwrap_or(DEFAULT_DAYS),
    };
    let report = ops::gc(&store, days_before(context.now()?, days), args.dry_run)?;
    if context.globals.json {
        return context.json_line(&row(&report));
    }
    let line = line(&report);
    Ok(context.line(&line)?)
}

/// So many days before a time, or the first time that there is.
fn days_before(time: CommitTime, days: u32) -> CommitTime {
    const DAY_MS: i64 = 86_400_000;
    const FIRST_MS: i64 = -62_167_219_200_000;
    let at = time.unix_ms().saturating_sub(i64::from(days).saturating_mul(DAY_MS)).max(FIRST_MS);
    CommitTime::new(at, 0).expect("it is between the first time and one that is there")
}

fn row(report: &GcReport) -> GcJson {
    let GcReport { dropped, before, after } = *report;
    GcJson {
        v: V,
        r#type: "gc",
        dry_run: after.is_none(),
        commits: dropped.commits,
        objects: dropped.objects,
        movements: dropped.updates,
        bytes_before: before,
        bytes_after: after,
    }
}

/// Such as `2 commits, 9 objects and 0 movements of refs dropped, 1568768 bytes before and 1048576 after`.
fn line(report: &GcReport) -> String {
    let GcReport { dropped, before, after } = *report;
    let count = |count: u64, what| counted(usize::try_from(count).unwrap_or(usize::MAX), what);
    let (commits, objects) = (count(dropped.commits, "commit"), count(dropped.objects, "object"));
    let movements = format!("{} of refs", count(dropped.updates, "movement"));
    match after {
        Some(after) => format!("dropped {commits}, {objects} and {movements}: {before} bytes before, {after} after"),
        None => format!("would drop {commits}, {objects} and {movements} of {before} bytes"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_counted_back_and_end_where_time_begins() {
        let time = CommitTime::parse("2026-03-02T01:00:00.000+02:00").expect("a time");
        assert_eq!(days_before(time, 1).to_string(), "2026-02-28T23:00:00.000+00:00");
        assert_eq!(days_before(time, 0).unix_ms(), time.unix_ms());
        assert_eq!(days_before(time, u32::MAX).to_string(), "0000-01-01T00:00:00.000+00:00");
    }
}
