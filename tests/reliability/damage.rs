//! Damaged files: the right answer or `corrupt`, never another memory, never a panic that anybody sees.

use super::place::{Answer, Numbers, Place, wanted};
use mnemosyne::graph::Revision;
use mnemosyne::model::{Content, ContentKind, Node, NodeId, Pattern, Provenance, SessionName};
use mnemosyne::ops::{self, Condition, LogFilter, OpError, Write};
use mnemosyne::store::{MayBeDamage, Store, StoreError};
use redb::{Builder, ConcurrencyMode, Key, TableDefinition};
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Once;
use std::time::Duration;

pub const PAGE: usize = 4096;
pub const COMMITS: usize = 60;
pub const IDS: usize = 80;

/// A node that is removed in the end.
const GONE: &str = "user/4";

/// Flips in each page in a default run: one near its beginning, the others anywhere.
const FLIPS: usize = 2;

/// Every so many damaged files are read by the binary too.
const SAMPLE: usize = 61;

fn id(number: usize) -> String {
    format!("{}/{number}", ["fact", "user", "plan"][number % 3])
}

fn text(number: usize, version: usize) -> String {
    format!("{number} at {version}: {}", "word ".repeat((number * 7 + version * 13) % 500))
}

/// A store of about 300 pages, whose nodes change in many commits, with something staged.
pub fn place(commits: usize, ids: usize) -> Place {
    let place = Place::new();
    let rows = place.path().join("rows");
    let mut version = 0;
    for commit in 0..commits {
        let mut lines = String::new();
        for step in 0..if commit == 0 { ids } else { 4 } {
            version += 1;
            let number = if commit == 0 { step } else { (commit * 11 + step * 5) % ids };
            lines.push_str(&format!("{{\"id\":\"{}\",\"content\":\"{}\"}}\n", id(number), text(number, version)));
        }
        fs::write(&rows, lines).expect("written");
        place.ok(&["put", "--jsonl", "rows", "-m", &format!("commit {commit}")]);
    }
    // Gone at the end, and there before.
    let gone = format!("{{\"id\":\"{GONE}\",\"deleted\":true}}\n");
    fs::write(&rows, gone).expect("written");
    place.ok(&["put", "--jsonl", "rows", "-m", "gone"]);
    place.ok(&["--session", "other", "put", "x", "of another session", "-m", "other"]);
    place.ok(&["put", "fact/0", "staged"]);
    place
}

/// A question to a store, asked in this process.
type Question<'a> = Box<dyn Fn() -> Result<String, OpError> + 'a>;

fn told<T: Debug>(answer: Result<T, OpError>) -> Result<String, OpError> {
    answer.map(|answer| format!("{answer:?}"))
}

fn questions<'a>(store: &'a Store, commits: &[String]) -> Vec<(&'static str, Question<'a>)> {
    let session = SessionName::default();
    let ids: Vec<_> = (0..IDS).map(|number| NodeId::new(id(number)).expect("an id")).collect();
    let revision = |text: &str| Revision::parse(text, &|_| None).expect("a revision");
    let pattern = |text: &str| Pattern::parse(text, false).expect("a pattern");
    let get = |revision: Option<Revision>| -> Question<'a> {
        let (session, ids) = (session.clone(), ids.clone());
        Box::new(move || told(ops::get(store, &session, revision.as_ref(), &ids)))
    };
    let log = |filter: LogFilter| -> Question<'a> {
        let session = session.clone();
        Box::new(move || told(ops::log(store, &session, &filter)))
    };
    let of = |texts: &[&str]| LogFilter {
        patterns: texts.iter().map(|text| pattern(text)).collect(),
        ..LogFilter::default()
    };
    let staged = Node {
        id: NodeId::new("fact/0").expect("an id"),
        content: Content::from_text("staged"),
        content_kind: ContentKind::Note,
        provenance: Provenance::default(),
        event_time: None,
    };
    vec![
        ("get", get(None)),
        ("get -r main~7", get(Some(revision("main~7")))),
        ("get -r ID", get(Some(revision(&commits[3])))),
        ("get -r PREFIX", get(Some(revision(&commits[commits.len() - 1][..12])))),
        ("log", log(LogFilter::default())),
        ("log -- ID", log(of(&["user/1", "fact/3"]))),
        ("log -- ID that is gone", log(of(&[GONE]))),
        ("log -- PATTERN", log(of(&["plan/"]))),
        (
            "put of what is there",
            Box::new(move || told(ops::put(store, &session, vec![Write::Set(staged.clone())], Condition::Any))),
        ),
    ]
}

