//! `mnem diff`, `mnem show`, `mnem log -p`

use super::support::{FIRST, Place, SECOND, THIRD, lines};

/// Two commits that change every kind of content, and one staged change behind them.
fn changed() -> Place {
    let place = Place::with_store();
    let before = r#"{"id":"diet","content":"Diet\nvegan since 2019\nno nuts\n","provenance":{"source":"web"}}
        {"id":"config","content":{"theme":"dark","size":12,"list":[1,2,3],"gone":{"x":1,"y":[]}}}
        {"id":"away","content":"one line"}
        {"id":"origin","content":"x","provenance":{"source":"web","tool_call":"t"}}
        {"id":"time","content":"x","event_time":"2025-01-01T00:00:00Z"}
        {"id":"spelled","content":"a"}
        {"id":"order","content":{"a":1,"b":2}}"#;
    let after = r#"{"id":"diet","content":"Diet\nvegan since 2018\nno nuts\nloves steak","provenance":{"source":"phone"}}
        {"id":"config","content":{"size":12.0,"theme":"light","list":[0,1,3],"new":{"a":[1,{"b":2}]}}}
        {"id":"away","deleted":true}
        {"id":"origin","content":"x","provenance":{"source":"phone","tool_call":"t"}}
        {"id":"time","content":"x","event_time":"2025-01-01T01:00:00+01:00"}
        {"id":"spelled","content":"\u0061"}
        {"id":"order","content":{"b":2,"a":1}}
        {"id":"new/one","content":"hello"}"#;
    place.mnem(&["put", "--jsonl", "-", "-m", "before"]).input(before).output();
    place.mnem(&["put", "--jsonl", "-", "-m", "after"]).input(after).output();
    place
}

const CONFIG: &str = "modified config\n- /theme: \"dark\"\n+ /theme: \"light\"\n- /size: 12\n+ /size: 12.0\n\
    + /list/0: 0\n- /list/1: 2\n- /gone/x: 1\n- /gone/y: []\n+ /new/a/0: 1\n+ /new/a/1/b: 2\n";
const DIET: &str = "modified diet\n@@ -1,3 +1,4 @@\n Diet\n-vegan since 2019\n+vegan since 2018\n no nuts\n+loves steak\n\
    \\ no newline at the end\n";

#[test]
fn texts_differ_by_line_and_values_by_leaf() {
    let place = changed();
    let blocks = [
        "removed away\n@@ -1 +0,0 @@\n-one line\n",
        CONFIG,
        DIET,
        "added new/one\n@@ -0,0 +1 @@\n+hello\n",
        "modified order (same value, keys in another order)\n",
        "modified origin (provenance only)\n- source: web\n+ source: phone\n",
        "modified spelled (same text, spelled otherwise)\n- \"a\"\n+ \"\\u0061\"\n",
        "modified time (event time only)\n- event_time: 2025-01-01T00:00:00Z\n+ event_time: 2025-01-01T01:00:00+01:00\n",
    ];
    place.mnem(&["diff", "HEAD~1", "HEAD"]).says(&blocks.join("\n"), "");
    place.mnem(&["diff", "HEAD~1..HEAD"]).says(&blocks.join("\n"), "");
    place.mnem(&["diff", "HEAD~1...HEAD"]).says(&blocks.join("\n"), "");
    place.mnem(&["diff", "HEAD...HEAD~1"]).says("", "");
    place.mnem(&["diff", "HEAD", "HEAD"]).says("", "");
    place.mnem(&["diff", "HEAD~1..", "--", "config"]).says(CONFIG, "");
    place.mnem(&["diff", "HEAD~1", "--", "new/", "d*"]).says(&[DIET, blocks[3]].join("\n"), "");
    place.mnem(&["diff", "HEAD~1", "--literal", "--", "d*"]).says("", "");
}

