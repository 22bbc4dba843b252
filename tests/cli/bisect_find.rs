//! `mnem bisect find`

use super::support::{FIRST, Place, SECOND, THIRD, json, lines};

const STEAK: &str = "'user/diet' is \"loves steak\"";
const VEGAN: &str = "'user/diet' is \"vegan since 2019\"";

/// Who wrote the diet of the story.
fn writer() -> String {
    format!(
        "    user/diet: {} ~2025-12-01T09:00:00.000+00:00 Ada <ada@example.org> (source: https://forum.example/t/88)\n",
        &SECOND[..10]
    )
}

fn second() -> String {
    format!("{} plan the dinner\n", &SECOND[..10])
}

/// A commit of one node on the session's branch; returns its id.
fn put(place: &Place, id: &str, content: &str) -> String {
    let branch = place.mnem(&["branch", "--show-current"]).output();
    place.mnem(&["put", id, content, "-qm", &format!("on {branch}")]).output();
    head(place)
}

fn head(place: &Place) -> String {
    place.mnem(&["rev-parse", "HEAD"]).output().trim_end().to_owned()
}

fn switch(place: &Place, arguments: &[&str]) {
    place.mnem(&["switch", "-q"]).arguments(arguments).output();
}

/// The ids on standard output, and whether it ended with 0.
fn ids(place: &Place, arguments: &[&str]) -> (bool, Vec<String>) {
    let answer = place.mnem(&["bisect", "find", "-q"]).arguments(arguments).answer();
    (answer.status == 0, answer.stdout.lines().map(str::to_owned).collect())
}

#[test]
fn the_flip_is_printed_and_what_was_found_and_who_made_it_so_is_said() {
    let place = Place::with_story();
    let range = format!("{FIRST}..");
    let words = ["--contains", "user/diet", "vegan"];
    let told = format!(
        "no longer holds since {}    --contains user/diet vegan: {STEAK}\n    before: {VEGAN}\n{}",
        second(),
        writer()
    );
    place.mnem(&["bisect", "find", &range]).arguments(words).says(&lines(&[SECOND]), &told);
    place.mnem(&["bisect", "find"]).arguments(words).arguments([&range]).says(&lines(&[SECOND]), &told);
    place.mnem(&["bisect", "find", "-q", &range]).arguments(words).says(&lines(&[SECOND]), "");
    place.mnem(&["bisect", "find", "-qz", &range]).arguments(words).says(&format!("{SECOND}\0"), "");

    let told =
        format!("holds since {}    --contains user/diet steak: {STEAK}\n    before: {VEGAN}\n{}", second(), writer());
    place.mnem(&["bisect", "find", "--contains", "user/diet", "steak"]).says(&lines(&[SECOND]), &told);
}

#[test]
fn without_a_start_it_begins_at_the_empty_memory() {
    let place = Place::with_story();
    let told = format!(
        "holds since {} learn how Maria eats\n    --present user/diet: {VEGAN}\n    before: there is no node 'user/diet'\n    \
         user/diet: {} ~2025-12-01T08:00:00.000+00:00 Ada <ada@example.org> (agent_step: 1, observation: chat/1)\n",
        &FIRST[..10],
        &FIRST[..10]
    );
    for range in [&["HEAD~2"][..], &["main~2"], &["-r", "HEAD~2"], &[]] {
        let find = |words: &[&str]| place.mnem(&["bisect", "find"]).arguments(range).arguments(words);
        find(&["--present", "user/diet"]).says(&lines(&[FIRST]), &told);
        // It held before the first commit.
        let ceased = told.replace("holds since", "no longer holds since").replace("--present", "--absent");
        find(&["--absent", "user/diet"]).says(&lines(&[FIRST]), &ceased);
    }
}

