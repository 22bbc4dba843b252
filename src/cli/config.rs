//! `mnem config`

use super::context::Context;
use super::error::{CliError, Word};
use super::json::V;
use super::text::escape_line;
use super::when::parse_duration;
use crate::model::Author;
use crate::ops;
use serde::Serialize;

/// The keys, and what each is for.
pub(super) const KEYS: [(&str, &str); 3] = [
    ("author", "who commits, such as 'Name <mail@example.org>'"),
    ("lock-timeout", "how long to wait for another writer, such as 30s"),
    ("reflog-days", "how many days the movements of refs are kept, 90 if not set"),
];

/// Show or change the settings of a store
///
/// Without arguments lists them. Keys: author, lock-timeout, reflog-days (90). An option and a variable beat a setting.
#[derive(clap::Args, Debug)]
pub(super) struct ConfigArgs {
    /// Which setting
    #[arg(value_name = "KEY", add = super::complete::keys())]
    key: Option<String>,

    /// Its new value; without it, the value is shown
    #[arg(value_name = "VALUE", allow_hyphen_values = true, conflicts_with = "unset")]
    value: Option<String>,

    /// Take the setting away
    #[arg(long, requires = "key")]
    unset: bool,
}

#[derive(Serialize)]
struct SettingJson<'a> {
    v: u8,
    r#type: &'static str,
    key: &'a str,
    value: Option<&'a str>,
}

pub(super) fn run(args: &ConfigArgs, context: &mut Context) -> Result<(), CliError> {
    if let Some(key) = &args.key {
        check_key(key)?;
    }
    if let Some(key) = &args.key
        && (args.unset || args.value.is_some())
    {
        let value = args.value.as_deref().map(|value| check_value(key, value)).transpose()?;
        let store = context.store_to_write()?;
        let warning = ops::set(&store, key, value.as_deref())?;
        context.warn_error(warning);
        return Ok(());
    }
    let store = context.store()?;
    let settings = ops::settings(&store, &context.session()?)?;
    let mut shown = settings.iter().filter(|(key, _)| args.key.as_ref().is_none_or(|wanted| wanted == key)).peekable();
    if let (None, Some(key)) = (shown.peek(), &args.key) {
        return Err(CliError::new(Word::PreconditionFailed, format!("the setting '{key}' has no value"))
            .hint(format!("mnem config {key} VALUE")));
    }
    for (key, value) in shown {
        if context.globals.json {
            context.json_line(&SettingJson { v: V, r#type: "setting", key, value: Some(value) })?;
        } else if args.key.is_some() {
            context.line(&escape_line(value))?;
        } else {
            context.line(&format!("{key}={}", escape_line(value)))?;
        }
    }
    Ok(())
}

fn check_key(key: &str) -> Result<(), CliError> {
    if KEYS.iter().any(|(known, _)| *known == key) {
        return Ok(());
    }
    let near =
        KEYS.iter().map(|(known, _)| (strsim::jaro_winkler(known, key), *known)).max_by(|a, b| a.0.total_cmp(&b.0));
    let error = CliError::new(Word::BadKey, format!("no setting '{key}'"));
    let names: Vec<_> = KEYS.iter().map(|(known, _)| *known).collect();
    Err(match near {
        Some((likeness, known)) if likeness > 0.8 => error.hint(format!("did you mean '{known}'?")),
        Some(_) | None => error.hint(format!("the settings are {}", names.join(", "))),
    })
}

/// Checks a value by the rule that its option has.
fn check_value(key: &str, value: &str) -> Result<String, CliError> {
    match key {
        "author" => Author::one_line(value)
            .map(|author| author.as_str().to_owned())
            .map_err(|error| CliError::usage(format!("the author {error}"))),
        "lock-timeout" => {
            parse_duration(value)
                .map_err(|error| CliError::usage(error.to_string()).hint("such as 500ms, 10s or 2m"))?;
            Ok(value.to_owned())
        }
        _ => match value.parse::<u32>() {
            Ok(days) => Ok(days.to_string()),
            Err(_) => Err(CliError::usage(format!("'{value}' is no number of days")).hint("such as 90")),
        },
    }
}
