//! Searches played on graphs in memory.

mod against_git;
mod bounds;
mod marks;
mod play;
mod stored;
mod weights;

use super::random;
