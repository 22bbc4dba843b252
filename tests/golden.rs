//! Ids that never change: the literals here and the tables of `docs/golden-ids.md` are a promise of the format.
//!
//! They were computed from `docs/format.md` by a second implementation. A test that fails here means that every commit id
//! ever quoted is void: it is the code that is wrong.

use mnemosyne::model::{
    Author, BranchName, CommitTime, Content, ContentKind, Message, Node, NodeId, Provenance, SessionName, Timestamp,
};
use mnemosyne::object::{Commit, CommitId, StateId, decode_node, encode_node, node_object_id};
use mnemosyne::ops::{Condition, Write, put_and_commit};
use mnemosyne::store::{CommitWords, Store, StoreError, init};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

const NO_SOURCE: [Option<&str>; 5] = [None; 5];
const FULL: [Option<&str>; 5] =
    [Some("step-7"), Some("turn 3"), Some("call_9"), Some("https://example.org/a?b=c"), Some("from the user")];

/// A node with the id that it has for ever.
struct Golden {
    name: &'static str,
    node: Node,
    id: &'static str,
}

fn golden(
    name: &'static str,
    id: &str,
    json: &str,
    provenance: [Option<&str>; 5],
    event_time: Option<&str>,
    object: &'static str,
) -> Golden {
    let [agent_step, observation, tool_call, source, note] = provenance.map(|field| field.map(str::to_owned));
    let node = Node {
        id: NodeId::new(id).expect("an id"),
        content: Content::from_json(json).expect("JSON"),
        content_kind: ContentKind::Note,
        provenance: Provenance { agent_step, observation, tool_call, source, note },
        event_time: event_time.map(|time| Timestamp::parse(time).expect("a time")),
    };
    Golden { name, node, id: object }
}

