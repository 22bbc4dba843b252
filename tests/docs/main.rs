//! What the project's documents say is what the program does.

mod bless;
mod readme;
mod tables;
mod transcripts;