#[test]
fn of_a_node_that_went_it_is_said_who_removed_it_and_what_it_said() {
    let place = Place::with_story();
    let told = "no longer holds since 8bf0cc447a (HEAD -> main) forget the allergies\n    \
        --path-exists user/allergies /1: there is no node 'user/allergies'\n    \
        before: 'user/allergies' has 1.0 at '/1'\n    \
        user/allergies: 8bf0cc447a ~2025-12-01T11:00:00.500+01:00 Ada <ada@example.org> removed\n    \
        user/allergies: 8f53e073d1 ~2025-12-01T08:00:00.000+00:00 Ada <ada@example.org>: [\"peanuts\", 1.0]\n";
    let range = format!("{FIRST}..HEAD");
    place.mnem(&["bisect", "find", &range, "--path-exists", "user/allergies", "/1"]).says(&lines(&[THIRD]), told);
    // No node contains it any more: it is the one that did.
    let answer = place.mnem(&["bisect", "find", &range, "--any", "user/", "peanuts"]).answer();
    assert_eq!((answer.status, answer.stdout), (0, lines(&[THIRD])));
    let told = told.lines().skip(3).fold(String::new(), |told, line| told + line + "\n");
    assert!(answer.stderr.ends_with(&told), "{}", answer.stderr);
    assert!(answer.stderr.contains("    before: 'user/allergies' is [\"peanuts\", 1.0]\n"), "{}", answer.stderr);
}

#[test]
fn of_a_pointer_the_value_is_told_and_who_wrote_it() {
    let place = Place::with_story();
    let told = format!(
        "holds since {}    --path-equals plan/dinner /at '\"20:00\"': 'plan/dinner' has \"20:00\" at '/at'\n    \
         before: there is no node 'plan/dinner'\n    \
         plan/dinner /at: 1225f5ed2d 2025-12-01T09:30:00.50+01:00 Ada <ada@example.org>\n",
        second()
    );
    place.mnem(&["bisect", "find", "--path-equals", "plan/dinner", "/at", "\"20:00\""]).says(&lines(&[SECOND]), &told);
}

#[test]
fn of_a_number_the_nodes_that_came_and_went_are_told() {
    let place = Place::with_story();
    let told = format!(
        "holds since {}    --count '**' ge 3: 3 nodes match\n    before: 2 nodes match\n    \
         plan/dinner: 1225f5ed2d 2025-12-01T09:30:00.50+01:00 Ada <ada@example.org>\n",
        second()
    );
    place.mnem(&["bisect", "find", "HEAD~1", "--count", "**", "ge", "3"]).says(&lines(&[SECOND]), &told);
    let range = format!("{SECOND}..");
    let answer = place.mnem(&["bisect", "find", &range, "--count", "user/", "ge", "2"]).answer();
    assert_eq!((answer.status, answer.stdout), (0, lines(&[THIRD])));
    assert!(
        answer.stderr.contains("\n    before: 2 nodes match\n    user/allergies: 8bf0cc447a "),
        "{}",
        answer.stderr
    );
    let row = |at: usize| format!("{{\"id\":\"many/{at:02}\",\"content\":1}}");
    let rows: Vec<_> = (0..12).map(row).collect();
    place.mnem(&["put", "--jsonl", "-", "-qm", "many"]).input(lines(&rows)).output();
    let answer = place.mnem(&["bisect", "find", "--count", "many/", "ge", "1"]).answer();
    assert_eq!(answer.stderr.matches("\n    many/").count(), 10, "{}", answer.stderr);
}

#[test]
fn several_predicates_have_to_hold_together_and_those_that_turned_are_told() {
    let place = Place::with_story();
    let words =
        ["--contains", "user/diet", "steak", "--not", "--present", "user/allergies", "--present", "plan/dinner"];
    let answer = place.mnem(&["bisect", "find"]).arguments(words).answer();
    assert_eq!((answer.status, answer.stdout), (0, lines(&[THIRD])));
    let told: Vec<_> = answer.stderr.lines().take(3).collect();
    let expected = [
        "holds since 8bf0cc447a (HEAD -> main) forget the allergies",
        "    --not --present user/allergies: there is no node 'user/allergies'",
        "    before: 'user/allergies' is [\"peanuts\", 1.0]",
    ];
    assert_eq!(told, expected);
    assert!(!answer.stderr.contains("diet") && !answer.stderr.contains("dinner"), "{}", answer.stderr);
}

