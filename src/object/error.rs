//! Why stored bytes are refused.

use crate::model::KindError;

/// Bytes that are not an object of the format.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// Damaged, or not the one form that the format allows.
    #[error("not in canonical form: {0}")]
    NotCanonical(&'static str),
    /// A content kind that this version does not read.
    #[error(transparent)]
    Kind(#[from] KindError),
    /// A record kind of a newer format.
    #[error("record kind {0} is not known")]
    UnknownRecord(u8),
}
