//! The same commands on a disk that crashes while they are at work, and what is left of it.

use crate::command::{Command, Empty, Pattern, Write, told};
use crate::disk::{DATABASE, DATABASE_NAME, Event, SUCCESSOR_NAME, SimulatedDisk};
use crate::image::{Image, Moment, Random};
use crate::model::Model;
use crate::naive::Known;
use crate::packing::FILE;
use crate::revision::Rev;
use crate::staging::Condition;
use mnemosyne::graph::{Revision, Selection};
use mnemosyne::model::{Author, BranchName, CommitTime, Message, NodeId, SessionName, TagName};
use mnemosyne::ops::{
    self, AmendRequest, CommitRequest, ImportRequest, Marking, MergeRequest, OpError, ResetMode, RevertRequest,
    Reverting, Signature, Target,
};
use mnemosyne::store::{BundleFile, CommitWords, Marked, Marks, Redacting, Store};
use std::fs;
use std::path::Path;
use std::rc::Rc;

const DATABASE_FILE: &str = "store.redb";
const SUCCESSOR_FILE: &str = "store.redb.new";

/// The files of a store, all of them durable.
pub fn read(directory: &Path) -> Image {
    let store = directory.join(".mnemosyne");
    let mut image = Image::empty();
    let write = |image: &mut Image, file, path: &Path| {
        let bytes = fs::read(path).expect("a file").into();
        image.apply_event(&Event::Write { file, offset: 0, bytes });
    };
    write(&mut image, DATABASE, &store.join(DATABASE_FILE));
    for entry in fs::read_dir(store.join("staged")).expect("a directory") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().and_then(|name| name.to_str()).expect("UTF-8").to_owned();
        let file = image.add_file();
        image.apply_event(&Event::Name { name, file, before: None });
        write(&mut image, file, &path);
    }
    image
}

/// Whether a log of the session is left that is not empty.
pub fn has_log(image: &Image, session: &str) -> bool {
    image.file(session).is_some_and(|file| !image.bytes(file).is_empty())
}

/// Puts what a crash left in the place of the files of a store. An empty log is none.
pub fn write(directory: &Path, image: &Image) {
    let store = directory.join(".mnemosyne");
    let database = image.file(DATABASE_NAME).unwrap_or(DATABASE);
    fs::write(store.join(DATABASE_FILE), image.bytes(database)).expect("a file");
    if let Some(file) = image.file(SUCCESSOR_NAME) {
        fs::write(store.join(SUCCESSOR_FILE), image.bytes(file)).expect("a file");
    }
    for entry in fs::read_dir(store.join("staged")).expect("a directory") {
        fs::remove_file(entry.expect("an entry").path()).expect("it goes");
    }
    for name in image.names().filter(|name| ![DATABASE_NAME, SUCCESSOR_NAME].contains(name)) {
        let bytes = image.bytes(image.file(name).expect("a file"));
        if !bytes.is_empty() {
            fs::write(store.join("staged").join(name), bytes).expect("a file");
        }
    }
}

/// What was done on the disk while a command was at work, and whether that was refused.
pub struct Recorded {
    start: Image,
    events: Vec<Event>,
    pub is_refused: bool,
}

impl Recorded {
    /// Lets a command work on a copy of the store in `directory`.
    pub fn of(directory: &Path, model: &Model, session: &str, time: u32, command: &Command) -> Self {
        let start = read(directory);
        let disk = SimulatedDisk::new(start.clone());
        let session = SessionName::new(session).expect("a name");
        let doing = Doing { store: disk.store(), model, session, time, directory };
        let is_refused = doing.run(command).is_err();
        Self { start, events: disk.events(), is_refused }
    }

    /// What a crash leaves, and whether the command was acknowledged by then.
    pub fn crash(&self, seed: u64) -> (Image, bool) {
        let mut random = Random::new(seed);
        let count = match random.below(8) {
            0 => self.events.len(),
            _ => random.below(self.events.len() + 1),
        };
        let mut moment = Moment::new(self.start.clone());
        self.events[..count].iter().for_each(|event| moment.advance(event));
        // Of a process that is killed nothing is lost.
        let image = if random.below(3) == 0 { moment.live().clone() } else { moment.random_crash(&mut random) };
        (image, count == self.events.len())
    }
}