fn nodes() -> Vec<Golden> {
    vec![
        golden(
            "text",
            "k",
            "\"hello\"",
            NO_SOURCE,
            None,
            "8f39010cedf9b3aa03468e1924f585fac76c8b879ecf7cc890d4bf675fdaa4f8",
        ),
        golden(
            "empty text",
            "k",
            "\"\"",
            NO_SOURCE,
            None,
            "d18150c28059861af7ebdbcd5a8c008415b0cc3c430f9ee7118d7ee1eb193d2d",
        ),
        golden(
            "escapes of text",
            "k",
            "\"q\\\"\\\\/\\b\\t\\n\\u000b\\f\\r\\u0000\\u001f\u{7f}\u{2028}\"",
            NO_SOURCE,
            None,
            "dba04883dc96ac9f154675873c2ca24d394cfe250e07aa611c3e0d5abd891f5f",
        ),
        golden(
            "the same letter, spelled as an escape",
            "k",
            "\"\\u0071\"",
            NO_SOURCE,
            None,
            "14c4311cefc1798bef8a76ba1f84623f8ee2787aeb6817a10e5cc09f7c1e164f",
        ),
        golden(
            "lone surrogate",
            "k",
            "\"\\ud800\"",
            NO_SOURCE,
            None,
            "1297fdabd0b5ad5faf59573b3da8042c3352e5445ca58c17f9b15f3df9c706f4",
        ),
        golden(
            "emoji and combining marks",
            "k",
            "\"🧠 e\u{301} 漢字\"",
            NO_SOURCE,
            None,
            "105a104b9c86d497205a5c3b0b5a280025b145118ef1f5e51e45216a75fe90c8",
        ),
        golden(
            "null",
            "k",
            "null",
            NO_SOURCE,
            None,
            "54e264baec4f1450a8807c0429516fe0b7555946842b4dceca85ee9ebd1c3e58",
        ),
        golden(
            "false",
            "k",
            "false",
            NO_SOURCE,
            None,
            "3a8106d71d136438e04383eb39f97285bea55d865cef177b3219d906953de4dd",
        ),
        golden(
            "big integer",
            "k",
            "123456789012345678901234567890",
            NO_SOURCE,
            None,
            "3f27869b16b05f2a33103db3b81f753e194bfac9fa88f9d79467963d69965368",
        ),
        golden(
            "exponent beyond a double",
            "k",
            "1e400",
            NO_SOURCE,
            None,
            "f17324b3519590e9cc9700111df5a75df9e6601cc76dcebc85b0459a08f6aa67",
        ),
        golden(
            "minus zero",
            "k",
            "-0",
            NO_SOURCE,
            None,
            "84d12811896928f5063e1b229c0200b1f0947c910aac584de4c6d3a736a4e6a5",
        ),
        golden(
            "trailing zero of a number",
            "k",
            "1.10",
            NO_SOURCE,
            None,
            "9ccd92037699fb2771236ee05cab32f37f77a4faf9fc351e0ec7caffb0c3f230",
        ),
        golden(
            "empty object",
            "k",
            "{}",
            NO_SOURCE,
            None,
            "a8931e84982f92f342c39f7a7a424829ee10dc51e069ad24b3c498aa46b99379",
        ),
        golden(
            "duplicate keys",
            "k",
            "{\"a\":1,\"a\":2}",
            NO_SOURCE,
            None,
            "714e3dda7eaec25324e43cf13a5334be253d4730dc07a620ab5de257dc3ec540",
        ),
        golden(
            "white space inside",
            "k",
            "{ \"b\" : [ 1 ,\n\t2 ] , \"a\" : null }",
            NO_SOURCE,
            None,
            "7f96332fb8799d1d30b7f7ea6e250129b08035306bc1395d5e7b8c0876cda840",
        ),
        golden(
            "deep array",
            "k",
            &format!("{}{}", "[".repeat(1_000), "]".repeat(1_000)),
            NO_SOURCE,
            None,
            "add87640695aead49783ac2120c25cbc4bc6263ca8ce83f5d1d819c4b48592e6",
        ),
        golden(
            "unicode id",
            "général/漢字/🧠",
            "\"x\"",
            NO_SOURCE,
            None,
            "630421d7f6bda21f6a7c14b2ef41033bcc7e7f114d1fd4e90ca359cd96e5dc9c",
        ),
        golden(
            "id with quotes and a backslash",
            "a\"b\\c",
            "\"x\"",
            NO_SOURCE,
            None,
            "f2bc04482f49f4fae5406c5c9152a12ce6b9995e6f2b9ee6ca085ef036fe9dc7",
        ),
        golden(
            "longest id",
            &"i".repeat(1_024),
            "\"x\"",
            NO_SOURCE,
            None,
            "7eee407c9673570ff1952cdecba3682da2ab46ad9ab2ca3a75b6e2ec2a062da9",
        ),
        golden(
            "event time in UTC",
            "k",
            "\"x\"",
            NO_SOURCE,
            Some("2024-05-06T07:08:09Z"),
            "3e47eab04693961ad6bced5f26d526513319bfc0cc8cff713ada88ca042a1904",
        ),
        golden(
            "event time with offset and fraction",
            "k",
            "\"x\"",
            NO_SOURCE,
            Some("2024-05-06T07:08:09.123456789+05:30"),
            "1b0879302767e3ca256b1a3185fcba2f8af191f479b0cc7835e4646034bb0d09",
        ),
        golden(
            "leap second",
            "k",
            "\"x\"",
            NO_SOURCE,
            Some("2016-12-31T23:59:60Z"),
            "9943a2cb8f1170eec57e13ce21d7c14cd340ad2d124b9610195ec9730dd1c45a",
        ),
        golden(
            "full provenance",
            "k",
            "\"x\"",
            FULL,
            None,
            "7969008c284597e528fee3af1e0d73d6788b40f0ddf4f120b5028edf277d58d5",
        ),
        golden(
            "one field of provenance, empty",
            "k",
            "\"x\"",
            [None, None, Some(""), None, None],
            None,
            "849bff0d1dfc4504d72c426440851d527e7052ce537e6ff48c2e93a7d8514f59",
        ),
        golden(
            "everything",
            "user/diet",
            "{\"likes\":[\"tofu\"],\"vegan\":true}",
            FULL,
            Some("2024-05-06T07:08:09-03:00"),
            "32f5910856f22566e76657e1283d296db8f1d16d1d2cc815cdf60a44572165d2",
        ),
    ]
}