#[test]
fn where_it_is_the_same_at_both_ends_there_is_nothing_to_find() {
    let place = Place::with_story();
    let hint = "hint: name two ends between which it changes, such as A..B; see 'mnem log --oneline'\n";
    let none = "it holds at neither end, before the first commit or at 'HEAD'";
    place
        .mnem(&["bisect", "find", "--contains", "user/diet", "fish"])
        .refuses(1, &format!("mnem: error[bisect-endpoints]: {none}\n{hint}"));
    place.mnem(&["bisect", "find", "HEAD~1..main", "--contains", "user/diet", "steak"]).refuses(
        1,
        &format!("mnem: error[bisect-endpoints]: it holds at both ends, at 'HEAD~1' and at 'main'\n{hint}"),
    );
    place
        .mnem(&["bisect", "find", "HEAD..HEAD", "--present", "user/diet"])
        .refuses(1, &format!("mnem: error[bisect-endpoints]: it holds at both ends, at 'HEAD' and at 'HEAD'\n{hint}"));
    let find = ["bisect", "find", "--contains", "user/diet", "vegan"];
    let message = format!("{none}; between them are 2 flips");
    let all = "mnem bisect find --all --contains user/diet vegan";
    place.mnem(&find).refuses(1, &format!("mnem: error[bisect-endpoints]: {message}\nhint: {all}\n"));
    let row = format!(
        "{{\"v\":1,\"type\":\"error\",\"code\":\"bisect-endpoints\",\"message\":{},\"hint\":{},\"exit\":1}}\n",
        json(&message),
        json(all)
    );
    place.mnem(&find).arguments(["--json"]).refuses(1, &row);
    // What is to be typed names store, session, range and options as they were given.
    let options = ["--session", "an", "--first-parent", "--changed", "user/*", "-r", "HEAD"];
    place.mnem(&find).arguments(options).refuses(
        1,
        &format!(
            "mnem: error[bisect-endpoints]: {message}\nhint: mnem --session an bisect find HEAD --all --first-parent \
             --changed 'user/*' --contains user/diet vegan\n"
        ),
    );
}

#[test]
fn all_flips_are_listed_the_newest_first() {
    let place = Place::with_story();
    let words = ["--all", "--contains", "user/diet", "vegan"];
    let told = format!(
        "no longer holds since {}    --contains user/diet vegan: {STEAK}\n    before: {VEGAN}\n{}\
         holds since 8f53e073d1 learn how Maria eats\n    --contains user/diet vegan: {VEGAN}\n    \
         before: there is no node 'user/diet'\n    user/diet: 8f53e073d1 ~2025-12-01T08:00:00.000+00:00 \
         Ada <ada@example.org> (agent_step: 1, observation: chat/1)\n",
        second(),
        writer()
    );
    place.mnem(&["bisect", "find"]).arguments(words).says(&lines(&[SECOND, FIRST]), &told);
    place.mnem(&["bisect", "find", "HEAD~1", "-q"]).arguments(words).says(&lines(&[SECOND, FIRST]), "");
    place.mnem(&["bisect", "find", "HEAD~2..", "-q"]).arguments(words).says(&lines(&[SECOND]), "");
    let none = "no commit is a flip: it holds at neither end, before the first commit or at 'HEAD'\n";
    place.mnem(&["bisect", "find", "--all", "--present", "x"]).ends(1, "", none);
    place.mnem(&["bisect", "find", "--all", "--present", "x", "--json"]).ends(1, "", none);
    place.mnem(&["bisect", "find", "--all", "--present", "x", "-q"]).ends(1, "", "");
}

#[test]
fn of_several_flips_the_last_is_printed_and_the_others_are_counted() {
    let place = Place::with_store();
    let commits: Vec<_> =
        ["on", "off", "off still", "on again", "on still"].iter().map(|text| put(&place, "k", text)).collect();
    let words = ["--matches", "k", "^on"];
    let answer = place.mnem(&["bisect", "find"]).arguments(words).answer();
    assert_eq!((answer.status, answer.stdout), (0, lines(&[&commits[3]])));
    let end = "\n3 flips in all; to see them: mnem bisect find --all --matches k '^on'\n";
    assert!(answer.stderr.ends_with(end), "{}", answer.stderr);
    let range = format!("{}..HEAD", &commits[1][..12]);
    let answer = place.mnem(&["bisect", "find", &range]).arguments(words).answer();
    assert_eq!((answer.status, answer.stdout), (0, lines(&[&commits[3]])));
    assert!(!answer.stderr.contains("in all"), "{}", answer.stderr);
    let all = [&commits[3], &commits[1], &commits[0]].map(String::clone);
    assert_eq!(ids(&place, &["--all", "--matches", "k", "^on"]), (true, all.to_vec()));
    let message = "mnem: error[bisect-endpoints]: it holds at neither end, before the first commit or at 'HEAD~2'; \
        between them are 2 flips\nhint: mnem bisect find 'HEAD~2' --all --matches k '^on'\n";
    place.mnem(&["bisect", "find", "HEAD~2"]).arguments(words).refuses(1, message);
    let message = "mnem: error[bisect-endpoints]: it holds at both ends, at 'HEAD~4' and at 'HEAD'; between them are \
        2 flips\nhint: mnem bisect find 'HEAD~4..HEAD' --all --matches k '^on'\n";
    place.mnem(&["bisect", "find", "HEAD~4..HEAD"]).arguments(words).refuses(1, message);
    let message = "mnem: error[bisect-endpoints]: it holds at both ends, before the first commit and at 'HEAD~1'; \
        between them are 2 flips\nhint: mnem bisect find 'HEAD~1' --all --not --equals k off\n";
    place.mnem(&["bisect", "find", "HEAD~1", "--not", "--equals", "k", "off"]).refuses(1, message);
}

