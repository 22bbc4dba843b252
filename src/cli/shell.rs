//! Lines that a person may type as they are shown.

use super::error::shell_word;
use super::text::escape_line;

/// A text as one word of a POSIX shell, in which nothing is left that would be escaped where it is shown.
pub fn word(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:@%+,=".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        return text.to_owned();
    }
    if escape_line(text) == text {
        return shell_word(text);
    }
    let octal = |c: char| c.to_string().bytes().map(|byte| format!("\\0{byte:03o}")).collect::<String>();
    let shown = |c: char| if matches!(c, ' '..='~') && !"'\\".contains(c) { c.to_string() } else { octal(c) };
    // The shell takes away line feeds at the end, so the text does not end with one of its own.
    format!("\"$(printf %b '{}')\"", text.chars().map(shown).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::process::Command;

    #[test]
    fn what_is_plain_stays_so() {
        assert_eq!(word("agents/seven"), "agents/seven");
        assert_eq!(word("it's"), r"'it'\''s'");
        assert_eq!(word(""), "''");
        assert_eq!(word("a\nb"), r#""$(printf %b 'a\0012b')""#);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn the_shell_reads_what_was_meant(text in "[a'\"\\\\$` \u{1}-\u{7f}é\u{202e}\u{200d}%]{0,12}x") {
            let word = word(&text);
            prop_assert_eq!(escape_line(&word), word.as_str());
            let output = Command::new("sh").arg("-c").arg(format!("printf %s {word}")).output().expect("a shell");
            prop_assert_eq!(String::from_utf8(output.stdout).expect("UTF-8"), text);
        }
    }
}
