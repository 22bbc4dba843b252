//! `mnem blame`

use super::support::{FIRST, Place, SECOND, THIRD, json, lines};

const FIRST_LINE: &str = "8f53e073d1 ~2025-12-01T08:00:00.000+00:00 Ada <ada@example.org>";
const SECOND_LINE: &str = "1225f5ed2d ~2025-12-01T09:00:00.000+00:00 Ada <ada@example.org>";
const THIRD_LINE: &str = "8bf0cc447a ~2025-12-01T11:00:00.500+01:00 Ada <ada@example.org>";

/// What `--json` says, for a node as a whole by the story's author.
struct Row<'a> {
    id: &'a str,
    commit: &'a str,
    time: &'a str,
    event_time: Option<&'a str>,
    provenance: &'a str,
    content: &'a str,
}

impl Row<'_> {
    fn text(&self) -> String {
        let event_time = self.event_time.map_or("null".to_owned(), json);
        let effective = json(self.event_time.unwrap_or(self.time));
        format!(
            "{{\"v\":1,\"type\":\"blame\",\"id\":{},\"by\":\"node\",\"line\":null,\"path\":null,\"commit\":\"{}\",\
             \"author\":\"Ada <ada@example.org>\",\"time\":\"{}\",\"event_time\":{event_time},\
             \"effective_time\":{effective},\"provenance\":{},\"change\":\"set\",\"content\":{},\"rewritten\":null,\
             \"last\":null}}\n",
            json(self.id),
            self.commit,
            self.time,
            self.provenance,
            self.content
        )
    }
}

const NONE: &str = r#"{"agent_step":null,"observation":null,"tool_call":null,"source":null,"note":null}"#;

#[test]
fn a_node_is_told_with_its_commit_its_time_and_all_its_provenance() {
    let place = Place::with_story();
    let diet = format!("{SECOND_LINE} (source: https://forum.example/t/88)\n    loves steak\n");
    place.mnem(&["blame", "user/diet"]).says(&diet, "");
    let before = format!("{FIRST_LINE} (agent_step: 1, observation: chat/1)\n    vegan since 2019\n");
    place.mnem(&["blame", "user/diet", "-r", FIRST]).says(&before, "");
    place.mnem(&["blame", "user/diet"]).env("MNEM_REV", FIRST).says(&before, "");
    let dinner = "1225f5ed2d 2025-12-01T09:30:00.50+01:00 Ada <ada@example.org>\n    /at: \"20:00\"\n";
    place.mnem(&["blame", "plan/dinner"]).says(dinner, "");
    let row = Row {
        id: "user/diet",
        commit: SECOND,
        time: "2025-12-01T09:00:00.000+00:00",
        event_time: None,
        provenance: &NONE.replace("\"source\":null", "\"source\":\"https://forum.example/t/88\""),
        content: "\"loves steak\"",
    };
    place.mnem(&["blame", "user/diet", "--json"]).says(&row.text(), "");
    let row = Row {
        id: "plan/dinner",
        commit: SECOND,
        time: "2025-12-01T09:00:00.000+00:00",
        event_time: Some("2025-12-01T09:30:00.50+01:00"),
        provenance: NONE,
        content: r#"{"at":"20:00"}"#,
    };
    place.mnem(&["blame", "plan/dinner", "--json", "--by=node"]).says(&row.text(), "");
}

