//! JSON text by RFC 8259, read the slow way and without the reader that the program uses.

/// A value, with the text that spells it, white space around it left out.
#[derive(Clone, Debug)]
pub struct Spelled<'a> {
    pub text: &'a str,
    pub value: Value<'a>,
}

#[derive(Clone, Debug)]
pub enum Value<'a> {
    /// `null`, `true`, `false`.
    Word,
    Number,
    /// Units of UTF-16: a lone surrogate is one of them.
    String(Vec<u16>),
    Array(Vec<Spelled<'a>>),
    /// In their order, duplicates too.
    Object(Vec<(Spelled<'a>, Spelled<'a>)>),
}

impl<'a> Spelled<'a> {
    /// The text of a string, unless it has a lone surrogate.
    pub fn string(&self) -> Option<String> {
        match &self.value {
            Value::String(units) => String::from_utf16(units).ok(),
            Value::Word | Value::Number | Value::Array(_) | Value::Object(_) => None,
        }
    }

    /// The members of an object, whose keys must all have a text.
    pub fn members(&self) -> Option<Vec<(String, &Spelled<'a>)>> {
        match &self.value {
            Value::Object(members) => members.iter().map(|(key, value)| Some((key.string()?, value))).collect(),
            Value::Word | Value::Number | Value::String(_) | Value::Array(_) => None,
        }
    }
}

/// Reads one value with white space around it and nothing else.
pub fn read(text: &str) -> Option<Spelled<'_>> {
    let mut reader = Reader { text, at: 0 };
    reader.space();
    let value = reader.value()?;
    reader.space();
    (reader.at == text.len()).then_some(value)
}

/// The one spelling of a string that canonical bytes have.
pub fn canonical(text: &str) -> String {
    let spelled = text.chars().map(|c| match c {
        '"' | '\\' => format!("\\{c}"),
        '\u{8}' => "\\b".to_owned(),
        '\t' => "\\t".to_owned(),
        '\n' => "\\n".to_owned(),
        '\u{c}' => "\\f".to_owned(),
        '\r' => "\\r".to_owned(),
        '\0'..' ' => format!("\\u{:04x}", u32::from(c)),
        _ => c.to_string(),
    });
    format!("\"{}\"", spelled.collect::<String>())
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Reader<'a> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn take(&mut self, byte: u8) -> Option<()> {
        (self.peek()? == byte).then(|| self.at += 1)
    }

    fn space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn value(&mut self) -> Option<Spelled<'a>> {
        let start = self.at;
        let value = match self.peek()? {
            b'"' => Value::String(self.string()?),
            b'[' => Value::Array(self.list(b'[', b']', Self::value)?),
            b'{' => Value::Object(self.list(b'{', b'}', Self::member)?),
            b'-' | b'0'..=b'9' => self.number().map(|()| Value::Number)?,
            _ => {
                let word = ["null", "true", "false"].into_iter().find(|word| self.text[self.at..].starts_with(word))?;
                self.at += word.len();
                Value::Word
            }
        };
        Some(Spelled { text: &self.text[start..self.at], value })
    }

    fn list<T>(&mut self, open: u8, close: u8, item: impl Fn(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        self.take(open)?;
        self.space();
        let mut items = Vec::new();
        if self.take(close).is_some() {
            return Some(items);
        }
        loop {
            self.space();
            items.push(item(self)?);
            self.space();
            if self.take(close).is_some() {
                return Some(items);
            }
            self.take(b',')?;
        }
    }

    fn member(&mut self) -> Option<(Spelled<'a>, Spelled<'a>)> {
        let key = self.value().filter(|key| matches!(key.value, Value::String(_)))?;
        self.space();
        self.take(b':')?;
        self.space();
        Some((key, self.value()?))
    }

    fn digits(&mut self) -> Option<usize> {
        let start = self.at;
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
        Some(self.at - start).filter(|count| *count > 0)
    }

    fn number(&mut self) -> Option<()> {
        self.take(b'-');
        let leads_with_zero = self.peek() == Some(b'0');
        if self.digits()? > 1 && leads_with_zero {
            return None;
        }
        if self.take(b'.').is_some() {
            self.digits()?;
        }
        if self.take(b'e').or_else(|| self.take(b'E')).is_some() {
            self.take(b'+').or_else(|| self.take(b'-'));
            self.digits()?;
        }
        Some(())
    }

    fn string(&mut self) -> Option<Vec<u16>> {
        self.take(b'"')?;
        let mut units = Vec::new();
        loop {
            let c = self.text[self.at..].chars().next()?;
            self.at += c.len_utf8();
            match c {
                '"' => return Some(units),
                '\\' => units.push(self.escape()?),
                '\0'..' ' => return None,
                _ => units.extend_from_slice(c.encode_utf16(&mut [0; 2])),
            }
        }
    }

    fn escape(&mut self) -> Option<u16> {
        let byte = self.peek()?;
        self.at += 1;
        Some(match byte {
            b'"' | b'\\' | b'/' => byte.into(),
            b'b' => 8,
            b't' => 9,
            b'n' => 10,
            b'f' => 12,
            b'r' => 13,
            b'u' => {
                let digits = self.text.get(self.at..self.at + 4)?;
                self.at += 4;
                digits.bytes().try_fold(0, |sum, digit| Some(sum * 16 + char::from(digit).to_digit(16)? as u16))?
            }
            _ => return None,
        })
    }
}
