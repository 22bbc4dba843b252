//! What commands cost, in counts that do not depend on the machine: syncs, writes, object reads. `docs/cost.md` tells how
//! they are made and what they come to.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

fn mnem(place: &Path, program: &mut Command, arguments: &[&str]) -> String {
    let output = program
        .args(arguments)
        .current_dir(place)
        .env_clear()
        .env("PATH", std::env!("PATH"))
        .env("MNEM_DATE", "@1764576000")
        .stdin(Stdio::null())
        .output()
        .expect("it runs");
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{arguments:?}: {told}");
    String::from_utf8(output.stdout).expect("text")
}

fn run(place: &Path, arguments: &[&str]) -> String {
    mnem(place, &mut Command::new(env!("CARGO_BIN_EXE_mnem")), arguments)
}

/// How often a command makes these system calls on files of the store; `None` where there is no strace.
fn counted(place: &Path, arguments: &[&str]) -> Option<BTreeMap<String, usize>> {
    let trace = place.join("trace");
    let calls = "trace=fsync,fdatasync,write,pwrite64,pwritev,ftruncate,rename,renameat,renameat2,unlink,unlinkat";
    let mut strace = Command::new("strace");
    strace.args(["-f", "-y", "-o"]).arg(&trace).args(["-e", calls]).arg(env!("CARGO_BIN_EXE_mnem"));
    if Command::new("strace").arg("-V").stdout(Stdio::null()).status().is_err() {
        let note = "note: no strace here, so system calls were not counted\n";
        std::io::stderr().write_all(note.as_bytes()).expect("standard error");
        return None;
    }
    mnem(place, &mut strace, arguments);
    let mut counts = BTreeMap::new();
    for line in std::fs::read_to_string(&trace).expect("a trace").lines().filter(|line| line.contains("/.mnemosyne/")) {
        let call = line.split_whitespace().nth(1).and_then(|call| call.split('(').next()).unwrap_or_default();
        let kind = if call.contains("sync") { "sync" } else { "write" };
        *counts.entry(kind.to_owned()).or_default() += 1;
    }
    Some(counts)
}

fn syncs(counts: &BTreeMap<String, usize>) -> usize {
    counts.get("sync").copied().unwrap_or(0)
}

#[test]
fn a_put_is_one_sync_and_one_write_and_the_first_syncs_the_directory_too() {
    let place = tempfile::tempdir().expect("a directory");
    run(place.path(), &["init"]);
    let Some(first) = counted(place.path(), &["put", "a", "1"]) else { return };
    assert_eq!(syncs(&first), 2, "{first:?}");
    for content in ["2", "3"] {
        let later = counted(place.path(), &["put", "a", content]).expect("strace");
        assert_eq!((syncs(&later), later.get("write").copied()), (1, Some(1)), "{later:?}");
    }
    let same = counted(place.path(), &["put", "a", "3"]).expect("strace");
    assert_eq!(same, BTreeMap::new(), "what stands already is not written");
}

#[test]
fn a_store_is_on_the_disk_with_its_name_before_it_is_told_of() {
    let place = tempfile::tempdir().expect("a directory");
    for again in [false, true] {
        let Some(_) = counted(place.path(), &["init"]) else { return };
        let trace = std::fs::read_to_string(place.path().join("trace")).expect("a trace");
        let lines: Vec<_> = trace.lines().filter(|line| line.contains("sync(") || line.contains("rename")).collect();
        let last_at = |what: &str| lines.iter().rposition(|line| line.contains(what));
        let parent = format!("<{}>)", place.path().canonicalize().expect("a path").display());
        let named = last_at(&parent);
        assert_eq!(named, Some(lines.len() - 1), "the name is synced last: {lines:#?}");
        let renamed = last_at("rename");
        assert_eq!(renamed.is_some(), !again, "{lines:#?}");
        for part in ["/.gitignore>", "/staged>", "/store.redb>"] {
            assert!(again || last_at(part) < renamed && last_at(part).is_some(), "{part} before the name: {lines:#?}");
        }
    }
}

#[test]
fn a_commit_is_seven_syncs_and_one_more_when_the_file_grows() {
    let place = tempfile::tempdir().expect("a directory");
    run(place.path(), &["init"]);
    let mut most = 0;
    for number in 0..12 {
        run(place.path(), &["put", "a", &number.to_string()]);
        let Some(counts) = counted(place.path(), &["commit", "-m", "x"]) else { return };
        most = most.max(syncs(&counts));
        assert!((7..=8).contains(&syncs(&counts)), "{counts:?}");
        let put = counted(place.path(), &["put", "b", &number.to_string(), "-m", "x"]).expect("strace");
        assert!((7..=8).contains(&syncs(&put)), "{put:?}");
    }
    assert!(most <= 8);
}