/// States of the nodes `fact/0`, `fact/1` and so on, whose contents are the texts `value 0`, `value 1` and so on.
const STATES: [(&str, usize, &str); 4] = [
    ("no node", 0, "e831d06264fcb540423fd320660cc6cb3ba37383fab7ee1da3f0d7e18fdd4a41"),
    ("one node", 1, "0fbbfddee1db85439d8b07680c54db282c60926b1369febd456b4548cda96a84"),
    ("two nodes", 2, "5d100bf16fcf2c2fb193e6c4b8a7e838f82dcddf72cfc1cc6ca013816b2c64ed"),
    ("a thousand nodes", 1_000, "0acdf65e675bb5b89ec0b38128b998e5df740ee04be13e7192dfe5b97e989ce3"),
];

/// A commit of one of [`STATES`], with others of [`COMMITS`] as parents.
struct GoldenCommit {
    name: &'static str,
    parents: &'static [usize],
    state: usize,
    author: &'static str,
    time: &'static str,
    message: &'static str,
    id: &'static str,
}

const COMMITS: [GoldenCommit; 4] = [
    GoldenCommit {
        name: "root",
        parents: &[],
        state: 1,
        author: "Ada <ada@example.org>",
        time: "2024-05-06T07:08:09.000+00:00",
        message: "first",
        id: "eec150eea7990ddf01b5e18c2dbc21d3602cec2fb00779e887b2875a53abba50",
    },
    GoldenCommit {
        name: "root of no node",
        parents: &[],
        state: 0,
        author: "unknown",
        time: "1969-12-31T23:59:59.999-23:59",
        message: "empty",
        id: "eb9dd5da63d38ffb7addf79a3eafcae0b4d62c840a7e679f655f9a128d33f2c6",
    },
    GoldenCommit {
        name: "linear",
        parents: &[0],
        state: 2,
        author: "Ada <ada@example.org>",
        time: "2024-05-06T09:38:10.500+02:30",
        message: "second\n\n\"why\" — é",
        id: "17806b928313b7486ebbcd3c12033a1f1c5bde3a4d812458d7e0624be74f2e5c",
    },
    GoldenCommit {
        name: "merge",
        parents: &[2, 1],
        state: 3,
        author: "漢字",
        time: "9999-12-31T23:59:59.999+00:00",
        message: "merge",
        id: "f0efe1707360a8007b12f600b173690bcbce1fd0af2697efe25b5e9e9f5cf5bc",
    },
];

impl GoldenCommit {
    fn commit(&self) -> Commit {
        Commit {
            parents: self.parents.iter().map(|&at| CommitId::parse(COMMITS[at].id).expect("an id")).collect(),
            state: StateId::parse(STATES[self.state].2).expect("an id"),
            author: Author::new(self.author).expect("an author"),
            time: CommitTime::parse(self.time).expect("a time"),
            message: Message::new(self.message).expect("a message"),
        }
    }
}

fn fact(number: usize) -> Node {
    golden("", &format!("fact/{number}"), &format!("\"value {number}\""), NO_SOURCE, None, "").node
}

#[test]
fn nodes_have_the_ids_that_they_always_had() {
    for Golden { name, node, id } in nodes() {
        let bytes = encode_node(&node);
        assert_eq!(node_object_id(&bytes).to_string(), id, "{name}");
        assert_eq!(decode_node(&bytes).as_ref(), Ok(&node), "{name}");
    }
}

