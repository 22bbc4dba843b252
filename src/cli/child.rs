//! Programs that a command starts and waits for, and the signals that would end it meanwhile.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitId, WaitIdOptions, getpgrp, kill_process, kill_process_group, pidfd_open, waitid,
};
use rustix::termios::tcgetpgrp;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::{Handle, Signals};
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Command, ExitStatus};
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

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
    running: Mutex<Vec<Running>>,
}

/// A program that runs.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Running {
    pid: Pid,
    /// Whether it leads a group of its own, to which nothing that is typed at the terminal goes.
    leads: bool,
}

impl Running {
    /// Passes a signal on. It may have ended just now.
    fn signal(self, signal: Signal) {
        let _ended = if self.leads { kill_process_group(self.pid, signal) } else { kill_process(self.pid, signal) };
    }
}

/// How a program ended that was started in a group of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// By itself, or by a signal that was not ours.
    Alone(ExitStatus),
    /// It took longer than it may.
    Late,
    /// Nobody wants to know any more, or a signal came.
    Stopped,
}

/// A way to end a program that another thread has started or is about to start.
#[derive(Debug, Default)]
pub struct Stopper(Mutex<(bool, Option<Pid>)>);

impl Stopper {
    /// Ends it, with all that it has started.
    pub fn stop(&self) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        state.0 = true;
        if let Some(pid) = state.1 {
            Running { pid, leads: true }.signal(Signal::TERM);
        }
    }

    fn is_stopped(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).0
    }
}

/// How long a program has to clean up when it is ended, before it is killed.
const GRACE: Duration = Duration::from_secs(2);

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
        pids.push(Running { pid, leads: false });
        drop(pids);
        // It is not reaped before nobody passes it a signal any more: its id could be another's by then.
        let ended =
            rustix::io::retry_on_intr(|| waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT));
        running().retain(|running| running.pid != pid);
        ended?;
        child.wait().map(Some)
    }

    /// Starts a program in a group of its own and waits until it has ended, or ends it with all that it has started: after
    /// `limit`, when `stopper` says so, or when a signal comes.
    pub fn run_apart(&self, command: &mut Command, limit: Option<Duration>, stopper: &Stopper) -> io::Result<Ended> {
        let running = || self.shared.running.lock().unwrap_or_else(PoisonError::into_inner);
        let mut child = {
            let mut pids = running();
            let mut state = stopper.0.lock().unwrap_or_else(PoisonError::into_inner);
            if self.interrupted().is_some() || state.0 {
                return Ok(Ended::Stopped);
            }
            let child = command.process_group(0).spawn()?;
            let pid = Pid::from_child(&child);
            pids.push(Running { pid, leads: true });
            state.1 = Some(pid);
            child
        };
        let own = Running { pid: Pid::from_child(&child), leads: true };
        let ended = self.await_end(own, limit, stopper);
        // It is not reaped before nobody passes it a signal any more: its id could be another's by then.
        running().retain(|running| *running != own);
        stopper.0.lock().unwrap_or_else(PoisonError::into_inner).1 = None;
        let status = child.wait()?;
        Ok(match ended? {
            End::Alone => Ended::Alone(status),
            End::Late => Ended::Late,
            End::Stopped => Ended::Stopped,
        })
    }

    fn await_end(&self, own: Running, limit: Option<Duration>, stopper: &Stopper) -> io::Result<End> {
        let descriptor = pidfd_open(own.pid, PidfdFlags::empty())?;
        let deadline = limit.map(|limit| Instant::now() + limit);
        loop {
            let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
            if has_ended(&descriptor, left.map_or(TICK, |left| left.min(TICK)))? {
                let stopped = stopper.is_stopped() || self.interrupted().is_some();
                if !stopped {
                    return Ok(End::Alone);
                }
                // What it has started need not have ended by the signal that ended it.
                own.signal(Signal::KILL);
                return Ok(End::Stopped);
            }
            let end = if stopper.is_stopped() || self.interrupted().is_some() {
                End::Stopped
            } else if left == Some(Duration::ZERO) {
                End::Late
            } else {
                continue;
            };
            own.signal(Signal::TERM);
            if !has_ended(&descriptor, GRACE)? {
                own.signal(Signal::KILL);
                while !has_ended(&descriptor, GRACE)? {}
            }
            // What it has started may be there still.
            own.signal(Signal::KILL);
            return Ok(end);
        }
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
        // Who types Ctrl-C sends it to the programs as well that lead no group of their own.
        let is_typed = signal == SIGINT && is_in_foreground();
        let named = Signal::from_named_raw(signal).expect("it is one of three");
        running.iter().filter(|running| running.leads || !is_typed).for_each(|running| running.signal(named));
    }
}

/// How it comes that a program has ended.
enum End {
    Alone,
    Late,
    Stopped,
}

/// How often it is looked whether somebody wants a program ended.
const TICK: Duration = Duration::from_millis(100);

/// Waits so long for the process behind a descriptor to end.
fn has_ended(process: &OwnedFd, limit: Duration) -> io::Result<bool> {
    let limit = Timespec::try_from(limit).unwrap_or(Timespec { tv_sec: i64::MAX, tv_nsec: 0 });
    let mut polled = [PollFd::new(process, PollFlags::IN)];
    let ready = rustix::io::retry_on_intr(|| poll(&mut polled, Some(&limit)))?;
    Ok(ready > 0)
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
