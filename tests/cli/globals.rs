//! Global options and the environment.

use super::support::{FIRST, Place, SECOND, THIRD};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

const COMMANDS: [&str; 7] = ["init", "put", "get", "commit", "log", "version", "demo"];

const NO_STORE: &str = "mnem: error[no-store]: no memory store in '[PLACE]' or any parent directory\n\
    hint: create one with 'mnem init'\n";

#[test]
fn a_global_option_stands_before_or_behind_the_command() {
    let place = Place::with_story();
    place.directory("a/b");
    let store = place.argument(".mnemosyne");
    let text = format!("{THIRD}\n");
    let told = "store '[PLACE]/.mnemosyne', session 'default'\n";
    for (options, said) in [
        (&["-C", "a"][..], text.as_str()),
        (&["-Ca", "-C", "b"], &text),
        (&["--store", &store], &text),
        (&["--store=.mnemosyne"], &text),
        (&["--session", "other"], &text),
        (&["-z"], &text.replace('\n', "\0")),
        (&["-q"], &text),
        (&["--quiet"], &text),
        (&["-v"], &text),
        (&["--verbose"], &text),
        (&["--color", "never"], &text),
        (&["--color=always"], &text),
        (&["--no-pager"], &text),
        (&["--lock-timeout", "0"], &text),
    ] {
        let told = if matches!(options[0], "-v" | "--verbose") { told } else { "" };
        place.mnem(options).arguments(["log", "--ids", "-n1"]).says(said, told);
        place.mnem(&["log"]).arguments(options).arguments(["--ids", "-n1"]).says(said, told);
        place.mnem(&["log", "--ids", "-n1"]).arguments(options).says(said, told);
    }
    let before = place.mnem(&["--json", "log"]).output();
    assert!(before.starts_with('{'));
    place.mnem(&["log", "--json"]).says(&before, "");
}

#[test]
fn nothing_may_be_abbreviated() {
    let place = Place::with_story();
    for (arguments, message, hint) in [
        (&["lo"][..], "unrecognized subcommand 'lo'", "a similar subcommand exists: 'log'"),
        (&["log", "--onelin"], "unexpected argument '--onelin' found", "a similar argument exists: '--oneline'"),
        (&["log", "--max", "1"], "unexpected argument '--max' found", "a similar argument exists: '--max-count'"),
        (&["--sess", "a", "log"], "unexpected argument '--sess' found", "a similar argument exists: '--session'"),
    ] {
        place.mnem(arguments).refuses(129, &format!("mnem: error[usage]: {message}\nhint: {hint}\n"));
    }
}

#[test]
fn help_goes_to_standard_output_and_shows_no_values_of_variables() {
    let place = Place::empty();
    let names = [
        "MNEM_DIR",
        "MNEM_CEILING_DIRECTORIES",
        "MNEM_SAFE_DIRECTORY",
        "MNEM_REV",
        "MNEM_REV_DIR",
        "MNEM_SESSION",
        "NO_COLOR",
        "CLICOLOR_FORCE",
        "MNEM_PAGER",
        "PAGER",
        "MNEM_LOCK_TIMEOUT",
        "MNEM_AUTHOR",
        "MNEM_DATE",
        "MNEM_AGENT_STEP",
        "MNEM_OBSERVATION",
        "MNEM_TOOL_CALL",
        "MNEM_SOURCE",
        "MNEM_NOTE",
        "USER",
        "EDITOR",
    ];
    for command in COMMANDS.iter().map(Some).chain([None]) {
        for option in ["-h", "--help"] {
            let arguments: Vec<_> = command.into_iter().copied().chain([option]).collect();
            let help = place.mnem(&arguments).output();
            assert!(help.contains("\nUsage: mnem "), "{help}");
            let run = names.iter().fold(place.mnem(&arguments), |run, name| run.env(name, "secret"));
            run.says(&help, "");
        }
    }
}

#[test]
fn a_store_is_found_from_below_and_a_path_is_relative_to_where_the_command_acts() {
    let place = Place::with_story();
    place.write("a/b/note.txt", "found");
    place.mnem(&["put", "k", "-F", "note.txt"]).within("a/b").says("k\n", "");
    place.mnem(&["-C", "a", "-C", "b", "put", "k2", "-F", "note.txt"]).says("k2\n", "");
    place.mnem(&["-C", &place.argument("a"), "get", "k2"]).within("a/b").says("found", "");
    assert!(!place.path("a/b/.mnemosyne").exists());
    place.mnem(&["-C", "a/none", "log"]).refuses(
        129,
        "mnem: error[usage]: cannot change to 'a/none': no such directory\nhint: mnem -C DIRECTORY COMMAND\n",
    );
}

