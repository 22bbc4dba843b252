//! Text for people: escapes what a terminal would act on and what nobody would see.
//!
//! For the eye and with no way back; `--json` is exact.

use std::borrow::Cow;

const ZERO_WIDTH_NON_JOINER: char = '\u{200c}';
const ZERO_WIDTH_JOINER: char = '\u{200d}';

/// Escapes a text that is shown on one line, such as an id, a message, an author or provenance.
///
/// C0 and DEL become `^[`, all other escaped characters `\u{202e}`: C1, line and paragraph separators, and everything
/// that Unicode calls default ignorable, which holds bidi controls, zero-width characters, the byte-order mark and tags.
/// Two of those stay where writing needs them: a joiner between two letters of a script that spells with it, or, for
/// U+200D, between two emoji; and one variation selector behind a visible character.
pub fn escape_line(text: &str) -> Cow<'_, str> {
    escape(text, |_| false)
}

/// Escapes as [`escape_line`] does, but keeps line feeds and tabs.
pub fn escape_block(text: &str) -> Cow<'_, str> {
    escape(text, |c| matches!(c, '\n' | '\t'))
}

/// Leaves out the inside of a text, of which `kept` bytes at each end stay, and tells how much it was.
pub fn abridge(text: &str, kept: usize) -> Cow<'_, str> {
    let is_boundary = |at: &usize| text.is_char_boundary(*at);
    let head = (0..=kept.min(text.len())).rev().find(is_boundary).unwrap_or(0);
    let tail = (text.len().saturating_sub(kept)..=text.len()).find(is_boundary).unwrap_or(text.len());
    if tail <= head + 80 {
        return Cow::Borrowed(text);
    }
    Cow::Owned(format!("{}[... {} bytes ...]{}", &text[..head], tail - head, &text[tail..]))
}

/// So many of something that a plain `s` makes several of, such as `1 run` and `2 runs`.
pub fn counted(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

/// The beginning of a text, with a sign that there was more.
pub fn cut(text: &str) -> Cow<'_, str> {
    const SHOWN: usize = 60;
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => Cow::Owned(format!("{}…", &text[..end])),
        None => Cow::Borrowed(text),
    }
}

fn escape(text: &str, stays: impl Fn(char) -> bool) -> Cow<'_, str> {
    if text.bytes().all(|byte| matches!(byte, b' '..=b'~') || stays(char::from(byte))) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::new();
    let mut kept = 0;
    let mut before = None;
    for (at, c) in text.char_indices() {
        let shown_before = before.replace(c);
        let after = at + c.len_utf8();
        if !matches!(c, ' '..='~') && !stays(c) && (c.is_control() || is_hidden(shown_before, c, &text[after..])) {
            escaped.push_str(&text[kept..at]);
            kept = after;
            before = None;
            if c.is_ascii() {
                escaped.extend(['^', char::from(c as u8 ^ 0x40)]);
            } else {
                escaped.extend(c.escape_unicode());
            }
        }
    }
    if kept == 0 {
        return Cow::Borrowed(text);
    }
    escaped.push_str(&text[kept..]);
    Cow::Owned(escaped)
}

/// Whether nobody would see `c`, or would see its neighbours out of order; `before` is `None` where it is escaped.
fn is_hidden(before: Option<char>, c: char, after: &str) -> bool {
    let between = |kind: fn(char) -> bool| before.is_some_and(kind) && after.starts_with(kind);
    match c {
        '\u{2028}' | '\u{2029}' | '\u{fff9}'..='\u{fffb}' => true,
        ZERO_WIDTH_NON_JOINER => !between(spells_with_joiners),
        ZERO_WIDTH_JOINER => {
            let behind_emoji = before.is_some_and(|c| is_emoji(c) || c == '\u{fe0f}');
            !(between(spells_with_joiners) || behind_emoji && after.starts_with(is_emoji))
        }
        _ if is_variation_selector(c) => before.is_none_or(|base| base.is_whitespace() || is_ignorable(base)),
        _ => is_ignorable(c),
    }
}

/// Unicode's `Default_Ignorable_Code_Point`.
fn is_ignorable(c: char) -> bool {
    matches!(
        c,
        '\u{ad}'
            | '\u{34f}'
            | '\u{61c}'
            | '\u{115f}'..='\u{1160}'
            | '\u{17b4}'..='\u{17b5}'
            | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{3164}'
            | '\u{fe00}'..='\u{fe0f}'
            | '\u{feff}'
            | '\u{ffa0}'
            | '\u{fff0}'..='\u{fff8}'
            | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}'
    )
}

fn is_variation_selector(c: char) -> bool {
    matches!(c, '\u{180b}'..='\u{180d}' | '\u{180f}' | '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}')
}

/// Of the blocks from Arabic to Sinhala, or of Myanmar, Khmer or Mongolian.
fn spells_with_joiners(c: char) -> bool {
    let in_block = matches!(c, '\u{600}'..='\u{dff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{18af}');
    in_block && !is_ignorable(c)
}

