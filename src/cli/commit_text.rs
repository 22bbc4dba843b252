//! A commit as a person reads it.

use super::paint::Paint;
use super::text::{escape_block, escape_line};
use crate::graph::Entry;
use crate::store::{short_branch, short_tag};
use std::io::{self, Write};

/// Digits of an id where a short one will do.
pub const SHORT: usize = 10;

/// Such as ` (HEAD -> main, other)`; nothing where no ref names the commit.
fn decoration(entry: &Entry, head_branch: Option<&str>, paint: Paint) -> String {
    let mut names = Vec::new();
    for name in &entry.refs {
        if let Some(tag) = short_tag(name) {
            names.push(paint.tag(&format!("tag: {}", escape_line(tag))));
            continue;
        }
        let short = escape_line(short_branch(name)).into_owned();
        let painted = paint.branch(&short);
        let own = entry.is_head && head_branch == Some(name);
        names.push(if own { format!("{} {painted}", paint.head("HEAD ->")) } else { painted });
    }
    if entry.is_head && head_branch.is_none() {
        names.insert(0, paint.head("HEAD"));
    }
    if names.is_empty() { String::new() } else { format!(" ({})", names.join(", ")) }
}

/// The short id, the refs and the subject.
pub fn one_line(entry: &Entry, head_branch: Option<&str>, paint: Paint) -> String {
    let id = entry.commit.id.to_string();
    let decoration = decoration(entry, head_branch, paint);
    format!("{}{decoration} {}", paint.commit(&id[..SHORT]), escape_line(entry.commit.message.subject()))
}

/// The full id and the refs, who made it and when, and the message.
pub fn block(out: &mut dyn Write, entry: &Entry, head_branch: Option<&str>, paint: Paint) -> io::Result<()> {
    let commit = &entry.commit;
    let header = paint.commit(&format!("commit {}", commit.id));
    writeln!(out, "{header}{}", decoration(entry, head_branch, paint))?;
    if entry.parents.len() > 1 {
        let parents: Vec<_> = entry.parents.iter().map(|id| id.to_string()[..SHORT].to_owned()).collect();
        writeln!(out, "Merge:  {}", parents.join(" "))?;
    }
    writeln!(out, "Author: {}", escape_line(commit.author.as_str()))?;
    writeln!(out, "Date:   {}", commit.time)?;
    writeln!(out)?;
    for line in escape_block(commit.message.as_str()).lines() {
        writeln!(out, "{}", format!("    {line}").trim_end())?;
    }
    Ok(())
}
