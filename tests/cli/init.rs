//! `mnem init`

use super::support::Place;
use std::process::Command;

#[test]
fn it_makes_a_store_that_only_its_owner_reads() {
    let place = Place::empty();
    let init = place.mnem(&["init"]).command();
    let mut shell = Command::new("sh");
    shell.args(["-c", "umask 0; exec \"$0\" init"]).arg(init.get_program()).current_dir(place.path(""));
    let output = shell.output().expect("a shell");
    assert!(output.status.success(), "{output:?}");
    let files = place.files();
    let modes: Vec<_> = files.iter().map(|(name, (mode, _))| format!("{mode:o} {name}")).collect();
    assert_eq!(
        modes,
        ["700 .mnemosyne", "600 .mnemosyne/.gitignore", "700 .mnemosyne/staged", "600 .mnemosyne/store.redb"]
    );
    assert_eq!(files[".mnemosyne/.gitignore"].1.as_deref(), Some(&b"*\n"[..]));
}

#[test]
fn it_prints_where_the_store_is() {
    let place = Place::empty();
    place.mnem(&["init"]).says("[PLACE]/.mnemosyne\n", "");
    place
        .mnem(&["init", "a/b"])
        .says("[PLACE]/a/b/.mnemosyne\n", "a new store inside another one: '[PLACE]/.mnemosyne'\n");
    place.mnem(&["init", "-q", "quiet"]).says("[PLACE]/quiet/.mnemosyne\n", "");
    place.mnem(&["init", "-z", "--quiet", "z"]).says("[PLACE]/z/.mnemosyne\0", "");
    let json = "{\"v\":1,\"type\":\"init\",\"path\":\"[PLACE]/j/.mnemosyne\",\"created\":true}\n";
    place.mnem(&["init", "--json", "-q", "j"]).says(json, "");
    place.mnem(&["init", "--json", "j"]).says(&json.replace("true", "false"), "already initialised\n");
}

#[test]
fn a_second_init_changes_nothing() {
    let place = Place::with_story();
    let before = place.files();
    place.mnem(&["init"]).says("[PLACE]/.mnemosyne\n", "already initialised\n");
    place.mnem(&["init", "-b", "other", "."]).says("[PLACE]/.mnemosyne\n", "already initialised\n");
    assert!(place.files() == before);
}

#[test]
fn what_a_killed_init_left_blocks_nothing() {
    let place = Place::empty();
    place.write(".mnemosyne-new-x1y2z3/store.redb", "");
    place.mnem(&["init"]).says("[PLACE]/.mnemosyne\n", "");
    place.mnem(&["log"]).says("", "no commit yet on 'main'\n");
}

#[test]
fn the_first_branch_has_the_given_name() {
    let place = Place::empty();
    for (directory, option) in [("short", "-b"), ("long", "--branch")] {
        place.mnem(&["init", directory, option, "agents/seven"]).says(&format!("[PLACE]/{directory}/.mnemosyne\n"), "");
        place.mnem(&["-C", directory, "log"]).says("", "no commit yet on 'agents/seven'\n");
    }
}

#[test]
fn a_named_store_is_made_where_it_is_named() {
    let place = Place::empty();
    place.mnem(&["init", "--store", "by-option"]).says("[PLACE]/by-option\n", "");
    place.mnem(&["init"]).env("MNEM_DIR", "by-variable").says("[PLACE]/by-variable\n", "");
    place.mnem(&["init", "--store", "both"]).env("MNEM_DIR", "unused").says("[PLACE]/both\n", "");
    place.mnem(&["init", "by-path"]).env("MNEM_DIR", "unused").says("[PLACE]/by-path/.mnemosyne\n", "");
    assert!(!place.path("unused").exists());
    place
        .mnem(&["-C", "by-path", "init", "below"])
        .says("[PLACE]/by-path/below/.mnemosyne\n", "a new store inside another one: '[PLACE]/by-path/.mnemosyne'\n");
    place.mnem(&["init", "-q", "a\u{202e}b"]).output();
    place.mnem(&["init", "a\u{202e}b/c"]).says(
        "[PLACE]/a\u{202e}b/c/.mnemosyne\n",
        "a new store inside another one: '[PLACE]/a\\u{202e}b/.mnemosyne'\n",
    );
}

#[test]
fn what_stands_in_its_place_is_left_alone() {
    let place = Place::empty();
    place.write(".mnemosyne", "a file");
    place.mnem(&["init"]).refuses(
        128,
        "mnem: error[no-store]: '[PLACE]/.mnemosyne' is not a directory\n\
         hint: move it away, then create one with 'mnem init'\n",
    );
    place.write("file", "");
    place
        .mnem(&["init", "file"])
        .refuses(128, "mnem: error[io]: looking for '[PLACE]/file/.mnemosyne' failed: Not a directory (os error 20)\n");
}
