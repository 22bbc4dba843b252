//! Revisions, as `mnem log` and `mnem get` take them.

use super::support::{FIRST, Place, SECOND, THIRD};

/// The commit of the text `v` as `k` with the message `c`.
const COMMIT: &str = "1fc25b7c2d76b6086ed5c9c5cb566386140edc96776e5af70c220fa6e5af3230";

/// Messages of commits that change nothing, one on top of the other: so that their ids all begin with `4033`.
const CHOSEN: [&str; 11] =
    ["0", "39802", "193625", "25688", "102205", "3651", "247790", "19222", "10913", "6670", "9283"];

#[test]
fn each_form_names_its_commit() {
    let place = Place::with_story();
    let upper = SECOND.to_uppercase();
    for (revision, expected) in [
        ("HEAD", THIRD),
        ("@", THIRD),
        ("main", THIRD),
        ("refs/heads/main", THIRD),
        (SECOND, SECOND),
        (&upper, SECOND),
        (&SECOND[..63], SECOND),
        (&SECOND[..4], SECOND),
        (&upper[..5], SECOND),
        ("HEAD~", SECOND),
        ("HEAD~0", THIRD),
        ("HEAD~2", FIRST),
        ("HEAD^", SECOND),
        ("HEAD^0", THIRD),
        ("HEAD^1", SECOND),
        ("HEAD^^", FIRST),
        ("@~~", FIRST),
        ("main~1^1", FIRST),
        ("main~1^0~0", SECOND),
        (&format!("{}^", &THIRD[..8]), SECOND),
        (&format!("{THIRD}~2"), FIRST),
    ] {
        place.mnem(&["log", "--ids", "-n1", revision]).says(&format!("{expected}\n"), "");
        place.mnem(&["log", "--ids", "-n1", "-r", revision]).says(&format!("{expected}\n"), "");
        let content = if expected == FIRST { "vegan since 2019" } else { "loves steak" };
        place.mnem(&["get", "user/diet", "-r", revision]).says(content, "");
    }
}

#[test]
fn a_branch_wins_over_a_prefix_with_a_warning() {
    let place = Place::empty();
    let prefix = &COMMIT[..6];
    place.mnem(&["init", "-b", prefix]).output();
    place.mnem(&["put", "k", "v", "-m", "c"]).says("k\n", "");
    place.mnem(&["put", "k", "w", "-m", "c"]).says("k\n", "");
    let warning =
        format!("warning: '{prefix}' is a branch and also the prefix of a commit's id; the branch was taken\n");
    place.mnem(&["get", "k", "-r", prefix]).says("w", &warning);
    place.mnem(&["log", "-n0", prefix]).says("", &warning);
    place.mnem(&["get", "k", "-qr", prefix]).says("w", "");
    place.mnem(&["get", "k", "-r", &COMMIT[..7]]).says("v", "");
    let colored = warning.replace("warning:", "\u{1b}[33mwarning:\u{1b}[0m");
    place.mnem(&["get", "k", "-r", prefix, "--color", "always"]).says("w", &colored);
}

#[test]
fn an_ambiguous_prefix_is_refused_with_its_candidates() {
    let place = Place::with_store();
    place.mnem(&["put", "k", "v", "-m", "c"]).says("k\n", "");
    place
        .mnem(&["put", "k", "w", "-m", "a message with a bell \u{7} that was chosen for its commit: 112712"])
        .says("k\n", "");
    let mut ids: Vec<_> = place.mnem(&["log", "--ids"]).output().lines().map(str::to_owned).collect();
    assert_eq!(ids.pop().as_deref(), Some(COMMIT));
    let candidates = format!(
        "hint: {COMMIT} c\n\
         hint: 1fc2cb39ad20f805a62cfd41c9451d864cb173a381f401b7646e890967c76f55 a message with a bell ^G that was \
         chosen for its commit: 112712\n"
    );
    for revision in [&COMMIT[..4], &COMMIT[..4].to_uppercase(), &format!("{}~1", &COMMIT[..4])] {
        let prefix = &revision[..4];
        let said = format!("mnem: error[ambiguous-revision]: the prefix '{prefix}' is ambiguous\n{candidates}");
        for command in [&["log", revision][..], &["get", "k", "-r", revision]] {
            place.mnem(command).refuses(128, &said);
        }
    }
    place.mnem(&["get", "k", "-r", &COMMIT[..5]]).says("v", "");
}

