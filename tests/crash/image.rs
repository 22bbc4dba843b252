//! What a crash may leave of a disk.
//!
//! A sync makes durable what was done to one file before it, a sync of the directory the names; nothing else is ordered.
//! So what is pending is kept as steps, data and metadata apart, and any of them may be there after a crash, or parts of
//! a write: sectors of 512 bytes, or the bytes before any place.

use crate::disk::{Event, FileNumber};
use std::collections::BTreeMap;
use std::sync::Arc;

const SECTOR: usize = 512;

/// One thing of which a crash leaves all or nothing, but for data, of which it may leave parts.
#[derive(Clone, Debug)]
pub enum Step {
    /// Bytes in a file; they show only as far as its length goes.
    Data { file: FileNumber, offset: u64, bytes: Arc<[u8]> },
    /// The length of a file.
    Length { file: FileNumber, length: u64 },
    /// A name leads to a file, which leaves the name that it had.
    Name { name: String, file: FileNumber, before: Option<String> },
    /// A name is gone.
    Remove { name: String },
}

impl Step {
    fn is_data(&self) -> bool {
        matches!(self, Self::Data { .. })
    }

    fn file(&self) -> Option<FileNumber> {
        match self {
            Self::Data { file, .. } | Self::Length { file, .. } => Some(*file),
            Self::Name { .. } | Self::Remove { .. } => None,
        }
    }
}

/// The files of a disk and their names.
#[derive(Clone, Debug, Default)]
pub struct Image {
    /// What is there of each file; it may go beyond the file's length.
    buffers: Vec<Arc<Vec<u8>>>,
    lengths: Vec<u64>,
    names: BTreeMap<String, FileNumber>,
}

fn index(number: u64) -> usize {
    usize::try_from(number).expect("files fit into memory")
}

impl Image {
    /// A disk of one file without bytes, which is the database.
    pub fn empty() -> Self {
        let mut image = Self::default();
        image.add_file();
        image
    }

    /// Adds a file without a name.
    pub fn add_file(&mut self) -> FileNumber {
        self.buffers.push(Arc::default());
        self.lengths.push(0);
        self.buffers.len() - 1
    }

    /// The file of this name.
    pub fn file(&self, name: &str) -> Option<FileNumber> {
        self.names.get(name).copied()
    }

    /// All names.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.names.keys().map(String::as_str)
    }

    /// The bytes of the files that have a name; of the first one as long as it is the database.
    pub fn named_bytes(&self) -> impl Iterator<Item = &[u8]> {
        let first = (!self.names.contains_key("/database")).then_some(0);
        self.names.values().copied().chain(first).map(|file| self.bytes(file))
    }

    /// The bytes of a file.
    pub fn bytes(&self, file: FileNumber) -> &[u8] {
        &self.buffers[file][..index(self.lengths[file])]
    }

    /// Does what an event did.
    pub fn apply_event(&mut self, event: &Event) {
        for step in self.steps(event) {
            self.apply(&step);
        }
        self.settle();
    }

    /// The steps of an event on this disk.
    fn steps(&self, event: &Event) -> Vec<Step> {
        match event {
            Event::Write { file, offset, bytes } => {
                let data = Step::Data { file: *file, offset: *offset, bytes: Arc::clone(bytes) };
                let end = offset + bytes.len() as u64;
                let grows = end > self.lengths.get(*file).copied().unwrap_or(0);
                let length = grows.then_some(Step::Length { file: *file, length: end });
                [data].into_iter().chain(length).collect()
            }
            Event::Length { file, length } => vec![Step::Length { file: *file, length: *length }],
            Event::Name { name, file, before } => {
                vec![Step::Name { name: name.clone(), file: *file, before: before.clone() }]
            }
            Event::Remove { name } => vec![Step::Remove { name: name.clone() }],
            Event::Sync { .. } | Event::SyncNames => Vec::new(),
        }
    }

    fn apply(&mut self, step: &Step) {
        match step {
            Step::Data { file, offset, bytes } => self.write(*file, index(*offset), bytes),
            Step::Length { file, length } => {
                self.make(*file);
                if index(*length) < self.buffers[*file].len() {
                    Arc::make_mut(&mut self.buffers[*file]).truncate(index(*length));
                }
                self.lengths[*file] = *length;
            }
            Step::Name { name, file, before } => {
                self.make(*file);
                if let Some(before) = before {
                    self.names.remove(before);
                }
                self.names.insert(name.clone(), *file);
            }
            Step::Remove { name } => drop(self.names.remove(name)),
        }
    }

    fn make(&mut self, file: FileNumber) {
        while self.buffers.len() <= file {
            self.add_file();
        }
    }

    fn write(&mut self, file: FileNumber, start: usize, bytes: &[u8]) {
        self.make(file);
        let buffer = Arc::make_mut(&mut self.buffers[file]);
        if buffer.len() < start + bytes.len() {
            buffer.resize(start + bytes.len(), 0);
        }
        buffer[start..start + bytes.len()].copy_from_slice(bytes);
    }

    /// Applies parts of a write: the bytes before some place, or some sectors; of other steps all or nothing.
    fn apply_torn(&mut self, step: &Step, random: &mut Random) {
        let Step::Data { file, offset, bytes } = step else {
            if random.below(2) == 0 {
                self.apply(step);
            }
            return;
        };
        let start = index(*offset);
        if random.below(2) == 0 {
            return self.write(*file, start, &bytes[..random.below(bytes.len() + 1)]);
        }
        let mut from = 0;
        while from < bytes.len() {
            let to = bytes.len().min(from + SECTOR - (start + from) % SECTOR);
            if random.below(2) == 0 {
                self.write(*file, start + from, &bytes[from..to]);
            }
            from = to;
        }
    }

    /// Lets each file have its length: zeros where it has no bytes. What lies beyond stays out of sight, and is gone for
    /// whoever makes the file longer.
    fn settle(&mut self) {
        for (buffer, length) in self.buffers.iter_mut().zip(&self.lengths) {
            if buffer.len() != index(*length) {
                Arc::make_mut(buffer).resize(index(*length), 0);
            }
        }
    }
}

