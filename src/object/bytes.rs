//! The few shapes that binary records are made of: LEB128 numbers, byte strings, ids.

use super::DecodeError;

/// Appends `number` as LEB128 in its shortest form.
pub fn push_varint(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number.to_le_bytes()[0] | 0x80);
        number >>= 7;
    }
    out.push(number.to_le_bytes()[0]);
}

/// Appends the length of `bytes`, then `bytes`.
pub fn push_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    push_varint(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

/// Reads a record from front to back; whatever is cut off or too long is refused.
#[derive(Clone, Debug)]
pub struct Reader<'a> {
    rest: &'a [u8],
}

const CUT: DecodeError = DecodeError::NotCanonical("a record is cut off");

impl<'a> Reader<'a> {
    /// Begins at the front of `bytes`.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    /// One byte.
    pub fn byte(&mut self) -> Result<u8, DecodeError> {
        let (first, rest) = self.rest.split_first().ok_or(CUT)?;
        self.rest = rest;
        Ok(*first)
    }

    /// A LEB128 number in its shortest form.
    pub fn varint(&mut self) -> Result<u64, DecodeError> {
        let mut number = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            let bits = u64::from(byte & 0x7f);
            if (shift == 63 && bits > 1) || (shift > 0 && byte == 0) {
                return Err(DecodeError::NotCanonical("a number is not in its shortest form"));
            }
            number |= bits << shift;
            if byte < 0x80 {
                return Ok(number);
            }
        }
        Err(DecodeError::NotCanonical("a number is too long"))
    }

    /// The next `count` bytes.
    pub fn take(&mut self, count: usize) -> Result<&'a [u8], DecodeError> {
        let (taken, rest) = self.rest.split_at_checked(count).ok_or(CUT)?;
        self.rest = rest;
        Ok(taken)
    }

    /// The next `N` bytes.
    pub fn array<const N: usize>(&mut self) -> Result<[u8; N], DecodeError> {
        let (taken, rest) = self.rest.split_first_chunk().ok_or(CUT)?;
        self.rest = rest;
        Ok(*taken)
    }

    /// A byte string behind its length.
    pub fn bytes(&mut self) -> Result<&'a [u8], DecodeError> {
        let length = usize::try_from(self.varint()?).map_err(|_| CUT)?;
        self.take(length)
    }

    /// A text behind its length.
    pub fn text(&mut self) -> Result<&'a str, DecodeError> {
        std::str::from_utf8(self.bytes()?).map_err(|_| DecodeError::NotCanonical("a text is not UTF-8"))
    }

    /// All that is left.
    pub fn rest(&mut self) -> &'a [u8] {
        std::mem::take(&mut self.rest)
    }

    /// Whether nothing is left.
    pub fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// Refuses bytes behind the end of the record.
    pub fn finish(&self) -> Result<(), DecodeError> {
        if self.is_empty() { Ok(()) } else { Err(DecodeError::NotCanonical("a record has bytes behind its end")) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn long_forms_and_overflow_are_refused() {
        for bad in [
            &[0x80][..],
            &[0x80, 0],
            &[0xff, 0x80, 0],
            &[0xff; 10],
            &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2],
        ] {
            assert!(Reader::new(bad).varint().is_err(), "{bad:x?}");
        }
        assert!(Reader::new(&[3, 1, 2]).bytes().is_err());
        assert!(Reader::new(&[1, 0xff]).text().is_err());
        assert!(Reader::new(&[0]).finish().is_err());
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(number in any::<u64>(), bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            let mut out = Vec::new();
            push_varint(&mut out, number);
            push_bytes(&mut out, &bytes);
            let mut reader = Reader::new(&out);
            prop_assert_eq!(reader.varint(), Ok(number));
            prop_assert_eq!(reader.bytes(), Ok(&bytes[..]));
            prop_assert!(reader.finish().is_ok());
        }
    }
}