#[test]
fn what_is_staged_is_the_newer_side_where_none_is_named() {
    let place = Place::with_story();
    place.mnem(&["diff"]).says("", "");
    place.mnem(&["put", "user/diet", "pescatarian"]).output();
    place.mnem(&["put", "plan/dinner", "-t", "json", r#"{"at": "20:00"}"#]).output();
    place.mnem(&["rm", "plan/dinner"]).output();
    let removed = "removed plan/dinner\n- /at: \"20:00\"\n";
    let diet = "@@ -1 +1 @@\n-loves steak\n+pescatarian\n";
    place.mnem(&["diff"]).says(&format!("{removed}\nmodified user/diet\n{diet}"), "");
    place.mnem(&["diff", "--name-only", "HEAD"]).says("plan/dinner\nuser/diet\n", "");
    // What the first commit had of the diet goes to what is staged, and the dinner was in neither.
    let since_first = "modified user/diet\n@@ -1 +1 @@\n-vegan since 2019\n+pescatarian\n";
    place.mnem(&["diff", "HEAD~2", "--", "user/diet", "plan/dinner"]).says(since_first, "");
    place.mnem(&["put", "user/diet", "vegan since 2019", "--agent-step", "1", "--observation", "chat/1"]).output();
    place.mnem(&["diff", "HEAD~2", "--", "user/diet"]).says("", "");
    // A revision that is read takes the place of HEAD with what is staged.
    place.mnem(&["diff", FIRST, "-r", SECOND, "--name-status"]).says("A plan/dinner\nM user/diet\n", "");
    place.mnem(&["diff", FIRST, "--name-status"]).env("MNEM_REV", SECOND).says("A plan/dinner\nM user/diet\n", "");
    place.mnem(&["diff", "--name-status"]).env("MNEM_REV", "HEAD~1").says("A user/allergies\n", "");
    place.mnem(&["diff", FIRST, THIRD, "--name-only"]).env("MNEM_REV", "HEAD~1").output();
}

#[test]
fn before_the_first_commit_nothing_differs_but_what_is_staged() {
    let place = Place::with_store();
    place.mnem(&["diff"]).says("", "no commit yet on 'main'\n");
    place.mnem(&["put", "a", "x"]).output();
    place.mnem(&["diff", "--exit-code"]).ends(1, "added a\n@@ -0,0 +1 @@\n+x\n", "");
    let unborn = "mnem: error[bad-revision]: no commit yet on 'main'\n\
        hint: make one with 'mnem put ID CONTENT' and 'mnem commit -m MESSAGE'\n";
    place.mnem(&["diff", "HEAD", "HEAD"]).refuses(128, unborn);
    place.mnem(&["show"]).refuses(128, unborn);
}

#[test]
fn each_form_tells_the_same_change() {
    let place = changed();
    let stat = " away    | D +0 -1\n config  | M +5 -5\n diet    | M +2 -1\n new/one | A +1 -0\n order   | M +0 -0\n \
        origin  | M +0 -0\n spelled | M +1 -1\n time    | M +0 -0\n 8 nodes changed, +3 -2 lines, +6 -6 leaves\n";
    place.mnem(&["diff", "HEAD~1", "--stat"]).says(stat, "");
    let names = ["away", "config", "diet", "new/one", "order", "origin", "spelled", "time"];
    place.mnem(&["diff", "HEAD~1", "--name-only"]).says(&lines(&names), "");
    place.mnem(&["diff", "HEAD~1", "--name-only", "-z"]).says(&lines(&names).replace('\n', "\0"), "");
    let letters = ["D away", "M config", "M diet", "A new/one", "M order", "M origin", "M spelled", "M time"];
    place.mnem(&["diff", "HEAD~1", "--name-status"]).says(&lines(&letters), "");
    place.mnem(&["diff", "HEAD~1", "--name-status", "-z"]).says(&lines(&letters).replace('\n', "\0"), "");
    place
        .mnem(&["show", "--stat", "--", "new/"])
        .output()
        .ends_with("    after\n\n new/one | A +1 -0\n 1 node changed, +1 -0 lines\n");
}

#[test]
fn stat_counts_the_leaves_of_a_value_and_the_lines_of_a_text() {
    let place = Place::with_store();
    let put = |id: &str, kind: &str, content: &str| {
        place.mnem(&["put", id, "-t", kind, "-"]).input(content).output();
    };
    put("value", "json", r#"{"a":1,"b":[1,2],"c":3,"d":4}"#);
    put("pretty", "json", "{\n \"a\": 1,\n \"b\": 2\n}");
    put("text", "text", "one\ntwo\n");
    put("kind", "text", "one\ntwo\n");
    place.mnem(&["commit", "-qm", "one"]).output();
    put("value", "json", r#"{"a":2,"b":[1],"c":3,"e":5,"f":6}"#);
    put("pretty", "json", r#"{"a":1,"b":3}"#);
    put("text", "text", "one\n2\n3\n");
    put("kind", "json", "[1,2]");
    for id in ["value", "pretty", "kind"] {
        let patch = place.mnem(&["diff", "--", id]).output();
        let signs = ["+ ", "- "].map(|sign| patch.lines().filter(|line| line.starts_with(sign)).count());
        let stat = place.mnem(&["diff", "--stat", "--", id]).output();
        assert!(stat.starts_with(&format!(" {id} | M +{} -{}\n", signs[0], signs[1])), "{patch}{stat}");
    }
    let value = " value | M +3 -3\n 1 node changed, +3 -3 leaves\n";
    place.mnem(&["diff", "--stat", "--", "value"]).says(value, "");
    let all = " kind   | M +1 -1\n pretty | M +1 -1\n text   | M +2 -1\n value  | M +3 -3\n \
        4 nodes changed, +2 -1 lines, +5 -5 leaves\n";
    place.mnem(&["diff", "--stat"]).says(all, "");
    let rows = place.mnem(&["diff", "--stat", "--json"]).output();
    let rows = rows.lines().map(|row| serde_json::from_str::<serde_json::Value>(row).expect("a row"));
    let keys = ["id", "lines_added", "lines_removed", "leaves_added", "leaves_removed"];
    let told: Vec<_> = rows.map(|row| keys.map(|key| row[key].to_string()).join(" ")).collect();
    let expected = [r#""kind" 1 2 1 1"#, r#""pretty" 1 4 1 1"#, r#""text" 2 1 null null"#, r#""value" 1 1 3 3"#];
    assert_eq!(told, expected);
    let row = place.mnem(&["diff", "--name-status", "--json", "--", "value"]).output();
    let null = "\"lines_added\":null,\"lines_removed\":null,\"leaves_added\":null,\"leaves_removed\":null}\n";
    assert!(row.ends_with(null), "{row}");
}

#[test]
fn context_units_words_and_provenance_are_as_asked() {
    let place = changed();
    let diff = |arguments: &[&str]| place.mnem(&["diff", "HEAD~1"]).arguments(arguments);
    let narrow = "modified diet\n@@ -2 +2 @@\n-vegan since 2019\n+vegan since 2018\n@@ -3,0 +4 @@\n+loves steak\n\
        \\ no newline at the end\n";
    diff(&["-U0", "--", "diet"]).says(narrow, "");
    diff(&["--unified=1", "--", "diet"]).says(DIET, "");
    diff(&["-U", "18446744073709551615", "--", "diet"]).says(DIET, "");
    let words = "modified diet\n@@ -1,3 +1,4 @@\n Diet\n vegan since [-2019-]{+2018+}\n no nuts\n {+loves steak+}\n\
        \\ no newline at the end after\n";
    diff(&["--word-diff", "--", "diet"]).says(words, "");
    let leaves = "modified config\n  /theme: \"[-dark-]{+light+}\"\n  /size: [-12-]{+12.0+}\n";
    assert!(diff(&["--word-diff", "--", "config"]).output().starts_with(leaves));
    let by_line = "modified order\n@@ -1 +1 @@\n-{\"a\":1,\"b\":2}\n+{\"b\":2,\"a\":1}\n";
    diff(&["--by", "line", "--", "order"]).says(by_line, "");
    let by_path = "modified diet\n- \"Diet\\nvegan since 2019\\nno nuts\\n\"\n\
        + \"Diet\\nvegan since 2018\\nno nuts\\nloves steak\"\n";
    diff(&["--by", "path", "--", "diet"]).says(by_path, "");
    let origin = "modified origin (provenance only)\n  tool_call: t\n- source: web\n+ source: phone\n";
    diff(&["--provenance", "--", "origin"]).says(origin, "");
    let with_content = DIET.replace("diet\n", "diet\n- source: web\n+ source: phone\n");
    diff(&["--provenance", "--", "diet"]).says(&with_content, "");
}

#[test]
fn a_missing_newline_is_told_where_the_ends_differ() {
    let place = Place::with_store();
    place.mnem(&["put", "a", "x", "-m", "without"]).output();
    place.mnem(&["put", "a", "-", "-m", "with"]).input("x\n").output();
    let told = "modified a\n@@ -1 +1 @@\n-x\n\\ no newline at the end\n+x\n";
    place.mnem(&["diff", "HEAD~1", "HEAD"]).says(told, "");
    let marked = "modified a\n@@ -1 +1 @@\n x\n\\ no newline at the end before\n";
    place.mnem(&["diff", "HEAD~1", "HEAD", "--word-diff"]).says(marked, "");
}

#[test]
fn the_exit_status_tells_a_difference_only_where_that_is_asked() {
    let place = Place::with_story();
    place.mnem(&["diff", "HEAD~1", "--name-only"]).says("user/allergies\n", "");
    place.mnem(&["diff", "HEAD~1", "--name-only", "--exit-code"]).ends(1, "user/allergies\n", "");
    place.mnem(&["diff", "HEAD", "--exit-code"]).says("", "");
    place.mnem(&["diff", "HEAD~1", "--exit-code", "--", "user/diet"]).says("", "");
    let unknown = "mnem: error[bad-revision]: unknown revision 'user/diet'\n\
        hint: see 'mnem log --oneline'; ids stand behind '--', such as 'mnem diff -- ID'\n";
    place.mnem(&["diff", "user/diet"]).refuses(128, unknown);
    let sides = "mnem: error[usage]: diff compares two memories\n\
        hint: mnem diff A B, or mnem diff A for A and what is staged\n";
    for wrong in
        [&["^HEAD"][..], &["HEAD~1..HEAD", "HEAD"], &["HEAD", "HEAD~1...HEAD"], &["HEAD", "HEAD", "-r", "HEAD"]]
    {
        place.mnem(&["diff"]).arguments(wrong).refuses(129, sides);
    }
}

#[test]
fn as_json_a_change_is_exact() {
    let place = Place::with_store();
    place.mnem(&["put", "a", "-", "-m", "one"]).input("k\u{1b}[31m\nx").output();
    place.mnem(&["put", "a", "-", "-m", "two"]).input("k\u{1b}[31m\ny\r\n").output();
    place.mnem(&["put", "j", "-t", "json", r#"{"n": 1.10, "l": ["\u00e9"]}"#, "-m", "three"]).output();
    place.mnem(&["put", "j", "-t", "json", r#"{"n": 1.1, "l": []}"#, "-m", "four"]).output();
    let row = |arguments: &[&str]| -> serde_json::Value {
        let text = place.mnem(&["diff", "--json"]).arguments(arguments).output();
        serde_json::from_str(&text).expect("one row")
    };
    let change = row(&["HEAD~3", "HEAD~2"]);
    let hunks = r#"[{"old_start":1,"old_lines":2,"new_start":1,"new_lines":2,"lines":[
        {"op":"keep","text":"k\u001b[31m\n"},{"op":"remove","text":"x"},{"op":"add","text":"y\r\n"}]}]"#;
    assert_eq!(change["hunks"], serde_json::from_str::<serde_json::Value>(hunks).expect("a list"));
    assert_eq!(change["paths"], serde_json::Value::Null);
    let raw = place.mnem(&["diff", "--json", "HEAD~1", "HEAD"]).output();
    let paths = r#""fields":["content"],"paths":[{"op":"replace","path":"/n","old":1.10,"new":1.1},{"op":"remove","path":"/l/0","old":"\u00e9","new":null}],"hunks":null,"remark":null,"simplified":false}"#;
    assert!(raw.ends_with(&format!("{paths}\n")), "{raw}");
    assert!(raw.contains(r#""content":{"n":1.10,"l":["\u00e9"]}"#), "{raw}");
}

#[test]
fn a_commit_is_shown_with_what_it_changed() {
    let place = Place::with_story();
    let header = format!(
        "commit {SECOND}\nAuthor: Ada <ada@example.org>\nDate:   2025-12-01T09:00:00.000+00:00\n\n    plan the dinner\n\n    \
         A stranger on a forum says so.\n"
    );
    let dinner = "added plan/dinner\n- /at: \"20:00\"\n".replace('-', "+");
    let diet = "modified user/diet\n@@ -1 +1 @@\n-vegan since 2019\n+loves steak\n";
    place.mnem(&["show", SECOND]).says(&format!("{header}\n{dinner}\n{diet}"), "");
    place.mnem(&["show", "-r", "HEAD~1", "--", "user/"]).says(&format!("{header}\n{diet}"), "");
    place.mnem(&["show", "--", "user/"]).env("MNEM_REV", SECOND).says(&format!("{header}\n{diet}"), "");
    place.mnem(&["show", "HEAD~1", "--", "nothing"]).says(&header, "");
    assert!(place.mnem(&["show"]).output().starts_with(&format!("commit {THIRD} (HEAD -> main)\n")));
    let twice = "mnem: error[usage]: REV and --rev both name a revision\nhint: mnem show REV\n";
    place.mnem(&["show", "HEAD", "-r", "HEAD"]).refuses(129, twice);
    let patch = place.mnem(&["log", "-p", "-n1", "--skip=1"]).output();
    assert_eq!(patch, format!("{header}\n{dinner}\n{diet}"));
    let patch = place.mnem(&["log", "--oneline", "--patch", "--", "user/diet"]).output();
    let first = "added user/diet\n@@ -0,0 +1 @@\n+vegan since 2019\n";
    let (second, oldest) = (&SECOND[..10], &FIRST[..10]);
    assert_eq!(patch, format!("{second} plan the dinner\n{diet}{oldest} learn how Maria eats\n{first}"));
}

#[test]
fn a_graph_stands_beside_the_commits() {
    let place = Place::with_story();
    let text = format!(
        "* {} (HEAD -> main) forget the allergies\n* {} plan the dinner\n* {} learn how Maria eats\n",
        &THIRD[..10],
        &SECOND[..10],
        &FIRST[..10]
    );
    place.mnem(&["log", "--graph", "--oneline"]).says(&text, "");
    let one = format!(
        "* commit {THIRD} (HEAD -> main)\n| Author: Ada <ada@example.org>\n| Date:   2025-12-01T11:00:00.500+01:00\n|\n|     \
         forget the allergies\n|\n| removed user/allergies\n| - /0: \"peanuts\"\n| - /1: 1.0\n"
    );
    place.mnem(&["log", "--graph", "-p", "-n1"]).says(&one, "");
    let people = "mnem: error[usage]: --graph is for people\nhint: --json names the parents of each commit\n";
    let row = "{\"v\":1,\"type\":\"error\",\"code\":\"usage\",\"message\":\"--graph is for people\",\
        \"hint\":\"--json names the parents of each commit\",\"exit\":129}\n";
    place.mnem(&["log", "--graph", "--json"]).refuses(129, row);
    place.mnem(&["log", "--graph", "-z"]).refuses(129, people);
}

#[test]
fn nothing_raw_reaches_a_person() {
    let place = Place::with_store();
    let hostile = "a\u{1b}]0;owned\u{7}\u{202e}b\0c\rd";
    place.mnem(&["put", "i\u{202e}d", "-", "--source", "s\u{1b}[2J", "-m", "m\u{1b}[31m"]).input(hostile).output();
    place.mnem(&["put", "i\u{202e}d", "-", "--source", "t\u{9b}1m", "-m", "n"]).input(format!("{hostile}\n2")).output();
    place.mnem(&["put", "j", "-t", "json", "{\"k\u{202e}\":\"\u{7f}\"}", "-m", "o"]).output();
    let raw = |text: &str| text.chars().any(|c| (c.is_control() && c != '\n') || c == '\u{202e}');
    for arguments in [
        &["log", "-p"][..],
        &["log", "-p", "--provenance", "--word-diff", "--graph"],
        &["diff", "HEAD~2", "--by", "path"],
        &["diff", "HEAD~2", "--stat"],
        &["show", "HEAD~1", "--provenance"],
        &["blame"],
        &["blame", "i\u{202e}d"],
        &["blame", "j"],
        &["blame", "i\u{202e}d", "--history"],
        &["blame", "i\u{202e}d", "--by", "node"],
    ] {
        let text = place.mnem(arguments).output();
        assert!(!raw(&text), "{arguments:?}: {text:?}");
        let colored = place.mnem(arguments).arguments(["--color=always"]).output();
        let plain = console::strip_ansi_codes(&colored);
        assert!(!raw(&plain) && plain == text, "{arguments:?}: {colored:?}");
    }
}

#[test]
fn a_long_line_is_shown_in_part_and_told_whole_as_json() {
    let place = Place::with_store();
    let line = |middle: &str| format!("{}{middle}{}", "x".repeat(3_000_000), "y".repeat(3_000_000));
    place.mnem(&["put", "a", "-", "-m", "one"]).input(line("old")).output();
    place.mnem(&["put", "a", "-", "-m", "two"]).input(line("new")).output();
    let sides = |word: &str| {
        format!(
            "{}[... 2999840 bytes ...]{}{word}{}[... 2999840 bytes ...]{}",
            "x".repeat(80),
            "x".repeat(80),
            "y".repeat(80),
            "y".repeat(80)
        )
    };
    let told = format!("modified a\n@@ -1 +1 @@\n-{}\n+{}\n", sides("old"), sides("new"));
    place.mnem(&["diff", "HEAD~1", "HEAD"]).says(&told, "");
    let row: serde_json::Value =
        serde_json::from_str(&place.mnem(&["diff", "HEAD~1", "HEAD", "--json"]).output()).expect("a row");
    assert_eq!(row["hunks"][0]["lines"][1]["text"], line("new"));
    let blamed = place.mnem(&["blame", "a"]).output();
    assert!(blamed.len() < 4_000 && blamed.contains("bytes ...]"), "{}", blamed.len());
}

#[test]
fn how_patches_look_asks_for_patches() {
    let place = Place::with_story();
    let patch = place.mnem(&["log", "-p", "-n1"]).output();
    place.mnem(&["log", "-U3", "-n1"]).says(&patch, "");
    place.mnem(&["log", "--by", "auto", "-n1"]).says(&patch, "");
    for option in [&["-U1"][..], &["--word-diff"], &["--by", "line"], &["--provenance"]] {
        for form in ["--stat", "--name-only", "--name-status"] {
            for verb in ["diff", "show", "log"] {
                assert_eq!(
                    place.mnem(&[verb, form]).arguments(option).answer().status,
                    129,
                    "{verb} {form} {option:?}"
                );
            }
        }
        assert_eq!(place.mnem(&["log", "--ids"]).arguments(option).answer().status, 129, "{option:?}");
    }
}

#[test]
fn what_is_too_large_to_compare_by_element_is_shown_as_one() {
    let place = Place::with_store();
    let array = |first: i32| format!("[{first}{}]", ",0".repeat(10_000));
    place.mnem(&["put", "a", "-t", "json", "-", "-m", "one"]).input(array(1)).output();
    place.mnem(&["put", "a", "-t", "json", "-", "-m", "two"]).input(array(2)).output();
    let text = place.mnem(&["diff", "HEAD~1", "HEAD"]).output();
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(lines[0], "modified a (compared as one where it is too large)");
    assert!(lines.len() == 3 && lines[1].starts_with("- [1,0") && lines[2].starts_with("+ [2,0"), "{lines:?}");
}

#[test]
fn a_range_where_one_commit_is_wanted_is_told_so() {
    let place = Place::with_story();
    for range in ["HEAD~1..HEAD", "HEAD~1...HEAD", "^HEAD"] {
        let error = format!(
            "mnem: error[bad-revision]: '{range}' is not a revision: one commit is wanted here, and no range\n\
             hint: a revision is HEAD, a branch, a tag or a commit id, with ~N, ^N, @{{N}} or @{{TIME}} behind it\n"
        );
        place.mnem(&["show", range]).refuses(128, &error);
        place.mnem(&["get", "user/diet", "-r", range]).refuses(128, &error);
    }
}