/// The same questions, to the binary.
const COMMANDS: [&[&str]; 6] = [
    &["get", "fact/0"],
    &["get", "user/1", "-r", "main~7", "--json"],
    &["get", "plan/2", "-r", "HEAD~9"],
    &["log", "--json"],
    &["log", "--json", "--", "user/1", "fact/3"],
    &["put", "fact/0", "staged"],
];

/// The database may panic on damage; that is told as damage, so no trace of it is wanted here either.
pub fn hush() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            if panic.location().is_none_or(|location| !location.file().contains("redb-")) {
                before(panic);
            }
        }));
    });
}

/// Asks; a panic is what the binary makes of it.
fn ask(question: &Question<'_>) -> Result<String, OpError> {
    let panicked = |_| Err(StoreError::corrupt("a panic").into());
    catch_unwind(AssertUnwindSafe(question)).unwrap_or_else(panicked)
}

#[derive(Default)]
struct Count {
    files: usize,
    answers: BTreeMap<&'static str, usize>,
    by_binary: usize,
    wrong: Vec<String>,
}

impl Count {
    fn tell(&self, what: &str) {
        println!(
            "{} {what}: {:?}, {} by the binary, {} wrong",
            self.files,
            self.answers,
            self.by_binary,
            self.wrong.len()
        );
        assert!(self.wrong.is_empty(), "{}:\n{}", self.wrong.len(), self.wrong.join("\n"));
    }
}

/// A healthy store, its bytes, and what is right.
struct Healthy {
    place: Place,
    commits: Vec<String>,
    database: Vec<u8>,
    log: Vec<u8>,
    right: Vec<String>,
    answers: Vec<Answer>,
}

impl Healthy {
    fn new(commits: usize, ids: usize) -> Self {
        hush();
        let place = place(commits, ids);
        let commits: Vec<_> = place.ok(&["log", "--ids"]).lines().map(str::to_owned).collect();
        let database = fs::read(place.database()).expect("a file");
        let log = fs::read(place.store().join("staged/default")).expect("a file");
        let store = Store::new(place.store(), Duration::from_secs(30));
        let right = questions(&store, &commits).iter().map(|(_, question)| question().expect("healthy")).collect();
        let answers: Vec<_> = COMMANDS.iter().map(|command| place.run(command)).collect();
        assert!(answers.iter().all(|answer| answer.status == 0), "{answers:?}");
        Self { place, commits, database, log, right, answers }
    }

    fn pages(&self) -> usize {
        self.database.len() / PAGE
    }

    /// Asks all questions of a store with these files.
    fn examine(&self, damage: &str, database: &[u8], count: &mut Count) {
        let log_path = self.place.store().join("staged/default");
        let lay = || fs::write(self.place.database(), database).expect("written");
        lay();
        count.files += 1;
        let store = Store::new(self.place.store(), Duration::from_secs(30));
        for ((name, question), right) in questions(&store, &self.commits).iter().zip(&self.right) {
            let verdict = match ask(question) {
                Ok(answer) if answer == *right => "right",
                Ok(answer) => {
                    let at = answer.bytes().zip(right.bytes()).take_while(|(a, b)| a == b).count();
                    let part = |text: &str| text.chars().skip(at.saturating_sub(80)).take(200).collect::<String>();
                    count.wrong.push(format!("{damage}, {name}: {}\n  and not {}", part(&answer), part(right)));
                    "wrong"
                }
                Err(OpError::Store(StoreError::Corrupt { .. })) => "corrupt",
                Err(OpError::Revision(error)) if error.is_damage() => "corrupt",
                Err(error) => {
                    count.wrong.push(format!("{damage}, {name}: {error:?}"));
                    "wrong"
                }
            };
            *count.answers.entry(verdict).or_default() += 1;
        }
        if fs::read(&log_path).expect("a file") != self.log {
            count.wrong.push(format!("{damage}: something was staged"));
            fs::write(&log_path, &self.log).expect("written");
        }
        if count.files % SAMPLE != 1 {
            return;
        }
        for (command, right) in COMMANDS.iter().zip(&self.answers) {
            lay();
            let answer = self.place.run(command);
            count.by_binary += 1;
            if answer != *right && !answer.is_error(128, "corrupt") {
                count.wrong.push(format!("{damage}, {command:?}: {answer:?}"));
            }
        }
    }
}

#[test]
fn a_flipped_byte_gives_the_right_answer_or_corrupt() {
    let healthy = Healthy::new(COMMITS, IDS);
    let (mut numbers, mut count) = (Numbers(5), Count::default());
    for page in 0..healthy.pages() {
        for flip in 0..wanted("MNEM_TEST_FLIPS", FLIPS) {
            let within = numbers.below(if flip == 0 { 64 } else { PAGE as u64 });
            let at = page * PAGE + usize::try_from(within).expect("small");
            let mut database = healthy.database.clone();
            database[at] ^= u8::try_from(1 + numbers.below(255)).expect("a byte");
            healthy.examine(&format!("byte {within} of page {page}"), &database, &mut count);
        }
    }
    count.tell("flips");
}