#[test]
fn a_removed_node_is_told_with_who_removed_it_and_what_it_said_last() {
    let place = Place::with_story();
    let told = format!("{THIRD_LINE} removed\n{FIRST_LINE}\n    [\"peanuts\", 1.0]\n");
    let error = "mnem: error[no-node]: no node 'user/allergies': commit 8bf0cc447a removed it\n\
        hint: mnem blame --history -- 'user/allergies'\n";
    place.mnem(&["blame", "user/allergies"]).ends(1, &told, error);
    let answer = place.mnem(&["blame", "user/allergies", "--json"]).answer();
    let row: serde_json::Value = serde_json::from_str(&answer.stdout).expect("one row");
    assert_eq!((answer.status, &row["change"], &row["commit"]), (1, &"removed".into(), &THIRD.into()));
    assert_eq!((&row["last"]["commit"], &row["content"][0]), (&FIRST.into(), &"peanuts".into()));
    assert_eq!(row["effective_time"], "2025-12-01T11:00:00.500+01:00");
    let history = format!("{THIRD_LINE} removed\n{FIRST_LINE}\n    [\"peanuts\", 1.0]\n");
    place.mnem(&["blame", "--history", "--", "user/allergies"]).says(&history, "");
    // It stood at the second commit, and is taken away by what is staged.
    let stood = format!("{FIRST_LINE}\n    /0: \"peanuts\"\n    /1: 1.0\n");
    place.mnem(&["blame", "user/allergies", "-r", SECOND]).says(&stood, "");
    place.mnem(&["rm", "user/diet"]).output();
    let diet = format!("staged - removed\n{SECOND_LINE} (source: https://forum.example/t/88)\n    loves steak\n");
    let error = "mnem: error[no-node]: no node 'user/diet': its removal is staged\n\
        hint: mnem blame --history -- 'user/diet'\n";
    place.mnem(&["blame", "user/diet"]).ends(1, &diet, error);
}

#[test]
fn an_id_that_never_was_is_no_node() {
    let place = Place::with_story();
    let error = "mnem: error[no-node]: no node 'nosuch'\nhint: see 'mnem ls'\n";
    place.mnem(&["blame", "nosuch"]).refuses(1, error);
    place.mnem(&["blame", "nosuch", "--history"]).refuses(1, error);
    let later = "mnem: error[no-node]: no node 'plan/dinner'\nhint: see 'mnem ls'\n";
    place.mnem(&["blame", "plan/dinner", "-r", FIRST]).refuses(1, later);
    Place::with_store().mnem(&["blame", "nosuch"]).refuses(1, error);
    let blank = "mnem: error[bad-id]: '': an id may not be blank\n\
        hint: such as 'user/diet'; 'mnem put --new CONTENT' generates one\n";
    place.mnem(&["blame", ""]).refuses(129, blank);
}

#[test]
fn every_version_is_told_the_newest_first() {
    let place = Place::with_story();
    place.mnem(&["put", "user/diet", "pescatarian", "--event-time", "2025-12-02T00:00:00Z"]).output();
    let staged = "staged 2025-12-02T00:00:00Z\n    pescatarian\n";
    let committed = format!(
        "{SECOND_LINE} (source: https://forum.example/t/88)\n    loves steak\n\
         {FIRST_LINE} (agent_step: 1, observation: chat/1)\n    vegan since 2019\n"
    );
    place.mnem(&["blame", "user/diet", "--history"]).says(&format!("{staged}{committed}"), "");
    place.mnem(&["blame", "user/diet", "--history", "-r", "HEAD"]).says(&committed, "");
    let oldest = committed.lines().skip(2).collect::<Vec<_>>();
    place.mnem(&["blame", "user/diet", "--history", "-r", FIRST]).says(&lines(&oldest), "");
    place.mnem(&["blame", "user/diet"]).says(staged, "");
}

#[test]
fn several_nodes_are_a_row_each() {
    let place = Place::with_story();
    let diet = format!("{SECOND_LINE} user/diet (source: https://forum.example/t/88) loves steak\n");
    let dinner = "1225f5ed2d 2025-12-01T09:30:00.50+01:00 Ada <ada@example.org> plan/dinner {\"at\": \"20:00\"}\n";
    place.mnem(&["blame"]).says(&format!("{dinner}{diet}"), "");
    place.mnem(&["blame", "user/"]).says(&diet, "");
    place.mnem(&["blame", "p*/*", "user/diet"]).says(&format!("{dinner}{diet}"), "");
    place.mnem(&["blame", "nothing/"]).says("", "note: no node matches 'nothing/'\n");
    place
        .mnem(&["blame", "nothing/", "user/", "x*"])
        .says(&diet, "note: no node matches 'nothing/'\nnote: no node matches 'x*'\n");
    place.mnem(&["blame", "nothing/", "-q", "--json"]).says("", "");
    let allergies = format!("{FIRST_LINE} user/allergies [\"peanuts\", 1.0]\n");
    place.mnem(&["blame", "user/a*", "-r", FIRST]).says(&allergies, "");
    place.mnem(&["put", "user/text", "-"]).input("one\ntwo").output();
    place.mnem(&["put", "user/wide", &"é".repeat(61)]).output();
    let text = format!("staged - user/text one…\nstaged - user/wide {}…\n", "é".repeat(60));
    place.mnem(&["blame", "user/t*", "user/w*"]).says(&text, "");
    let parts = "mnem: error[usage]: the parts of one node are asked for\nhint: name that one node: mnem blame ID\n";
    for option in [&["--history"][..], &["-L", "1"], &["--path", "/a"], &["--by", "line"], &["--ignore-rev", "HEAD"]] {
        place.mnem(&["blame"]).arguments(option).refuses(129, parts);
        place.mnem(&["blame", "user/"]).arguments(option).refuses(129, parts);
    }
}