#[test]
fn the_option_beats_the_variable_which_beats_the_search() {
    let place = Place::with_story();
    for name in ["a", "b"] {
        place.mnem(&["init", "-q", "--store", name]).output();
        place.mnem(&["--store", name, "put", "user/diet", name]).says("user/diet\n", "");
    }
    let get = || place.mnem(&["get", "user/diet"]);
    get().says("loves steak", "");
    get().env("MNEM_DIR", "").says("loves steak", "");
    get().env("MNEM_DIR", "a").says("a", "");
    get().env("MNEM_DIR", place.path("b")).says("b", "");
    get().env("MNEM_DIR", "a").arguments(["--store", "b"]).says("b", "");
    place.directory("sub");
    get().env("MNEM_DIR", "../a").arguments(["-C", "sub"]).says("a", "");
    for path in ["none", "none/none", "sub"] {
        let refusal = |named_by: &str| {
            format!(
                "mnem: error[no-store]: no memory store at '[PLACE]/{path}', which {named_by} names\n\
                 hint: create it with 'mnem init', or unset {named_by} ('[PLACE]/{path}')\n"
            )
        };
        get().env("MNEM_DIR", place.path(path)).refuses(128, &refusal("MNEM_DIR"));
        get().arguments(["--store", &place.argument(path)]).refuses(128, &refusal("--store"));
    }
}

#[test]
fn the_search_stops_at_a_ceiling() {
    let place = Place::with_story();
    place.directory("a/b");
    let log =
        |ceilings: &str| place.mnem(&["-C", "a/b", "log", "--ids", "-n1"]).env("MNEM_CEILING_DIRECTORIES", ceilings);
    let (root, a) = (place.argument(""), place.argument("a"));
    let root = root.trim_end_matches('/');
    for ceilings in [root, &a, &format!("/none:{a}"), &format!("{a}/:")] {
        log(ceilings).refuses(128, &NO_STORE.replace("[PLACE]", "[PLACE]/a/b"));
    }
    for ceilings in ["", "/none", "a", &format!("{a}/b"), &format!("{root}/c")] {
        log(ceilings).says(&format!("{THIRD}\n"), "");
    }
    let run = place.mnem(&["--store", "../../.mnemosyne", "-C", "a/b", "log", "--ids", "-n1"]);
    run.env("MNEM_CEILING_DIRECTORIES", root).says(&format!("{THIRD}\n"), "");
}

#[test]
fn a_store_that_is_not_trusted_is_refused_for_reads_too_until_it_is_named() {
    let place = Place::with_story();
    let store = place.path(".mnemosyne");
    fs::set_permissions(&store, fs::Permissions::from_mode(0o707)).expect("mode");
    let refusal = |path: &str, why: &str| {
        format!(
            "mnem: error[unsafe-store]: the memory store '{path}' is not trusted: {why}\n\
             hint: to trust it: export MNEM_SAFE_DIRECTORY='{path}'\n"
        )
    };
    let open = refusal("[PLACE]/.mnemosyne", "anyone may write to it");
    for arguments in [&["log"][..], &["get", "k"], &["put", "k", "v"], &["commit", "-m", "c"]] {
        place.mnem(arguments).refuses(128, &open);
        place.mnem(arguments).env("MNEM_DIR", &store).refuses(128, &open);
        place.mnem(arguments).arguments(["--store", ".mnemosyne"]).refuses(128, &open);
        place.mnem(arguments).env("MNEM_SAFE_DIRECTORY", "/none:./.mnemosyne:.").refuses(128, &open);
    }
    for safe in ["*", &place.argument(""), &place.argument(".mnemosyne"), &format!("/none:{}", place.argument(""))] {
        place.mnem(&["log", "--ids", "-n1"]).env("MNEM_SAFE_DIRECTORY", safe).says(&format!("{THIRD}\n"), "");
    }
    fs::set_permissions(&store, fs::Permissions::from_mode(0o700)).expect("mode");
    symlink(&store, place.path("link")).expect("a link");
    place.mnem(&["--store", "link", "log"]).refuses(128, &refusal("[PLACE]/link", "it is a symbolic link"));
}