#[test]
fn swapped_ends_are_refused_with_the_line_to_type() {
    let place = Place::with_story();
    let words = ["--contains", "user/diet", "steak"];
    let typed = "mnem bisect find 'HEAD~2..main' --contains user/diet steak";
    place.mnem(&["bisect", "find", "main..HEAD~2"]).arguments(words).refuses(
        1,
        &format!(
            "mnem: error[bisect-endpoints]: it holds at 'main' and not at 'HEAD~2'; but 'HEAD~2' is an ancestor of 'main'\n\
             hint: {typed}\n"
        ),
    );
    let typed: Vec<_> = typed.split(' ').skip(1).map(|word| word.trim_matches('\'')).collect();
    assert_eq!(place.mnem(&typed).answer().stdout, lines(&[SECOND]));
}

#[test]
fn what_was_so_before_the_range_is_not_found_in_it() {
    let place = Place::with_store();
    let base = put(&place, "k", "on");
    switch(&place, &["-c", "side"]);
    put(&place, "k", "off");
    switch(&place, &["main"]);
    put(&place, "other", "1");
    place.mnem(&["bisect", "find", "side..main", "--equals", "k", "on"]).refuses(
        1,
        "mnem: error[bisect-endpoints]: it holds at 'main' and not at 'side'; but no commit between made it so\n\
         hint: mnem bisect find main --equals k on\n",
    );
    assert_eq!(ids(&place, &["main", "--equals", "k", "on"]), (true, vec![base]));
    let none = "no commit is a flip: it holds at 'main' and not at 'side'\n";
    place.mnem(&["bisect", "find", "--all", "side..main", "--equals", "k", "on"]).ends(1, "", none);
}

#[test]
fn only_commits_that_changed_such_a_node_where_that_is_asked_for() {
    let place = Place::with_story();
    let find = ["bisect", "find", "-q", "--contains", "user/diet", "steak"];
    for pattern in ["user/diet", "plan/", "*/dinner"] {
        place.mnem(&find).arguments(["--changed", pattern]).says(&lines(&[SECOND]), "");
    }
    place.mnem(&find).arguments(["--changed", "x", "--changed", "user/d*"]).says(&lines(&[SECOND]), "");
    place.mnem(&find).arguments(["--changed", "user/allergies"]).refuses(
        1,
        "mnem: error[bisect-endpoints]: it holds at 'HEAD' and not before the first commit; but no commit that changed \
         such a node made it so\nhint: leave out --changed\n",
    );
    let all = ["--all", "--contains", "user/diet", "vegan", "--changed", "user/allergies"];
    assert_eq!(ids(&place, &all), (true, vec![FIRST.to_owned()]));
    let refusal = "mnem: error[bisect-endpoints]: it holds at neither end, before the first commit or at 'HEAD'; between \
        them is 1 flip\nhint: mnem bisect find --all --changed user/allergies --contains user/diet vegan\n";
    place.mnem(&["bisect", "find"]).arguments(&all[1..]).refuses(1, refusal);
}

