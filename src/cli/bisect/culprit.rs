//! What a person asks once a first bad commit is found: what it is, what it changed and from what, and what to type next.

use super::super::commit_text::SHORT;
use super::super::context::Context;
use super::super::json::letter;
use super::super::shell::word;
use super::super::text::escape_line;
use super::super::writer_text;
use crate::graph::Changed;
use crate::model::NodeId;
use crate::ops::ShowReport;

/// How many changed nodes are named.
const NAMED: usize = 8;

/// How a commit was found.
pub struct Found<'f> {
    /// By how many runs, or what else.
    pub runs: &'f str,
    /// Whether it is one of several changes.
    pub one_of_several: bool,
    /// The node that did it, where one is known.
    pub node: Option<&'f NodeId>,
    /// Whether that is all that was asked for: else nobody reads that it was found and takes that for all.
    pub is_whole: bool,
}

/// Says it. The line that names the commit is among the last 20.
pub fn tell(shown: &ShowReport, id: &str, found: &Found<'_>, context: &Context) {
    let &Found { runs, one_of_several, node, is_whole } = found;
    let paint = context.err_paint();
    let said = if is_whole { "is the first bad commit" } else { "was found, but not what in it" };
    context.say(&format!("{} {said}", paint.commit(id)));
    let commit = &shown.entry.commit;
    let subject = escape_line(commit.message.subject());
    context.say(&format!("{} {}: {subject}", commit.time, escape_line(commit.author.as_str())));
    for changed in shown.changed.iter().take(NAMED) {
        let state = changed.effect().into();
        let provenance = changed.new.as_ref().map_or(String::new(), |node| writer_text::provenance(node, paint));
        let node = paint.id(&escape_line(changed.id().as_str()));
        context.say(format!("  {} {node} {provenance}", paint.state(state, &letter(state).to_string())).trim_end());
    }
    if shown.changed.len() > NAMED {
        context.say(&format!("  and {} more", shown.changed.len() - NAMED));
    }
    if one_of_several {
        context.warn("equal memories tested otherwise elsewhere between the ends: this is one of several changes");
    }
    context.say(&format!("found with {runs}; to look into it:"));
    let (mnem, short) = (context.typed(), &id[..SHORT]);
    context.say(&format!("  {mnem} show {short}"));
    if let Some(id) = node.or(shown.changed.first().map(Changed::id)) {
        let literal = if id.as_str().contains(['*', '?', '[']) { " --literal" } else { "" };
        context.say(&format!("  {mnem} blame{literal} -r {short} -- {}", word(id.as_str())));
    }
    let mainline = if commit.parents.len() > 1 { " -m 1" } else { "" };
    context.say(&format!("  {mnem} revert{mainline} {short}"));
}