#[test]
fn a_revision_in_the_environment_is_read_and_never_written_at() {
    let place = Place::with_story();
    let at = |arguments: &[&str]| place.mnem(arguments).env("MNEM_REV", "HEAD~1");
    at(&["log", "--ids"]).says(&format!("{SECOND}\n{FIRST}\n"), "");
    at(&["get", "user/allergies"]).says("[\"peanuts\", 1.0]", "");
    at(&["get", "user/diet", "-r", FIRST]).says("vegan since 2019", "");
    at(&["log", "--ids", "-r", FIRST]).says(&format!("{FIRST}\n"), "");
    at(&["log", "--ids", FIRST]).says(&format!("{FIRST}\n"), "");
    let refusal = "mnem: error[read-only-rev]: MNEM_REV is set to 'HEAD~1', so nothing is written\n\
        hint: to write, run it without: env -u MNEM_REV mnem …\n";
    for arguments in [
        &["put", "k", "v"][..],
        &["put", "k", "v", "-m", "c"],
        &["put", "--jsonl", "-"],
        &["put", "k", "v", "--dry-run"],
        &["commit", "--dry-run"],
        &["commit", "--dry-run", "--only", "user/diet"],
        &["commit", "-m", "c"],
        &["commit", "--allow-empty", "-m", "c"],
        &["commit", "--skip-empty", "-m", "c"],
        &["restore", "user/diet"],
        &["rm", "user/diet"],
        &["import", "-"],
        &["config", "author", "Me"],
        &["init"],
        &["init", "below"],
    ] {
        at(arguments).refuses(129, refusal);
    }
    place.mnem(&["put", "k", "v"]).env("MNEM_REV", "").says("k\n", "");
    place.mnem(&["get", "k"]).env("MNEM_REV", "").says("v", "");
    at(&["get", "k"]).refuses(1, "mnem: error[no-node]: no node 'k'\nhint: see 'mnem ls'\n");
    place
        .mnem(&["get", "k"])
        .env("MNEM_REV", "mian")
        .refuses(128, "mnem: error[bad-revision]: unknown revision 'mian'\nhint: did you mean 'main'?\n");
}

#[test]
fn the_revision_may_be_limited_to_one_store() {
    let place = Place::with_story();
    place.mnem(&["init", "-q", "other"]).output();
    let at =
        |arguments: &[&str], limit: &str| place.mnem(arguments).env("MNEM_REV", "HEAD~1").env("MNEM_REV_DIR", limit);
    let store = place.argument(".mnemosyne");
    for limit in [store.as_str(), ".mnemosyne", "other/../.mnemosyne"] {
        at(&["get", "user/allergies"], limit).says("[\"peanuts\", 1.0]", "");
        let answer = at(&["put", "k", "v"], limit).answer();
        assert!(answer.status == 129 && answer.stderr.starts_with("mnem: error[read-only-rev]: "), "{answer:?}");
        at(&["-C", "other", "put", "k", "v"], &store).says("k\n", "");
        at(&["-C", "other", "get", "k"], &store).says("v", "");
    }
    at(&["get", "user/allergies"], "").says("[\"peanuts\", 1.0]", "");
    at(&["-C", "other", "get", "k"], "").refuses(
        128,
        "mnem: error[bad-revision]: no commit yet on 'main'\n\
         hint: make one with 'mnem put ID CONTENT' and 'mnem commit -m MESSAGE'\n",
    );
}

#[test]
fn an_empty_variable_is_an_unset_one() {
    let names = [
        "MNEM_DIR",
        "MNEM_CEILING_DIRECTORIES",
        "MNEM_SAFE_DIRECTORY",
        "MNEM_REV",
        "MNEM_REV_DIR",
        "MNEM_SESSION",
        "NO_COLOR",
        "CLICOLOR_FORCE",
        "MNEM_PAGER",
        "PAGER",
        "MNEM_LOCK_TIMEOUT",
        "MNEM_AUTHOR",
        "MNEM_DATE",
        "MNEM_AGENT_STEP",
        "MNEM_OBSERVATION",
        "MNEM_TOOL_CALL",
        "MNEM_SOURCE",
        "MNEM_NOTE",
        "USER",
        "HOME",
        "TERM",
        "TZ",
        "LC_ALL",
    ];
    let place = Place::with_store();
    let run = |arguments: &[&str]| names.iter().fold(place.mnem(arguments), |run, name| run.env(name, ""));
    run(&["put", "k", "v"]).says("k\n", "");
    run(&["get", "--json", "k"]).says(&super::oracle::Node::new("k", "\"v\"").row(), "");
    run(&["commit", "-qm", "c", "--date", "@0"]).output();
    let log = run(&["log"]).output();
    let expected = "(HEAD -> main)\nAuthor: unknown\nDate:   1970-01-01T00:00:00.000+00:00\n\n    c\n";
    assert!(log.ends_with(expected), "{log}");
    // The clock was asked: a generated id takes its time from it.
    let id = run(&["put", "--new", "v"]).output();
    assert_eq!(id.len(), 37);
}

