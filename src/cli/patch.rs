//! A changed node as a person reads it: what became of it, its provenance, and its content by line or by leaf.

use super::json::change_name;
use super::paint::Paint;
use super::text::{abridge, escape_block, escape_line};
use super::writer_text;
use crate::graph::{Changed, ContentEdits, Edit, Field, Hunk, Op, PathChange, Piece, Remark, leaves, words};
use crate::model::minify;
use crate::object::Kept;
use std::borrow::Cow;
use std::io::{self, Write};
use std::time::Instant;

/// How contents are shown.
pub struct Patch {
    /// The colours.
    pub paint: Paint,
    /// Whether words are marked in one line instead of two.
    pub word_diff: bool,
    /// How many unchanged lines stand around a change.
    pub context: usize,
    /// When a search for words gives up.
    pub deadline: Instant,
}

/// Such as `modified user/diet (provenance only)`.
pub fn header(out: &mut dyn Write, changed: &Changed, edits: &ContentEdits<'_>, paint: Paint) -> io::Result<()> {
    let state = changed.effect().into();
    let fields = changed.fields();
    let only = match fields.as_slice() {
        [Field::Provenance] => " (provenance only)",
        [Field::EventTime] => " (event time only)",
        [Field::Provenance, Field::EventTime] => " (provenance and event time only)",
        _ => "",
    };
    let remark = match edits {
        ContentEdits::Paths { changes, remark: Some(Remark::Respelled), .. } if !changes.is_empty() => {
            " (same text, spelled otherwise)".to_owned()
        }
        _ => edits.remark().map(|remark| format!(" ({})", remark_text(remark))).unwrap_or_default(),
    };
    let id = paint.id(&escape_line(changed.id().as_str()));
    writeln!(out, "{} {id}{only}{remark}", paint.state(state, change_name(state)))?;
    for (side, kept) in [("old", &changed.old), ("new", &changed.new)] {
        if let Some(redaction) = kept.as_ref().and_then(Kept::redaction) {
            writeln!(out, "  {side}: [{}]", writer_text::redaction(redaction))?;
        }
    }
    Ok(())
}

/// What has to be told beside a comparison by leaf.
pub fn remark_text(remark: Remark) -> &'static str {
    match remark {
        Remark::Respelled => "same value, spelled otherwise",
        Remark::Reordered => "same value, keys in another order",
        Remark::TooDeep => "compared as one where it is too deep",
        Remark::TooLarge => "compared as one where it is too large",
    }
}

/// The provenance and the event time: what differs where nothing else does, and all of it where `all` says so.
pub fn provenance(out: &mut dyn Write, changed: &Changed, all: bool, paint: Paint) -> io::Result<()> {
    if !all && changed.fields().contains(&Field::Content) {
        return Ok(());
    }
    let (old, new) = (facts(changed.old.as_ref()), facts(changed.new.as_ref()));
    for ((name, old), (_, new)) in old.into_iter().zip(new) {
        let line = |sign, value: &str| format!("{sign} {name}: {}", escape_line(value));
        if let (Some(value), true) = (old.filter(|_| old == new), all) {
            writeln!(out, "{}", paint.dim(&line(' ', value)))?;
        }
        if old != new {
            old.map_or(Ok(()), |value| writeln!(out, "{}", paint.removed(&line('-', value))))?;
            new.map_or(Ok(()), |value| writeln!(out, "{}", paint.added(&line('+', value))))?;
        }
    }
    Ok(())
}

/// The fields of a node's provenance and its event time, with their names.
fn facts(node: Option<&Kept>) -> Vec<(&'static str, Option<&str>)> {
    let nothing = crate::model::Provenance::default();
    let names = nothing.fields().map(|(name, _)| name);
    let fields = node.and_then(Kept::provenance).map(|provenance| provenance.fields().map(|(_, value)| value));
    let event_time = node.and_then(Kept::event_time).map(crate::model::Timestamp::as_str);
    let mut facts: Vec<_> = names.into_iter().zip(fields.unwrap_or_default()).collect();
    facts.push(("event_time", event_time));
    facts
}

/// The lines of two texts.
#[derive(Clone, Copy)]
struct Sides<'a> {
    old: &'a [&'a str],
    new: &'a [&'a str],
    /// Whether one ends with a newline and the other does not.
    ends: bool,
}

fn ends_differ(old: &[&str], new: &[&str]) -> bool {
    let ends = |lines: &[&str]| lines.last().map(|line| line.ends_with('\n'));
    ends(old).zip(ends(new)).is_some_and(|(old, new)| old != new)
}