/// A moment in the life of a disk: what is durable, and what is pending in order.
#[derive(Clone, Debug)]
pub struct Moment {
    durable: Image,
    /// What a process finds.
    live: Image,
    pending: Vec<Step>,
}

impl Moment {
    /// The beginning: all of `image` is durable.
    pub fn new(image: Image) -> Self {
        Self { durable: image.clone(), live: image, pending: Vec::new() }
    }

    /// What a process finds: all that is pending is done.
    pub fn live(&self) -> &Image {
        &self.live
    }

    /// The moment after `event`.
    pub fn advance(&mut self, event: &Event) {
        self.pending.extend(self.live.steps(event));
        self.live.apply_event(event);
        match event {
            Event::Sync { file } => self.make_durable(Some(*file)),
            Event::SyncNames => self.make_durable(None),
            Event::Write { .. } | Event::Length { .. } | Event::Name { .. } | Event::Remove { .. } => {}
        }
    }

    fn make_durable(&mut self, file: Option<FileNumber>) {
        let (done, pending) = std::mem::take(&mut self.pending).into_iter().partition(|step| step.file() == file);
        self.pending = pending;
        let done: Vec<Step> = done;
        for step in &done {
            self.durable.apply(step);
        }
        self.durable.settle();
    }

    fn image(&self, mut take: impl FnMut(usize, &Step, &mut Image)) -> Image {
        let mut image = self.durable.clone();
        for (at, step) in self.pending.iter().enumerate() {
            take(at, step, &mut image);
        }
        image.settle();
        image
    }

    fn image_of(&self, mut takes: impl FnMut(usize, &Step) -> bool) -> Image {
        self.image(|at, step, image| {
            if takes(at, step) {
                image.apply(step);
            }
        })
    }

    /// Calls `visit` with what a crash may leave: all that is pending, none, each alone, each missing, each torn, data
    /// without metadata and metadata without data. Of more than `most` steps, that many are drawn.
    pub fn each_crash(&self, most: usize, random: &mut Random, visit: &mut dyn FnMut(Image, &str)) {
        visit(self.image_of(|_, _| true), "all");
        if self.pending.is_empty() {
            return;
        }
        visit(self.image_of(|_, _| false), "none");
        let count = self.pending.len();
        if count > 1 && self.pending.iter().any(Step::is_data) && !self.pending.iter().all(Step::is_data) {
            visit(self.image_of(|_, step| step.is_data()), "data only");
            visit(self.image_of(|_, step| !step.is_data()), "metadata only");
        }
        for turn in 0..count.min(most) {
            let chosen = if count > most { random.below(count) } else { turn };
            if count > 1 {
                visit(self.image_of(|at, _| at == chosen), "one alone");
                visit(self.image_of(|at, _| at != chosen), "one missing");
            }
            if self.pending[chosen].is_data() {
                let mut torn = |others| {
                    self.image(|at, step, image| {
                        if at == chosen {
                            image.apply_torn(step, random);
                        } else if others {
                            image.apply(step);
                        }
                    })
                };
                visit(torn(true), "one torn");
                visit(torn(false), "one torn, alone");
            }
        }
    }

    /// What a crash may leave, drawn: of each step all, nothing, or a part.
    pub fn random_crash(&self, random: &mut Random) -> Image {
        self.image(|_, step, image| match random.below(3) {
            0 => image.apply(step),
            1 => image.apply_torn(step, random),
            _ => {}
        })
    }

    /// Whether every crash leaves the same.
    pub fn is_durable(&self) -> bool {
        self.pending.is_empty()
    }
}

/// Numbers that look drawn, and are the same in every run.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// Begins at a seed.
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// A number below `end`, which is not 0.
    pub fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        index((self.0 >> 16) % end as u64)
    }
}
