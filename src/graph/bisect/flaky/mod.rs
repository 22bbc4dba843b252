//! Bisect with a test that is not steady: which of many commits changed the rate at which it fails.
//!
//! Bayesian search. One candidate is the culprit; a run at a commit fails at one rate where the culprit is its ancestor,
//! itself included, and at another where it is not. Every candidate is as likely before the first run. Both rates are
//! unknown with priors of Beta(½, ½), less those that are nearer to each other than five points, and are integrated out in
//! closed form. Beside it stands that nothing changed, one rate for all runs, which is as likely at first as that there is
//! a culprit. Next is run what leaves the least entropy over all of this to expect.
//!
//! After Horstein, *Sequential transmission using noiseless feedback* (1963); Karp and Kleinberg, *Noisy binary search and
//! its applications* (2007); Ben-Or and Hassidim, *The Bayesian learner is optimal for noisy binary search* (2008); Waeber,
//! Frazier and Henderson, *Bisection search with noisy responses* (2013). These know the rates or how far they are apart;
//! here they are learnt beside the culprit.
//!
//! Knows no process, no clock and no dice.

mod answer;
mod belief;
mod change;
mod choice;
mod decision;
mod descent;
mod likelihood;
mod outlook;
mod rate;
mod search;
#[cfg(any(test, feature = "internals"))]
pub mod simulation;
#[cfg(test)]
mod tests;

pub use answer::{Evidence, FlakyStep, Posterior, Standard};
pub use decision::Decision;
pub use rate::Rate;
pub use search::FlakySearch;
