//! Beside writers.