/// The header, the only page that is not one of a tree, byte by byte.
#[test]
fn a_flipped_bit_in_the_header_gives_the_right_answer_or_corrupt() {
    let healthy = Healthy::new(COMMITS, IDS);
    let (mut numbers, mut count) = (Numbers(6), Count::default());
    for at in 0..320 {
        let mut database = healthy.database.clone();
        database[at] ^= 1 << numbers.below(8);
        healthy.examine(&format!("byte {at} of the header"), &database, &mut count);
    }
    count.tell("flips in the header");
}

#[test]
fn a_truncated_store_gives_the_right_answer_or_corrupt() {
    let healthy = Healthy::new(COMMITS, IDS);
    let mut count = Count::default();
    for page in 0..healthy.pages() {
        let end = page * PAGE + if page % 2 == 0 { 0 } else { PAGE / 2 };
        healthy.examine(&format!("cut at {end}"), &healthy.database[..end], &mut count);
    }
    count.tell("truncations");
}

/// Removes the row `at` of a table; `false` where it has not so many.
fn lose<K: Key + 'static>(database: &Path, table: &str, at: usize) -> bool {
    let mut builder = Builder::new();
    builder.set_concurrency_mode(ConcurrencyMode::MultiWriter);
    let database = builder.open(database).expect("a database");
    let transaction = database.begin_write().expect("a transaction");
    let mut passed = 0;
    {
        let mut table = transaction.open_table(TableDefinition::<K, &[u8]>::new(table)).expect("a table");
        let keep = |_: K::SelfType<'_>, _: &[u8]| {
            passed += 1;
            passed - 1 != at
        };
        table.retain(keep).expect("rows");
    }
    transaction.commit().expect("committed");
    at < passed
}

/// A row that damage made unreachable; the rows around it are sound.
#[test]
fn a_lost_row_of_any_table_is_noticed_but_for_derived_ancestry() {
    type Lose = fn(&Path, &str, usize) -> bool;
    let tables: [(&str, Lose); 8] = [
        ("object", lose::<u64>),
        ("commit", lose::<u64>),
        ("hash", lose::<&[u8; 32]>),
        ("history", lose::<&[u8]>),
        ("ref", lose::<&str>),
        ("reflog", lose::<&[u8]>),
        ("session", lose::<&str>),
        ("setting", lose::<&str>),
    ];
    let healthy = Healthy::new(9, 9);
    let mut count = Count::default();
    for (table, lose) in tables {
        for at in 0.. {
            fs::write(healthy.place.database(), &healthy.database).expect("written");
            if !lose(&healthy.place.database(), table, at) {
                break;
            }
            let database = fs::read(healthy.place.database()).expect("a file");
            healthy.examine(&format!("row {at} of '{table}'"), &database, &mut count);
        }
    }
    count.tell("lost rows");
}

/// A flip in the last frame makes it a torn tail, which is taken for one that was never acknowledged; the frames before
/// it stand. Anywhere else it is damage.
#[test]
fn a_flipped_byte_in_a_log_gives_the_right_answer_or_corrupt_but_for_the_last_frame() {
    let place = Place::new();
    place.ok(&["put", "a", "0", "-m", "m"]);
    let path = place.store().join("staged/default");
    let mut ends = Vec::new();
    for text in ["1", "2", "3", "4"] {
        place.ok(&["put", "a", text]);
        ends.push(fs::metadata(&path).expect("there").len());
    }
    let log = fs::read(&path).expect("a file");
    let store = Store::new(place.store(), Duration::from_secs(30));
    let ids = [NodeId::new("a").expect("an id")];
    let (mut corrupt, mut torn) = (0, 0);
    for at in 0..log.len() {
        let mut damaged = log.clone();
        damaged[at] ^= 1 << (at % 8);
        fs::write(&path, damaged).expect("written");
        let in_last = at as u64 >= ends[2];
        match ops::get(&store, &SessionName::default(), None, &ids) {
            Err(OpError::Store(StoreError::Corrupt { .. })) => corrupt += 1,
            Ok((nodes, _)) if in_last => {
                let text = nodes[0].as_ref().and_then(|kept| kept.content()?.text().map(|text| text.into_owned()));
                assert_eq!(text.as_deref(), Some("3"), "byte {at}");
                torn += 1;
            }
            other => panic!("byte {at}: {other:?}"),
        }
    }
    println!("{} flips in a staged log: {corrupt} corrupt, {torn} in the last frame and so a torn tail", log.len());
}
