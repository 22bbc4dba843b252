//! The binary as a user meets it: whole standard output, standard error and exit status.

mod bad_input;
mod commit;
mod completions;
mod config;
mod conversation;
mod demo;
mod export;
mod fidelity;
mod get;
mod globals;
mod import;
mod init;
mod log;
mod ls;
mod oracle;
mod pattern;
mod put;
mod restore;
mod revision;
mod rm;
mod session;
mod status;
mod streams;
mod support;
mod terminal;
mod version;
