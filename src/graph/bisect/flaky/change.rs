//! Whether rates differ by enough to speak of.

use super::likelihood::Tally;

/// Rates that are nearer to each other than this count as one. Between "no difference" and "a difference as small as you
/// like" hardly any number of runs tells: without it a test that always fails takes hundreds of them until it is seen that
/// nothing changed, and one that fails now and then takes thousands.
const LEAST: f64 = 0.05;

/// How probable it is that two rates are that far apart before anything is known of them, with priors of Beta(½, ½).
const PRIOR: f64 = 0.890_9;

/// How much more probable than at first these runs make it that the rates differ by enough. More than 0, however little.
pub fn support_of_difference(before: Tally, after: Tally) -> f64 {
    let (one, other) = (before.expected_rate(), after.expected_rate());
    let distance = (one - other).abs();
    let deviation = (before.variance() + after.variance()).sqrt();
    let differing = normal((distance - LEAST) / deviation) + normal((-distance - LEAST) / deviation);
    (differing / PRIOR).max(f64::MIN_POSITIVE)
}

/// The distribution function of the normal distribution, to three places (Page 1977).
fn normal(deviations: f64) -> f64 {
    1.0 / (1.0 + (-(1.5976 + 0.070_56 * deviations * deviations) * deviations).exp())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_unknown_rates_are_as_often_apart_as_is_assumed() {
        // Beta(½, ½) is the square of the sine of an even angle.
        const STEPS: u32 = 2000;
        let angle = |step: u32| (f64::from(step) + 0.5) / f64::from(STEPS) * std::f64::consts::FRAC_PI_2;
        let rates: Vec<_> = (0..STEPS).map(|step| angle(step).sin().powi(2)).collect();
        let apart = |&rate: &f64| {
            let below = rates.partition_point(|&other| other <= rate - LEAST);
            below + rates.len() - rates.partition_point(|&other| other < rate + LEAST)
        };
        let share = rates.iter().map(apart).sum::<usize>() as f64 / f64::from(STEPS).powi(2);
        assert!((share - PRIOR).abs() < 1e-3, "{share}");
    }

    #[test]
    fn the_normal_distribution_is_near_enough() {
        for (deviations, expected) in [(0.0, 0.5), (1.0, 0.841_34), (-1.0, 0.158_66), (-1.96, 0.025), (3.0, 0.998_65)] {
            assert!((normal(deviations) - expected).abs() < 2e-4, "{deviations}");
        }
        assert_eq!([normal(f64::INFINITY), normal(f64::NEG_INFINITY), normal(-1e9)], [1.0, 0.0, 0.0]);
    }

    #[test]
    fn what_differs_is_supported_and_what_does_not_is_not() {
        let of = |[one, other]: [(usize, usize); 2]| {
            let tally = |(good, bad)| Tally { good, bad };
            support_of_difference(tally(one), tally(other))
        };
        assert!((of([(3, 0), (0, 3)]) - 1.0 / PRIOR).abs() < 1e-3);
        assert_eq!(of([(90, 10), (50, 50)]), of([(50, 50), (90, 10)]), "either way");
        assert_eq!(of([(9_999_999, 9_999_999); 2]), f64::MIN_POSITIVE);
        for tallies in [[(0, 40), (0, 40)], [(40, 0), (40, 0)], [(4000, 4000), (4000, 4000)]] {
            assert!(of(tallies) < 0.1, "{tallies:?}: {}", of(tallies));
        }
    }
}
