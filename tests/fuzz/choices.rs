//! Choices that the bytes of an input make, one behind the other.

/// What is left of an input. Behind its end every choice is 0.
pub struct Choices<'a>(pub &'a [u8]);

impl<'a> Choices<'a> {
    pub fn is_over(&self) -> bool {
        self.0.is_empty()
    }

    pub fn byte(&mut self) -> u8 {
        self.take(1).first().copied().unwrap_or(0)
    }

    /// Up to `count` bytes.
    pub fn take(&mut self, count: usize) -> &'a [u8] {
        let (taken, rest) = self.0.split_at(count.min(self.0.len()));
        self.0 = rest;
        taken
    }

    /// A number of so many bytes, the lowest first.
    pub fn number(&mut self, bytes: usize) -> u64 {
        self.take(bytes).iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte))
    }

    /// A number of two bytes below `end`, which is not 0.
    pub fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.number(2)).expect("two bytes") % end
    }
}
