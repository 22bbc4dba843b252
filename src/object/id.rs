//! Ids of objects: SHA-256 with a domain tag.

use sha2::{Digest, Sha256};
use std::fmt;

macro_rules! id_type {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name([u8; 32]);

        #[allow(dead_code, reason = "every id type has all of it")]
        impl $name {
            /// Takes 32 bytes for the id that they are.
            pub const fn from_bytes(bytes: [u8; 32]) -> Self {
                Self(bytes)
            }

            /// The 32 bytes.
            pub const fn as_bytes(&self) -> &[u8; 32] {
                &self.0
            }

            /// Reads 64 hexadecimal digits.
            pub fn parse(text: &str) -> Option<Self> {
                from_hex(text).map(Self)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&hex(&self.0))
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}({self})", stringify!($name))
            }
        }
    };
}

id_type! {
    /// The id of a node or of an inner node of a state.
    ObjectId
}
id_type! {
    /// The id of a commit.
    CommitId
}
id_type! {
    /// The id of a whole memory.
    StateId
}

/// The bytes in lower-case hexadecimal.
pub fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut out = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        out.push(char::from(DIGITS[usize::from(byte >> 4)]));
        out.push(char::from(DIGITS[usize::from(byte & 15)]));
    }
    out
}

fn from_hex(text: &str) -> Option<[u8; 32]> {
    let digits = text.as_bytes();
    if digits.len() != 64 {
        return None;
    }
    let mut out = [0; 32];
    for (byte, pair) in out.iter_mut().zip(digits.chunks_exact(2)) {
        let digit = |at: usize| char::from(pair[at]).to_digit(16).and_then(|d| u8::try_from(d).ok());
        *byte = digit(0)? << 4 | digit(1)?;
    }
    Some(out)
}

/// SHA-256 of the parts, one after the other.
pub fn sha256(parts: &[&[u8]]) -> [u8; 32] {
    let mut hasher = Sha256::new();
    for part in parts {
        hasher.update(part);
    }
    hasher.finalize().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hexadecimal_round_trips_in_any_case() {
        let id = ObjectId::from_bytes(sha256(&[b"abc"]));
        assert_eq!(id.to_string(), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        assert_eq!(ObjectId::parse(&id.to_string()), Some(id));
        assert_eq!(ObjectId::parse(&id.to_string().to_uppercase()), Some(id));
    }

    #[test]
    fn what_is_not_sixty_four_digits_is_no_id() {
        assert_eq!(ObjectId::parse(&"a".repeat(63)), None);
        assert_eq!(ObjectId::parse(&"a".repeat(65)), None);
        assert_eq!(ObjectId::parse(&"g".repeat(64)), None);
        assert_eq!(ObjectId::parse(&"é".repeat(32)), None);
    }
}
