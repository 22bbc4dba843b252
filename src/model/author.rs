//! Who commits, and what they say about it.

use std::fmt;

/// Why a text is no author or message.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TextError {
    /// White space alone.
    #[error("may not be blank")]
    Blank,
    /// Line breaks within.
    #[error("may have one line only")]
    Lines,
}

/// The author of a commit, `Name <mail>` by custom: trimmed, not blank.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Author(String);

impl Author {
    /// Trims `text` by Unicode white space.
    pub fn new(text: &str) -> Result<Self, TextError> {
        let trimmed = text.trim();
        if trimmed.is_empty() { Err(TextError::Blank) } else { Ok(Self(trimmed.to_owned())) }
    }

    /// The same for a new commit: refuses LF and CR, which commits that are there may have.
    pub fn one_line(text: &str) -> Result<Self, TextError> {
        let author = Self::new(text)?;
        if author.0.contains(['\n', '\r']) { Err(TextError::Lines) } else { Ok(author) }
    }

    /// The trimmed text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The message of a commit: without trailing LF and CR, not blank, otherwise unchanged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message(String);

impl Message {
    /// Cuts trailing line ends off `text`.
    pub fn new(text: &str) -> Result<Self, TextError> {
        let cut = text.trim_end_matches(['\n', '\r']);
        if cut.trim().is_empty() { Err(TextError::Blank) } else { Ok(Self(cut.to_owned())) }
    }

    /// The whole message.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The first line that is not blank.
    pub fn subject(&self) -> &str {
        self.0.lines().find(|line| !line.trim().is_empty()).unwrap_or(&self.0)
    }
}

impl fmt::Display for Author {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_author_is_trimmed_and_not_blank() {
        assert_eq!(Author::new("\u{2003} Ada <a@b> \n").expect("author").as_str(), "Ada <a@b>");
        assert_eq!(Author::new("\u{a0}\t"), Err(TextError::Blank));
    }

    #[test]
    fn a_new_author_has_one_line_and_one_that_is_there_may_have_more() {
        assert_eq!(Author::one_line("\n Ada\t<a@b>\r\n").expect("author").as_str(), "Ada\t<a@b>");
        assert_eq!(Author::one_line(" "), Err(TextError::Blank));
        for text in ["a\nb", "a\rb", "a\r\nb"] {
            assert_eq!(Author::one_line(text), Err(TextError::Lines));
            assert_eq!(Author::new(text).expect("author").as_str(), text);
        }
    }

    #[test]
    fn a_message_loses_its_last_line_ends_only() {
        assert_eq!(Message::new(" a\n\nb \r\n\n").expect("message").as_str(), " a\n\nb ");
        assert_eq!(Message::new("# heading\n#12 done").expect("message").as_str(), "# heading\n#12 done");
        for blank in ["", "\n", " \u{2003}\r\n"] {
            assert_eq!(Message::new(blank), Err(TextError::Blank));
        }
    }

    #[test]
    fn the_subject_is_the_first_line_with_text() {
        assert_eq!(Message::new("\n \nsubject\n\nbody").expect("message").subject(), "subject");
    }
}
