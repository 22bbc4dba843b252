//! How often and in how many runs a flaky search finds the culprit, beside other ways to search; and the time of a step.
//!
//! `cargo bench --features internals --bench bisect` prints Markdown tables, always the same but for the times.
#![allow(clippy::print_stdout, reason = "a bench prints its table")]

use mnemosyne::graph::bisect::random::{Case, Dice, Shape, history};
use mnemosyne::graph::bisect::simulation::{Policy, Rates, Summary, case, simulate};
use mnemosyne::graph::bisect::{Bounds, Candidates, FlakySearch, FlakyStep, Mark, Standard};
use std::time::Instant;

const SEARCHES: u64 = 2000;
const SEED: u64 = 0x9e37_79b9_7f4a_7c15;

/// Rates before and after, and whether what is good never fails.
const ROWS: [(f64, f64, bool); 8] = [
    (0.0, 1.0, false),
    (0.0, 0.5, false),
    (0.0, 0.5, true),
    (0.1, 0.9, false),
    (0.2, 0.8, false),
    (0.0, 0.2, false),
    (0.0, 0.2, true),
    (0.1, 0.3, false),
];

fn standard(confidence: f64, one_sided: bool) -> Standard {
    Standard { confidence, one_sided }
}

fn name((before, after, one_sided): (f64, f64, bool)) -> String {
    format!("{before} → {after}{}", if one_sided { ", one-sided" } else { "" })
}

fn cases(shape: Shape, count: usize, candidates: u64) -> Vec<Case> {
    let mut dice = Dice(SEED);
    (0..count).map(|_| case(&mut dice, shape, candidates)).collect()
}

fn played(cases: &[Case], policy: Policy, (before, after, _): (f64, f64, bool), searches: u64) -> Summary {
    simulate(cases, policy, Rates { before, after }, searches, &mut Dice(SEED))
}

fn cell(summary: Summary) -> String {
    format!("{:.3} / {:.1}", summary.accuracy(), summary.mean_runs())
}

fn print_policies() {
    println!("128 linear commits, confidence 0.95: accuracy / mean runs\n");
    println!("| fails | one run each | majority of 5 | any of 10 | flaky | four at a time | rounds |");
    println!("|---|---|---|---|---|---|---|");
    let cases = cases(Shape::Linear, 1, 128);
    for row in ROWS {
        let of = |policy| played(&cases, policy, row, SEARCHES);
        let flaky = |count| of(Policy::Flaky(standard(0.95, row.2), count));
        let others = [Policy::Once, Policy::Majority(5), Policy::Any(10)].map(|policy| cell(of(policy)));
        let four = flaky(4);
        let (flaky, rounds) = (cell(flaky(1)), four.mean_rounds());
        println!("| {} | {} | {flaky} | {} | {rounds:.1} |", name(row), others.join(" | "), cell(four));
    }
}

fn print_histories() {
    println!("\nOther histories, confidence 0.95: accuracy / mean runs\n");
    println!("| fails | 1,000 linear | 300 branchy | 300 crossing |\n|---|---|---|---|");
    let histories = [cases(Shape::Linear, 1, 1000), cases(Shape::Branchy, 10, 300), cases(Shape::Crossing, 10, 300)];
    for row in ROWS {
        let policy = Policy::Flaky(standard(0.95, row.2), 1);
        let cells = histories.each_ref().map(|cases| cell(played(cases, policy, row, SEARCHES / 4)));
        println!("| {} | {} |", name(row), cells.join(" | "));
    }
}

fn print_calibration() {
    println!("\nMixed rates, 128 commits: of the commits found, how many are the culprit\n");
    println!("| confidence | searches | right | none found | mean runs |\n|---|---|---|---|---|");
    let cases = cases(Shape::Linear, 1, 128);
    for confidence in [0.8, 0.95, 0.99] {
        let of =
            |row: (f64, f64, bool)| played(&cases, Policy::Flaky(standard(confidence, row.2), 1), row, SEARCHES / 4);
        let all = ROWS.map(of).into_iter().fold(Summary::default(), Summary::and);
        let none = (all.searches - all.right - all.wrong) as f64 / all.searches as f64;
        println!("| {confidence} | {} | {:.3} | {none:.3} | {:.1} |", all.searches, all.precision(), all.mean_runs());
    }
}

fn print_nothing_to_find() {
    println!("\nNothing to find, 128 commits, confidence 0.95, given up after 1,000 runs\n");
    println!("| fails | a commit found | reversed | nothing changed | given up | mean runs |");
    println!("|---|---|---|---|---|---|");
    let cases = cases(Shape::Linear, 1, 128);
    let rows = [0.0, 0.1, 0.3, 0.5, 1.0].map(|rate| (rate, rate, false));
    for row in rows.into_iter().chain([(0.0, 0.0, true), (0.8, 0.2, false)]) {
        let summary = played(&cases, Policy::Flaky(standard(0.95, row.2), 1), row, SEARCHES / 4);
        let share = |count: u64| count as f64 / summary.searches as f64;
        println!(
            "| {} | {:.3} | {:.3} | {:.3} | {:.3} | {:.1} |",
            name(row),
            share(summary.right + summary.wrong),
            share(summary.reversed),
            share(summary.unchanged),
            share(summary.undecided),
            summary.mean_runs()
        );
    }
}

fn print_times() {
    const STEPS: u32 = 40;
    println!("\nTime, ms\n");
    println!("| history | candidates | begin | a step | a step of four runs |\n|---|---|---|---|---|");
    for (shape, size) in [(Shape::Linear, 10_000), (Shape::Branchy, 5000), (Shape::Crossing, 5000)] {
        let mut dice = Dice(SEED);
        let graph = history(&mut dice, shape, size);
        let bounds = Bounds { bad: vec![graph.len()], good: vec![1], first_parent: false };
        let Ok(candidates) = Candidates::within(&graph, &bounds);
        let culprit = candidates.numbers()[candidates.numbers().len() / 3];
        let start = Instant::now();
        let new = FlakySearch::new(candidates.clone(), &bounds.good, standard(0.999_999, false));
        let begin = start.elapsed();
        let times = [1, 4].map(|count| {
            let mut search = new.clone();
            let start = Instant::now();
            for _ in 0..STEPS {
                let FlakyStep::Test(commits) = search.next(count) else { break };
                for commit in commits {
                    let is_bad = dice.roll(10) < if commit >= culprit { 6 } else { 3 };
                    search.observe(commit, if is_bad { Mark::Bad } else { Mark::Good });
                }
            }
            start.elapsed().as_secs_f64() * 1e3 / f64::from(STEPS)
        });
        println!(
            "| {shape:?} | {} | {:.1} | {:.2} | {:.2} |",
            candidates.numbers().len(),
            begin.as_secs_f64() * 1e3,
            times[0],
            times[1]
        );
    }
}

fn main() {
    print_policies();
    print_histories();
    print_calibration();
    print_nothing_to_find();
    print_times();
}
