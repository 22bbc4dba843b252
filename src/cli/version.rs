//! `mnem version`

use super::context::Context;
use super::error::CliError;
use super::json::V;
use crate::store::FORMAT;
use serde::Serialize;

/// Show the version of mnem and of the store format
#[derive(clap::Args, Debug)]
pub(super) struct VersionArgs {}

#[derive(Serialize)]
struct VersionJson {
    v: u8,
    r#type: &'static str,
    version: &'static str,
    format: u64,
}

pub(super) fn run(_: &VersionArgs, context: &mut Context) -> Result<(), CliError> {
    let version = env!("CARGO_PKG_VERSION");
    if context.globals.json {
        return context.json_line(&VersionJson { v: V, r#type: "version", version, format: FORMAT });
    }
    Ok(context.line(&format!("mnem {version} (store format {FORMAT})"))?)
}
