//! `mnem fsck`

use super::support::{FIRST, Place, lines};
use redb::{Builder, ConcurrencyMode, ReadableTable, TableDefinition, WriteTransaction};
use std::fs;

const SOUND: &str = "3 commits and 13 objects looked at; nothing is wrong\n";

fn change(place: &Place, change: impl FnOnce(&WriteTransaction)) {
    let mut builder = Builder::new();
    builder.set_concurrency_mode(ConcurrencyMode::MultiWriter);
    let database = builder.open(place.path(".mnemosyne/store.redb")).expect("a database");
    let transaction = database.begin_write().expect("a transaction");
    change(&transaction);
    transaction.commit().expect("committed");
}

/// Takes the row of the first commit in the index of ids away.
fn lose_an_id(place: &Place) {
    change(place, |transaction| {
        let table = TableDefinition::<&[u8; 32], &[u8]>::new("hash");
        let mut table = transaction.open_table(table).expect("a table");
        let mut bytes = [0; 32];
        for (byte, pair) in bytes.iter_mut().zip(FIRST.as_bytes().chunks(2)) {
            let digits = std::str::from_utf8(pair).expect("digits");
            *byte = u8::from_str_radix(digits, 16).expect("hexadecimal");
        }
        assert!(table.remove(&bytes).expect("removed").is_some());
    });
}

/// Spoils the row of the first object.
fn spoil_an_object(place: &Place) {
    change(place, |transaction| {
        let table = TableDefinition::<u64, &[u8]>::new("object");
        let mut table = transaction.open_table(table).expect("a table");
        let mut value = table.get(1).expect("readable").expect("there").value().to_vec();
        value[20] ^= 1;
        table.insert(1, &value[..]).expect("written");
    });
}

#[test]
fn a_sound_store_is_silence_and_stays_as_it_is() {
    let place = Place::with_story();
    let before = place.files();
    place.mnem(&["fsck"]).says("", SOUND);
    place.mnem(&["fsck", "--json"]).says("", SOUND);
    place.mnem(&["fsck", "-q"]).says("", "");
    place.mnem(&["fsck", "--repair"]).says("", SOUND);
    assert!(place.files() == before);
    place.mnem(&["fsck"]).env("MNEM_REV", "HEAD~1").says("", SOUND);
    let refused = "mnem: error[read-only-rev]: MNEM_REV is set to 'HEAD', so nothing is written\n\
                   hint: to write, run it without: env -u MNEM_REV mnem …\n";
    place.mnem(&["fsck", "--repair"]).env("MNEM_REV", "HEAD").refuses(129, refused);
}

#[test]
fn what_follows_from_the_rest_is_put_right() {
    let place = Place::with_story();
    lose_an_id(&place);
    let row = format!("hash-row: index of ids, {FIRST}: commit 7 has no row");
    let told = "3 commits and 13 objects looked at; 1 finding\n\
                mnem: error[corrupt]: the memory store is damaged: 1 finding\nhint: mnem fsck --repair\n";
    place.mnem(&["fsck"]).ends(128, &lines(&[&row]), told);
    let json = |kind: &str| {
        format!(
            r#"{{"v":1,"type":"{kind}","name":"hash-row","about":"index of ids, {FIRST}","what":"commit 7 has no row","repairable":true,"commits":[],"ids":[]}}"#
        )
    };
    let error = r#"{"v":1,"type":"error","code":"corrupt","message":"the memory store is damaged: 1 finding","hint":"mnem fsck --repair","exit":128}"#;
    place.mnem(&["fsck", "--json", "-q"]).ends(128, &lines(&[json("finding")]), &lines(&[error]));
    place.mnem(&["fsck", "--repair"]).says(&lines(&[format!("repaired {row}")]), SOUND);
    place.mnem(&["fsck", "--repair"]).says("", SOUND);
    lose_an_id(&place);
    place.mnem(&["fsck", "--repair", "--json"]).says(&lines(&[json("repaired")]), SOUND);
}

#[test]
fn damage_is_named_with_what_it_reaches_and_keeps_a_repair_off() {
    let place = Place::with_story();
    spoil_an_object(&place);
    let row = "object-row: object 1: a row of the table 'object' fails its check; commit 8f53e073d1; id 'user/diet'";
    let hint = "hint: keep a copy of the store, and take what is lost from another copy or a bundle\n";
    let told = |findings: &str, before: &str| {
        format!(
            "3 commits and 12 objects looked at; {findings}\n\
             mnem: error[corrupt]: {before}the memory store is damaged: {findings}\n{hint}"
        )
    };
    place.mnem(&["fsck"]).ends(128, &lines(&[row]), &told("1 finding", ""));
    place.mnem(&["fsck", "--repair"]).ends(128, &lines(&[row]), &told("1 finding", ""));
    lose_an_id(&place);
    let both = [row.to_owned(), format!("hash-row: index of ids, {FIRST}: commit 7 has no row")];
    place.mnem(&["fsck"]).ends(128, &lines(&both), &told("2 findings", ""));
    let before = place.files();
    let refused = "nothing was repaired, for objects or commits are damaged: ";
    place.mnem(&["fsck", "--repair"]).ends(128, &lines(&both), &told("2 findings", refused));
    assert!(place.files() == before);
}

#[test]
fn what_a_newer_version_wrote_is_no_damage() {
    let place = Place::with_story();
    change(&place, |transaction| {
        let table = TableDefinition::<&str, &[u8]>::new("setting");
        let key = "format";
        let value = 2u64.to_le_bytes();
        let sum = crc32c::crc32c(b"setting\0format\x02\0\0\0\0\0\0\0").to_le_bytes();
        transaction.open_table(table).expect("a table").insert(key, &[&value[..], &sum].concat()[..]).expect("written");
    });
    place.mnem(&["fsck"]).ends(
        128,
        "unsupported-format: setting 'format': format 2 is not known\n",
        "3 commits and 13 objects looked at; 1 finding\n\
         mnem: error[unsupported-format]: the memory store holds what this version does not read\n\
         hint: read it with a newer mnem\n",
    );
}

#[test]
fn what_a_kill_leaves_is_told_and_is_no_damage() {
    let place = Place::with_story();
    let path = place.path(".mnemosyne/store.redb");
    let mut bytes = fs::read(&path).expect("a file");
    bytes[9] |= 2;
    fs::write(&path, &bytes).expect("written");
    fs::write(place.path(".mnemosyne/staged/default"), [0; 12]).expect("written");
    place.mnem(&["fsck"]).says(
        "",
        &format!(
            "the last writer did not close the file; the next one recovers it\n\
             the staged log of 'default' ends with 12 bytes that are no whole frame: a write that was cut off\n{SOUND}"
        ),
    );
    assert!(fs::read(&path).expect("a file") == bytes);
}
