//! Searches played on graphs in memory.

mod against_git;
mod bounds;
mod marks;
mod play;
mod random;
mod stored;
mod weights;
