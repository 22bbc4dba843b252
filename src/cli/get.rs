//! `mnem get`

use super::context::{AtRevision, Context};
use super::error::{CliError, Word};
use super::json::{AbsentJson, AbsentValueJson, NodeJson, RedactedValueJson, ValueJson};
use super::text::{cut, escape_line};
use super::{shell, writer_text};
use crate::model::{Content, Node, NodeId, pointer};
use crate::object::Kept;
use crate::ops::{self, OpError};

/// Print the content of a node
///
/// Reads HEAD with this session's staged changes, or the memory at a revision. A string prints as its text, byte for
/// byte; any other value as its JSON text, byte for byte.
#[derive(clap::Args, Debug)]
pub(super) struct GetArgs {
    /// The node's id; several with --json
    #[arg(required_unless_present = "stdin", value_name = "ID", add = super::complete::ids())]
    ids: Vec<String>,

    /// Read ids from standard input, one a line, or ended by NUL with -z; answers with --json only
    #[arg(long, conflicts_with = "ids")]
    stdin: bool,

    #[command(flatten)]
    at: AtRevision,

    /// As what to print a string: its text, or its JSON text
    #[arg(short = 't', long = "type", value_name = "TYPE", default_value = "text", value_parser = ["text", "json"])]
    kind: String,

    /// Print only the value at this JSON pointer (RFC 6901), such as /a/0/b
    #[arg(long, value_name = "POINTER", allow_hyphen_values = true)]
    path: Option<String>,
}

pub(super) fn run(args: &GetArgs, context: &mut Context) -> Result<(), CliError> {
    let several = args.stdin || args.ids.len() > 1;
    let ids = if args.stdin { ids_from_stdin(context)? } else { node_ids(&args.ids)? };
    if several && !context.globals.json {
        return Err(CliError::usage("several ids are only printed with --json").hint("mnem get --json ID ID …"));
    }
    let store = context.store()?;
    let session = context.session()?;
    let revision = context.revision(&args.at, &store)?;
    let (nodes, doubt) = ops::get(&store, &session, revision.as_ref(), &ids)?;
    context.warn_doubts(&doubt);
    let (mut absent, mut without, mut redacted) = (Vec::new(), Vec::new(), Vec::new());
    for (id, node) in ids.iter().zip(&nodes) {
        let Some(node) = node else {
            absent.push(id.clone());
            if several {
                context.json_line(&AbsentJson::new(id.as_str()))?;
            }
            continue;
        };
        let node = match node {
            Kept::Node(node) => node,
            Kept::Redacted(redaction) => {
                if context.globals.json {
                    match &args.path {
                        None => context.json_line(&NodeJson::new(node)?)?,
                        Some(path) => context.json_line(&RedactedValueJson::new(redaction, path))?,
                    }
                }
                redacted.push(redaction);
                continue;
            }
        };
        if show(node, args, context)? {
            continue;
        }
        without.push(id.clone());
        if let (true, Some(path)) = (several, &args.path) {
            context.json_line(&AbsentValueJson::new(id.as_str(), path))?;
        }
    }
    let without = args.path.clone().filter(|_| !without.is_empty()).map(|path| OpError::NoPath { ids: without, path });
    if let [first, ..] = redacted[..] {
        let told = redacted.iter().map(|redaction| {
            format!("'{}' was {}", escape_line(redaction.id.as_str()), writer_text::redaction(redaction))
        });
        let others = (!absent.is_empty()).then(|| OpError::NoNode(absent).to_string());
        let others = others.into_iter().chain(without.map(|without| without.to_string()));
        let message = told.chain(others).collect::<Vec<_>>().join("; ");
        return Err(CliError::new(Word::Redacted, message)
            .hint(format!("mnem blame --history -- {}", shell::word(first.id.as_str()))));
    }
    match (absent.is_empty(), without) {
        (true, None) => Ok(()),
        (false, None) => Err(OpError::NoNode(absent).into()),
        (true, Some(without)) => Err(without.into()),
        (false, Some(without)) => {
            let message = format!("{}; {without}", OpError::NoNode(absent));
            Err(CliError::new(Word::NoNode, message).hint("see 'mnem ls'"))
        }
    }
}

fn node_ids(texts: &[String]) -> Result<Vec<NodeId>, CliError> {
    texts.iter().map(|id| node_id(id)).collect()
}

fn ids_from_stdin(context: &Context) -> Result<Vec<NodeId>, CliError> {
    let text = super::input::read_text(context, std::path::Path::new("-"))?;
    let end = if context.globals.nul { '\0' } else { '\n' };
    text.split_terminator(end).map(node_id).collect()
}

/// Reads an id by the rule that every command has.
pub(super) fn node_id(text: &str) -> Result<NodeId, CliError> {
    NodeId::new(text).map_err(|error| CliError::from(error).about(&shortened(text)))
}

/// A text in quotes, cut where it is long.
pub(super) fn shortened(text: &str) -> String {
    format!("'{}'", cut(text))
}

/// Prints a node; `false` where its content has nothing at the path.
fn show(node: &Node, args: &GetArgs, context: &mut Context) -> Result<bool, CliError> {
    let Some(path) = &args.path else {
        if context.globals.json {
            context.json_line(&NodeJson::of_node(node)?)?;
        } else {
            print(&node.content, args, context)?;
        }
        return Ok(true);
    };
    let Some(value) = pointer(node.content.json(), path)? else { return Ok(false) };
    if context.globals.json {
        context.json_line(&ValueJson::new(node.id.as_str(), path, value)?)?;
    } else {
        print(&Content::from_json(value)?, args, context)?;
    }
    Ok(true)
}

fn print(content: &Content, args: &GetArgs, context: &mut Context) -> Result<(), CliError> {
    let text = if args.kind == "json" { None } else { content.text() };
    match text {
        Some(text) => context.out().write_all(text.as_bytes())?,
        None => {
            if content.is_string() && args.kind == "text" {
                context.say("note: the string has a lone surrogate and so no text; this is its JSON text");
            }
            context.out().write_all(content.json().as_bytes())?;
        }
    }
    Ok(())
}
