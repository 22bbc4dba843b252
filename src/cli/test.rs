//! `mnem test`

use super::context::{AtRevision, Context};
use super::error::CliError;
use super::finding::{FindingJson, finding};
use super::json::V;
use super::predicates::Predicates;
use crate::ops;
use serde::Serialize;

/// Ask whether predicates hold in a memory
///
/// Reads HEAD with this session's staged changes, or the memory at a revision. Ends with 0 where all predicates hold, and
/// with 1 where one does not; each that does not is told on standard error.
///
/// TEXT and REGEX look at the text of a string, and at the JSON text as it is stored of any other value, also of a string
/// with a lone surrogate. Of a node that is absent, whatever is claimed of its content is false. Words behind a predicate
/// are taken as they are, with leading dashes too. PATTERN is an id, an id with / behind it for all below, or a glob.
#[derive(clap::Args, Debug)]
#[command(override_usage = "mnem test [OPTIONS] [--not] PREDICATE…")]
pub(super) struct TestArgs {
    #[command(flatten)]
    predicates: Predicates,

    #[command(flatten)]
    at: AtRevision,
}

#[derive(Serialize)]
struct TestJson<'a> {
    v: u8,
    r#type: &'static str,
    holds: bool,
    #[serde(flatten)]
    finding: FindingJson<'a>,
}

pub(super) fn run(args: &TestArgs, context: &mut Context) -> Result<(), CliError> {
    let predicates = args.predicates.read("mnem test --contains user/diet vegan")?;
    let store = context.store()?;
    let session = context.session()?;
    let revision = context.revision(&args.at, &store)?;
    let (evaluations, doubt) = ops::test(&store, &session, revision.as_ref(), &predicates)?;
    context.warn_doubts(&doubt);
    for (predicate, evaluation) in predicates.iter().zip(&evaluations) {
        if !evaluation.holds {
            context.answer_no();
            context.say(&finding(predicate, &evaluation.found));
        }
        if context.globals.json {
            let finding = FindingJson::new(predicate, &evaluation.found)?;
            context.json_line(&TestJson { v: V, r#type: "test", holds: evaluation.holds, finding })?;
        }
    }
    Ok(())
}
