//! How far a long command is: on a terminal, and once it has taken a second.

use super::context::Context;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::{self, IsTerminal};
use std::time::{Duration, Instant};

/// What is over sooner is not told.
const SILENT: Duration = Duration::from_secs(1);

/// A line on standard error that goes when the command is done.
pub struct Progress {
    began: Instant,
    bar: Option<ProgressBar>,
    is_heard: bool,
}

impl Progress {
    /// Begins now; tells nothing in a pipe and with `--quiet`.
    pub fn begin(context: &Context) -> Self {
        let is_heard = io::stderr().is_terminal() && !context.globals.quiet;
        Self { began: Instant::now(), bar: None, is_heard }
    }

    /// Tells that `stage` has done so many of so many, 0 of 0 where that is not known.
    pub fn tell(&mut self, stage: &'static str, done: u64, all: u64) {
        if !self.is_heard || (self.bar.is_none() && self.began.elapsed() < SILENT) {
            return;
        }
        let bar = self.bar.get_or_insert_with(|| {
            let style = ProgressStyle::with_template("{msg} {percent}%").expect("a sound template");
            ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::stderr()).with_style(style)
        });
        if all == 0 {
            bar.set_style(ProgressStyle::with_template("{msg}").expect("a sound template"));
        } else {
            bar.set_style(ProgressStyle::with_template("{msg} {percent}%").expect("a sound template"));
        }
        bar.set_message(stage);
        bar.set_length(all);
        bar.set_position(done);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
