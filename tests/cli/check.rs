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
         \x20   user/allergies: 8f53e073d1 ~2025-12-01T08:00:00.000+00:00 Ada <ada@example.org>: [\"peanuts\", 1.0]\n",
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
         \u{1b}[1mplan/dinner\u{1b}[0m /at: {commit} 2025-12-01T09:30:00.50+01:00 Ada <ada@example.org>\n"
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
        user/allergies: 8f53e073d1 ~2025-12-01T08:00:00.000+00:00 Ada <ada@example.org>: [\"peanuts\", 1.0]\n";
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
         \"provenance\":{{{none}}},\"lines\":null,\"paths\":null}}"
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
    let failed = "mnem: error[io]: writing '[PLACE]/none/report.xml' failed: No such file or directory (os error 2)\n";
    place.mnem(&["check", "beliefs.jsonl", "--junit", "none/report.xml"]).refuses(128, failed);
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

/// Commits a node from a source; at a second of its own, so that no two commits are one.
fn commit(place: &Place, id: &str, kind: &str, content: &str, source: &str) {
    let seconds = place.mnem(&["log", "--ids"]).answer().stdout.lines().count();
    let put = place.mnem(&["put", id, "-t", kind, "-", "--source", source, "-m", source]).input(content);
    put.env("MNEM_DATE", format!("@{}", 1_764_576_000 + seconds)).output();
}

/// The failure of the one predicate, given as JSON words.
fn failure(place: &Place, predicate: &str) -> serde_json::Value {
    let row = format!(r#"{{"name":"a","predicates":[{predicate}]}}"#);
    let answer = place.mnem(&["check", "-", "-q", "--json"]).input(row).answer();
    let row: serde_json::Value = serde_json::from_str(&answer.stdout).expect("one row");
    assert_eq!((answer.status, &row["holds"]), (1, &false.into()), "{predicate}");
    row["failures"][0].clone()
}

/// The sources of those who are blamed, and of what was removed.
fn sources(place: &Place, predicate: &str) -> Vec<String> {
    let failure = failure(place, predicate);
    let removed = failure["removal"]["last"]["provenance"]["source"].as_str().map(|source| format!("removed {source}"));
    let blame = failure["blame"].as_array().expect("a list").iter();
    let blame = blame.map(|writer| writer["provenance"]["source"].as_str().unwrap_or("staged").to_owned());
    removed.into_iter().chain(blame).collect()
}

#[test]
fn where_a_predicate_never_held_who_is_blamed_is_who_wrote_what_it_looks_at() {
    let place = Place::with_store();
    let put = |id: &str, kind: &str, content: &str, source: &str| commit(&place, id, kind, content, source);
    put("value", "json", r#"{"n":1,"x":1}"#, "first");
    put("value", "json", r#"{"n":1,"x":2}"#, "second");
    put("text", "text", "one\ntwo poison\n", "evil");
    put("text", "text", "ONE\ntwo poison\n", "fine");
    put("rewritten", "text", "steak", "bad");
    put("rewritten", "text", "steak", "good");
    for (predicate, blamed) in [
        (r#""--path-equals","value","/n","2""#, &["first"][..]),
        (r#""--path-equals","value","","1""#, &["second", "first"]),
        (r#""--path-equals","value","/x","1""#, &["second"]),
        (r#""--not","--contains","text","poison""#, &["evil"]),
        (r#""--not","--matches","text","(?m)^ONE$""#, &["fine"]),
        (r#""--not","--any","te*","poison""#, &["evil"]),
        (r#""--contains","text","three""#, &["fine"]),
        (r#""--path-exists","value","/y""#, &["second"]),
        (r#""--equals","rewritten","vegan""#, &["good", "bad"]),
        (r#""--any","*","nowhere""#, &[]),
    ] {
        assert_eq!(sources(&place, predicate), blamed, "{predicate}");
    }
}

#[test]
fn who_is_blamed_is_who_made_the_change_since_which_it_fails() {
    let place = Place::with_store();
    let put = |id: &str, kind: &str, content: &str, source: &str| commit(&place, id, kind, content, source);
    put("value", "json", r#"{"a":[1,2],"b":{"x":1,"y":2}}"#, "v1");
    put("value", "json", r#"{"a":[1,2],"b":{"x":1}}"#, "v2");
    put("value", "json", r#"{"a":[1],"b":{"x":1}}"#, "v3");
    put("value", "json", r#"{"a":[1],"b":{"x":3}}"#, "v4");
    put("text", "text", "one two\n", "t1");
    put("text", "text", "one\n", "t2");
    put("text", "text", "one\n", "t3");
    put("text", "text", "one\nfour five\nsix", "t4");
    put("text", "text", "one\nfour five\nsix seven", "t5");
    put("text", "text", "one more\nfour five\nsix seven", "t6");
    put("json", "json", r#"{"k":"poison here","z":1}"#, "j1");
    put("json", "json", r#"{"k":"poison here","z":2}"#, "j2");
    put("twice", "text", "good\n", "w1");
    put("twice", "text", "bad\n", "w2");
    put("twice", "text", "good again\n", "w3");
    put("twice", "text", "bad again\n", "w4");
    put("twice", "text", "bad still\n", "w5");
    put("lines", "text", "a bad\nb\nc", "l1");
    put("lines", "text", "a so bad\nb\nc", "l2");
    put("lines", "text", "a so bad\nb bad\nc", "l3");
    put("lines", "text", "a so bad\nb bad\nC", "l4");
    put("again", "text", "kept", "a1");
    place.mnem(&["rm", "again", "-m", "rm"]).output();
    put("again", "text", "other", "a2");
    put("again", "text", "another", "a3");
    put("gone", "text", "first last", "g1");
    put("gone", "text", "last", "g2");
    place.mnem(&["rm", "gone", "-m", "rm"]).output();
    for (predicate, blamed) in [
        (r#""--path-exists","value","/b/y""#, &["v2"][..]),
        (r#""--path-exists","value","/a/1""#, &["v3"]),
        (r#""--path-equals","value","/a","[1,2]""#, &["v3"]),
        (r#""--path-equals","value","/b","{\"x\":1,\"y\":2}""#, &["v2"]),
        (r#""--path-equals","value","/b","{\"x\":1}""#, &["v4"]),
        (r#""--not","--path-exists","value","/b""#, &["v1"]),
        (r#""--not","--path-equals","value","/a","[1]""#, &["v3"]),
        (r#""--equals-json","value","{\"b\":{\"x\":1},\"a\":[1]}""#, &["v4"]),
        (r#""--contains","value","\"y\"""#, &["v2"]),
        (r#""--contains","text","two""#, &["t2"]),
        (r#""--matches","text","^one two""#, &["t2"]),
        (r#""--equals","text","one\n""#, &["t4"]),
        (r#""--any","te*","two""#, &["t2"]),
        (r#""--not","--contains","text","five\nsix""#, &["t4"]),
        (r#""--not","--contains","json","poison""#, &["j1"]),
        (r#""--not","--present","text""#, &["t1"]),
        (r#""--absent","text""#, &["t1"]),
        (r#""--contains","twice","good""#, &["w4"]),
        (r#""--not","--contains","twice","bad""#, &["w4"]),
        (r#""--not","--contains","lines","bad""#, &["l3", "l1"]),
        (r#""--not","--contains","lines","a so""#, &["l2"]),
        (r#""--contains","again","kept""#, &["removed a1", "a3"]),
        (r#""--equals","again","other""#, &["a3"]),
        (r#""--contains","gone","last""#, &["removed g2"]),
        (r#""--contains","gone","first""#, &["removed g2", "g2"]),
        (r#""--contains","gone","never""#, &["removed g2"]),
        (r#""--any","*","first""#, &["g2"]),
        (r#""--any","g*","last""#, &["removed g2"]),
    ] {
        assert_eq!(sources(&place, predicate), blamed, "{predicate}");
    }
}

#[test]
fn what_is_staged_is_a_change_too() {
    let place = Place::with_store();
    commit(&place, "a", "text", "one", "a1");
    commit(&place, "b", "text", "one", "b1");
    commit(&place, "b", "text", "two", "b2");
    place.mnem(&["put", "a", "two"]).output();
    assert_eq!(sources(&place, r#""--contains","a","one""#), ["staged"]);
    assert_eq!(sources(&place, r#""--not","--contains","a","two""#), ["staged"]);
    assert_eq!(sources(&place, r#""--any","*","one""#), ["staged"]);
    place.mnem(&["rm", "a"]).output();
    let removal = failure(&place, r#""--any","*","one""#)["removal"].clone();
    assert_eq!((&removal["commit"], &removal["content"]), (&().into(), &"one".into()));
    // What is staged did not change that.
    place.mnem(&["put", "b", "three"]).output();
    assert_eq!(sources(&place, r#""--contains","b","one""#), ["b2"]);
    place.mnem(&["rm", "b"]).output();
    assert_eq!(sources(&place, r#""--contains","b","one""#), ["removed b2", "b2"]);
}

#[test]
fn a_row_says_which_parts_are_meant() {
    let place = Place::with_store();
    commit(&place, "value", "json", r#"{"n\u001b":1,"x":[1,1]}"#, "v1");
    commit(&place, "value", "json", r#"{"n\u001b":1,"x":[1,2]}"#, "v2");
    commit(&place, "text", "text", "bad\ntwo\nbad", "t1");
    commit(&place, "text", "text", "bad\ntwo bad\nbad", "t2");
    let rows = r#"{"name":"v","predicates":["--path-equals","value","","0"]}
        {"name":"x","predicates":["--path-equals","value","/x","[1,1]"]}
        {"name":"t","predicates":["--not","--contains","text","bad"]}"#;
    let answer = place.mnem(&["check", "-", "-q"]).input(rows).answer();
    let rest = |line: &str| line.trim_start().split_once(": ").map(|(parts, _)| parts.to_owned());
    let told: Vec<_> = answer.stdout.lines().filter(|line| line.starts_with("    ")).filter_map(rest).collect();
    assert_eq!(told, ["value /x/1", "value /n^[, /x/0", "value /x", "text line 2", "text lines 1, 3"]);
    let parts = |predicate: &str| {
        let failure = failure(&place, predicate);
        let rows = failure["blame"].as_array().expect("a list").iter();
        rows.map(|row| format!("{} {}", row["lines"], row["paths"])).collect::<Vec<_>>()
    };
    let leaves = [r#"null ["/x/1"]"#, r#"null ["/n\u001b","/x/0"]"#];
    assert_eq!(parts(r#""--path-equals","value","","0""#), leaves);
    assert_eq!(parts(r#""--path-equals","value","/x","[1,1]""#), [r#"null ["/x"]"#]);
    assert_eq!(parts(r#""--not","--contains","text","bad""#), ["[2] null", "[1,3] null"]);
    assert_eq!(parts(r#""--contains","text","worse""#), ["null null"]);
}

#[test]
fn what_a_predicate_saw_is_shown_as_it_is_stored() {
    let place = Place::with_store();
    let long = format!("[ 1,\n\t\"\u{202e}\", \"{}\"]", "x".repeat(60));
    place.mnem(&["put", "a", "-t", "json", &long, "-m", "one"]).output();
    place.mnem(&["put", "b", "-t", "json", "{ \"v\" : [ 1 ] }", "-m", "one"]).output();
    let shown = format!("'a' is [ 1,^J^I\"\\u{{202e}}\", \"{}…\n", "x".repeat(48));
    place.mnem(&["test", "--equals", "a", "x"]).ends(1, "", &format!("--equals a x: {shown}"));
    place.mnem(&["test", "--contains", "b", "\"v\":"]).ends(1, "", "--contains b '\"v\":': 'b' is { \"v\" : [ 1 ] }\n");
    place.mnem(&["test", "--path-equals", "b", "/v", "1"]).ends(1, "", "--path-equals b /v 1: 'b' has [ 1 ] at '/v'\n");
    let row = r#"{"name":"a","predicates":["--contains","b","\"v\":"]}"#;
    let answer = place.mnem(&["check", "-", "-q"]).input(row).answer();
    assert!(answer.stdout.starts_with("a: --contains b '\"v\":': 'b' is { \"v\" : [ 1 ] }\n"), "{answer:?}");
    place.mnem(&["rm", "b", "-m", "rm"]).output();
    let answer = place.mnem(&["check", "-", "-q"]).input(row).answer();
    assert!(answer.stdout.ends_with(": { \"v\" : [ 1 ] }\n"), "{answer:?}");
}