/// Of the blocks of which emoji are joined.
fn is_emoji(c: char) -> bool {
    matches!(c, '\u{2190}'..='\u{21ff}' | '\u{2600}'..='\u{27bf}' | '\u{2b00}'..='\u{2bff}' | '\u{1f000}'..='\u{1faff}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use regex::Regex;

    #[test]
    fn a_line_shows_what_it_would_do() {
        for (text, shown) in [
            ("\0\u{1}\t\n\r\u{1b}[31m\u{1f}\u{7f}", "^@^A^I^J^M^[[31m^_^?"),
            ("\u{80}\u{9b}31m\u{9f}", r"\u{80}\u{9b}31m\u{9f}"),
            ("a\u{202e}b\u{2066}c\u{200e}\u{61c}", r"a\u{202e}b\u{2066}c\u{200e}\u{61c}"),
            ("a\u{2028}b\u{2029}c\u{85}\u{fff9}", r"a\u{2028}b\u{2029}c\u{85}\u{fff9}"),
            ("\u{feff}a\u{200b}b\u{2060}\u{ad}\u{3164}", r"\u{feff}a\u{200b}b\u{2060}\u{ad}\u{3164}"),
            ("a\u{e0001}\u{e0061}\u{e007f}", r"a\u{e0001}\u{e0061}\u{e007f}"),
            ("é\u{7f}é", "é^?é"),
        ] {
            assert_eq!(escape_line(text), shown);
        }
    }

    #[test]
    fn a_block_keeps_its_lines_and_tabs() {
        assert_eq!(escape_block("a\tb\r\nc\u{1b}\n\n\u{202e}\rd"), "a\tb^M\nc^[\n\n\\u{202e}^Md");
    }

    #[test]
    fn what_is_visible_is_borrowed() {
        for text in ["", "plain ~ \\u{202e} ^[", "née", "e\u{301}", "日本語", "שלום", "😀", "a\u{a0}b"] {
            assert!(matches!(escape_line(text), Cow::Borrowed(shown) if shown == text), "{text}");
        }
        for text in ["a\n\tb\n", "é\n\t😀"] {
            assert!(matches!(escape_block(text), Cow::Borrowed(shown) if shown == text), "{text}");
        }
    }

    #[test]
    fn joiners_stay_where_writing_needs_them() {
        for text in [
            "👩\u{200d}👩\u{200d}👧",
            "👩🏽\u{200d}🚀",
            "❤\u{fe0f}\u{200d}🔥",
            "🏳\u{fe0f}\u{200d}🌈",
            "🙂\u{200d}↔\u{fe0f}",
            "می\u{200c}خواهم",
            "ශ්\u{200d}රී",
        ] {
            assert!(matches!(escape_line(text), Cow::Borrowed(_)), "{text}");
        }
        for (text, shown) in [
            ("a\u{200d}b", r"a\u{200d}b"),
            ("a\u{200c}b", r"a\u{200c}b"),
            ("😀\u{200d}", r"😀\u{200d}"),
            ("\u{200d}😀", r"\u{200d}😀"),
            ("😀\u{200d}\u{200d}😀", r"😀\u{200d}\u{200d}😀"),
            ("😀\u{200c}😀", r"😀\u{200c}😀"),
            ("😀\u{200d}خ", r"😀\u{200d}خ"),
            ("😀\u{200d}\u{fe0f}", r"😀\u{200d}\u{fe0f}"),
            ("\u{fe0f}\u{200d}😀", r"\u{fe0f}\u{200d}😀"),
            ("خ\u{200c}\u{61c}", r"خ\u{200c}\u{61c}"),
        ] {
            assert_eq!(escape_line(text), shown);
        }
    }

    #[test]
    fn a_variation_selector_stays_behind_a_visible_character() {
        for text in ["❤\u{fe0f}", "1\u{fe0f}\u{20e3}", "葛\u{e0100}", "ᠠ\u{180b}"] {
            assert!(matches!(escape_line(text), Cow::Borrowed(_)), "{text}");
        }
        for (text, shown) in [
            ("\u{fe0f}", r"\u{fe0f}"),
            (" \u{fe0f}", r" \u{fe0f}"),
            ("\u{1b}\u{fe0f}", r"^[\u{fe0f}"),
            ("a\u{e0101}\u{e0102}\u{fe00}", "a\u{e0101}\\u{e0102}\\u{fe00}"),
            ("\u{200b}\u{fe0f}", r"\u{200b}\u{fe0f}"),
        ] {
            assert_eq!(escape_line(text), shown);
        }
    }

    #[test]
    fn the_ignorable_characters_are_those_of_unicode() {
        let ignorable = Regex::new(r"\A\p{Default_Ignorable_Code_Point}\z").expect("a property");
        for c in '\0'..=char::MAX {
            assert_eq!(is_ignorable(c), ignorable.is_match(c.encode_utf8(&mut [0; 4])), "U+{:04X}", c as u32);
        }
    }

    fn risky_text() -> impl Strategy<Value = String> {
        let risky = "[\0-\u{20}\u{7f}-\u{a0}\u{61c}\u{200b}-\u{200f}\u{2028}-\u{202e}\u{2060}-\u{206f}\u{fe0f}\u{feff}\
            \u{e0000}-\u{e0200}a\u{62e}😀]{0,12}";
        prop_oneof![any::<String>(), risky]
    }

    fn acts(c: char) -> bool {
        c.is_control()
            || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    }

    proptest! {
        #[test]
        fn nothing_that_acts_gets_through(text in risky_text()) {
            prop_assert_eq!(escape_line(&text).chars().find(|&c| acts(c)), None);
            prop_assert_eq!(escape_block(&text).chars().find(|&c| acts(c) && c != '\n' && c != '\t'), None);
        }

        #[test]
        fn what_was_escaped_stays_as_it_is(text in risky_text()) {
            let shown = escape_line(&text).into_owned();
            prop_assert!(matches!(escape_line(&shown), Cow::Borrowed(_)), "{}", shown);
        }

        #[test]
        fn a_block_is_its_lines(text in risky_text()) {
            let cells = |line: &str| line.split('\t').map(escape_line).collect::<Vec<_>>().join("\t");
            let lines: Vec<_> = text.split('\n').map(cells).collect();
            prop_assert_eq!(escape_block(&text), lines.join("\n"));
        }
    }
}