impl Patch {
    /// What differs between the contents.
    pub fn contents(&self, out: &mut dyn Write, edits: &ContentEdits<'_>) -> io::Result<()> {
        match edits {
            ContentEdits::Same => Ok(()),
            ContentEdits::Lines { old, new, .. } => {
                let sides = Sides { old, new, ends: ends_differ(old, new) };
                edits.hunks(self.context).iter().try_for_each(|hunk| self.hunk(out, hunk, sides))
            }
            ContentEdits::Paths { changes, .. } => changes.iter().try_for_each(|change| self.path(out, change)),
        }
    }

    fn hunk(&self, out: &mut dyn Write, hunk: &Hunk, sides: Sides<'_>) -> io::Result<()> {
        let place = format!("@@ -{} +{} @@", span(&hunk.old), span(&hunk.new));
        writeln!(out, "{}", self.paint.hunk(&place))?;
        let mut at = hunk.old.start;
        for edit in &hunk.edits {
            sides.old[at..edit.old.start].iter().try_for_each(|line| self.same(out, line))?;
            self.edit(out, edit, sides)?;
            at = edit.old.end;
        }
        sides.old[at..hunk.old.end].iter().try_for_each(|line| self.same(out, line))
    }

    fn same(&self, out: &mut dyn Write, line: &str) -> io::Result<()> {
        self.line(out, Sign::Same, &[whole(line)])
    }

    /// The lines of one edit: those that go, then those that come. The n-th of each are told apart by words.
    fn edit(&self, out: &mut dyn Write, edit: &Edit, sides: Sides<'_>) -> io::Result<()> {
        let (old, new) = (&sides.old[edit.old.clone()], &sides.new[edit.new.clone()]);
        let pairs = old.iter().zip(new).map(|(old, new)| words(body(old), body(new), Some(self.deadline)));
        let pairs: Vec<_> = pairs.collect();
        let marked = if self.word_diff { pairs.len() } else { 0 };
        for (gone, come) in &pairs[..marked] {
            writeln!(out, " {}", self.marked(gone, come))?;
        }
        for (at, line) in old.iter().enumerate() {
            if at >= marked {
                let alone = [whole(line)];
                self.line(out, Sign::Gone, pairs.get(at).map_or(&alone, |(gone, _)| gone))?;
            }
            self.end(out, "before", line, sides)?;
        }
        for (at, line) in new.iter().enumerate() {
            if at >= marked {
                let alone = [whole(line)];
                self.line(out, Sign::Come, pairs.get(at).map_or(&alone, |(_, come)| come))?;
            }
            self.end(out, "after", line, sides)?;
        }
        Ok(())
    }

