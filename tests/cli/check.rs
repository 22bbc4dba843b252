//! `mnem check`

use super::support::{FIRST, Place, SECOND, THIRD, json, lines};
use std::collections::BTreeMap;

/// Two assertions that hold in the story's memory and two that do not.
const BELIEFS: &str = r#"
{"name":"dinner is set","predicates":["--path-equals","plan/dinner","/at","\"20:00\""]}
{"name":"Maria is vegan","predicates":["--contains","user/diet","vegan","--not","--contains","user/diet","steak","--present","plan/dinner"]}
{"name":"allergies are known","predicates":["--present","user/allergies"]}
{"name":"there are few nodes","predicates":["--count","**","le","2"]}
"#;

/// Who wrote the diet of the story.
fn steak() -> String {
    let commit = &SECOND[..10];
    format!(
        "    user/diet: {commit} ~2025-12-01T09:00:00.000+00:00 Ada <ada@example.org> \
         (source: https://forum.example/t/88)\n"
    )
}

fn told() -> String {
    let is_steak = "'user/diet' is \"loves steak\"";
    format!(
        "Maria is vegan: --contains user/diet vegan: {is_steak}\n{}\
         Maria is vegan: --not --contains user/diet steak: {is_steak}\n{}\
         allergies are known: --present user/allergies: there is no node 'user/allergies'\n\
         \x20   user/allergies: 8bf0cc447a ~2025-12-01T11:00:00.500+01:00 Ada <ada@example.org> removed\n\
         \x20   user/allergies: 8f53e073d1 ~2025-12-01T08:00:00.000+00:00 Ada <ada@example.org>: [\"peanuts\",1.0]\n",
        steak(),
        steak()
    )
}

#[test]
fn each_predicate_that_fails_is_printed_with_who_wrote_what_stands_there() {
    let place = Place::with_story();
    place.write("beliefs.jsonl", BELIEFS);
    place.mnem(&["check", "beliefs.jsonl"]).ends(1, &told(), "2 of 4 assertions failed\n");
    place.mnem(&["check", "-", "-q"]).input(BELIEFS).ends(1, &told(), "");
    place.mnem(&["check", "beliefs.jsonl", "-z", "-q"]).ends(1, &told().replace('\n', "\0"), "");
    let rows = lines(&BELIEFS.lines().filter(|row| row.contains("set")).collect::<Vec<_>>());
    let rows = rows.replace("\\\"20:00\\\"", "0");
    let name = "\u{1b}[31mdinner is set\u{1b}[0m";
    let commit = format!("\u{1b}[33m{}\u{1b}[0m", &SECOND[..10]);
    let coloured = format!(
        "{name}: --path-equals plan/dinner /at 0: 'plan/dinner' has \"20:00\" at '/at'\n    \
         \u{1b}[1mplan/dinner\u{1b}[0m: {commit} 2025-12-01T09:30:00.50+01:00 Ada <ada@example.org>\n"
    );
    place.mnem(&["check", "-", "-q", "--color", "always"]).input(rows).ends(1, &coloured, "");
    place.mnem(&["check", "beliefs.jsonl", "-q", "-C", ".."]).within(".mnemosyne").ends(1, &told(), "");
}

#[test]
fn where_all_hold_it_prints_nothing_and_ends_with_0() {
    let place = Place::with_story();
    let rows: Vec<_> = BELIEFS.lines().filter(|row| row.contains("dinner is set") || row.contains("few")).collect();
    place.mnem(&["check", "-"]).input(lines(&rows)).says("", "2 assertions hold\n");
    place.mnem(&["check", "-"]).input(lines(&rows[..1])).says("", "1 assertion holds\n");
    place.mnem(&["check", "-"]).input(lines(&rows)).arguments(["-q"]).says("", "");
    place.mnem(&["check", "-"]).input(" \n\r\n").says("", "no assertions\n");
}

