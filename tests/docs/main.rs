//! What the project's documents say is what the program does.

mod bless;
mod ci;
mod format;
mod json;
mod readme;
mod store_reader;
mod tables;
mod transcripts;
