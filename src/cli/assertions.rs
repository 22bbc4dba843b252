//! Rows of JSON Lines: what `check` reads.

use super::error::CliError;
use super::rows::{Lines, each_row, fault, fields, read};
use crate::graph::parse;
use crate::ops::Assertion;
use std::collections::BTreeSet;

/// Reads assertions, all or none; a refusal names the file, the line and, where there is one, the key.
pub fn read_assertions(lines: Lines<'_>) -> Result<Vec<Assertion>, CliError> {
    const HINT: &str = r#"a row is such as {"name":"she is vegan","predicates":["--contains","user/diet","vegan"]}"#;
    let mut names = BTreeSet::new();
    each_row(lines, HINT, |line| {
        let assertion = read_assertion(line)?;
        if !names.insert(assertion.name.clone()) {
            return Err(fault(format!("the name '{}' stands twice", assertion.name)));
        }
        Ok(assertion)
    })
}

fn read_assertion(line: &str) -> Result<Assertion, CliError> {
    let [name, predicates] = fields(line, ["name", "predicates"])?;
    let missing = |key: &str| fault(format!("the key '{key}' is missing"));
    let name: String = read("name", name)?.ok_or_else(|| missing("name"))?;
    if name.trim().is_empty() {
        return Err(fault("the key 'name' may not be blank"));
    }
    let words: Vec<String> = read("predicates", predicates)?.ok_or_else(|| missing("predicates"))?;
    if words.is_empty() {
        return Err(fault("the key 'predicates' may not be empty"));
    }
    let predicates = parse(&words).map_err(|error| CliError::from(error).about("the key 'predicates'"))?;
    Ok(Assertion { name, predicates })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn read_text(bytes: &[u8]) -> Result<Vec<Assertion>, CliError> {
        read_assertions(Lines { bytes, path: Path::new("-") })
    }

    #[test]
    fn each_row_is_a_name_and_words() {
        let text = "{\"name\":\"a\",\"predicates\":[\"--not\",\"--present\",\"x\"]}\r\n\n \t\n\
            {\"predicates\":[\"--absent\",\"\\u0078\",\"--any\",\"*\",\"\"],\"name\":\" b\\n\"}";
        let read = read_text(text.as_bytes()).expect("assertions");
        let told: Vec<_> = read
            .iter()
            .map(|assertion| {
                let words: Vec<_> = assertion.predicates.iter().map(|predicate| predicate.words().join(" ")).collect();
                (assertion.name.as_str(), words)
            })
            .collect();
        let words = |all: &[&str]| all.iter().map(|words| (*words).to_owned()).collect::<Vec<_>>();
        assert_eq!(told, [("a", words(&["--not --present x"])), (" b\n", words(&["--absent x", "--any * "]))]);
        assert!(read_text(b"").expect("none").is_empty());
    }

    #[test]
    fn a_refusal_names_line_and_key() {
        let good = r#"{"name":"a","predicates":["--present","x"]}"#;
        for (row, message, status) in [
            ("[]", "invalid type: sequence, expected a JSON object", 129),
            ("{", "EOF while parsing an object at column 1", 129),
            (r#"{"name":"b"}"#, "the key 'predicates' is missing", 129),
            (r#"{"name":"b","predicates":null}"#, "the key 'predicates' is missing", 129),
            (r#"{"name":"b","predicates":[]}"#, "the key 'predicates' may not be empty", 129),
            (r#"{"name":"b","predicates":"--present x"}"#, "the key 'predicates': invalid type: string", 129),
            (r#"{"name":"b","predicates":["--present",1]}"#, "the key 'predicates': invalid type: integer `1`", 129),
            (r#"{"predicates":["--present","x"]}"#, "the key 'name' is missing", 129),
            (r#"{"name":" ","predicates":["--present","x"]}"#, "the key 'name' may not be blank", 129),
            (r#"{"name":1,"predicates":["--present","x"]}"#, "the key 'name': invalid type: integer `1`", 129),
            (r#"{"name":"b","predicates":["--present","x"],"rev":"HEAD"}"#, "unknown key 'rev'; the keys are", 129),
            (r#"{"name":"b","name":"c","predicates":["--present","x"]}"#, "the key 'name' stands twice", 129),
            (good, "the name 'a' stands twice", 129),
            (
                r#"{"name":"b","predicates":["--presen","x"]}"#,
                "the key 'predicates': unknown predicate '--presen'",
                129,
            ),
            (r#"{"name":"b","predicates":["--present"]}"#, "the key 'predicates': '--present' needs ID behind it", 129),
        ] {
            let error = read_text(format!("{good}\n\n{row}\n{good}").as_bytes()).expect_err(row);
            let said = error.to_string();
            assert!(said.starts_with(&format!("line 3: {message}")), "{row}: {said}");
            assert_eq!(error.exit(), status, "{row}");
        }
        assert_eq!(read_text(b"\xff").map_err(|error| error.exit()).err(), Some(129));
    }
}
