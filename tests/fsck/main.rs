//! `fsck`: each kind of damage is found, named and, where it follows from the rest, put right; what is sound is clean.

mod damages;
mod raw;
mod stored;
mod story;
mod writers;
