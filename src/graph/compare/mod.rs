//! What differs between two contents: by line, by word, by leaf of a JSON value. Text and values only: no store, no terminal.

mod content;
mod leaves;
mod lines;
mod sequence;
mod values;
mod words;

pub use content::{By, Comparison, ContentEdits};
pub use leaves::leaves;
pub(super) use leaves::{Pointer, each_leaf};
pub use lines::{Hunk, hunks, line_edits, lines};
pub use sequence::{Edit, Edits, edits, equal_runs};
pub(super) use values::{ARRAY_LIMIT, pair_members, texts};
pub use values::{Op, PathChange, Remark, value_edits};
pub use words::{Piece, words};