#[test]
fn a_c_locale_changes_no_byte() {
    let place = Place::with_store();
    let run = |arguments: &[&str]| place.mnem(arguments).env("LC_ALL", "C").env("LANG", "C");
    run(&["put", "clé", "naïve ☕", "-m", "été"]).says("clé\n", "");
    run(&["get", "clé"]).says("naïve ☕", "");
    let log = run(&["log", "--oneline"]).output();
    assert!(log.ends_with(" été\n"), "{log}");
}

#[test]
fn whoever_may_not_wait_is_refused_while_another_writes() {
    let place = Place::with_story();
    place.mnem(&["put", "k", "v"]).says("k\n", "");
    let busy = |path: &str| {
        format!(
            "mnem: error[busy]: '[PLACE]/.mnemosyne{path}' is in use by another process\n\
             hint: wait for it, or give it longer with '--lock-timeout 60s'\n"
        )
    };
    let log = fs::File::open(place.path(".mnemosyne/staged/default")).expect("the log");
    log.lock().expect("a lock");
    for timeout in ["0", "0s", "1ms"] {
        place.mnem(&["put", "k", "w", "--lock-timeout", timeout]).refuses(128, &busy("/staged/default"));
        place.mnem(&["commit", "-m", "c"]).env("MNEM_LOCK_TIMEOUT", timeout).refuses(128, &busy("/staged/default"));
    }
    place.mnem(&["put", "k", "w", "--lock-timeout", "0", "--session", "other"]).says("k\n", "");
    place.mnem(&["get", "k", "--lock-timeout", "0"]).says("v", "");
    log.unlock().expect("no lock");

    let mut builder = redb::Builder::new();
    builder.set_concurrency_mode(redb::ConcurrencyMode::MultiWriter);
    let database = builder.open(place.path(".mnemosyne/store.redb")).expect("the database");
    let transaction = database.begin_write().expect("a transaction");
    place.mnem(&["commit", "-m", "c", "--lock-timeout", "0"]).ends(128, "", &busy(""));
    place.mnem(&["put", "k", "w", "--lock-timeout", "0"]).says("k\n", "");
    place.mnem(&["log", "--ids", "-n1", "--lock-timeout", "0"]).says(&format!("{THIRD}\n"), "");
    transaction.abort().expect("no transaction");
    place.mnem(&["commit", "-qm", "c", "--lock-timeout", "0"]).output();
}

#[test]
fn that_a_word_goes_behind_dashes_is_said_only_where_it_can_stand_there() {
    let place = Place::with_story();
    for (arguments, word, hint) in [
        (&["get", "--x y"][..], "--x y", "mnem get -- '--x y'"),
        (&["blame", "a", "--x"], "--x", "mnem blame -- --x"),
        (&["rm", "-x"], "-x", "mnem rm -- -x"),
        (&["restore", "--x"], "--x", "mnem restore -- --x"),
        (&["check", "--x"], "--x", "mnem check -- --x"),
        (&["import", "--x"], "--x", "mnem import -- --x"),
        (&["show", "--x"], "--x", "see 'mnem show --help'"),
        (&["branch", "--x"], "--x", "see 'mnem branch --help'"),
        (&["switch", "--x"], "--x", "see 'mnem switch --help'"),
        (&["tag", "--x"], "--x", "see 'mnem tag --help'"),
        (&["reset", "--x"], "--x", "see 'mnem reset --help'"),
        (&["rev-parse", "--x"], "--x", "see 'mnem rev-parse --help'"),
        (&["merge-base", "--x", "y"], "--x", "see 'mnem merge-base --help'"),
        (&["completions", "--x"], "--x", "see 'mnem completions --help'"),
        (&["config", "--x"], "--x", "see 'mnem config --help'"),
    ] {
        let refused = format!("mnem: error[usage]: unexpected argument '{word}' found\nhint: {hint}\n");
        place.mnem(arguments).refuses(129, &refused);
    }
}