#[test]
fn it_reads_head_with_what_is_staged_or_a_revision() {
    let place = Place::with_story();
    let name = |row: &str| format!(r#"{{"name":"it","predicates":{row}}}"#);
    let vegan = name(r#"["--contains","user/diet","vegan"]"#);
    place.mnem(&["check", "-", "-r", FIRST]).input(vegan.as_str()).says("", "1 assertion holds\n");
    place.mnem(&["check", "-"]).env("MNEM_REV", "HEAD~2").input(vegan.as_str()).says("", "1 assertion holds\n");
    place.mnem(&["put", "user/diet", "vegan", "--note", "set right\u{1b}"]).output();
    place.mnem(&["check", "-"]).input(vegan.as_str()).says("", "1 assertion holds\n");
    let failed = |origin: &str, is: &str| format!("it: --contains user/diet {is}\n{origin}");
    let other = failed(&steak(), "vegan: 'user/diet' is \"loves steak\"");
    let session = ["--session", "other"];
    place.mnem(&["check", "-"]).arguments(session).input(vegan.as_str()).ends(1, &other, "1 of 1 assertion failed\n");
    let staged = failed("    user/diet: staged - (note: set right^[)\n", "tofu: 'user/diet' is \"vegan\"");
    let tofu = name(r#"["--contains","user/diet","tofu"]"#);
    place.mnem(&["check", "-"]).input(tofu).ends(1, &staged, "1 of 1 assertion failed\n");
}

#[test]
fn before_the_first_commit_the_memory_is_what_is_staged() {
    let place = Place::with_store();
    let rows = r#"{"name":"there is none","predicates":["--count","**","eq","0"]}"#;
    place.mnem(&["check", "-"]).input(rows).says("", "1 assertion holds\n");
    place.mnem(&["put", "a", "1"]).output();
    let told = "there is none: --count '**' eq 0: 1 node matches\n    a: staged -\n";
    place.mnem(&["check", "-"]).input(rows).ends(1, told, "1 of 1 assertion failed\n");
}

#[test]
fn of_a_node_that_is_missed_it_is_told_who_removed_it_and_what_it_said() {
    let place = Place::with_story();
    let row = r#"{"name":"a","predicates":["--contains","user/allergies","peanuts"]}"#;
    let told = "a: --contains user/allergies peanuts: there is no node 'user/allergies'\n    \
        user/allergies: 8bf0cc447a ~2025-12-01T11:00:00.500+01:00 Ada <ada@example.org> removed\n    \
        user/allergies: 8f53e073d1 ~2025-12-01T08:00:00.000+00:00 Ada <ada@example.org>: [\"peanuts\",1.0]\n";
    place.mnem(&["check", "-", "-q"]).input(row).ends(1, told, "");
    let answer = place.mnem(&["check", "-", "-q", "--json"]).input(row).answer();
    let row: serde_json::Value = serde_json::from_str(&answer.stdout).expect("one row");
    let removal = &row["failures"][0]["removal"];
    assert_eq!((&removal["commit"], &removal["content"][0]), (&THIRD.into(), &"peanuts".into()));
    assert_eq!(removal["last"]["commit"], FIRST);
    let row = r#"{"name":"a","predicates":["--present","never"]}"#;
    place.mnem(&["check", "-", "-q"]).input(row).ends(1, "a: --present never: there is no node 'never'\n", "");
}

#[test]
fn of_a_wrong_number_the_ten_latest_nodes_are_blamed() {
    let place = Place::with_store();
    let row = |id: &str| format!("{{\"id\":\"{id}\",\"content\":1}}");
    let rows = [lines(&["k", "b", "i", "c", "h", "d", "g", "a"].map(row)), lines(&["e", "z", "f"].map(row))];
    place.mnem(&["put", "--jsonl", "-", "-m", "first"]).input(rows[0].as_str()).output();
    place.mnem(&["put", "--jsonl", "-", "-m", "second"]).input(rows[1].as_str()).output();
    place.mnem(&["put", "b", "new"]).output();
    place.mnem(&["put", "j/x", "new"]).output();
    let rows = r#"{"name":"n","predicates":["--count","*","eq","0"]}"#;
    let answer = place.mnem(&["check", "-", "--json"]).input(rows).answer();
    let row: serde_json::Value = serde_json::from_str(&answer.stdout).expect("one row");
    let failure = &row["failures"][0];
    assert_eq!(failure["count"], 11);
    let blamed: Vec<_> = failure["blame"].as_array().expect("a list").iter().map(|row| row["id"].as_str()).collect();
    assert_eq!(blamed.len(), 10, "{answer:?}");
    assert_eq!(blamed[0], Some("b"));
    let mut second = blamed[1..4].to_vec();
    second.sort_unstable();
    assert_eq!(second, [Some("e"), Some("f"), Some("z")]);
    assert!(failure["blame"][0]["commit"].is_null() && failure["blame"][1]["commit"].is_string());
}

#[test]
fn as_json_each_assertion_is_one_row() {
    let place = Place::with_story();
    let rows = "{\"name\":\"a\\u001b\",\"predicates\":[\"--not\",\"--present\",\"plan/dinner\",\"--present\",\"x\"]}\n\
        {\"name\":\"b\",\"predicates\":[\"--absent\",\"x\"]}";
    let none = r#""agent_step":null,"observation":null,"tool_call":null,"source":null,"note":null"#;
    let blame = format!(
        "{{\"id\":\"plan/dinner\",\"commit\":\"{SECOND}\",\"author\":\"Ada <ada@example.org>\",\
         \"time\":\"2025-12-01T09:00:00.000+00:00\",\"event_time\":\"2025-12-01T09:30:00.50+01:00\",\
         \"effective_time\":\"2025-12-01T09:30:00.50+01:00\",\
         \"provenance\":{{{none}}}}}"
    );
    let expected = format!(
        "{{\"v\":1,\"type\":\"check\",\"name\":\"a\\u001b\",\"holds\":false,\"failures\":[\
         {{\"predicate\":[\"--not\",\"--present\",\"plan/dinner\"],\"id\":\"plan/dinner\",\"present\":true,\
         \"content\":{{\"at\":\"20:00\"}},\"count\":null,\"blame\":[{blame}],\"removal\":null}},\
         {{\"predicate\":[\"--present\",\"x\"],\"id\":\"x\",\"present\":false,\"content\":null,\"count\":null,\
         \"blame\":[],\"removal\":null}}]}}\n\
         {{\"v\":1,\"type\":\"check\",\"name\":\"b\",\"holds\":true,\"failures\":[]}}\n"
    );
    place.mnem(&["check", "-", "--json"]).input(rows).ends(1, &expected, "1 of 2 assertions failed\n");
}

#[test]
fn what_a_terminal_would_act_on_is_escaped() {
    let place = Place::with_store();
    place.mnem(&["put", "k\u{202e}", "v", "--source", "s\u{9b}", "-m", "m"]).env("MNEM_AUTHOR", "A\u{1b}").output();
    let row = format!("{{\"name\":{},\"predicates\":[\"--absent\",{}]}}", json("n\n\u{1b}"), json("k\u{202e}"));
    let answer = place.mnem(&["check", "-", "-q"]).input(row).answer();
    let (first, second) = answer.stdout.split_once('\n').expect("two lines");
    assert_eq!(first, "n^J^[: --absent \"$(printf %b 'k\\0342\\0200\\0256')\": 'k\\u{202e}' is \"v\"");
    let (id, rest) = second.split_at("    k\\u{202e}: 0123456789".len());
    assert!(id.starts_with("    k\\u{202e}: "), "{answer:?}");
    assert_eq!(rest, " ~2025-12-01T08:00:00.000+00:00 A^[ (source: s\\u{9b})\n");
}

/// An element of XML: its attributes and what is in it.
#[derive(Debug, Default, PartialEq)]
struct Element {
    name: String,
    attributes: BTreeMap<String, String>,
    elements: Vec<Element>,
    text: String,
}

/// Reads entities of a text.
fn unescaped(text: &str) -> String {
    let mut parts = text.split('&');
    let mut read = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (entity, rest) = part.split_once(';').expect("an entity ends");
        let number = entity.strip_prefix('#').map(|digits| char::from_u32(digits.parse().expect("digits")));
        let c = match (entity, number) {
            ("lt", _) => '<',
            ("gt", _) => '>',
            ("amp", _) => '&',
            ("quot", _) => '"',
            (_, Some(Some(c))) => c,
            _ => panic!("the entity '{entity}'"),
        };
        read.push(c);
        read += rest;
    }
    read
}

/// Reads a document strictly enough for what is written here.
fn read_xml(document: &str) -> Element {
    let body = document.strip_prefix("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n").expect("a declaration");
    let good = |c: char| matches!(c, '\t' | '\n' | ' '..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..);
    assert!(body.chars().all(good), "{body:?}");
    let mut open = vec![Element::default()];
    for part in body.split('<').skip(1) {
        let (tag, text) = part.split_once('>').expect("a tag ends");
        assert!(!text.contains('>'), "{text}");
        if let Some(name) = tag.strip_prefix('/') {
            let element = open.pop().expect("one is open");
            assert_eq!(element.name, name);
            open.last_mut().expect("the document is open").elements.push(element);
        } else {
            let (inside, is_empty) = tag.strip_suffix('/').map_or((tag, false), |inside| (inside, true));
            let (name, mut rest) = inside.split_once(' ').unwrap_or((inside, ""));
            let mut element = Element { name: name.to_owned(), ..Element::default() };
            while let Some((key, behind)) = rest.split_once("=\"") {
                let (value, behind) = behind.split_once('"').expect("a value ends");
                assert!(element.attributes.insert(key.trim().to_owned(), unescaped(value)).is_none());
                rest = behind;
            }
            assert_eq!(rest, "");
            if is_empty {
                open.last_mut().expect("the document is open").elements.push(element);
            } else {
                open.push(element);
            }
        }
        open.last_mut().expect("the document is open").text += &unescaped(text);
    }
    let [document] = &mut open[..] else { panic!("something is still open: {open:?}") };
    assert_eq!(document.elements.len(), 1);
    document.elements.remove(0)
}

#[test]
fn junit_has_a_case_for_each_assertion() {
    let place = Place::with_story();
    let name = "<&\"'\u{1b}\n]]>\u{ffff}é";
    let row = format!("{{\"name\":{},\"predicates\":[\"--present\",\"plan/dinner\"]}}\n", json(name));
    place.write("beliefs.jsonl", format!("{row}{BELIEFS}"));
    place.write("report.xml", "old");
    let run = place.mnem(&["check", "beliefs.jsonl", "--junit", "report.xml"]);
    run.ends(1, &told(), "2 of 5 assertions failed\n");
    let document = read_xml(&std::fs::read_to_string(place.path("report.xml")).expect("a report"));
    let [suite] = &document.elements[..] else { panic!("{document:?}") };
    assert_eq!((document.name.as_str(), suite.name.as_str()), ("testsuites", "testsuite"));
    let told: Vec<_> = suite.attributes.iter().map(|(key, value)| format!("{key}={value}")).collect();
    assert_eq!(told, ["errors=0", "failures=2", "name=beliefs.jsonl", "skipped=0", "tests=5"]);
    let names: Vec<_> = suite.elements.iter().map(|case| case.attributes["name"].as_str()).collect();
    let held = "<&\"'\u{fffd}\n]]>\u{fffd}é";
    assert_eq!(names, [held, "dinner is set", "Maria is vegan", "allergies are known", "there are few nodes"]);
    assert!(
        suite.elements.iter().all(|case| case.name == "testcase" && case.attributes["classname"] == "beliefs.jsonl")
    );
    let failures: Vec<_> = suite.elements.iter().map(|case| case.elements.len()).collect();
    assert_eq!(failures, [0, 0, 1, 1, 0]);
    let failure = &suite.elements[2].elements[0];
    let [vegan, steak_found] = ["--contains user/diet vegan", "--not --contains user/diet steak"]
        .map(|words| format!("{words}: 'user/diet' is \"loves steak\""));
    assert_eq!(failure.attributes["message"], format!("{vegan}\n{steak_found}"));
    assert_eq!(failure.text, format!("{vegan}\n{}{steak_found}\n{}", steak(), steak().trim_end()));
}

#[test]
fn a_report_that_cannot_be_written_is_an_error_and_nothing_is_answered() {
    let place = Place::with_story();
    place.write("beliefs.jsonl", BELIEFS);
    let failed = "mnem: error[io]: writing '[PLACE]/none/report.xml' failed: No such file or directory (os error 2) at \
        path \"[PLACE]/none/";
    let answer = place.mnem(&["check", "beliefs.jsonl", "--junit", "none/report.xml"]).answer();
    assert!(answer.status == 128 && answer.stdout.is_empty() && answer.stderr.starts_with(failed), "{answer:?}");
    let usage = "mnem: error[usage]: --junit needs a file\nhint: mnem check FILE --junit report.xml\n";
    place.mnem(&["check", "beliefs.jsonl", "--junit", "-"]).refuses(129, usage);
}

#[test]
fn a_wrong_file_is_refused_before_anything_is_asked() {
    let place = Place::with_story();
    let missing = "mnem: error[io]: cannot read 'none.jsonl': No such file or directory (os error 2)\n\
        hint: name a file that is there; - is standard input\n";
    place.mnem(&["check", "none.jsonl"]).refuses(128, missing);
    let example = r#"hint: a row is such as {"name":"she is vegan","predicates":["--contains","user/diet","vegan"]}"#;
    for (row, said) in [
        (
            r#"{"name":"b","predicate":["--present","x"]}"#,
            format!(
                "bad-json]: bad.jsonl: line 6: unknown key 'predicate'; the keys are 'name', 'predicates'\n{example}"
            ),
        ),
        (
            r#"{"name":"b","predicates":["--equal","x","y"]}"#,
            "bad-predicate]: bad.jsonl: line 6: the key 'predicates': unknown predicate '--equal'\n\
             hint: did you mean '--equals'?"
                .to_owned(),
        ),
        (
            r#"{"name":"Maria is vegan","predicates":["--present","x"]}"#,
            format!("bad-json]: bad.jsonl: line 6: the name 'Maria is vegan' stands twice\n{example}"),
        ),
    ] {
        place.write("bad.jsonl", format!("{BELIEFS}{row}"));
        let run = place.mnem(&["check", "bad.jsonl", "--junit", "report.xml"]);
        run.refuses(129, &format!("mnem: error[{said}\n"));
    }
    place.write("bad.jsonl", b"{\"name\":\"\xff\"}");
    let not_utf8 = "mnem: error[bad-utf8]: 'bad.jsonl' is not UTF-8: byte 9 is the first bad one\n\
        hint: store bytes as text, such as the output of 'base64 -w0 FILE'\n";
    place.mnem(&["check", "bad.jsonl"]).refuses(129, not_utf8);
    let nothing = "mnem: error[usage]: the following required arguments were not provided: <FILE>\n\
        hint: see 'mnem check --help'\n";
    place.mnem(&["check"]).refuses(129, nothing);
}

#[test]
fn who_is_blamed_is_who_wrote_what_the_predicate_looks_at() {
    let place = Place::with_store();
    let commit = |id: &str, json: bool, content: &str, source: &str| {
        let kind = if json { "json" } else { "text" };
        place.mnem(&["put", id, "-t", kind, "-", "--source", source, "-m", source]).input(content).output();
    };
    commit("value", true, r#"{"n":1,"x":1}"#, "first");
    commit("value", true, r#"{"n":1,"x":2}"#, "second");
    commit("text", false, "one\ntwo poison\n", "evil");
    commit("text", false, "ONE\ntwo poison\n", "fine");
    commit("rewritten", false, "steak", "bad");
    commit("rewritten", false, "steak", "good");
    let sources = |predicates: &str| {
        let row = format!(r#"{{"name":"a","predicates":[{predicates}]}}"#);
        let answer = place.mnem(&["check", "-", "-q", "--json"]).input(row).answer();
        let row: serde_json::Value = serde_json::from_str(&answer.stdout).expect("one row");
        let blame = row["failures"][0]["blame"].as_array().expect("a list").iter();
        blame.map(|writer| writer["provenance"]["source"].as_str().expect("a source").to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(sources(r#""--path-equals","value","/n","2""#), ["first"]);
    assert_eq!(sources(r#""--path-equals","value","/x","1""#), ["second"]);
    assert_eq!(sources(r#""--not","--contains","text","poison""#), ["evil"]);
    assert_eq!(sources(r#""--not","--matches","text","(?m)^ONE$""#), ["fine"]);
    assert_eq!(sources(r#""--not","--any","te*","poison""#), ["evil"]);
    assert_eq!(sources(r#""--contains","text","three""#), ["fine"]);
    assert_eq!(sources(r#""--equals","rewritten","vegan""#), ["good", "bad"]);
}