    /// One line behind its sign.
    fn line(&self, out: &mut dyn Write, sign: Sign, pieces: &[Piece<'_>]) -> io::Result<()> {
        let text = self.pieces(sign, pieces);
        match (sign, self.word_diff) {
            (Sign::Gone, true) => writeln!(out, " {}", self.paint.removed(&format!("[-{text}-]"))),
            (Sign::Come, true) => writeln!(out, " {}", self.paint.added(&format!("{{+{text}+}}"))),
            (Sign::Same | Sign::Gone | Sign::Come, _) => {
                writeln!(out, "{}{text}", self.colored(sign, sign.text(), false))
            }
        }
    }

    /// Below a line without a newline, that it has none; where only one of the texts ends so.
    fn end(&self, out: &mut dyn Write, when: &str, line: &str, sides: Sides<'_>) -> io::Result<()> {
        if !sides.ends || line.ends_with('\n') {
            return Ok(());
        }
        let when = if self.word_diff { format!(" {when}") } else { String::new() };
        writeln!(out, "\\ no newline at the end{when}")
    }

    /// Pieces side by side; where something stayed, what changed stands out.
    fn pieces(&self, sign: Sign, pieces: &[Piece<'_>]) -> String {
        let told_apart = pieces.iter().any(|piece| !piece.changed);
        let piece = |(text, changed): (Cow<'_, str>, bool)| self.colored(sign, &text, changed && told_apart);
        shown(pieces).map(piece).collect()
    }

    fn colored(&self, sign: Sign, text: &str, emphasis: bool) -> String {
        match (sign, emphasis) {
            (Sign::Same, _) => text.to_owned(),
            (Sign::Gone, false) => self.paint.removed(text),
            (Sign::Come, false) => self.paint.added(text),
            (Sign::Gone, true) => self.paint.removed_word(text),
            (Sign::Come, true) => self.paint.added_word(text),
        }
    }

    /// Two lines in one: what both have, what is gone in `[-…-]` and what has come in `{+…+}`.
    fn marked(&self, gone: &[Piece<'_>], come: &[Piece<'_>]) -> String {
        let (mut gone, mut come) = (shown(gone).peekable(), shown(come).peekable());
        let mut line = String::new();
        loop {
            while let Some((text, _)) = gone.next_if(|(_, changed)| *changed) {
                line.push_str(&self.paint.removed(&format!("[-{text}-]")));
            }
            while let Some((text, _)) = come.next_if(|(_, changed)| *changed) {
                line.push_str(&self.paint.added(&format!("{{+{text}+}}")));
            }
            // What both have stands on both sides in the same order.
            match (gone.next(), come.next()) {
                (Some((text, _)), _) => line.push_str(&text),
                (None, _) => return line,
            }
        }
    }

    /// What a change by leaf takes away and brings.
    fn path(&self, out: &mut dyn Write, change: &PathChange) -> io::Result<()> {
        let (path, old, new) = (&change.path, change.old.as_deref(), change.new.as_deref());
        if let (Some(old), Some(new)) = (old.filter(|old| is_scalar(old)), new.filter(|new| is_scalar(new))) {
            let (gone, come) = words(old, new, Some(self.deadline));
            if self.word_diff {
                return writeln!(out, "  {}{}", label(path), self.marked(&gone, &come));
            }
            self.leaf(out, Sign::Gone, path, &gone)?;
            return self.leaf(out, Sign::Come, path, &come);
        }
        for (sign, value) in [(Sign::Gone, old), (Sign::Come, new)] {
            let Some(value) = value else { continue };
            // What was compared as one is shown as one.
            let inside = if change.op == Op::Replace { None } else { leaves(value) };
            match inside {
                Some(leaves) => leaves
                    .iter()
                    .try_for_each(|leaf| self.leaf(out, sign, &format!("{path}{}", leaf.path), &[whole(leaf.token)]))?,
                None => self.leaf(out, sign, path, &[whole(&minify(value))])?,
            }
        }
        Ok(())
    }

    fn leaf(&self, out: &mut dyn Write, sign: Sign, path: &str, pieces: &[Piece<'_>]) -> io::Result<()> {
        let text = self.pieces(sign, pieces);
        match (sign, self.word_diff) {
            (Sign::Gone, true) => writeln!(out, "  {}{}", label(path), self.paint.removed(&format!("[-{text}-]"))),
            (Sign::Come, true) => writeln!(out, "  {}{}", label(path), self.paint.added(&format!("{{+{text}+}}"))),
            (Sign::Same | Sign::Gone | Sign::Come, _) => {
                let label = self.colored(sign, &format!("{} {}", sign.text(), label(path)), false);
                writeln!(out, "{label}{text}")
            }
        }
    }
}

/// On which side a line stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sign {
    Same,
    Gone,
    Come,
}

impl Sign {
    fn text(self) -> &'static str {
        match self {
            Self::Same => " ",
            Self::Gone => "-",
            Self::Come => "+",
        }
    }
}

fn is_scalar(json: &str) -> bool {
    !json.starts_with(['[', '{'])
}

/// A pointer in front of its value; the whole value has none.
fn label(path: &str) -> String {
    if path.is_empty() { String::new() } else { format!("{}: ", escape_line(path)) }
}

/// A line without its newline.
fn body(line: &str) -> &str {
    line.strip_suffix('\n').unwrap_or(line)
}

/// A line or a token as one piece in which nothing is told apart.
fn whole(line: &str) -> Piece<'_> {
    Piece { text: body(line), changed: true }
}

/// How many bytes of a line are shown as they are.
const LONG: usize = 4096;

/// The pieces of a line as they are shown, and whether each is changed. Of a long line the inside of long pieces is left
/// out, and told how much it was.
fn shown<'a>(pieces: &'a [Piece<'a>]) -> impl Iterator<Item = (Cow<'a, str>, bool)> {
    let long = pieces.iter().map(|piece| piece.text.len()).sum::<usize>() > LONG;
    pieces.iter().map(move |piece| {
        let kept = if piece.changed { 400 } else { 80 };
        let text = if long { abridge(piece.text, kept) } else { Cow::Borrowed(piece.text) };
        (Cow::Owned(escape_block(&text).into_owned()), piece.changed)
    })
}

/// A range of lines as git writes it: the first line, and how many where it is not one.
fn span(lines: &std::ops::Range<usize>) -> String {
    match lines.len() {
        0 => format!("{},0", lines.start),
        1 => (lines.start + 1).to_string(),
        count => format!("{},{count}", lines.start + 1),
    }
}