struct Doing<'d> {
    store: Store<SimulatedDisk>,
    model: &'d Model,
    session: SessionName,
    time: u32,
    directory: &'d Path,
}

fn message(text: &str) -> Message {
    Message::new(text).expect("a message")
}

fn author(text: &str) -> Author {
    Author::new(text).expect("an author")
}

fn branch(name: &str) -> BranchName {
    BranchName::new(name).expect("a name")
}

fn patterns(patterns: &[Pattern]) -> Vec<mnemosyne::model::Pattern> {
    let read = |pattern: &Pattern| mnemosyne::model::Pattern::parse(&pattern.text(), false).expect("a pattern");
    patterns.iter().map(read).collect()
}

fn write_of(known: &Rc<Known>) -> ops::Write {
    match &known.redacted {
        None => ops::Write::Set(known.node.clone()),
        Some(marker) => ops::Write::Mark(marker.clone()),
    }
}

fn writes(writes: &[Write]) -> Vec<ops::Write> {
    let write = |(id, new): &Write| match new {
        Some(known) => write_of(known),
        None => ops::Write::Remove(id.clone()),
    };
    writes.iter().map(write).collect()
}

fn commit_time(text: &str) -> CommitTime {
    CommitTime::parse(text).expect("a time")
}

impl Doing<'_> {
    fn time(&self) -> CommitTime {
        commit_time(&told(self.time))
    }

    fn rev(&self, rev: &Rev) -> Revision {
        Revision::parse(&rev.text(self.model), &|_| None).expect("a revision")
    }

    fn rev_or_head(&self, rev: Option<&Rev>) -> Revision {
        rev.map_or(Revision::head(), |rev| self.rev(rev))
    }

    fn words(&self, text: &str) -> CommitWords {
        let by = author(&self.model.words(text).author);
        CommitWords { author: by, time: self.time(), message: message(text) }
    }

    fn signature(&self) -> Signature {
        Signature { author: self.words("any").author, time: self.time() }
    }

    fn remove(
        &self,
        ids: impl IntoIterator<Item = NodeId>,
        if_exists: bool,
        message: Option<&str>,
    ) -> Result<(), OpError> {
        let mut ids: Vec<_> = ids.into_iter().collect();
        ids.sort();
        ids.dedup();
        if ids.is_empty() {
            return Ok(());
        }
        let condition = if if_exists { ops::Condition::Any } else { ops::Condition::Present };
        self.put(ids.into_iter().map(ops::Write::Remove).collect(), condition, message)
    }

    fn put(&self, writes: Vec<ops::Write>, condition: ops::Condition, message: Option<&str>) -> Result<(), OpError> {
        let (store, session) = (&self.store, &self.session);
        match message {
            None => ops::put(store, session, writes, condition).map(drop),
            Some(text) => ops::put_and_commit(store, session, writes, condition, &self.words(text)).map(drop),
        }
    }

    fn switch(&self, target: &Target) -> Result<(), OpError> {
        ops::switch(&self.store, &self.session, target, self.time()).map(drop)
    }

    fn run(&self, command: &Command) -> Result<(), OpError> {
        let (store, session, model) = (&self.store, &self.session, self.model);
        match command {
            Command::Init => Ok(()),
            Command::Put { dry_run: true, .. }
            | Command::Commit { dry_run: true, .. }
            | Command::Merge { dry_run: true, .. }
            | Command::Gc { dry_run: true, .. }
            | Command::Unpack { dry_run: true, .. }
            | Command::Pack
            | Command::Undo { .. } => panic!("nothing is done"),
            Command::Put { writes: of, when, message, .. } => {
                let condition = match model.condition(session.as_str(), &of[0].0, *when) {
                    Condition::Always => ops::Condition::Any,
                    Condition::Present => ops::Condition::Present,
                    Condition::Is(None) => ops::Condition::Absent,
                    Condition::Is(Some(known)) => ops::Condition::Is(known.object),
                };
                self.put(writes(of), condition, message.as_deref())
            }
            Command::History { groups, rest } => {
                let group = |group: &crate::command::Group| {
                    let mut words = self.words(&group.message);
                    words.author = group.author.as_deref().map_or(words.author, author);
                    words.time = group.time.map_or(words.time, |time| commit_time(&told(time)));
                    ops::Group { writes: writes(&group.writes), words, skip_empty: false }
                };
                ops::batch(store, session, groups.iter().map(group).collect(), writes(rest)).map(drop)
            }
            Command::Every { writes: of, count, message } => {
                let group =
                    |of: &[Write]| ops::Group { writes: writes(of), words: self.words(message), skip_empty: true };
                ops::batch(store, session, of.chunks(*count).map(group).collect(), Vec::new()).map(drop)
            }
            Command::Rm { ids, if_exists, message } => {
                let ids = if *if_exists { ops::present(store, session, ids)? } else { ids.clone() };
                self.remove(ids, *if_exists, message.as_deref())
            }
            Command::RmAll { pattern, if_exists, message } => {
                let ids = ops::matching(store, session, &patterns(std::slice::from_ref(pattern))[0])?;
                if ids.is_empty() && !if_exists {
                    return Err(OpError::NoNode(Vec::new()));
                }
                self.remove(ids, *if_exists, message.as_deref())
            }
            Command::Restore { patterns: of, source } => {
                let source = source.as_ref().map(|rev| self.rev(rev));
                let report = ops::restore(store, session, &patterns(of), source.as_ref())?;
                if report.unmatched.is_empty() { Ok(()) } else { Err(OpError::NoNode(Vec::new())) }
            }
            Command::Commit { message, only, empty, overwrite, author: by, .. } => {
                let mut words = self.words(message);
                words.author = by.as_deref().map_or(words.author, author);
                let (allow_empty, only) = (*empty == Empty::Allowed, patterns(only));
                let request = CommitRequest { words, allow_empty, only, overwrite: *overwrite };
                match ops::commit(store, session, &request) {
                    Err(OpError::NothingToCommit) if *empty == Empty::Skipped => Ok(()),
                    done => done.map(drop),
                }
            }
            Command::Amend { message: text, only, overwrite, author: by } => {
                let (by, text) = (by.as_deref().map(author), text.as_deref().map(message));
                let (time, only) = (self.time(), patterns(only));
                let request = AmendRequest { author: by, message: text, time, only, overwrite: *overwrite };
                ops::amend(store, session, &request).map(drop)
            }
            Command::Branch { name, at, force } => {
                let at = self.rev_or_head(at.as_ref());
                ops::create_branch(store, session, &branch(name), &at, *force, self.time()).map(drop)
            }
            Command::Delete { names, force } => {
                let names: Vec<_> = names.iter().map(|name| branch(name)).collect();
                ops::delete_branches(store, session, &names, *force, self.time()).map(drop)
            }
            Command::Rename { old, new, force } => {
                let old = old.as_deref().map(branch);
                ops::rename_branch(store, session, old.as_ref(), &branch(new), *force, self.time()).map(drop)
            }
            Command::Switch(name) => self.switch(&Target::Branch(branch(name), self.rev(&Rev::name(name)))),
            Command::Create { name, at, force } => {
                let (name, at) = (branch(name), at.as_ref().map(|rev| self.rev(rev)));
                self.switch(&if *force { Target::ForceCreate(name, at) } else { Target::Create(name, at) })
            }
            Command::Detach(to) => self.switch(&Target::Detach(self.rev(to))),
            Command::Back => self.switch(&Target::Previous),
            Command::Tag { name, at, message: text, force } => {
                let (name, text) = (TagName::new(name).expect("a name"), text.as_deref().map(message));
                let at = self.rev_or_head(at.as_ref());
                ops::create_tag(store, session, &name, &at, text.as_ref(), *force, self.time()).map(drop)
            }
            Command::Untag(names) => {
                let names: Vec<_> = names.iter().map(|name| TagName::new(name).expect("a name")).collect();
                ops::delete_tags(store, &names, self.time()).map(drop)
            }
            Command::Merge { other, forward, unrelated, message: text, .. } => {
                let request = MergeRequest {
                    revision: self.rev(other),
                    fast_forward: *forward,
                    unrelated: *unrelated,
                    message: text.as_deref().map(message),
                    signature: self.signature(),
                };
                ops::merge(store, session, &request).map(drop)
            }
            Command::Revert { commits, mainline, message: text } => {
                if text.is_some() && commits.len() > 1 {
                    return Err(OpError::NothingChosen);
                }
                let request = RevertRequest {
                    selections: commits.iter().map(|rev| Selection::Of(self.rev(rev))).collect(),
                    what: Reverting::Commits { mainline: mainline.unwrap_or(0) },
                    message: text.as_deref().map(message),
                    signature: self.signature(),
                };
                ops::revert(store, session, &request).map(drop)
            }
            Command::Settle { underway, choices } => ops::settle(store, session, *underway, choices).map(drop),
            Command::Continue { underway, message: text } => {
                let text = text.as_deref().map(message);
                ops::conclude(store, session, *underway, text.as_ref(), &self.signature()).map(drop)
            }
            Command::Abort(underway) => ops::abort(store, session, *underway, &self.signature()).map(drop),
            Command::Reset { to, hard } => {
                let mode = if *hard { ResetMode::Hard } else { ResetMode::Soft };
                ops::reset(store, session, &self.rev_or_head(to.as_ref()), mode, self.time()).map(drop)
            }
            Command::Import { of, replace, message, .. } => {
                let state = of.resolve(model, session.as_str()).ok();
                let state = state.map(|at| model.state_at(Some(at))).unwrap_or_default();
                let writes = state.values().map(write_of).collect();
                let request = ImportRequest { writes, replace: *replace, ..ImportRequest::default() };
                match message {
                    None => ops::import(store, session, request).map(drop),
                    Some(text) => ops::import_and_commit(store, session, request, &self.words(text)).map(drop),
                }
            }
            Command::Config { key, value } => ops::set(store, key, value.as_deref()).map(drop),
            Command::StartSearch { bad, good, only } => {
                let patterns = only.iter().map(NodeId::to_string).collect();
                let marks = Marks { patterns, ..Marks::default() };
                let mut said: Vec<_> = bad.iter().map(|bad| (Marked::Bad, vec![self.rev(bad)])).collect();
                if !good.is_empty() {
                    said.push((Marked::Good, good.iter().map(|rev| self.rev(rev)).collect()));
                }
                ops::set_marks(store, session, &Marking::Start(marks, said)).map(drop)
            }
            Command::Mark(marked, revs) => {
                let selections = revs.iter().map(|rev| Selection::Of(self.rev(rev))).collect();
                ops::set_marks(store, session, &Marking::Say(*marked, selections)).map(drop)
            }
            Command::Unmark => ops::set_marks(store, session, &Marking::Undo).map(drop),
            Command::EndSearch => ops::forget_marks(store, session).map(drop),
            Command::Unpack { prefix, .. } => {
                let Ok(file) = fs::File::open(self.directory.join(FILE)) else { return Err(OpError::NothingChosen) };
                let mut bundle = BundleFile::open(FILE, file)?;
                let summary = bundle.summary()?;
                ops::import_bundle(store, &mut bundle, &summary, *prefix, self.time()).map(drop)
            }
            Command::Redact { ids, source, reason } => {
                let mut ids = ids.clone();
                ids.sort();
                ids.dedup();
                let (source, reason, by) = (source.clone(), reason.clone(), self.words("any").author);
                ops::redact(store, &Redacting { ids, source, time: self.time(), by, reason }).map(drop)
            }
            Command::Gc { days, .. } => {
                let oldest = if self.model.days(*days) == 0 { self.time() } else { commit_time(&told(0)) };
                ops::gc(store, oldest, false).map(drop)
            }
        }
    }
}

impl Command {
    /// Whether a crash in it is of interest, and what it comes to is foreseen.
    pub fn may_crash(&self) -> bool {
        !self.is_trial() && !matches!(self, Self::Undo { .. } | Self::Pack)
    }

    /// Whether other commits are there after it, or other versions in those that were.
    pub fn changes_history(&self) -> bool {
        matches!(self, Self::Redact { .. } | Self::Gc { .. } | Self::Unpack { .. })
    }

    /// Whether it may do one thing in the database and be refused another, and then undoes the first.
    pub fn is_several(&self) -> bool {
        match self {
            Self::Revert { commits, .. } => commits.len() > 1,
            Self::Continue { .. } => true,
            _ => false,
        }
    }

    /// Whether it only tells what it would do.
    fn is_trial(&self) -> bool {
        match self {
            Self::Put { dry_run, .. }
            | Self::Commit { dry_run, .. }
            | Self::Merge { dry_run, .. }
            | Self::Gc { dry_run, .. }
            | Self::Unpack { dry_run, .. } => *dry_run,
            _ => false,
        }
    }
}