#[test]
fn through_a_merge_the_flip_is_on_the_branch_where_it_came_in() {
    let place = Place::with_store();
    put(&place, "k", "off");
    switch(&place, &["-c", "side"]);
    let side = put(&place, "k", "on");
    put(&place, "a", "side");
    switch(&place, &["main"]);
    put(&place, "b", "main");
    place.mnem(&["merge", "-q", "side"]).output();
    let merge = head(&place);
    put(&place, "c", "main");
    assert_eq!(ids(&place, &["--equals", "k", "on"]), (true, vec![side.clone()]));
    // Of the first parents it is the merge.
    assert_eq!(ids(&place, &["--equals", "k", "on", "--first-parent"]), (true, vec![merge.clone()]));
    let changed = ["--equals", "k", "on", "--first-parent", "--changed", "k"];
    assert_eq!(ids(&place, &changed), (true, vec![merge.clone()]));
    // Each node was on a side, and both together first in the merge.
    for words in [
        &["--present", "a", "--present", "b"][..],
        &["--count", "*", "ge", "3"],
        &["--count", "[ab]", "ge", "2"],
        &["--equals", "k", "on", "--any", "b*", "main"],
    ] {
        assert_eq!(ids(&place, words), (true, vec![merge.clone()]), "{words:?}");
    }
    // What stands there was written elsewhere.
    let answer = place.mnem(&["bisect", "find", "--equals", "k", "on", "--first-parent"]).answer();
    assert!(
        answer.stderr.contains(&format!("    before: 'k' is \"off\"\n    k: {} ", &side[..10])),
        "{}",
        answer.stderr
    );
}

#[test]
fn where_parallel_branches_came_to_it_the_newest_is_printed_and_that_is_said() {
    let place = Place::with_store();
    let first = put(&place, "k", "off");
    switch(&place, &["-c", "side"]);
    let side = put(&place, "k", "on");
    switch(&place, &["main"]);
    let main = put(&place, "k", "on");
    put(&place, "other", "1");
    place.mnem(&["merge", "-q", "side"]).output();
    let answer = place.mnem(&["bisect", "find", "--equals", "k", "on"]).answer();
    assert_eq!((answer.status, answer.stdout), (0, lines(&[&main])));
    let end = "\n2 commits on parallel branches made it so; this is the newest\n\
        2 flips in all; to see them: mnem bisect find --all --equals k on\n";
    assert!(answer.stderr.ends_with(end), "{}", answer.stderr);
    assert_eq!(ids(&place, &["--all", "--equals", "k", "on"]), (true, vec![main, side]));
    assert_eq!(ids(&place, &["--absent", "k"]), (true, vec![first]));
}

#[test]
fn a_newer_flip_on_a_branch_that_flipped_back_is_not_it() {
    let place = Place::with_store();
    put(&place, "k", "off");
    switch(&place, &["-c", "side"]);
    switch(&place, &["main"]);
    let main = put(&place, "k", "on");
    switch(&place, &["side"]);
    let newer = put(&place, "k", "on");
    let back = put(&place, "k", "off");
    switch(&place, &["main"]);
    put(&place, "other", "1");
    place.mnem(&["merge", "-q", "side"]).output();
    assert_eq!(ids(&place, &["--equals", "k", "on"]), (true, vec![main.clone()]));
    assert_eq!(ids(&place, &["--all", "--equals", "k", "on"]), (true, vec![back, newer, main]));
}

#[test]
fn it_ends_at_the_revision_that_is_named_and_not_at_what_is_staged() {
    let place = Place::with_story();
    let vegan = ["--contains", "user/diet", "vegan"];
    let first = lines(&[FIRST]);
    place.mnem(&["bisect", "find", "-q", "-r", "HEAD~2"]).arguments(vegan).says(&first, "");
    place.mnem(&["bisect", "find", "-q"]).arguments(vegan).env("MNEM_REV", "HEAD~2").says(&first, "");
    place.mnem(&["bisect", "find", "-q", "HEAD~2"]).arguments(vegan).env("MNEM_REV", "HEAD").says(&first, "");
    place.mnem(&["put", "user/diet", "vegan again"]).output();
    assert_eq!(place.mnem(&["bisect", "find"]).arguments(vegan).answer().status, 1);
    switch(&place, &["--detach", "--session", "other"]);
    place.mnem(&["bisect", "find", "-q", "--absent", "user/diet", "--session", "other"]).says(&first, "");
    place.mnem(&["tag", "main", "HEAD~2", "-q"]).output();
    let warned = place.mnem(&["bisect", "find", "main"]).arguments(vegan).answer();
    assert!(
        warned.stderr.starts_with("warning: 'main' is a tag and also a branch; the tag was taken\nholds since"),
        "{warned:?}"
    );
}