/// Through a store, and whether the nodes come in one commit or in several, the last ones first.
#[test]
fn states_have_the_ids_that_they_always_had() {
    for (name, count, id) in STATES {
        for batch in [count.max(1), 400] {
            let place = tempfile::tempdir().expect("a directory");
            let directory = place.path().join(".mnemosyne");
            init(&directory, &BranchName::new("main").expect("a name")).expect("a store");
            let store = Store::new(directory, Duration::from_secs(60));
            let session = SessionName::default();
            let words = CommitWords {
                author: Author::new("a").expect("an author"),
                time: CommitTime::new(0, 0).expect("a time"),
                message: Message::new("m").expect("a message"),
            };
            let commit = |writes| {
                put_and_commit(&store, &session, writes, Condition::Any, &words).expect("a commit");
            };
            // The empty state is what is left when the only node has gone.
            commit(vec![Write::Set(fact(0))]);
            let numbers: Vec<_> = (0..count).rev().collect();
            for part in numbers.chunks(batch) {
                commit(part.iter().map(|&number| Write::Set(fact(number))).collect());
            }
            if count == 0 {
                commit(vec![Write::Remove(fact(0).id)]);
            }
            let state = store.read(&session, |view| {
                let head = view.head_commit()?.expect("a commit");
                Ok::<_, StoreError>(view.tables.commit(head)?.state())
            });
            assert_eq!(state.expect("readable").to_string(), id, "{name}, {batch} at once");
        }
    }
}

#[test]
fn commits_have_the_ids_that_they_always_had() {
    for golden in COMMITS {
        let commit = golden.commit();
        assert_eq!(commit.id().to_string(), golden.id, "{}", golden.name);
        assert_eq!(Commit::decode(&commit.encode()).as_ref(), Ok(&commit), "{}", golden.name);
    }
}

/// Canonical bytes as the document shows them: what has no shape as its number, what comes often in a row as a count.
fn shown(bytes: Vec<u8>) -> String {
    const OFTEN: usize = 100;
    let text = String::from_utf8(bytes).expect("UTF-8");
    let mut out = String::new();
    let mut rest = text.chars().peekable();
    while let Some(character) = rest.next() {
        let mut count = 1;
        while rest.next_if_eq(&character).is_some() {
            count += 1;
        }
        let shape = match character {
            '\0'..='\u{1f}' | '\u{7f}' | '\u{301}' | '\u{2028}' => format!("⟨U+{:04X}⟩", u32::from(character)),
            _ => character.to_string(),
        };
        if count > OFTEN {
            out.push_str(&format!("⟨{count} × {shape}⟩"));
        } else {
            out.push_str(&shape.repeat(count));
        }
    }
    out
}

#[test]
fn the_document_has_the_same_ids() {
    let mut tables = String::from("| node | canonical bytes | id |\n|---|---|---|\n");
    for Golden { name, node, id } in nodes() {
        tables.push_str(&format!("| {name} | `{}` | `{id}` |\n", shown(encode_node(&node))));
    }
    tables.push_str("\n| state | id |\n|---|---|\n");
    for (name, _, id) in STATES {
        tables.push_str(&format!("| {name} | `{id}` |\n"));
    }
    tables.push_str("\n| commit | canonical bytes | id |\n|---|---|---|\n");
    for golden in COMMITS {
        tables.push_str(&format!("| {} | `{}` | `{}` |\n", golden.name, shown(golden.commit().encode()), golden.id));
    }
    let document = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/golden-ids.md")).expect("there");
    assert!(document.ends_with(&tables), "docs/golden-ids.md must end so:\n{tables}");
}

/// A copy of the store of `tests/data/store-v1`, which must never be written again: every build has to read it.
fn old_store() -> (tempfile::TempDir, PathBuf) {
    let place = tempfile::tempdir().expect("a directory");
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/store-v1/mnemosyne");
    let store = place.path().join(".mnemosyne");
    fs::create_dir_all(store.join("staged")).expect("a directory");
    for file in ["store.redb", "staged/default", "staged/other"] {
        fs::copy(from.join(file), store.join(file)).expect("copied");
    }
    (place, store)
}

fn answer(place: &Path, arguments: &[&str]) -> (Option<i32>, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mnem"));
    command
        .env_clear()
        .current_dir(place)
        .env("MNEM_DATE", "2024-05-06T07:08:09+00:00")
        .env("MNEM_AUTHOR", "Ada")
        .args(arguments);
    let output = command.output().expect("the binary");
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    (output.status.code(), text(output.stdout), text(output.stderr))
}

