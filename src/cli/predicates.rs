//! Predicates as options. Their order and repetition matter, so they are read as the words that they are.

use super::error::CliError;
use crate::graph::{Kind, Predicate, parse};
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};

/// `--not`, which stands before a predicate.
const NOT: &str = "not";

/// The words of the predicates of a command line.
#[derive(Clone, Debug)]
pub struct Predicates(Vec<String>);

impl Predicates {
    /// Reads them. `example` is to be typed by who names none.
    pub fn read(&self, example: &str) -> Result<Vec<Predicate>, CliError> {
        if self.0.is_empty() {
            return Err(CliError::usage("no predicate is named").hint(example));
        }
        Ok(parse(&self.0)?)
    }
}

fn help(kind: Kind) -> &'static str {
    match kind {
        Kind::Present => "There is a node ID",
        Kind::Absent => "There is no node ID",
        Kind::Equals => "The content is just TEXT",
        Kind::EqualsJson => {
            "The content is the value JSON: numbers by value, strings by what they spell, objects without order and the \
             last of duplicate keys"
        }
        Kind::Contains => "TEXT is somewhere in the content",
        Kind::Matches => "REGEX matches somewhere in the content; ^ and $ are its ends, and with (?m) those of a line",
        Kind::PathExists => "The content has a value at the JSON pointer (RFC 6901), such as /a/0/b",
        Kind::PathEquals => "The content has the value JSON there, compared as by --equals-json",
        Kind::Count => "So many nodes match PATTERN",
        Kind::Any => "TEXT is somewhere in a node that matches PATTERN",
    }
}

impl Args for Predicates {
    fn augment_args(command: Command) -> Command {
        const HEADING: &str = "Predicates";
        let not = Arg::new(NOT).long(NOT).help("Negate the predicate behind it").help_heading(HEADING);
        // A value that is never typed: it gives each place where the option stands an index.
        let not = not.num_args(0).action(ArgAction::Append).default_missing_value("");
        let option = |kind: Kind| {
            let option = Arg::new(kind.name()).long(kind.name()).help(help(kind)).help_heading(HEADING);
            let option = option.value_names(kind.words()).num_args(kind.words().len()).action(ArgAction::Append);
            option.allow_hyphen_values(true).add(super::complete::ids())
        };
        command.args(Kind::ALL.map(option)).arg(not)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for Predicates {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let indices = |name: &str| matches.indices_of(name).into_iter().flatten();
        let mut found: Vec<(usize, Vec<String>)> =
            indices(NOT).map(|index| (index, vec![format!("--{NOT}")])).collect();
        for kind in Kind::ALL {
            // Each word has an index.
            let first = indices(kind.name()).step_by(kind.words().len());
            for (index, values) in first.zip(matches.get_occurrences::<String>(kind.name()).into_iter().flatten()) {
                let name = format!("--{}", kind.name());
                found.push((index, [name].into_iter().chain(values.cloned()).collect()));
            }
        }
        found.sort_unstable();
        Ok(Self(found.into_iter().flat_map(|(_, words)| words).collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(words: &[String]) -> Result<Vec<String>, clap::Error> {
        let command = Predicates::augment_args(Command::new("test").no_binary_name(true));
        let command = command.arg(Arg::new("rev").short('r').long("rev"));
        let matches =
            command.arg(Arg::new("json").long("json").action(ArgAction::SetTrue)).try_get_matches_from(words)?;
        Predicates::from_arg_matches(&matches).map(|predicates| predicates.0)
    }

    proptest! {
        #[test]
        fn order_repetition_and_every_word_come_through_whatever_stands_between(
            chosen in prop::collection::vec((any::<bool>(), 0..10_usize, 0..4_u8), 0..6),
            values in prop::collection::vec("-{0,2}[a-z0-9=]{0,4}|--|-r|--json|--not|--equals|-5|--rev=x| ", 24),
        ) {
            let mut values = values.into_iter().cycle();
            let (mut words, mut typed) = (Vec::new(), Vec::new());
            let mut has_rev = false;
            for (is_negated, kind, between) in chosen {
                let kind = Kind::ALL[kind];
                let not = is_negated.then(|| "--not".to_owned());
                let name = [format!("--{}", kind.name())];
                let taken: Vec<_> = values.by_ref().take(kind.words().len()).collect();
                let predicate: Vec<_> = not.into_iter().chain(name).chain(taken).collect();
                words.extend_from_slice(&predicate);
                typed.extend(predicate);
                if between == 1 && !has_rev {
                    typed.extend(["-r".to_owned(), "HEAD".to_owned()]);
                    has_rev = true;
                }
            }
            prop_assert_eq!(read(&typed).expect("options"), words);
        }
    }
}
