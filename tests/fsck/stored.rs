//! Damaged stores that stay as they are: what is found of them may only become more exact.