const FIRST: &str = "d9152e852cbe97ea49c2276da805ab5dafaa58e3d100ef73330f765faf485dfb";
const SECOND: &str = "f977dfd7c3e2a8dce98bfbf7517b8b0da24c3134e39faceaf0f6dcef7bd5641a";
const THIRD: &str = "814ce4d212485ec7ec073b67dd90856a7bb7604c1fe8e2b0daefdb8e6bc22711";
const FOURTH: &str = "09309bdb3b499c541195732d85f7bdeaf761e87223335bc718d15615e24df4b6";

#[test]
fn the_store_of_the_first_format_is_read() {
    let (place, _) = old_store();
    let ids = |ids: &[&str]| ids.iter().map(|id| format!("{id}\n")).collect::<String>();
    let questions: [(&[&str], String); 13] = [
        (&["log", "--ids"], ids(&[SECOND, FIRST])),
        (&["log", "--ids", "--", "user/diet"], ids(&[SECOND, FIRST])),
        (&["log", "--ids", "--", "user/langs"], ids(&[FIRST])),
        (&["log", "--ids", "--", "fact/"], ids(&[SECOND, FIRST])),
        (&["log", "--ids", FIRST], ids(&[FIRST])),
        (&["get", "user/diet"], "staged too".to_owned()),
        (&["get", "user/new"], "staged".to_owned()),
        (&["get", "user/diet", "-r", "main"], "not vegan\n".to_owned()),
        (&["get", "user/diet", "-r", "HEAD~1"], "vegan".to_owned()),
        (&["get", "user/langs", "-r", "f977"], r#"{"spoken":["de","漢字"],"n":1e400}"#.to_owned()),
        (&["get", "fact/old", "-r", "HEAD^"], "soon gone".to_owned()),
        (&["--session", "other", "get", "aside"], "of another session".to_owned()),
        (&["--session", "other", "get", "user/diet"], "not vegan\n".to_owned()),
    ];
    for (arguments, out) in questions {
        assert_eq!(answer(place.path(), arguments), (Some(0), out, String::new()), "{arguments:?}");
    }
    for arguments in [&["get", "fact/old"][..], &["get", "aside"], &["get", "user/new", "-r", "HEAD"]] {
        assert_eq!(answer(place.path(), arguments).0, Some(1), "{arguments:?}");
    }
    // Later versions may add keys to these rows.
    let (_, row, _) = answer(place.path(), &["get", "--json", "user/diet", "-r", "HEAD~1"]);
    for part in [
        r#""hash":"7eff5587a8f7f90e8697d582f41018da3809bdebea049346e8a05ca991e47a76""#,
        r#""agent_step":"step-7""#,
        r#""source":"turn 3""#,
        r#""event_time":"2024-05-01T10:00:00+02:00""#,
    ] {
        assert!(row.contains(part), "{row}");
    }
    let (_, rows, _) = answer(place.path(), &["log", "--json"]);
    for part in [
        r#""state":"fa2d68258aee48439e78f7e655316ead0d2a288c4bb4d9f28e6c08ecb64e1b4f""#,
        r#""state":"6bd655cb232bf04d77f93ba250bfd8f214e11357cae45a129e4d1b439de27d1f""#,
        r#""author":"Ada <ada@example.org>","time":"2024-05-07T07:08:09.123+05:30","message":"second\n\nbecause""#,
        r#""changes":{"added":0,"modified":1,"removed":1}"#,
    ] {
        assert!(rows.contains(part), "{rows}");
    }
}

#[test]
fn the_store_of_the_first_format_is_written() {
    let (place, _) = old_store();
    for (session, message, id) in [("default", "third", THIRD), ("other", "fourth", FOURTH)] {
        let (status, out, err) = answer(place.path(), &["--session", session, "commit", "-m", message]);
        assert_eq!((status, out), (Some(0), format!("{id}\n")), "{err}");
    }
    let (status, out, _) = answer(place.path(), &["log", "--ids"]);
    assert_eq!((status, out), (Some(0), [FOURTH, THIRD, SECOND, FIRST].map(|id| format!("{id}\n")).concat()));
}
