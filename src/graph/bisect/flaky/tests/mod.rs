//! Searches against what is computed without shortcuts, and many of them against their goals.

mod endings;
mod goals;
mod naive;
mod runs;

use super::super::random;
use super::Standard;

const TWO_SIDED: Standard = Standard { confidence: 0.95, one_sided: false };
const ONE_SIDED: Standard = Standard { confidence: 0.95, one_sided: true };
