//! The lines of a memory that match.

use super::OpError;
use crate::graph::{Doubt, Memory, Revision, lines};
use crate::model::{Content, NodeId, Pattern, SessionName};
use crate::store::{Disk, Store};
use regex::Regex;

/// What is looked for, and where.
#[derive(Clone, Debug)]
pub struct GrepRequest {
    /// What a line has to match.
    pub regex: Regex,
    /// Whose ids match one of these; all where there is none.
    pub patterns: Vec<Pattern>,
    /// The memory at this revision; HEAD and what is staged where none is named.
    pub revision: Option<Revision>,
    /// Whether the lines themselves are wanted.
    pub lines: bool,
}

/// A node with lines that match.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Matched {
    /// Its id.
    pub id: NodeId,
    /// How many there are.
    pub count: usize,
    /// They, in their order, if they were asked for.
    pub lines: Vec<MatchedLine>,
}

/// A line that matches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MatchedLine {
    /// Which one it is of its node, from 1.
    pub number: usize,
    /// The line without its line feed.
    pub text: String,
}

/// What [`grep`] found.
#[derive(Clone, Debug, Default)]
pub struct GrepReport {
    /// The nodes with lines that match, in the order of the ids.
    pub nodes: Vec<Matched>,
    /// What the name of the revision stands for beside what was taken.
    pub doubt: Option<Doubt>,
}

/// Searches the nodes of a memory line by line: the text of a string, and of any other value the JSON text as it is
/// stored. Before the first commit a memory holds what is staged.
pub fn grep<D: Disk>(store: &Store<D>, session: &SessionName, request: &GrepRequest) -> Result<GrepReport, OpError> {
    store.read(session, |view| {
        let memory = Memory::at(view, request.revision.as_ref())?;
        let mut report = GrepReport { doubt: memory.doubt.clone(), ..GrepReport::default() };
        for (id, held) in memory.select(&request.patterns)? {
            let kept = held.kept(view.tables)?;
            let (count, lines) = kept.content().map(|content| matched(content, request)).unwrap_or_default();
            if count > 0 {
                report.nodes.push(Matched { id, count, lines });
            }
        }
        Ok(report)
    })
}

/// How many lines match, and which, if that is asked for.
fn matched(content: &Content, request: &GrepRequest) -> (usize, Vec<MatchedLine>) {
    let text = content.readable();
    let lines = lines(&text).into_iter().map(|line| line.strip_suffix('\n').unwrap_or(line)).zip(1..);
    let matching = lines.filter(|(line, _)| request.regex.is_match(line));
    if request.lines {
        let found: Vec<_> = matching.map(|(line, number)| MatchedLine { number, text: line.to_owned() }).collect();
        (found.len(), found)
    } else {
        (matching.count(), Vec::new())
    }
}
