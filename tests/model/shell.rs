//! Command lines that are run in this process, each from its arguments to its exit status.

use crate::command::Typed;
use mnemosyne::{World, run_in};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{self, Cursor, Write};
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// What a command said.
#[derive(Clone, Debug)]
pub struct Said {
    pub status: u8,
    pub out: String,
    pub err: String,
}

/// What is written to one of the streams.
#[derive(Clone, Default)]
struct Stream(Rc<RefCell<Vec<u8>>>);

impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Stream {
    fn text(&self) -> String {
        String::from_utf8(self.0.borrow().clone()).expect("UTF-8")
    }
}

/// A place in which commands are typed.
#[derive(Clone, Debug)]
pub struct Shell {
    directory: PathBuf,
}

impl Shell {
    pub fn at(directory: &Path) -> Self {
        Self { directory: directory.to_owned() }
    }

    /// Runs a command that answers in JSON.
    pub fn run(&self, session: &str, time: &str, typed: &Typed) -> Said {
        let words = ["mnem", "--json"].into_iter().map(OsString::from);
        let variables: BTreeMap<_, _> = [
            ("MNEM_SESSION", session.to_owned()),
            ("MNEM_DATE", time.to_owned()),
            ("USER", crate::model::USER.to_owned()),
        ]
        .into();
        let (output, commentary) = (Stream::default(), Stream::default());
        let status = run_in(World {
            arguments: words.chain(typed.words.iter().map(OsString::from)).collect(),
            variables: Box::new(move |name| variables.get(name).map(OsString::from)),
            directory: self.directory.clone(),
            input: RefCell::new(Box::new(Cursor::new(typed.input.clone().into_bytes()))),
            output: RefCell::new(Box::new(output.clone())),
            commentary: RefCell::new(Box::new(commentary.clone())),
            terminals: (false, false),
        });
        Said { status, out: output.text(), err: commentary.text() }
    }
}
