//! What is refused, and what is read again.
