//! The numbers and strings of binary records by the page of the format, read the slow way.

/// Bytes, read from front to back.
#[derive(Clone, Copy)]
pub struct Bytes<'a>(pub &'a [u8]);

impl<'a> Bytes<'a> {
    pub fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        if count > self.0.len() {
            return None;
        }
        let (taken, rest) = self.0.split_at(count);
        self.0 = rest;
        Some(taken)
    }

    pub fn byte(&mut self) -> Option<u8> {
        self.take(1).map(|bytes| bytes[0])
    }

    pub fn flag(&mut self) -> Option<bool> {
        self.byte().filter(|byte| *byte < 2).map(|byte| byte == 1)
    }

    pub fn varint(&mut self) -> Option<u64> {
        let length = 1 + self.0.iter().position(|byte| *byte < 0x80)?;
        let bytes = self.take(length)?;
        if length > 10 || (length > 1 && bytes[length - 1] == 0) {
            return None;
        }
        let number = bytes.iter().rev().fold(0u128, |number, byte| number << 7 | u128::from(byte & 0x7f));
        u64::try_from(number).ok()
    }

    pub fn string(&mut self) -> Option<&'a [u8]> {
        let length = self.varint()?;
        self.take(usize::try_from(length).ok()?)
    }

    pub fn text(&mut self) -> Option<&'a str> {
        str::from_utf8(self.string()?).ok()
    }

    pub fn zigzag(&mut self) -> Option<i128> {
        let number = i128::from(self.varint()?);
        Some(if number % 2 == 0 { number / 2 } else { -(number + 1) / 2 })
    }

    /// A distance of at least `least`, back from `own`.
    pub fn distance(&mut self, own: u64, least: u64) -> Option<u64> {
        self.varint().filter(|distance| *distance >= least && *distance < own)
    }

    /// A list of numbers behind its length.
    pub fn numbers(&mut self) -> Option<()> {
        (0..self.varint()?).try_for_each(|_| self.varint().map(drop))
    }

    /// Milliseconds and an offset in minutes.
    pub fn time(&mut self) -> Option<(i128, i128)> {
        let (milliseconds, minutes) = (self.zigzag()?, self.zigzag()?);
        // 0000-01-01T00:00 and 10000-01-01T00:00.
        let local = milliseconds + minutes * 60_000;
        let is_in_range = (-62_167_219_200_000..253_402_300_800_000).contains(&local);
        (minutes.abs() < 1440 && is_in_range).then_some((milliseconds, minutes))
    }

    pub fn end(self) -> Option<()> {
        self.0.is_empty().then_some(())
    }
}

/// Appends a number, seven bits a byte.
pub fn push_varint(out: &mut Vec<u8>, number: u64) {
    if number > 0x7f {
        out.push((number & 0x7f) as u8 | 0x80);
        push_varint(out, number >> 7);
    } else {
        out.push(number as u8);
    }
}

/// Appends a length, then the bytes.
pub fn push_string(out: &mut Vec<u8>, bytes: &[u8]) {
    push_varint(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}
