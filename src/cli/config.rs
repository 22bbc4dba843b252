//! `mnem config`

use super::context::Context;
use super::error::{CliError, Word};
use super::json::V;
use super::text::escape_line;
use super::when::parse_duration;
use crate::model::Author;
use crate::ops;
use serde::Serialize;

/// A setting.
pub(super) struct Key {
    pub name: &'static str,
    /// What it is for.
    pub help: &'static str,
    /// What counts where it has no value.
    default: &'static str,
}

pub(super) const KEYS: [Key; 3] = [
    Key {
        name: "author",
        help: "who commits, such as 'Name <mail@example.org>'",
        default: "the name of the user, else 'unknown'",
    },
    Key { name: "lock-timeout", help: "how long to wait for another writer, such as 30s", default: "10s" },
    Key { name: "reflog-days", help: "how many days the movements of refs are kept, 90 if not set", default: "90" },
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
    let known = args.key.as_deref().map(known_key).transpose()?;
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
    if let (None, Some(Key { name, default, .. })) = (shown.peek(), known) {
        let message = format!("the setting '{name}' has no value; the default is {default}");
        return Err(CliError::new(Word::PreconditionFailed, message).hint(format!("mnem config {name} VALUE")));
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

fn known_key(key: &str) -> Result<&'static Key, CliError> {
    if let Some(known) = KEYS.iter().find(|known| known.name == key) {
        return Ok(known);
    }
    let names = KEYS.map(|known| known.name);
    let likeness = |name: &&str| strsim::jaro_winkler(name, key);
    let near = names.into_iter().max_by(|a, b| likeness(a).total_cmp(&likeness(b)));
    let error = CliError::new(Word::BadKey, format!("no setting '{key}'"));
    Err(match near.filter(|name| likeness(name) > 0.8) {
        Some(name) => error.hint(format!("did you mean '{name}'?")),
        None => error.hint(format!("the settings are {}", names.join(", "))),
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
