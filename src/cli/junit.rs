//! JUnit XML: what continuous integration reads as the result of tests.

/// A test case.
pub struct Case {
    /// What it is called.
    pub name: String,
    /// What failed, each on one line with more lines of detail; it passed where there is nothing.
    pub failures: Vec<(String, Vec<String>)>,
    /// Whether it says neither that it passed nor that it failed.
    pub is_skipped: bool,
}

/// The whole document for one suite.
pub fn junit(suite: &str, cases: &[Case]) -> String {
    let suite = escape(suite);
    let failed = cases.iter().filter(|case| !case.failures.is_empty()).count();
    let skipped = cases.iter().filter(|case| case.is_skipped).count();
    let all = cases.len();
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n");
    let counts = format!("tests=\"{all}\" failures=\"{failed}\" errors=\"0\" skipped=\"{skipped}\"");
    out += &format!("<testsuite name=\"{suite}\" {counts}>\n");
    for Case { name, failures, is_skipped } in cases {
        out += &format!("<testcase classname=\"{suite}\" name=\"{}\"", escape(name));
        if *is_skipped {
            out += ">\n<skipped/>\n</testcase>\n";
            continue;
        }
        if failures.is_empty() {
            out += "/>\n";
            continue;
        }
        let (mut messages, mut lines) = (Vec::new(), Vec::new());
        for (message, details) in failures {
            messages.push(message.as_str());
            lines.push(escape(message));
            lines.extend(details.iter().map(|detail| format!("    {}", escape(detail))));
        }
        let message = escape(&messages.join("\n"));
        out += &format!(">\n<failure message=\"{message}\">{}</failure>\n</testcase>\n", lines.join("\n"));
    }
    out + "</testsuite>\n</testsuites>\n"
}

/// A text inside an element or an attribute. What XML 1.0 cannot hold becomes U+FFFD.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped += "&amp;",
            '<' => escaped += "&lt;",
            '>' => escaped += "&gt;",
            '"' => escaped += "&quot;",
            // A reader would make spaces of them, or leave them out.
            '\t' | '\n' | '\r' => escaped += &format!("&#{};", u32::from(c)),
            '\0'..'\u{20}' | '\u{fffe}' | '\u{ffff}' => escaped.push('\u{fffd}'),
            other => escaped.push(other),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_document_has_a_case_for_each_assertion() {
        let case = |name: &str, failures, is_skipped| Case { name: name.to_owned(), failures, is_skipped };
        let passed = case("a<b", Vec::new(), false);
        let failures = vec![("x & y".to_owned(), vec!["\"z\"".to_owned()]), ("w".to_owned(), Vec::new())];
        let failed = case("two\nlines", failures, false);
        let skipped = case("s", Vec::new(), true);
        let document = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
            <testsuites>\n\
            <testsuite name=\"c.jsonl\" tests=\"3\" failures=\"1\" errors=\"0\" skipped=\"1\">\n\
            <testcase classname=\"c.jsonl\" name=\"a&lt;b\"/>\n\
            <testcase classname=\"c.jsonl\" name=\"two&#10;lines\">\n\
            <failure message=\"x &amp; y&#10;w\">x &amp; y\n    &quot;z&quot;\nw</failure>\n\
            </testcase>\n\
            <testcase classname=\"c.jsonl\" name=\"s\">\n\
            <skipped/>\n\
            </testcase>\n\
            </testsuite>\n\
            </testsuites>\n";
        assert_eq!(junit("c.jsonl", &[passed, failed, skipped]), document);
        let none = "tests=\"0\" failures=\"0\" errors=\"0\" skipped=\"0\">\n</testsuite>\n</testsuites>\n";
        assert!(junit("-", &[]).ends_with(none));
    }

    /// Whether XML 1.0 has the character.
    fn is_char(c: char) -> bool {
        matches!(c, '\t' | '\n' | '\r' | '\u{20}'..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..='\u{10ffff}')
    }

    proptest! {
        #[test]
        fn what_is_escaped_is_read_as_it_was(text in "[\0-\u{1f}<>&\"'\u{7f}\u{202e}\u{fffe}\u{ffff}a]{0,12}|\\PC{0,8}") {
            let escaped = escape(&text);
            prop_assert!(escaped.chars().all(is_char) && !escaped.contains(['<', '>', '"', '\n', '\t', '\r']));
            let mut read = escaped.clone();
            for (entity, c) in [
                ("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#9;", "\t"), ("&#10;", "\n"), ("&#13;", "\r"),
            ] {
                read = read.replace(entity, c);
            }
            let held: String = text.chars().map(|c| if is_char(c) { c } else { '\u{fffd}' }).collect();
            prop_assert_eq!(read.replace("&amp;", "&"), held);
        }
    }
}