#[test]
fn what_reads_syncs_and_writes_nothing() {
    let place = tempfile::tempdir().expect("a directory");
    run(place.path(), &["init"]);
    run(place.path(), &["put", "a", "1", "-m", "x"]);
    run(place.path(), &["put", "b", "2"]);
    std::fs::write(place.path().join("a.jsonl"), r#"{"name":"a","predicates":["--present","a"]}"#).expect("a file");
    let reads: [&[&str]; 12] = [
        &["get", "a"],
        &["get", "b"],
        &["get", "a", "-r", "HEAD"],
        &["log"],
        &["log", "--", "a"],
        &["ls"],
        &["grep", "1"],
        &["status"],
        &["export"],
        &["test", "--any", "*", "1"],
        &["check", "a.jsonl"],
        &["bisect", "find", "--present", "a"],
    ];
    for arguments in reads {
        let Some(counts) = counted(place.path(), arguments) else { return };
        assert_eq!(counts, BTreeMap::new(), "{arguments:?}");
    }
}

#[test]
fn a_refused_commit_writes_nothing() {
    let place = tempfile::tempdir().expect("a directory");
    run(place.path(), &["init"]);
    run(place.path(), &["put", "a", "1", "-m", "x"]);
    run(place.path(), &["put", "b", "1"]);
    run(place.path(), &["restore", "b"]);
    let Some(counts) = counted(place.path(), &["commit", "--skip-empty", "-m", "x"]) else { return };
    assert_eq!(counts, BTreeMap::new());
}

/// Pages in use after so many commits of one change each, in a store of so many nodes.
#[cfg(feature = "internals")]
mod allocated {
    use mnemosyne::model::{
        Author, BranchName, CommitTime, Content, ContentKind, Message, Node, NodeId, Provenance, SessionName,
    };
    use mnemosyne::ops::{Condition, Write, put_and_commit};
    use mnemosyne::store::{CommitWords, Store, init};
    use std::time::Duration;

    fn node(number: usize, version: usize) -> Write {
        let content = format!("version {version} of what is believed about {number}, {}", "word ".repeat(18));
        Write::Set(Node {
            id: NodeId::new(format!("entity/{number:06}/fact")).expect("an id"),
            content: Content::from_text(&content),
            content_kind: ContentKind::Note,
            provenance: Provenance { agent_step: Some(version.to_string()), ..Provenance::default() },
            event_time: None,
        })
    }

    fn words(number: i64) -> CommitWords {
        CommitWords {
            author: Author::new("agent-7 <agent7@example.com>").expect("an author"),
            time: CommitTime::new(1_764_576_000_000 + number, 0).expect("a time"),
            message: Message::new(&format!("step {number}: record an observation")).expect("a message"),
        }
    }

    #[test]
    fn a_single_change_commit_allocates_at_most_1500_bytes_at_1000_nodes() {
        let place = tempfile::tempdir().expect("a directory");
        let directory = place.path().join(".mnemosyne");
        init(&directory, &BranchName::new("main").expect("a name")).expect("a store");
        let store = Store::new(directory.clone(), Duration::from_secs(10));
        let session = SessionName::default();
        let allocated = || {
            let database = redb::Builder::new().open(directory.join("store.redb")).expect("a database");
            let stats = database.begin_write().expect("a transaction").stats().expect("statistics");
            stats.allocated_pages() * stats.page_size() as u64
        };
        let commit = |writes, number| {
            put_and_commit(&store, &session, writes, Condition::Any, &words(number)).expect("a commit");
        };
        commit((0..1000).map(|number| node(number, 0)).collect(), 0);
        let before = allocated();
        for number in 1..=1000i64 {
            let version = usize::try_from(number).expect("small");
            commit(vec![node(version * 7919 % 1000, version)], number);
        }
        let bytes = (allocated() - before) / 1000;
        assert!((400..=1500).contains(&bytes), "{bytes} bytes a commit");
    }
}

/// How much of the database file is read, page by page.
#[cfg(feature = "internals")]
mod reads {
    use mnemosyne::graph::bisect::{Bounds, Candidates, bases_to_verify, swapped};
    use mnemosyne::graph::{Parts, Revision, Unit, parse};
    use mnemosyne::model::{
        Author, BranchName, CommitTime, Content, ContentKind, Message, Node, NodeId, Pattern, Provenance, SessionName,
        TagName,
    };
    use mnemosyne::object::{New, encode_node, node_object_id, update};
    use mnemosyne::ops::{
        AmendRequest, Assertion, Between, BlameReport, BlameRequest, Condition, FastForward, FindRequest, GrepRequest,
        Group, LogFilter, LsRequest, MergeOutcome, MergeRequest, ResetMode, Signature, Target, Write, amend, batch,
        blame, branches, check, complete_ids, create_branch, create_tag, delete_branches, delete_tags, diff, find,
        grep, log, ls, merge, put_and_commit, rename_branch, reset, set, show, switch, tags, test, try_merge,
        versions_of,
    };
    use mnemosyne::store::{
        CommitWords, Disk, FileId, Files, LogError, LogView, Number, Opened, StagedLog, Store, StoreError, init,
    };
    use redb::{BackendError, StorageBackend};
    use std::collections::BTreeMap;
    use std::ops::Bound;
    use std::path::Path;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    /// The files of a store; counts reads of the database.
    #[derive(Clone, Debug)]
    struct Counting {
        files: Files,
        reads: Arc<AtomicUsize>,
    }

    #[derive(Debug)]
    struct CountingFile<B> {
        file: B,
        reads: Arc<AtomicUsize>,
    }

    impl<B: StorageBackend> StorageBackend for CountingFile<B> {
        fn len(&self) -> Result<u64, std::io::Error> {
            self.file.len()
        }

        fn read(&self, offset: u64, out: &mut [u8]) -> Result<(), std::io::Error> {
            self.reads.fetch_add(1, Ordering::Relaxed);
            self.file.read(offset, out)
        }

        fn set_len(&self, len: u64) -> Result<(), std::io::Error> {
            self.file.set_len(len)
        }

        fn sync_data(&self) -> Result<(), std::io::Error> {
            self.file.sync_data()
        }

        fn write(&self, offset: u64, data: &[u8]) -> Result<(), std::io::Error> {
            self.file.write(offset, data)
        }

        fn close(&self) -> Result<(), std::io::Error> {
            self.file.close()
        }

        fn try_lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError> {
            self.file.try_lock_range(start, end)
        }

        fn try_lock_shared_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError> {
            self.file.try_lock_shared_range(start, end)
        }

        fn lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
            self.file.lock_range(start, end)
        }

        fn lock_shared_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
            self.file.lock_shared_range(start, end)
        }

        fn query_lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError> {
            self.file.query_lock_range(start, end)
        }

        fn unlock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
            self.file.unlock_range(start, end)
        }
    }

    impl Disk for Counting {
        type Database = CountingFile<<Files as Disk>::Database>;
        type Log = <Files as Disk>::Log;

        fn directory(&self) -> &Path {
            self.files.directory()
        }

        fn open_database(&self, write: bool) -> Result<Opened<Self::Database>, StoreError> {
            let Opened { file, id } = self.files.open_database(write)?;
            Ok(Opened { file: CountingFile { file, reads: Arc::clone(&self.reads) }, id })
        }

        fn database_id(&self) -> Result<FileId, StoreError> {
            self.files.database_id()
        }

        fn database_bytes(&self) -> Result<u64, StoreError> {
            self.files.database_bytes()
        }

        fn create_successor(&self) -> Result<Self::Database, StoreError> {
            Ok(CountingFile { file: self.files.create_successor()?, reads: Arc::clone(&self.reads) })
        }

        fn install_successor(&self) -> Result<(), StoreError> {
            self.files.install_successor()
        }

        fn remove_successor(&self) -> Result<(), StoreError> {
            self.files.remove_successor()
        }

        fn logs(&self) -> Result<Vec<SessionName>, LogError> {
            self.files.logs()
        }

        fn has_log(&self, session: &SessionName) -> bool {
            self.files.has_log(session)
        }

        fn lock_log(&self, session: &SessionName, wait: Duration) -> Result<StagedLog<Self::Log>, LogError> {
            self.files.lock_log(session, wait)
        }

        fn read_log(&self, session: &SessionName, wait: Option<Duration>) -> Result<LogView, LogError> {
            self.files.read_log(session, wait)
        }
    }

    /// A store of so many nodes, ten below each `part/N/`.
    fn store_of(nodes: usize, place: &Path) -> (Store<Counting>, Arc<AtomicUsize>) {
        let directory = place.join(nodes.to_string()).join(".mnemosyne");
        std::fs::create_dir(place.join(nodes.to_string())).expect("a directory");
        init(&directory, &BranchName::new("main").expect("a name")).expect("a store");
        let node = |number: usize| {
            Write::Set(Node {
                id: NodeId::new(format!("part/{}/{}", number / 10, number % 10)).expect("an id"),
                content: Content::from_text(&format!("what is believed about {number}, {}", "word ".repeat(18))),
                content_kind: ContentKind::Note,
                provenance: Provenance::default(),
                event_time: None,
            })
        };
        let words = CommitWords {
            author: Author::new("Ada").expect("an author"),
            time: CommitTime::new(0, 0).expect("a time"),
            message: Message::new("all").expect("a message"),
        };
        let group = Group { writes: (0..nodes).map(node).collect(), words, skip_empty: false };
        let plain = Store::new(directory.clone(), Duration::from_secs(10));
        batch(&plain, &SessionName::default(), vec![group], Vec::new()).expect("a commit");
        let reads = Arc::new(AtomicUsize::new(0));
        let disk = Counting { files: Files::new(directory), reads: Arc::clone(&reads) };
        (Store::on(disk, Duration::from_secs(10)), reads)
    }

    #[test]
    fn a_look_below_a_prefix_reads_what_matches_and_not_the_memory() {
        let place = tempfile::tempdir().expect("a directory");
        let session = SessionName::default();
        let counted = |nodes: usize| {
            let (store, reads) = store_of(nodes, place.path());
            let pages = |patterns: &[&str], expected: usize| {
                let patterns = patterns.iter().map(|text| Pattern::parse(text, false).expect("a pattern")).collect();
                let request = LsRequest { patterns, nodes: true, ..LsRequest::default() };
                reads.store(0, Ordering::Relaxed);
                assert_eq!(ls(&store, &session, &request).expect("nodes").nodes.len(), expected);
                reads.load(Ordering::Relaxed)
            };
            let none = pages(&["none/"], 0);
            let some = [pages(&["part/7/"], 10), pages(&["part/7/*"], 10), pages(&["part/7/3"], 1)];
            reads.store(0, Ordering::Relaxed);
            assert_eq!(complete_ids(&store, &session, "part/7/", 1000).expect("ids").len(), 10);
            let completed = reads.swap(0, Ordering::Relaxed);
            let regex = regex::Regex::new("believed").expect("a regex");
            let patterns = vec![Pattern::parse("part/7/", false).expect("a pattern")];
            let request = GrepRequest { regex, patterns, revision: None, lines: true };
            assert_eq!(grep(&store, &session, &request).expect("lines").nodes.len(), 10);
            (none, some, [completed, reads.load(Ordering::Relaxed)], pages(&[], nodes))
        };
        let (small_none, small, small_others, small_all) = counted(1_000);
        let (none, large, others, all) = counted(20_000);
        let told = format!("{small_none} {small:?} {small_others:?} {small_all}; {none} {large:?} {others:?} {all}");
        assert!(all > 8 * small_all, "{told}");
        assert!(none <= small_none + 4, "{told}");
        // A node lies a few levels deeper in a memory that is twenty times as large: at most so many pages more for each.
        for (small, large, matches) in [
            (small[0], large[0], 10),
            (small[1], large[1], 10),
            (small[2], large[2], 1),
            (small_others[0], others[0], 10),
            (small_others[1], others[1], 10),
        ] {
            assert!(large <= small + 4 * matches + 8, "{told}");
            assert!(large <= 60 + 8 * matches, "{told}");
        }
    }

    #[test]
    fn a_predicate_reads_the_nodes_it_looks_at_and_not_the_memory() {
        let place = tempfile::tempdir().expect("a directory");
        let session = SessionName::default();
        let counted = |nodes: usize| {
            let (store, reads) = store_of(nodes, place.path());
            let pages = |words: &[&str], is_assertion: bool| {
                let words: Vec<_> = words.iter().map(|word| (*word).to_owned()).collect();
                let predicates = parse(&words).expect("predicates");
                reads.store(0, Ordering::Relaxed);
                if is_assertion {
                    let assertions = [Assertion { name: "it".to_owned(), predicates }];
                    let (failures, _) = check(&store, &session, None, &assertions).expect("an answer");
                    assert_eq!(failures[0][0].shares.len(), 1);
                } else {
                    test(&store, &session, None, &predicates).expect("an answer");
                }
                reads.load(Ordering::Relaxed)
            };
            [
                pages(&["--equals", "part/7/3", "x"], false),
                pages(&["--count", "part/7/3", "eq", "1"], false),
                pages(&["--absent", "part/7/3"], true),
                pages(&["--count", "part/7/", "eq", "10"], false),
                pages(&["--any", "part/7/*", "about 79,"], false),
                pages(&["--count", "**", "eq", "0"], false),
            ]
        };
        let (small, large) = (counted(1_000), counted(20_000));
        let told = format!("{small:?} {large:?}");
        assert!(large[5] > 8 * small[5], "{told}");
        // A node lies a few levels deeper in a memory that is twenty times as large: at most so many pages more for each.
        for (at, matches) in [(0, 1), (1, 1), (2, 1), (3, 10), (4, 10)] {
            assert!(large[at] <= small[at] + 4 * matches + 8, "{told}");
            assert!(large[at] <= 60 + 8 * matches, "{told}");
        }
    }

    fn id(text: &str) -> NodeId {
        NodeId::new(text).expect("an id")
    }

    /// A history of so many commits over 100 nodes, of which the last `merges` pairs are a commit on a side and its merge:
    /// `told` was written ten times, `gone` was taken away in the middle.
    fn history_of(commits: usize, merges: usize, place: &Path) -> (Store<Counting>, Arc<AtomicUsize>) {
        let directory = place.join(format!("{commits}-{merges}")).join(".mnemosyne");
        std::fs::create_dir(directory.parent().expect("a parent")).expect("a directory");
        init(&directory, &BranchName::new("main").expect("a name")).expect("a store");
        let plain = Store::new(directory.clone(), Duration::from_secs(10));
        let time = CommitTime::new(0, 0).expect("a time");
        let write = |id: &NodeId, content: &str| {
            let node = Node {
                id: id.clone(),
                content: Content::from_text(content),
                content_kind: ContentKind::Note,
                provenance: Provenance::default(),
                event_time: None,
            };
            let payload = encode_node(&node);
            (id.clone(), Some(New { object: node_object_id(&payload), payload }))
        };
        let written = plain.write(plain.snapshot().expect("a snapshot"), |tables| {
            let mut head: Option<Number> = None;
            for at in 0..commits {
                let mut changes = BTreeMap::from([write(&id(&format!("other/{}", at % 100)), &at.to_string())]);
                if at % (commits / 10) == 0 {
                    changes.extend([write(&id("told"), &format!("first\n{at}\nlast"))]);
                }
                if at == 0 {
                    changes.extend([write(&id("gone"), "it was")]);
                } else if at == commits / 2 {
                    changes.insert(id("gone"), None);
                }
                let words = || CommitWords {
                    author: Author::new("Ada").expect("an author"),
                    time,
                    message: Message::new("step").expect("a message"),
                };
                let made = update(tables, tables.root(head)?, changes)?;
                let mut parents: Vec<_> = head.into_iter().collect();
                if at + merges >= commits {
                    let (side, _) = tables.append_commit(parents.clone(), words(), made)?;
                    parents.push(side);
                    let merged = update(tables, tables.root(Some(side))?, BTreeMap::new())?;
                    head = Some(tables.append_commit(parents, words(), merged)?.0);
                } else {
                    head = Some(tables.append_commit(parents, words(), made)?.0);
                }
            }
            tables.set_reference("refs/heads/main", head.expect("a commit"), time, "test")?;
            Ok::<_, StoreError>(())
        });
        written.expect("a history");
        let reads = Arc::new(AtomicUsize::new(0));
        let disk = Counting { files: Files::new(directory), reads: Arc::clone(&reads) };
        (Store::on(disk, Duration::from_secs(10)), reads)
    }

    #[test]
    fn what_moves_refs_reads_no_more_of_a_long_history() {
        let place = tempfile::tempdir().expect("a directory");
        let session = SessionName::default();
        let time = CommitTime::new(0, 0).expect("a time");
        let counted = |commits: usize| {
            let (store, reads) = history_of(commits, 0, place.path());
            let revision = |text: &str| Revision::parse(text, &|_| None).expect("a revision");
            let branch = |text: &str| BranchName::new(text).expect("a name");
            let tag = TagName::new("t").expect("a name");
            // By their ids: what finds an ancestor of a commit reads more of a longer history, by its logarithm.
            let limit = LogFilter { limit: Some(51), ..LogFilter::default() };
            let ids: Vec<_> = log(&store, &session, &limit).expect("commits").entries;
            let back = |count: usize| revision(&ids[count].commit.id.to_string());
            let (head, old, main) = (revision("HEAD"), back(50), revision("main"));
            let stand = |target: &Target| drop(switch(&store, &session, target, time).expect("it stands there"));
            let create = |name: &str, at: &Revision, force: bool| {
                create_branch(&store, &session, &branch(name), at, force, time).expect("a branch");
            };
            let amended = AmendRequest { author: None, message: None, time, only: Vec::new(), overwrite: false };
            let steps: [&dyn Fn(); 19] = [
                &|| drop(set(&store, "author", Some("Ada")).expect("set")),
                &|| create("old", &old, false),
                &|| create("new", &head, false),
                &|| create("new", &old, true),
                &|| stand(&Target::Branch(branch("old"), revision("old"))),
                &|| stand(&Target::Create(branch("third"), None)),
                &|| stand(&Target::Detach(head.clone())),
                &|| stand(&Target::Previous),
                &|| assert_eq!(branches(&store, &session, None, &[]).expect("branches").branches.len(), 4),
                &|| assert_eq!(branches(&store, &session, Some(&main), &[]).expect("branches").branches.len(), 1),
                &|| {
                    drop(
                        rename_branch(&store, &session, Some(&branch("new")), &branch("newer"), false, time)
                            .expect("a name"),
                    );
                },
                &|| drop(delete_branches(&store, &session, &[branch("newer")], false, time).expect("a branch less")),
                &|| drop(create_tag(&store, &session, &tag, &head, None, false, time).expect("a tag")),
                &|| {
                    assert_eq!(tags(&store, &session, &[]).expect("tags").len(), 1);
                    delete_tags(&store, std::slice::from_ref(&tag), time).expect("a tag less");
                },
                &|| stand(&Target::ForceCreate(branch("third"), Some(main.clone()))),
                &|| stand(&Target::Branch(branch("main"), main.clone())),
                &|| drop(amend(&store, &session, &amended).expect("a commit")),
                &|| drop(reset(&store, &session, &back(1), ResetMode::Soft, time).expect("it goes back")),
                &|| drop(reset(&store, &session, &back(2), ResetMode::Hard, time).expect("it goes back")),
            ];
            steps.map(|step| {
                reads.store(0, Ordering::Relaxed);
                step();
                reads.load(Ordering::Relaxed)
            })
        };
        let (short, long) = (counted(100), counted(20_000));
        let told = format!("{short:?} {long:?}");
        // What the database reads to open any transaction, such as that which keeps a setting, is not theirs.
        let own = |counts: [usize; 19]| counts.map(|count| count.saturating_sub(counts[0]));
        for (short, long) in own(short).into_iter().zip(own(long)) {
            assert!(long <= short + 8, "{told}");
            assert!(long <= 40, "{told}");
        }
    }

    /// Asks for a merge of what this revision names.
    fn merging(text: &str) -> MergeRequest {
        MergeRequest {
            revision: Revision::parse(text, &|_| None).expect("a revision"),
            fast_forward: FastForward::Allowed,
            unrelated: false,
            message: None,
            signature: Signature {
                author: Author::new("Ada").expect("an author"),
                time: CommitTime::new(0, 0).expect("a time"),
            },
        }
    }

    /// What the database reads to open any transaction that writes.
    fn opening(store: &Store<Counting>, reads: &AtomicUsize) -> usize {
        reads.store(0, Ordering::Relaxed);
        set(store, "author", Some("Ada")).expect("set");
        reads.load(Ordering::Relaxed)
    }

    #[test]
    fn a_merge_reads_what_differs_and_not_the_memory() {
        let place = tempfile::tempdir().expect("a directory");
        let session = SessionName::default();
        let time = CommitTime::new(0, 0).expect("a time");
        let counted = |nodes: usize| {
            let (store, reads) = store_of(nodes, place.path());
            let rewrite = |which: &dyn Fn(usize) -> usize, content: &str| {
                let node = |nth: usize| {
                    Write::Set(Node {
                        id: id(&format!("part/{}/{}", which(nth), nth % 10)),
                        content: Content::from_text(content),
                        content_kind: ContentKind::Note,
                        provenance: Provenance::default(),
                        event_time: None,
                    })
                };
                let words = CommitWords {
                    author: Author::new("Ada").expect("an author"),
                    time,
                    message: Message::new(content).expect("a message"),
                };
                put_and_commit(&store, &session, (0..10).map(node).collect(), Condition::Any, &words)
                    .expect("a commit");
            };
            let side = BranchName::new("side").expect("a name");
            switch(&store, &session, &Target::Create(side, None), time).expect("a branch");
            rewrite(&|nth| nth, "theirs");
            switch(&store, &session, &Target::Previous, time).expect("the branch before");
            rewrite(&|nth| 20 + nth, "ours");
            reads.store(0, Ordering::Relaxed);
            let trial = try_merge(&store, &session, &merging("side")).expect("a trial");
            assert!(matches!(trial.outcome, MergeOutcome::Merged));
            assert_eq!(trial.changes.len(), 10);
            let tried = reads.swap(0, Ordering::Relaxed);
            let report = merge(&store, &session, &merging("side")).expect("a merge");
            assert!(matches!(report.outcome, MergeOutcome::Merged));
            let merged = reads.swap(0, Ordering::Relaxed) - opening(&store, &reads);
            reads.store(0, Ordering::Relaxed);
            assert_eq!(ls(&store, &session, &LsRequest::default()).expect("nodes").nodes.len(), nodes);
            [tried, merged, reads.load(Ordering::Relaxed)]
        };
        let (small, large) = (counted(1_000), counted(10_000));
        let told = format!("{small:?} {large:?}");
        assert!(large[2] > 5 * small[2], "{told}");
        for at in 0..2 {
            assert!(large[at] <= 2 * small[at], "{told}");
        }
    }

    #[test]
    fn what_is_there_or_ahead_is_merged_without_reading_the_history() {
        let place = tempfile::tempdir().expect("a directory");
        let session = SessionName::default();
        let time = CommitTime::new(0, 0).expect("a time");
        let counted = |commits: usize| {
            let (store, reads) = history_of(commits, 0, place.path());
            let old = Revision::parse("HEAD~50", &|_| None).expect("a revision");
            let branch = |text: &str| BranchName::new(text).expect("a name");
            create_branch(&store, &session, &branch("old"), &old, false, time).expect("a branch");
            let merged = |text: &str, wanted: fn(&MergeOutcome) -> bool| {
                reads.store(0, Ordering::Relaxed);
                let report = merge(&store, &session, &merging(text)).expect("a merge");
                assert!(wanted(&report.outcome), "{report:?}");
                reads.load(Ordering::Relaxed)
            };
            let there = merged("old", |outcome| matches!(outcome, MergeOutcome::UpToDate));
            let stands = Target::Branch(branch("old"), Revision::parse("old", &|_| None).expect("a revision"));
            switch(&store, &session, &stands, time).expect("it stands there");
            let ahead = merged("main", |outcome| matches!(outcome, MergeOutcome::FastForward));
            [there, ahead - opening(&store, &reads)]
        };
        let (short, long) = (counted(100), counted(10_000));
        let told = format!("{short:?} {long:?}");
        for (short, long) in short.into_iter().zip(long) {
            assert!(long <= 2 * short, "{told}");
        }
    }

    #[test]
    fn what_asks_about_the_past_reads_the_answer_and_not_the_history() {
        let place = tempfile::tempdir().expect("a directory");
        let session = SessionName::default();
        let counted = |commits: usize, merges: usize| {
            let (store, reads) = history_of(commits, merges, place.path());
            let revision = |text: &str| Revision::parse(text, &|_| None).expect("a revision");
            let pages = |ask: &dyn Fn(&Store<Counting>) -> usize, answers: usize| {
                reads.store(0, Ordering::Relaxed);
                assert_eq!(ask(&store), answers);
                reads.load(Ordering::Relaxed)
            };
            let parts = |store: &Store<Counting>, text: &str, request: &BlameRequest| match blame(
                store,
                &session,
                &id(text),
                request,
            )
            .expect("an answer")
            .0
            {
                BlameReport::Stands(blame) => blame.parts.len(),
                BlameReport::Removed(_) => 0,
            };
            let open = BlameRequest::default();
            let whole = Parts { unit: Some(Unit::Node), ..Parts::default() };
            let node = BlameRequest { parts: whole, ..BlameRequest::default() };
            let filter =
                LogFilter { patterns: vec![Pattern::parse("told", false).expect("a pattern")], ..LogFilter::default() };
            let neighbours = Between::Revisions(revision("HEAD~1"), revision("HEAD"));
            let named = |store: &Store<Counting>, words: &[&str]| {
                let words: Vec<_> = words.iter().map(|word| (*word).to_owned()).collect();
                let assertions = [Assertion { name: "it".to_owned(), predicates: parse(&words).expect("predicates") }];
                let (failures, _) = check(store, &session, None, &assertions).expect("an answer");
                failures[0][0].shares.len() + usize::from(failures[0][0].removal.is_some())
            };
            let flips = |store: &Store<Counting>, words: &[&str], all: bool| {
                let words: Vec<_> = words.iter().map(|word| (*word).to_owned()).collect();
                let predicates = parse(&words).expect("predicates");
                let (start, end, changed) = (None, revision("HEAD"), Vec::new());
                let request = FindRequest { start, end, predicates, changed, first_parent: false, all };
                find(store, &session, &request).expect("an answer").flips.len()
            };
            let last_but_one = format!("\n{}\n", commits / 10 * 8);
            [
                pages(&|store| parts(store, "told", &node), 1),
                pages(&|store| parts(store, "told", &open), 3),
                pages(&|store| parts(store, "gone", &open), 0),
                pages(&|store| versions_of(store, &session, &id("gone"), None).expect("versions").0.len(), 2),
                pages(&|store| log(store, &session, &filter).expect("commits").entries.len(), 10),
                pages(&|store| diff(store, &session, &neighbours, &[]).expect("a diff").changed.len(), 1),
                pages(&|store| show(store, &session, &revision("HEAD"), &[]).expect("a commit").changed.len(), 1),
                pages(&|store| named(store, &["--any", "go*", "it was"]), 1),
                pages(&|store| named(store, &["--contains", "told", "\n0\n"]), 1),
                pages(&|store| named(store, &["--contains", "told", &last_but_one]), 1),
                pages(&|store| flips(store, &["--contains", "told", "first"], false), 1),
                pages(&|store| flips(store, &["--contains", "told", &last_but_one], true), 2),
                pages(&|store| flips(store, &["--count", "go*", "ge", "1", "--any", "tol*", &last_but_one], true), 0),
                pages(
                    &|store| log(store, &session, &LogFilter::default()).expect("commits").entries.len(),
                    commits + merges,
                ),
            ]
        };
        let (short, long, merged) = (counted(500, 0), counted(6_000, 0), counted(6_000, 1_000));
        let told = format!("{short:?} {long:?} {merged:?}");
        assert!(long[13] > 4 * short[13], "{told}");
        // What the last version took away is found without the nine before.
        assert!(2 * long[9] < long[8], "{told}");
        for at in 0..13 {
            // The tables are a level deeper, and the ten versions lie on pages of their own.
            assert!(long[at] <= short[at] + 20, "{told}");
            let more = match at {
                // Each version is held against the state of every parent.
                10 | 11 => 40,
                // A merge may bring several nodes together as no parent has them, so all commits are walked.
                12 => continue,
                _ => 20,
            };
            assert!(merged[at] <= long[at] + more, "{told}");
        }
    }

    #[test]
    fn a_search_among_the_commits_that_changed_a_node_reads_them_and_not_the_history() {
        let place = tempfile::tempdir().expect("a directory");
        let counted = |commits: usize, merges: usize| {
            let (store, reads) = history_of(commits, merges, place.path());
            let snapshot = &*store.snapshot().expect("a snapshot");
            let head = snapshot.reference("refs/heads/main").expect("sound").expect("a branch");
            let first = *snapshot.versions(&id("told")).expect("sound").last().expect("a commit");
            let bounds = Bounds { bad: vec![head], good: vec![first], first_parent: false };
            ["told", "tol*", "gone", ""].map(|text| {
                let pattern = (!text.is_empty()).then(|| Pattern::parse(text, false).expect("a pattern"));
                let snapshot = &*store.snapshot().expect("a snapshot");
                reads.store(0, Ordering::Relaxed);
                let patterns: Vec<_> = pattern.into_iter().collect();
                let candidates = Candidates::of(snapshot, &bounds, &patterns).expect("candidates");
                assert_eq!(swapped(snapshot, &bounds).expect("an answer"), None);
                assert_eq!(bases_to_verify(snapshot, &bounds).expect("an answer").len(), 0);
                let expected = if text == "gone" { 1 } else { 9 };
                assert!(text.is_empty() || candidates.numbers().len() == expected, "{text}: {candidates:?}");
                reads.load(Ordering::Relaxed)
            })
        };
        let (short, long, merged) = (counted(500, 0), counted(6_000, 0), counted(6_000, 1_000));
        let told = format!("{short:?} {long:?} {merged:?}");
        assert!(long[3] > 4 * short[3], "{told}");
        for at in 0..3 {
            // The tables are a level deeper, and the versions lie on pages of their own.
            assert!(long[at] <= short[at] + 20, "{told}");
            assert!(merged[at] <= long[at] + 20, "{told}");
        }
    }
}
