//! Crashes at every moment of a history.

use crate::disk::SimulatedDisk;
use crate::image::{Moment, Random};
use crate::oracle::Oracle;
use crate::workload::{Command, History, SESSIONS, execute, observe};
use std::ops::RangeInclusive;

/// Of more pending steps than this, so many are tried one by one.
const STEPS: usize = 8;

/// How many images of a moment are drawn in a round.
const DRAWN: usize = 6;

/// Every how many images the recovery is crashed too.
const SECOND_EVERY: usize = 150;

/// The history up to a moment.
fn moment(history: &History, events: usize) -> Moment {
    let mut moment = Moment::new(history.start.clone());
    history.events[..events].iter().for_each(|event| moment.advance(event));
    moment
}

/// Crashes at each of these moments in all systematic ways, and in some that are drawn.
pub fn systematic(history: &History, moments: RangeInclusive<usize>, oracle: &mut Oracle, random: &mut Random) {
    let mut moment = moment(history, *moments.start());
    for at in moments {
        let allowed = history.allowed(at);
        let mut recovered = Vec::new();
        let mut visit = |image: crate::image::Image, how: &str| {
            if oracle.images.is_multiple_of(SECOND_EVERY) {
                recovered.push(image.clone());
            }
            oracle.judge(image, allowed, &|| format!("after {at} events, {how}"));
        };
        moment.each_crash(STEPS, random, &mut visit);
        for image in recovered {
            let disk = SimulatedDisk::new(image.clone());
            // What is wrong with it was told above.
            drop(observe(&disk.store()));
            let mut again = Moment::new(image);
            for (step, event) in disk.events().iter().enumerate() {
                again.advance(event);
                let image = again.random_crash(random);
                oracle.second += 1;
                oracle.judge(image, allowed, &|| format!("after {at} events, and {step} of the recovery"));
            }
        }
        if let Some(event) = history.events.get(at) {
            moment.advance(event);
        }
    }
}

/// Crashes at each moment in all systematic ways, and no second time, until an image is wrong.
pub fn until_wrong(history: &History, oracle: &mut Oracle, random: &mut Random) {
    let mut moment = Moment::new(history.start.clone());
    for at in 0..=history.events.len() {
        if !oracle.wrong.is_empty() {
            return;
        }
        let mut visit =
            |image, how: &str| oracle.judge(image, history.allowed(at), &|| format!("after {at} events, {how}"));
        moment.each_crash(STEPS, random, &mut visit);
        if let Some(event) = history.events.get(at) {
            moment.advance(event);
        }
    }
}

/// Crashes at moments that are drawn, in all systematic ways and in some that are drawn, until the oracle has judged so many
/// images.
pub fn sampled(history: &History, oracle: &mut Oracle, random: &mut Random, images: usize) {
    while oracle.images < images {
        let mut moments: Vec<_> = (0..=16).map(|_| random.below(history.events.len() + 1)).collect();
        moments.sort_unstable();
        let mut moment = Moment::new(history.start.clone());
        let mut done = 0;
        for at in moments {
            history.events[done..at].iter().for_each(|event| moment.advance(event));
            done = at;
            let tell = |how: &str| format!("after {at} events, {how}");
            moment.each_crash(2, random, &mut |image, how| oracle.judge(image, history.allowed(at), &|| tell(how)));
            let image = moment.random_crash(random);
            oracle.judge(image, history.allowed(at), &|| tell("drawn"));
        }
    }
}

/// Crashes at each moment in ways that are drawn, until the oracle has judged so many images.
pub fn drawn(history: &History, oracle: &mut Oracle, random: &mut Random, images: usize) {
    while oracle.images < images {
        let mut moment = Moment::new(history.start.clone());
        for at in 0..=history.events.len() {
            if !moment.is_durable() {
                for _ in 0..DRAWN {
                    oracle.judge(moment.random_crash(random), history.allowed(at), &|| {
                        format!("after {at} events, drawn")
                    });
                }
            }
            if let Some(event) = history.events.get(at) {
                moment.advance(event);
            }
        }
    }
}

/// Kills the process at each of these moments, which loses nothing; then another one puts, and is told that it is done; then the
/// power fails. What the killed one left pending is pending still, and may be lost where it was not acknowledged.
pub fn killed(history: &History, moments: RangeInclusive<usize>, oracle: &mut Oracle, random: &mut Random) {
    let put = Command::Put(SESSIONS[0], vec![("killed", Some("before".to_owned()))]);
    let mut moment = moment(history, *moments.start());
    for at in moments {
        let disk = SimulatedDisk::new(moment.live().clone());
        let allowed = history.allowed(at);
        let state = allowed.iter().find(|state| observe(&disk.store()).is_ok_and(|found| found == **state));
        match state {
            None => oracle.wrong.push(format!("killed after {at} events: not one of the states")),
            Some(state) => match execute(&disk.store(), state, &put) {
                Err(error) => oracle.wrong.push(format!("killed after {at} events: {error:?}")),
                Ok(()) => {
                    let allowed: Vec<_> = allowed.iter().map(|state| state.after(&put)).collect();
                    let mut after = moment.clone();
                    for event in disk.events() {
                        after.advance(&event);
                    }
                    let mut visit = |image: crate::image::Image, how: &str| {
                        oracle.killed += 1;
                        oracle.judge(image, &allowed, &|| format!("killed after {at} events, put, {how}"));
                    };
                    after.each_crash(3, random, &mut visit);
                }
            },
        }
        if let Some(event) = history.events.get(at) {
            moment.advance(event);
        }
    }
}