#[test]
fn a_wrong_call_is_refused() {
    let place = Place::with_story();
    let ranges = "hint: mnem bisect find A..B PREDICATE\n";
    let example = "hint: mnem bisect find --contains user/diet vegan\n";
    let revisions = "hint: see 'mnem log --oneline'\n";
    let help = "hint: see 'mnem bisect find --help'\n";
    for (arguments, status, message) in [
        (&["find"][..], 129, format!("usage]: no predicate is named\n{example}")),
        (&["find", "HEAD~1.."], 129, format!("usage]: no predicate is named\n{example}")),
        (
            &["find", "HEAD~1...HEAD", "--present", "a"],
            129,
            format!("usage]: 'HEAD~1...HEAD' has no start and end to search between\n{ranges}"),
        ),
        (
            &["find", "^HEAD", "--present", "a"],
            129,
            format!("usage]: '^HEAD' has no start and end to search between\n{ranges}"),
        ),
        (
            &["find", "HEAD~1..HEAD", "HEAD", "--present", "a"],
            129,
            format!("usage]: unexpected argument 'HEAD' found\n{help}"),
        ),
        (
            &["find", "HEAD", "-r", "HEAD", "--present", "a"],
            129,
            "usage]: REV and --rev both name a revision\nhint: mnem bisect find REV PREDICATE\n".to_owned(),
        ),
        (&["find", "--zz", "--present", "a"], 129, format!("usage]: unexpected argument '--zz' found\n{help}")),
        (
            &["find", "nothing..HEAD", "--present", "a"],
            128,
            format!("bad-revision]: unknown revision 'nothing'\n{revisions}"),
        ),
        (&["find", "nothing", "--present", "a"], 128, format!("bad-revision]: unknown revision 'nothing'\n{revisions}")),
        (
            &["find", "--count", "a", "more", "1"],
            129,
            "bad-predicate]: '--count': 'more' is none of 'lt', 'le', 'eq', 'ne', 'ge', 'gt'\nhint: see 'mnem test --help'\n".to_owned(),
        ),
        (
            &["find", "--present", "a", "--changed", "[a"],
            129,
            "bad-pattern]: '[a': a '[' has no ']' in pattern '[a'\nhint: such as --changed 'user/*'\n"
                .to_owned(),
        ),
        (&[], 129, "usage]: no command is named\nhint: see 'mnem bisect --help'\n".to_owned()),
        (
            &["fin"],
            129,
            "usage]: unrecognized subcommand 'fin'\nhint: a similar subcommand exists: 'find'\n".to_owned(),
        ),
        (
            &["narow"],
            129,
            "usage]: unrecognized subcommand 'narow'\nhint: a similar subcommand exists: 'narrow'\n".to_owned(),
        ),
        (&["help"], 129, "usage]: unrecognized subcommand 'help'\nhint: see 'mnem bisect --help'\n".to_owned()),
    ] {
        place.mnem(&["bisect"]).arguments(arguments).refuses(status, &format!("mnem: error[{message}"));
    }
    let unborn = Place::with_store();
    let hint = "hint: make one with 'mnem put ID CONTENT' and 'mnem commit -m MESSAGE'\n";
    for arguments in [&["--present", "a"][..], &["HEAD", "--present", "a"], &["--all", "--present", "a"]] {
        let error = format!("mnem: error[bad-revision]: no commit yet on 'main'\n{hint}");
        unborn.mnem(&["bisect", "find"]).arguments(arguments).refuses(128, &error);
    }
    let empty = Place::empty();
    assert_eq!(empty.mnem(&["bisect", "find", "--present", "a"]).answer().status, 128);
}

