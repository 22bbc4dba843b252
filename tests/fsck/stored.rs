//! Damaged stores that stay as they are: what is found of them may only become more exact.
//!
//! Each is a directory of `tests/data/fsck/` with a database, perhaps staged logs, and `findings`: what `mnem fsck --json`
//! prints of it. `MNEM_BLESS=1` makes those that are missing, and writes what is found.

use crate::damages::check;
use crate::raw::{HISTORY, OBJECT, Place, Raw, split_key};
use crate::story::{commits, node, node_bytes, story};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Damages a story; each store is made once and never again.
type Damage = fn(&Place);

const STORES: [(&str, Damage); 4] = [
    ("other-node", |place| {
        // The bytes of another node, under a check that is right.
        let raw = Raw::open(&place.database());
        raw.put(OBJECT, node(&raw, "b", "2"), &[&[1], &node_bytes("b", "never said")[..]].concat());
        raw.close();
    }),
    ("lost-history", |place| {
        // Nothing is lost that does not follow from the rest.
        let raw = Raw::open(&place.database());
        let all = commits(&raw);
        raw.remove(HISTORY, &split_key("a", all[0])[..]);
        raw.put(HISTORY, &split_key("b", all[0])[..], &7u64.to_le_bytes());
        raw.close();
    }),
    ("flipped-bit", |place| {
        // In the message of the first commit. Pages that are free hold it too.
        let sound = fs::read(place.database()).expect("a file");
        for at in (0..sound.len() - 4).filter(|&at| &sound[at..at + 4] == b"five") {
            let mut bytes = sound.clone();
            bytes[at] ^= 4;
            fs::write(place.database(), bytes).expect("written");
            if !check(place).findings.is_empty() {
                return;
            }
        }
        panic!("no page is in use");
    }),
    ("spoiled-log", |place| {
        place.run(&["put", "b", "staged too"]);
        let mut bytes = fs::read(place.log("default")).expect("a log");
        bytes[50] ^= 1;
        fs::write(place.log("default"), bytes).expect("written");
    }),
];

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/fsck").join(name)
}

#[expect(clippy::disallowed_methods, reason = "whether it is blessed is for whoever runs it to say")]
fn is_blessing() -> bool {
    std::env::var("MNEM_BLESS").is_ok_and(|value| value == "1")
}

fn make(name: &str, damage: Damage) {
    let place = story();
    damage(&place);
    fs::create_dir_all(data(name).join("staged")).expect("a directory");
    fs::copy(place.database(), data(name).join("store.redb")).expect("copied");
    if name == "spoiled-log" {
        fs::copy(place.log("default"), data(name).join("staged/default")).expect("copied");
    }
}

#[test]
fn what_is_found_of_damaged_stores_stays() {
    for (name, damage) in STORES {
        if is_blessing() && !data(name).exists() {
            make(name, damage);
        }
        let place = Place::empty();
        place.take(&data(name));
        let mut command = Command::new(env!("CARGO_BIN_EXE_mnem"));
        command.env_clear().current_dir(place.path()).args(["fsck", "--json", "-q"]);
        let output = command.output().expect("the binary");
        let [out, err] = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).expect("UTF-8"));
        assert_eq!(output.status.code(), Some(128), "{name}: {out}{err}");
        assert!(err.starts_with(r#"{"v":1,"type":"error","code":"corrupt","#), "{name}: {err}");
        let path = data(name).join("findings");
        if is_blessing() {
            fs::write(&path, &out).expect("written");
        }
        assert_eq!(out, fs::read_to_string(&path).expect("there"), "{name}");
    }
}
