//! Lines that a person may type as they are shown.

use super::error::shell_word;
use super::text::escape_line;
use std::iter::Peekable;
use std::str::Chars;

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

/// The words of a line as a shell has them, as far as [`word`] writes them; `None` where it has something else.
pub fn words(line: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut chars = line.chars().peekable();
    while chars.peek().is_some() {
        let mut word = String::new();
        while let Some(c) = chars.next_if(|c| *c != ' ') {
            match c {
                '\'' => word += &quoted(&mut chars)?,
                '"' => {
                    follows(&mut chars, "$(printf %b '")?;
                    word += &printed(&quoted(&mut chars)?)?;
                    follows(&mut chars, ")\"")?;
                }
                '\\' => word.push(chars.next()?),
                '$' | '`' => return None,
                plain => word.push(plain),
            }
        }
        words.push(word);
        while chars.next_if_eq(&' ').is_some() {}
    }
    Some(words)
}

/// What is left of a text in single quotes, without the last of them.
fn quoted(chars: &mut Peekable<Chars<'_>>) -> Option<String> {
    let mut text = String::new();
    loop {
        match chars.next()? {
            '\'' => return Some(text),
            inner => text.push(inner),
        }
    }
}

fn follows(chars: &mut Peekable<Chars<'_>>, text: &str) -> Option<()> {
    text.chars().all(|c| chars.next_if_eq(&c).is_some()).then_some(())
}

/// What `printf %b` makes of a text in which only bytes are escaped, as `\0` and three octal digits.
fn printed(text: &str) -> Option<String> {
    let mut parts = text.split("\\0");
    let mut bytes = parts.next()?.as_bytes().to_owned();
    for part in parts {
        bytes.push(u8::from_str_radix(part.get(..3)?, 8).ok()?);
        bytes.extend(part.get(3..)?.as_bytes());
    }
    String::from_utf8(bytes).ok().filter(|_| !text.replace("\\0", "").contains('\\'))
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

    #[test]
    fn what_only_a_shell_could_read_is_not_read() {
        assert_eq!(words("a  'b c'd\\ e ''"), Some(["a", "b cd e", ""].map(str::to_owned).to_vec()));
        for line in [
            "'a",
            "\\",
            "$a",
            "`a`",
            "\"a\"",
            "\"$(date)\"",
            "\"$(printf %b 'a')",
            r#""$(printf %b '\t')""#,
            r#""$(printf %b '\09')""#,
        ] {
            assert_eq!(words(line), None, "{line}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn the_shell_reads_what_was_meant(text in "[a'\"\\\\$` \u{1}-\u{7f}é\u{202e}\u{200d}%]{0,12}x") {
            let word = word(&text);
            prop_assert_eq!(escape_line(&word), word.as_str());
            prop_assert_eq!(words(&format!("{word} {word}")), Some(vec![text.clone(); 2]));
            let output = Command::new("sh").arg("-c").arg(format!("printf %s {word}")).output().expect("a shell");
            prop_assert_eq!(String::from_utf8(output.stdout).expect("UTF-8"), text);
        }
    }
}