#[test]
fn as_json_each_flip_is_one_row() {
    let place = Place::with_story();
    let none = r#""agent_step":null,"observation":null,"tool_call":null"#;
    let found = |content: &str| format!(r#"{{"id":"user/diet","present":true,"content":"{content}","count":null}}"#);
    let expected = format!(
        "{{\"v\":1,\"type\":\"flip\",\"commit\":\"{SECOND}\",\"parents\":[\"{FIRST}\"],\"author\":\"Ada <ada@example.org>\",\
         \"time\":\"2025-12-01T09:00:00.000+00:00\",\"message\":\"plan the dinner\\n\\nA stranger on a forum says so.\",\
         \"holds\":true,\"turned\":[{{\"predicate\":[\"--contains\",\"user/diet\",\"steak\"],\"before\":{},\"after\":{},\
         \"nodes\":[{{\"id\":\"user/diet\",\"origin\":{{\"id\":\"user/diet\",\"commit\":\"{SECOND}\",\
         \"author\":\"Ada <ada@example.org>\",\"time\":\"2025-12-01T09:00:00.000+00:00\",\"event_time\":null,\
         \"effective_time\":\"2025-12-01T09:00:00.000+00:00\",\"provenance\":{{{none},\
         \"source\":\"https://forum.example/t/88\",\"note\":null}},\"lines\":null,\"paths\":null}},\"removal\":null}}]}}]}}\n",
        found("vegan since 2019"),
        found("loves steak")
    );
    place.mnem(&["bisect", "find", "-q", "--json", "--contains", "user/diet", "steak"]).says(&expected, "");
    let range = format!("{FIRST}..");
    let answer = place.mnem(&["bisect", "find", "-q", "--json", &range, "--present", "user/allergies"]).answer();
    let row: serde_json::Value = serde_json::from_str(&answer.stdout).expect("one row");
    let node = &row["turned"][0]["nodes"][0];
    assert_eq!(
        (&row["commit"], &row["holds"], &node["origin"]),
        (&THIRD.into(), &false.into(), &serde_json::Value::Null)
    );
    assert_eq!((&node["removal"]["commit"], &node["removal"]["last"]["commit"]), (&THIRD.into(), &FIRST.into()));
    let rows = place.mnem(&["bisect", "find", "-q", "--json", "--all", "--contains", "user/diet", "vegan"]).output();
    assert_eq!(rows.lines().count(), 2);
}

#[test]
fn what_a_terminal_would_act_on_is_escaped() {
    let place = Place::with_store();
    place
        .mnem(&["put", "k\u{202e}", "on\u{1b}", "--source", "s\u{9b}", "-qm", "m\u{1b}"])
        .env("MNEM_AUTHOR", "A\u{1b}")
        .output();
    let id = head(&place);
    let short = &id[..10];
    let told = format!(
        "holds since {short} (HEAD -> main) m^[\n    --contains \"$(printf %b 'k\\0342\\0200\\0256')\" on: 'k\\u{{202e}}' is \"on\\u001b\"\n    \
         before: there is no node 'k\\u{{202e}}'\n    \
         k\\u{{202e}}: {short} ~2025-12-01T08:00:00.000+00:00 A^[ (source: s\\u{{9b}})\n"
    );
    place.mnem(&["bisect", "find", "--contains", "k\u{202e}", "on"]).says(&lines(&[&id]), &told);
    let coloured = place.mnem(&["bisect", "find", "--contains", "k\u{202e}", "on", "--color", "always"]).answer();
    assert_eq!(coloured.stdout, lines(&[&id]));
    let start = format!("holds since \u{1b}[33m{short}\u{1b}[0m (\u{1b}[36m\u{1b}[1mHEAD ->\u{1b}[0m ");
    assert!(coloured.stderr.starts_with(&start), "{coloured:?}");
}

#[test]
fn damage_is_told_and_never_a_commit() {
    let place = Place::with_story();
    let file = place.path(".mnemosyne/store.redb");
    let sound = std::fs::read(&file).expect("a file");
    let refusal = |table: &str| {
        format!(
            "mnem: error[corrupt]: the memory store is damaged: a row of the table '{table}' fails its check\n\
             hint: nothing was changed; keep a copy of the store before anything else\n"
        )
    };
    for (text, table, words) in [
        ("loves steak", "object", &["--contains", "user/diet", "vegan"][..]),
        ("loves steak", "object", &["--any", "user/", "vegan"]),
        ("loves steak", "object", &["--any", "**", "vegan"]),
        ("plan the dinner", "commit", &["--count", "**", "eq", "3"]),
        ("plan the dinner", "commit", &["--contains", "user/diet", "vegan"]),
    ] {
        let mut bytes = sound.clone();
        let at: Vec<_> = (0..bytes.len() - text.len()).filter(|&at| bytes[at..].starts_with(text.as_bytes())).collect();
        assert!(!at.is_empty());
        at.into_iter().for_each(|at| bytes[at] ^= 1);
        std::fs::write(&file, bytes).expect("a file");
        for all in [&[][..], &["--all"]] {
            place.mnem(&["bisect", "find"]).arguments(all).arguments(words).refuses(128, &refusal(table));
        }
    }
}
