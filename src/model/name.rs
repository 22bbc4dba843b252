//! Names of sessions, branches and tags.

use std::fmt;

/// Why a text is no name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    /// Not 1 to 64 of `a-z 0-9 . _ -` beginning with a letter or digit.
    #[error("a session name has 1 to 64 of a-z 0-9 . _ - and begins with a letter or digit")]
    Session,
    /// Against git's rules for ref names, or over 255 bytes.
    #[error("a branch name may not {0}")]
    Branch(&'static str),
    /// The same of a tag.
    #[error("a tag name may not {0}")]
    Tag(&'static str),
}

/// Whose staged changes and whose HEAD.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SessionName(String);

impl SessionName {
    /// The session of those who name none.
    pub const DEFAULT: &'static str = "default";

    /// Checks `text`.
    pub fn new(text: &str) -> Result<Self, NameError> {
        let alphanumeric = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit();
        let good = matches!(text.len(), 1..=64)
            && text.bytes().all(|b| alphanumeric(b) || matches!(b, b'.' | b'_' | b'-'))
            && text.bytes().next().is_some_and(alphanumeric);
        if good { Ok(Self(text.to_owned())) } else { Err(NameError::Session) }
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Default for SessionName {
    fn default() -> Self {
        Self(Self::DEFAULT.to_owned())
    }
}

/// The short name of a branch, by git's rules for refs and at most 255 bytes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct BranchName(String);

impl BranchName {
    /// Checks `text`.
    pub fn new(text: &str) -> Result<Self, NameError> {
        fault_in(text).map_or_else(|| Ok(Self(text.to_owned())), |fault| Err(NameError::Branch(fault)))
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The ref that holds its tip, such as `refs/heads/main`.
    pub fn ref_name(&self) -> String {
        format!("refs/heads/{}", self.0)
    }
}

/// The short name of a tag, by the same rules.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TagName(String);

impl TagName {
    /// Checks `text`.
    pub fn new(text: &str) -> Result<Self, NameError> {
        fault_in(text).map_or_else(|| Ok(Self(text.to_owned())), |fault| Err(NameError::Tag(fault)))
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The ref that holds its commit, such as `refs/tags/v1`.
    pub fn ref_name(&self) -> String {
        format!("refs/tags/{}", self.0)
    }
}

/// What the short name of a ref may not do, where `text` does it.
fn fault_in(text: &str) -> Option<&'static str> {
    if text.is_empty() {
        Some("be empty")
    } else if text.len() > 255 {
        Some("have more than 255 bytes")
    } else if text == "@" || text == "HEAD" {
        Some("be '@' or 'HEAD'")
    } else if text.ends_with("_HEAD") && text.bytes().all(|b| b.is_ascii_uppercase() || b == b'_') {
        Some("be such as 'ORIG_HEAD'")
    } else if text.len() == 64 && text.bytes().all(|b| b.is_ascii_hexdigit()) {
        Some("be spelled as a full commit id")
    } else if text.starts_with('-') {
        Some("begin with '-'")
    } else if text.split('/').any(str::is_empty) {
        Some("begin or end with '/' or hold '//'")
    } else if text.split('/').any(|part| part.starts_with('.') || part.ends_with(".lock")) {
        Some("hold a part that begins with '.' or ends with '.lock'")
    } else if text.contains("..") || text.contains("@{") || text.ends_with('.') {
        Some("hold '..' or '@{' or end with '.'")
    } else if text.chars().any(|c| c.is_control() || " ~^:?*[\\".contains(c)) {
        Some("hold a space, a control character or one of ~ ^ : ? * [ \\")
    } else {
        None
    }
}

impl fmt::Display for SessionName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for BranchName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for TagName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn session_names_are_narrow() {
        let longest = "a".repeat(64);
        for good in ["a", "0", "agent-7", "a.b_c-d", &longest] {
            assert!(SessionName::new(good).is_ok(), "{good}");
        }
        let too_long = "a".repeat(65);
        for bad in ["", ".a", "-a", "_a", "A", "a/b", "a b", "é", "..", &too_long] {
            assert_eq!(SessionName::new(bad), Err(NameError::Session), "{bad}");
        }
    }

    #[test]
    fn names_of_branches_and_tags_follow_the_rules_for_refs() {
        let longest = "b".repeat(255);
        for good in ["main", "a/b", "feature/x.y", "é", "a@b", "@x", "x-", &longest] {
            assert!(BranchName::new(good).is_ok(), "{good}");
            assert!(TagName::new(good).is_ok(), "{good}");
        }
        let too_long = "b".repeat(256);
        for bad in [
            "", "@", "HEAD", "-a", "/a", "a/", "a//b", ".a", "a/.b", "a.lock", "a.lock/b", "a..b", "a@{b", "a.", "a b",
            "a~", "a^", "a:", "a?", "a*", "a[", "a\\", "a\u{7f}", "a\n", &too_long,
        ] {
            assert!(matches!(BranchName::new(bad), Err(NameError::Branch(_))), "{bad:?}");
            assert!(matches!(TagName::new(bad), Err(NameError::Tag(_))), "{bad:?}");
        }
    }
}