#[test]
fn of_many_candidates_the_first_ten_are_listed() {
    let place = Place::with_store();
    let refusal = |ids: &[String], more: &str| {
        let mut lines: Vec<_> = ids.iter().zip(CHOSEN).map(|(id, message)| format!("hint: {id} {message}\n")).collect();
        lines.sort();
        lines.truncate(10);
        format!("mnem: error[ambiguous-revision]: the prefix '4033' is ambiguous\n{}{more}", lines.concat())
    };
    let mut ids = Vec::new();
    for message in CHOSEN {
        let id = place.mnem(&["commit", "--allow-empty", "-qm", message]).output();
        assert!(id.starts_with("4033"), "{id}");
        ids.push(id.trim_end().to_owned());
        match ids.len() {
            10 => place.mnem(&["log", "4033"]).refuses(128, &refusal(&ids, "")),
            11 => place.mnem(&["log", "4033"]).refuses(128, &refusal(&ids, "hint: and more\n")),
            _ => {}
        }
    }
}

#[test]
fn a_time_names_the_newest_commit_that_is_as_old() {
    let place = Place::with_story();
    // The story's commits are of 08:00, 09:00 and 10:00:00.5.
    for (revision, expected) in [
        ("@{2025-12-01T08:00:00Z}", FIRST),
        ("main@{2025-12-01T09:59:59+01:00}", FIRST),
        ("HEAD@{2025-12-01T09:00:00Z}", SECOND),
        ("@{2025-12-01T10:00:00.499Z}", SECOND),
        ("@{2025-12-01T10:00:00.5Z}", THIRD),
        ("@{now}", THIRD),
        ("@{now}~1", SECOND),
    ] {
        place.mnem(&["log", "--ids", "-n1", revision]).says(&format!("{expected}\n"), "");
    }
    place.mnem(&["get", "user/diet", "-r", "@{2025-12-01T07:59:59Z}"]).refuses(
        128,
        "mnem: error[bad-revision]: no commit of '@{2025-12-01T07:59:59Z}' is that old\nhint: see 'mnem log --oneline'\n",
    );
    for (revision, why) in [("@{noon}", "between '@{' and '}' stands a number or a time"), ("@{now", "'@{' has no '}'")]
    {
        let told = format!("mnem: error[bad-revision]: '{revision}' is not a revision: {why}\n");
        let run = place.mnem(&["log", revision]).answer();
        assert_eq!((run.status, run.stdout.as_str()), (128, ""), "{revision}");
        assert!(run.stderr.starts_with(&told), "{}", run.stderr);
    }
}

#[test]
fn a_number_counts_in_the_log_of_a_ref() {
    let place = Place::with_story();
    for (revision, content) in
        [("HEAD@{0}", "loves steak"), ("main@{2}", "vegan since 2019"), ("@{1}~", "vegan since 2019")]
    {
        place.mnem(&["get", "user/diet", "-r", revision]).says(content, "");
    }
    for (revision, said) in [
        (
            "main@{3}",
            "'main@{3}' is not in the log of 'refs/heads/main': it has 3 entries\nhint: mnem reflog 'refs/heads/main'\n",
        ),
        ("HEAD@{9}", "'HEAD@{9}' is not in the log of 'HEAD': it has 3 entries\nhint: see 'mnem reflog'\n"),
        ("@{-1}", "this session has not switched yet, so there is no '@{-1}'\nhint: see 'mnem reflog'\n"),
        (
            "ORIG_HEAD~1",
            "no command of this session has moved HEAD away, so there is no ORIG_HEAD\nhint: see 'mnem reflog'\n",
        ),
        (
            "main~1@{0}",
            "'main~1@{0}' is not a revision: '@{N}' stands right behind a name\n\
             hint: a revision is HEAD, a branch, a tag or a commit id, with ~N, ^N, @{N} or @{TIME} behind it\n",
        ),
    ] {
        place.mnem(&["get", "user/diet", "-r", revision]).refuses(128, &format!("mnem: error[bad-revision]: {said}"));
    }
}

#[test]
fn ranges_leave_out_ancestors() {
    let place = Place::with_story();
    let all = [THIRD, SECOND, FIRST];
    for (range, expected) in [
        (&["HEAD~2..HEAD"][..], &all[..2]),
        (&["HEAD~2.."], &all[..2]),
        (&["..HEAD~1"], &[]),
        (&["HEAD..HEAD"], &[]),
        (&["HEAD~1...HEAD"], &all[..1]),
        (&["HEAD...HEAD~2"], &all[..2]),
        (&["^HEAD~1"], &all[..1]),
        (&["HEAD", "^HEAD~2"], &all[..2]),
        (&["HEAD~1..HEAD", "HEAD~2"], &all[..1]),
    ] {
        let lines: String = expected.iter().map(|id| format!("{id}\n")).collect();
        place.mnem(&["log", "--ids"]).arguments(range.iter().copied()).says(&lines, "");
    }
    place.mnem(&["log", "--ids", "HEAD~2..", "--", "user/allergies"]).says(&format!("{THIRD}\n"), "");
    place
        .mnem(&["log", "--ids", "HEAD~2..", "--first-parent", "--", "user/*"])
        .says(&format!("{THIRD}\n{SECOND}\n"), "");
}
