//! Programs that a command starts and waits for, and the signals that would end it meanwhile.

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, getpgrp, kill_process, waitid};
use rustix::termios::tcgetpgrp;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::{Handle, Signals};
use std::fs::File;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, ExitStatus};
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// The programs that run. As long as this lives, SIGINT, SIGTERM and SIGHUP do not end mnem, which has to clean up behind
/// them: they are noted, and passed on.
pub struct Children {
    shared: Arc<Shared>,
    signals: Handle,
}

#[derive(Default)]
struct Shared {
    /// The number of the first signal, or 0.
    first: AtomicI32,
    running: Mutex<Vec<Pid>>,
}

impl Children {
    /// Begins to note signals. Those that mnem was started to ignore, as `nohup` does, it and its programs ignore still.
    pub fn new() -> io::Result<Self> {
        let ignored = ignored_signals();
        let ending = [SIGINT, SIGTERM, SIGHUP].into_iter().filter(|signal| ignored >> (signal - 1) & 1 == 0);
        let mut signals = Signals::new(ending)?;
        let shared = Arc::<Shared>::default();
        let children = Self { shared: Arc::clone(&shared), signals: signals.handle() };
        std::thread::Builder::new().spawn(move || signals.forever().for_each(|signal| shared.note(signal)))?;
        Ok(children)
    }

    /// The exit status that tells of the first signal, if one came.
    pub fn interrupted(&self) -> Option<u8> {
        match self.shared.first.load(Ordering::SeqCst) {
            0 => None,
            signal => Some(status_of_signal(signal)),
        }
    }

    /// Starts a program and waits until it has ended; `None` where a signal came before it was started.
    pub fn run(&self, command: &mut Command) -> io::Result<Option<ExitStatus>> {
        let running = || self.shared.running.lock().unwrap_or_else(PoisonError::into_inner);
        let mut pids = running();
        if self.interrupted().is_some() {
            return Ok(None);
        }
        let mut child = command.spawn()?;
        let pid = Pid::from_child(&child);
        pids.push(pid);
        drop(pids);
        // It is not reaped before nobody passes it a signal any more: its id could be another's by then.
        let ended =
            rustix::io::retry_on_intr(|| waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT));
        running().retain(|running| *running != pid);
        ended?;
        child.wait().map(Some)
    }
}

impl Drop for Children {
    fn drop(&mut self) {
        self.signals.close();
    }
}

impl Shared {
    fn note(&self, signal: i32) {
        // Only the first one counts.
        let _later = self.first.compare_exchange(0, signal, Ordering::SeqCst, Ordering::SeqCst);
        let running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        if signal == SIGINT && is_in_foreground() {
            // Who types Ctrl-C sends it to the programs as well.
            return;
        }
        for &pid in running.iter() {
            let signal = Signal::from_named_raw(signal).expect("it is one of three");
            // It may have ended just now.
            let _ended = kill_process(pid, signal);
        }
    }
}

/// The exit status that shells have for a program's end: its own, or 128 and the number of the signal.
pub fn status_of(status: ExitStatus) -> u8 {
    let own = status.code().and_then(|code| u8::try_from(code).ok());
    own.unwrap_or_else(|| status_of_signal(status.signal().unwrap_or(0)))
}

fn status_of_signal(signal: i32) -> u8 {
    u8::try_from(signal).map_or(u8::MAX, |signal| signal.saturating_add(128))
}

/// Whether what is typed at the terminal goes to this process and its programs.
fn is_in_foreground() -> bool {
    File::open("/dev/tty").is_ok_and(|terminal| tcgetpgrp(terminal).is_ok_and(|group| group == getpgrp()))
}

/// The signals that are ignored, one bit each, where the system tells.
fn ignored_signals() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn after_a_signal_no_program_is_started() {
        let children = Children::new().expect("a thread");
        assert_eq!(children.interrupted(), None);
        let ended = children.run(&mut Command::new("true")).expect("it starts").expect("it runs");
        assert_eq!(status_of(ended), 0);
        signal_hook::low_level::raise(SIGTERM).expect("raised");
        while children.interrupted().is_none() {
            std::thread::yield_now();
        }
        assert_eq!(children.interrupted(), Some(143));
        assert!(children.run(&mut Command::new("true")).expect("nothing is tried").is_none());
    }
}