/// Three versions of a text and of a value.
fn edited() -> Place {
    let place = Place::with_store();
    let rows = [
        (r#""one\ntwo\nthree\n""#, r#"{"a":[1,{"x":1,"y":2},3],"b/c":true}"#),
        (r#""zero\none\nTWO\nthree\n""#, r#"{"a":[0,1,{"x":1,"y":2.0},3],"b/c":true}"#),
        (r#""zero\none\nTWO\nthree""#, r#"{"b/c":true,"a":[0,1,{"x":1,"y":2.0},3],"d":{}}"#),
    ];
    for (at, (text, value)) in rows.iter().enumerate() {
        let rows = format!(
            "{{\"id\":\"text\",\"content\":{text},\"provenance\":{{\"source\":\"s{at}\"}}}}\n\
             {{\"id\":\"value\",\"content\":{value}}}"
        );
        let put = place.mnem(&["put", "--jsonl", "-", "-m", "edit"]).input(rows);
        put.env("MNEM_DATE", format!("@{}", 1_764_576_000 + at)).output();
    }
    place
}

fn commits(place: &Place) -> Vec<String> {
    let text = place.mnem(&["log", "--ids", "--reverse"]).output();
    text.lines().map(|id| id[..10].to_owned()).collect()
}

#[test]
fn a_line_keeps_its_origin_while_it_is_unchanged() {
    let place = edited();
    let commits = commits(&place);
    let header =
        |at: usize| format!("{} ~2025-12-01T08:00:0{at}.000+00:00 Ada <ada@example.org> (source: s{at})", commits[at]);
    let rows = [
        header(1),
        "    1  zero".to_owned(),
        header(0),
        "    2  one".to_owned(),
        header(1),
        "    3  TWO".to_owned(),
        header(2),
        "    4  three".to_owned(),
    ];
    place.mnem(&["blame", "text"]).says(&lines(&rows), "");
    place.mnem(&["blame", "text", "--by", "line"]).says(&lines(&rows), "");
    place.mnem(&["blame", "text", "-L", "2,3"]).says(&lines(&rows[2..6]), "");
    place.mnem(&["blame", "text", "-L", "2,+2"]).says(&lines(&rows[2..6]), "");
    place.mnem(&["blame", "text", "-L2,"]).says(&lines(&rows[2..]), "");
    place.mnem(&["blame", "text", "-L", ",1"]).says(&lines(&rows[..2]), "");
    place.mnem(&["blame", "text", "-L", "4,99"]).says(&lines(&rows[6..]), "");
    place.mnem(&["blame", "text", "-L", "2"]).says(&lines(&rows[2..]), "");
    // Without the second edit, its line is that of the first and what it only added stays.
    let passed = [&rows[..2], &[header(0)], &rows[3..4], &rows[5..6]].concat();
    place.mnem(&["blame", "text", "-L", "1,3", "--ignore-rev", "HEAD~1"]).says(&lines(&passed), "");
    let whole = format!("{}\n    zero\n    one\n    TWO\n    three\n", header(2));
    place.mnem(&["blame", "text", "--by", "node"]).says(&whole, "");
    let json = place.mnem(&["blame", "text", "--json", "-L", "4"]).output();
    let row: serde_json::Value = serde_json::from_str(&json).expect("one row");
    assert_eq!((&row["by"], &row["line"], &row["content"]), (&"line".into(), &4.into(), &"three".into()));
    let ranges =
        |text: &str| format!("mnem: error[usage]: -L '{text}' is no range of lines\nhint: such as -L 2,5 or -L 2,+3\n");
    for wrong in ["", ",", "0", "x", "3,2", "2,+0", "1,0", "1,2,3", "+1"] {
        place.mnem(&["blame", "text", "-L", wrong]).refuses(129, &ranges(wrong));
    }
    let few =
        "mnem: error[usage]: the content of 'text' has 4 lines\nhint: see them all with 'mnem blame --by line ID'\n";
    place.mnem(&["blame", "text", "-L", "5,6"]).refuses(129, few);
    let unit = "mnem: error[usage]: -L takes lines\nhint: leave '--by' out, or say '--by line'\n";
    place.mnem(&["blame", "text", "-L", "1", "--by", "path"]).refuses(129, unit);
}

#[test]
fn a_leaf_keeps_its_origin_while_its_neighbours_change() {
    let place = edited();
    let commits = commits(&place);
    let header = |at: usize| format!("{} ~2025-12-01T08:00:0{at}.000+00:00 Ada <ada@example.org>", commits[at]);
    let rows = [
        header(0),
        "    /b~1c: true".to_owned(),
        header(1),
        "    /a/0: 0".to_owned(),
        header(0),
        "    /a/1: 1".to_owned(),
        "    /a/2/x: 1".to_owned(),
        header(1),
        "    /a/2/y: 2.0".to_owned(),
        header(0),
        "    /a/3: 3".to_owned(),
        header(2),
        "    /d: {}".to_owned(),
    ];
    place.mnem(&["blame", "value"]).says(&lines(&rows), "");
    let inside = [&rows[4..5], &rows[6..9]].concat();
    place.mnem(&["blame", "value", "--path", "/a/2"]).says(&lines(&inside), "");
    place.mnem(&["blame", "value", "--path", "/b~1c"]).says(&lines(&rows[..2]), "");
    let ignored = [header(0), "    /a/2/x: 1".to_owned(), "    /a/2/y: 2.0".to_owned()];
    place.mnem(&["blame", "value", "--path", "/a/2", "--ignore-rev", "HEAD~1"]).says(&lines(&ignored), "");
    let json = place.mnem(&["blame", "value", "--json", "--path", "/a/2/y"]).output();
    assert!(
        json.contains(r#""by":"path","line":null,"path":"/a/2/y""#) && json.contains(r#""content":2.0,"#),
        "{json}"
    );
    let nothing = "mnem: error[no-node]: the content of 'value' has nothing at '/a/9'\n\
        hint: see all of it with 'mnem get -t json ID'\n";
    place.mnem(&["blame", "value", "--path", "/a/9"]).refuses(1, nothing);
    let pointer = "mnem: error[usage]: JSON pointer 'a' does not begin with '/'\nhint: such as --path /a/0\n";
    place.mnem(&["blame", "value", "--path", "a"]).refuses(129, pointer);
    let unit = "mnem: error[usage]: --path takes leaves\nhint: leave '--by' out, or say '--by path'\n";
    place.mnem(&["blame", "value", "--path", "/a", "--by", "node"]).refuses(129, unit);
}

#[test]
fn a_rewrite_of_provenance_alone_does_not_move_the_content() {
    let place = Place::with_store();
    place.mnem(&["put", "a", "x", "--source", "web", "-m", "one"]).output();
    place.mnem(&["put", "a", "x", "--agent-step", "2", "-m", "two"]).env("MNEM_DATE", "@1764576001").output();
    let commits = commits(&place);
    let text = format!(
        "{} ~2025-12-01T08:00:00.000+00:00 Ada <ada@example.org> (source: web)\n    x\n\
         provenance or event time written anew:\n\
         {} ~2025-12-01T08:00:01.000+00:00 Ada <ada@example.org> (agent_step: 2)\n",
        commits[0], commits[1]
    );
    place.mnem(&["blame", "a"]).says(&text, "");
    let json = place.mnem(&["blame", "--json"]).output();
    let row: serde_json::Value = serde_json::from_str(&json).expect("one row");
    assert_eq!(
        (&row["provenance"]["source"], &row["rewritten"]["provenance"]["agent_step"]),
        (&"web".into(), &"2".into())
    );
}

#[test]
fn what_cannot_be_followed_by_leaf_is_one_and_told_so() {
    let place = Place::with_store();
    let deep = format!("{}1{}", "[".repeat(129), "]".repeat(129));
    place.mnem(&["put", "deep", "-t", "json", &deep, "-m", "one"]).output();
    place.mnem(&["put", "deep", "-t", "json", &deep.replace('1', "2"), "-m", "two"]).output();
    let answer = place.mnem(&["blame", "deep"]).answer();
    assert_eq!(answer.stderr, "note: 'deep' is compared as one where it is too deep\n");
    assert_eq!(answer.stdout.lines().count(), 2);
}

#[test]
fn a_pointer_into_what_is_one_leads_to_the_whole_of_it() {
    let place = Place::with_store();
    let array = |first: i32| format!("{{\"a\":[{first}{}]}}", ",0".repeat(10_000));
    place.mnem(&["put", "a", "-t", "json", "-", "-m", "one"]).input(array(1)).output();
    place.mnem(&["put", "a", "-t", "json", "-", "-m", "two"]).input(array(2)).output();
    let answer = place.mnem(&["blame", "a", "--path", "/a/5", "--json"]).answer();
    let row: serde_json::Value = serde_json::from_str(&answer.stdout).expect("one row");
    assert_eq!((&row["path"], row["content"][0].as_i64(), answer.status), (&"/a".into(), Some(2), 0));
    let nothing = "mnem: error[no-node]: the content of 'a' has nothing at '/a/10001'\n\
        hint: see all of it with 'mnem get -t json ID'\n";
    place.mnem(&["blame", "a", "--path", "/a/10001"]).refuses(1, nothing);
    let deep = format!("{}1{}", "{\"a\":".repeat(130), "}".repeat(130));
    place.mnem(&["put", "d", "-t", "json", &deep, "-m", "three"]).output();
    assert_eq!(place.mnem(&["blame", "d", "--path", "/a"]).answer().status, 0);
}

#[test]
fn an_id_among_several_that_does_not_stand_is_told() {
    let place = Place::with_story();
    let diet = format!("{SECOND_LINE} user/diet (source: https://forum.example/t/88) loves steak\n");
    let removed = format!("{THIRD_LINE} user/allergies removed [\"peanuts\", 1.0] [last: {FIRST_LINE}]\n");
    let error = "mnem: error[no-node]: no node 'user/allergies', 'typo'\nhint: see 'mnem ls'\n";
    place.mnem(&["blame", "user/diet", "typo", "user/allergies"]).ends(1, &format!("{diet}{removed}"), error);
    let answer = place.mnem(&["blame", "typo", "user/allergies", "--json"]).answer();
    let row: serde_json::Value = serde_json::from_str(&answer.stdout).expect("one row");
    assert_eq!((answer.status, &row["change"], &row["last"]["commit"]), (1, &"removed".into(), &FIRST.into()));
    Place::with_store().mnem(&["blame"]).says("", "no commit yet on 'main'\n");
    Place::with_store().mnem(&["blame", "x/"]).says("", "no commit yet on 'main'\n");
    place.mnem(&["rm", "--glob", "**"]).output();
    place.mnem(&["blame"]).says("", "note: the memory has no nodes\n");
}

#[test]
fn among_several_nodes_a_rewrite_of_provenance_is_told_too() {
    let place = Place::with_store();
    place.mnem(&["put", "a", "x", "--source", "web", "-m", "one"]).output();
    place.mnem(&["put", "a", "x", "--source", "phone", "-m", "two"]).env("MNEM_DATE", "@1764576001").output();
    let commits = commits(&place);
    let text = format!(
        "{} ~2025-12-01T08:00:00.000+00:00 Ada <ada@example.org> a (source: web) x \
         [anew: {} ~2025-12-01T08:00:01.000+00:00 Ada <ada@example.org> (source: phone)]\n",
        commits[0], commits[1]
    );
    place.mnem(&["blame"]).says(&text, "");
    let first = format!("{} ~2025-12-01T08:00:00.000+00:00 Ada <ada@example.org> (source: web)\n    x\n", commits[0]);
    place.mnem(&["blame", "a", "--ignore-rev", "HEAD"]).says(&first, "");
}

#[test]
fn by_line_a_value_has_the_lines_of_its_json_text() {
    let place = Place::with_store();
    place.mnem(&["put", "p", "-t", "json", "{\n \"a\":1,\n \"b\":2\n}", "-m", "one"]).output();
    place.mnem(&["put", "p", "-t", "json", "{\n \"a\":1,\n \"b\":3\n}", "-m", "two"]).output();
    let commits = commits(&place);
    let header = |at: usize| format!("{} ~2025-12-01T08:00:00.000+00:00 Ada <ada@example.org>", commits[at]);
    let rows = [header(0), "    2   \"a\":1,".to_owned(), header(1), "    3   \"b\":3".to_owned()];
    place.mnem(&["blame", "p", "-L", "2,3"]).says(&lines(&rows), "");
}

#[test]
fn of_a_key_that_is_there_twice_both_are_told_and_nothing_between() {
    let place = Place::with_store();
    place.mnem(&["put", "j", "-t", "json", r#"{"a":{"x":1},"b":[1,2],"a":{"y":2}}"#, "-m", "one"]).output();
    let header = format!("{} ~2025-12-01T08:00:00.000+00:00 Ada <ada@example.org>", commits(&place)[0]);
    let told = |leaves: &[&str]| {
        format!("{header}\n{}", lines(&leaves.iter().map(|leaf| format!("    {leaf}")).collect::<Vec<_>>()))
    };
    place.mnem(&["blame", "j", "--path", "/a"]).says(&told(&["/a/x: 1", "/a/y: 2"]), "");
    place.mnem(&["blame", "j", "--path", "/a/x"]).says(&told(&["/a/x: 1"]), "");
    place.mnem(&["blame", "j", "--path", "/b"]).says(&told(&["/b/0: 1", "/b/1: 2"]), "");
    assert_eq!(place.mnem(&["blame", "j", "--path", "/a/z"]).answer().status, 1);
}

#[test]
fn of_a_removed_node_the_parts_of_its_last_content_are_told() {
    let place = edited();
    place.mnem(&["rm", "text", "value", "-m", "rm"]).env("MNEM_DATE", "@1764576009").output();
    let commits = commits(&place);
    let header = |at: usize, source: &str| {
        format!("{} ~2025-12-01T08:00:0{at}.000+00:00 Ada <ada@example.org>{source}", commits[at])
    };
    let end = format!("{} ~2025-12-01T08:00:09.000+00:00 Ada <ada@example.org> removed", commits[3]);
    let error = |id: &str| {
        let by = &commits[3];
        format!("mnem: error[no-node]: no node '{id}': commit {by} removed it\nhint: mnem blame --history -- '{id}'\n")
    };
    let lines_told = [
        header(0, " (source: s0)"),
        "    2  one".to_owned(),
        header(1, " (source: s1)"),
        "    3  TWO".to_owned(),
        end.clone(),
    ];
    place.mnem(&["blame", "text", "-L", "2,3"]).ends(1, &lines(&lines_told), &error("text"));
    let whole = [header(2, " (source: s2)"), "    zero\n    one\n    TWO\n    three".to_owned(), end.clone()];
    place.mnem(&["blame", "text", "--by", "node"]).ends(1, &lines(&whole), &error("text"));
    let leaf = [header(1, ""), "    /a/2/y: 2.0".to_owned(), format!("{end} /a/2/y")];
    place.mnem(&["blame", "value", "--path", "/a/2/y"]).ends(1, &lines(&leaf), &error("value"));
    let ignored = [header(0, ""), "    /a/2/y: 2.0".to_owned(), format!("{end} /a/2/y")];
    let run = place.mnem(&["blame", "value", "--path", "/a/2/y", "--ignore-rev", "HEAD~2"]);
    run.ends(1, &lines(&ignored), &error("value"));
    let answer = place.mnem(&["blame", "value", "--by", "path", "--json"]).answer();
    let rows: Vec<serde_json::Value> =
        answer.stdout.lines().map(|row| serde_json::from_str(row).expect("a row")).collect();
    let told: Vec<_> = rows.iter().map(|row| format!("{} {} {}", row["by"], row["path"], row["change"])).collect();
    assert_eq!(told[..2], [r#""path" "/b~1c" "set""#, r#""path" "/a/0" "set""#]);
    assert_eq!((told.len(), told[7].as_str()), (8, r#""node" null "removed""#));
    let few =
        "mnem: error[usage]: the content of 'text' has 4 lines\nhint: see them all with 'mnem blame --by line ID'\n";
    place.mnem(&["blame", "text", "-L", "5,6"]).refuses(129, few);
    let nothing = "mnem: error[no-node]: the content of 'value' has nothing at '/z'\n\
        hint: see all of it with 'mnem get -t json ID'\n";
    place.mnem(&["blame", "value", "--path", "/z"]).refuses(1, nothing);
}

#[test]
fn of_what_a_node_has_no_more_it_is_told_who_removed_it_and_what_it_was() {
    let place = Place::with_store();
    let put = |content: &str, at: i64| {
        let put = place.mnem(&["put", "v", "-t", "json", content, "--source", &format!("s{at}"), "-m", "edit"]);
        put.env("MNEM_DATE", format!("@{}", 1_764_576_000 + at)).output();
    };
    put(r#"{"a":{"x":1,"y":2},"b":1}"#, 0);
    put(r#"{"a":{"x":1,"y":3},"b":1}"#, 1);
    put(r#"{"b":1}"#, 2);
    put(r#"{"b":2}"#, 3);
    let commits = commits(&place);
    let header = |at: usize| format!("{} ~2025-12-01T08:00:0{at}.000+00:00 Ada <ada@example.org>", commits[at]);
    let told = [
        format!("{} (source: s0)", header(0)),
        "    /a/x: 1".to_owned(),
        format!("{} (source: s1)", header(1)),
        "    /a/y: 3".to_owned(),
        format!("{} removed /a (source: s2)", header(2)),
    ];
    let error = |path: &str| {
        let by = &commits[2];
        format!(
            "mnem: error[no-node]: the content of 'v' has nothing at '{path}': commit {by} removed it\n\
             hint: mnem blame --history -- 'v'\n"
        )
    };
    place.mnem(&["blame", "v", "--path", "/a"]).ends(1, &lines(&told), &error("/a"));
    let answer = place.mnem(&["blame", "v", "--path", "/a", "--json"]).answer();
    let row: serde_json::Value = serde_json::from_str(answer.stdout.lines().last().expect("a row")).expect("JSON");
    assert_eq!((&row["by"], &row["path"], &row["change"]), (&"path".into(), &"/a".into(), &"removed".into()));
    assert_eq!((&row["content"]["y"], &row["provenance"]["source"]), (&3.into(), &"s2".into()));
    assert_eq!(row["last"]["provenance"]["source"], "s1");
    let never = "mnem: error[no-node]: the content of 'v' has nothing at '/c'\n\
        hint: see all of it with 'mnem get -t json ID'\n";
    place.mnem(&["blame", "v", "--path", "/c"]).refuses(1, never);
    // The part was gone before the node was.
    place.mnem(&["rm", "v"]).output();
    let absent = error("/a").replace("the content of 'v' has nothing at '/a'", "no node 'v'");
    place.mnem(&["blame", "v", "--path", "/a"]).ends(1, &lines(&told), &absent);
    place.mnem(&["put", "v", "text"]).output();
    let staged = [format!("{} (source: s3)", header(3)), "    /b: 2".to_owned(), "staged - removed /b".to_owned()];
    let error = "mnem: error[no-node]: the content of 'v' has nothing at '/b': its removal is staged\n\
        hint: mnem blame --history -- 'v'\n";
    place.mnem(&["blame", "v", "--path", "/b"]).ends(1, &lines(&staged), error);
}
