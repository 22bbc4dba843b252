//! What a command is run in: its arguments, the environment, the working directory, the three streams.

use super::error::{CliError, Word};
use super::paint::Paint;
use std::cell::RefCell;
use std::ffi::OsString;
use std::io::{self, IsTerminal, Read, Write};
use std::path::PathBuf;

/// Tells the value of a variable.
type Variables = Box<dyn Fn(&str) -> Option<OsString>>;

/// All that a command asks of the process but the clock.
pub struct World {
    /// The words of the command line, the name of the program first.
    pub arguments: Vec<OsString>,
    /// The value of a variable, if it has one.
    pub variables: Variables,
    /// The working directory.
    pub directory: PathBuf,
    /// Standard input.
    pub input: RefCell<Box<dyn Read>>,
    /// Standard output.
    pub output: RefCell<Box<dyn Write>>,
    /// Standard error.
    pub commentary: RefCell<Box<dyn Write>>,
    /// Whether a person sees standard output, and whether one sees standard error.
    pub terminals: (bool, bool),
}

impl World {
    /// That of the process.
    #[expect(clippy::disallowed_methods, reason = "the one place that asks the environment and the working directory")]
    pub fn process() -> Self {
        Self {
            arguments: std::env::args_os().collect(),
            variables: Box::new(|name| std::env::var_os(name)),
            // Where the directory is gone, an absolute path still leads to a store.
            directory: std::env::current_dir().unwrap_or_else(|_| PathBuf::from(".")),
            input: RefCell::new(Box::new(io::stdin())),
            output: RefCell::new(Box::new(io::stdout())),
            commentary: RefCell::new(Box::new(io::stderr())),
            terminals: (io::stdout().is_terminal(), io::stderr().is_terminal()),
        }
    }

    /// A variable; an empty one is an unset one.
    pub(super) fn variable_os(&self, name: &str) -> Option<OsString> {
        (self.variables)(name).filter(|value| !value.is_empty())
    }

    /// Like [`World::variable_os`], for a variable that must be text.
    pub(super) fn variable(&self, name: &str) -> Result<Option<String>, CliError> {
        let Some(value) = self.variable_os(name) else { return Ok(None) };
        value.into_string().map(Some).map_err(|_| {
            CliError::new(Word::BadUtf8, format!("the variable {name} is not UTF-8")).hint(format!("unset {name}"))
        })
    }

    /// The colours of a stream, by `--color`, `NO_COLOR`, `CLICOLOR_FORCE` and the terminal.
    pub(super) fn paint(&self, when: &str, terminal: bool) -> Paint {
        let colored = match when {
            "always" => true,
            "never" => false,
            _ if self.variable_os("NO_COLOR").is_some() => false,
            _ if self.variable_os("CLICOLOR_FORCE").is_some_and(|value| value != "0") => true,
            _ => terminal && self.is_capable(),
        };
        Paint { colored }
    }

    /// Whether a terminal shows more than plain lines.
    pub(super) fn is_capable(&self) -> bool {
        self.variable_os("TERM").is_some_and(|term| term != "dumb")
    }
}
