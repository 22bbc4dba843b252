//! The layers of the library: each uses only those to its left, and verbs do not use one another.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

const LAYERS: [&str; 6] = ["model", "object", "store", "graph", "ops", "cli"];

/// The files in `ops/` that its others may use.
const SHARED_BY_VERBS: [&str; 4] = ["error", "joining", "refs", "staged"];

/// A token of Rust, as far as paths go: a name, or one other character. `::` is one token.
#[derive(Clone, Debug, PartialEq)]
struct Token {
    line: usize,
    text: String,
}

/// Splits source into tokens and leaves out comments, strings and characters.
fn tokens(source: &str) -> Vec<Token> {
    let chars: Vec<char> = source.chars().collect();
    let (mut tokens, mut at, mut line) = (Vec::new(), 0, 1);
    let starts = |at: usize, text: &str| text.chars().enumerate().all(|(i, c)| chars.get(at + i) == Some(&c));
    let is_name = |c: &char| c.is_alphanumeric() || *c == '_';
    while let Some(&c) = chars.get(at) {
        let start = at;
        if starts(at, "//") {
            while chars.get(at).is_some_and(|c| *c != '\n') {
                at += 1;
            }
        } else if starts(at, "/*") {
            let mut depth = 0;
            loop {
                let (step, change) = if starts(at, "/*") {
                    (2, 1)
                } else if starts(at, "*/") {
                    (2, -1)
                } else {
                    (1, 0)
                };
                at += step;
                depth += change;
                if depth == 0 || at >= chars.len() {
                    break;
                }
            }
        } else if let Some(hashes) = raw_string(&chars[at..]) {
            let end: String = ['"'].into_iter().chain(std::iter::repeat_n('#', hashes)).collect();
            at = chars[at..].iter().position(|c| *c == '"').expect("its quote") + at + 1;
            while at < chars.len() && !starts(at, &end) {
                at += 1;
            }
            at += end.len();
        } else if c == '"' {
            at += 1;
            while chars.get(at).is_some_and(|c| *c != '"') {
                at += if chars[at] == '\\' { 2 } else { 1 };
            }
            at += 1;
        } else if c == '\'' && (chars.get(at + 1) == Some(&'\\') || chars.get(at + 2) == Some(&'\'')) {
            at += if chars[at + 1] == '\\' { 3 } else { 2 };
            while chars.get(at).is_some_and(|c| *c != '\'') {
                at += 1;
            }
            at += 1;
        } else if is_name(&c) {
            while chars.get(at).is_some_and(is_name) {
                at += 1;
            }
            tokens.push(Token { line, text: chars[start..at].iter().collect() });
        } else {
            at += if starts(at, "::") { 2 } else { 1 };
            if !c.is_whitespace() {
                tokens.push(Token { line, text: chars[start..at].iter().collect() });
            }
        }
        line += chars[start..at.min(chars.len())].iter().filter(|c| **c == '\n').count();
    }
    tokens
}

/// How many `#` a raw string has that begins here.
fn raw_string(chars: &[char]) -> Option<usize> {
    let skip = usize::from(matches!(chars.first(), Some('b' | 'c')));
    if chars.get(skip) != Some(&'r') {
        return None;
    }
    let hashes = chars[skip + 1..].iter().take_while(|c| **c == '#').count();
    (chars.get(skip + 1 + hashes) == Some(&'"')).then_some(hashes)
}

/// A path that leads to an item of the library: its names from the root of the crate, and where it stands.
#[derive(Debug, PartialEq)]
struct Use {
    line: usize,
    path: Vec<String>,
}

/// All paths of a file that begin with `crate`, `self` or `super`, those in groups of a `use` included. `module` is where
/// the file is in the tree of modules.
fn uses(source: &str, module: &[&str]) -> Vec<Use> {
    let tokens = tokens(source);
    let mut uses = Vec::new();
    let mut module: Vec<String> = module.iter().map(|name| (*name).to_owned()).collect();
    // The depths of braces in which modules inside the file begin.
    let (mut depth, mut inside) = (0, Vec::new());
    let text = |at: usize| tokens.get(at).map_or("", |token| token.text.as_str());
    let mut at = 0;
    while at < tokens.len() {
        match text(at) {
            "mod" if text(at + 2) == "{" => {
                module.push(text(at + 1).to_owned());
                inside.push(depth);
                at += 1;
            }
            "{" => depth += 1,
            "}" => {
                depth -= 1;
                if inside.last() == Some(&depth) {
                    inside.pop();
                    module.pop();
                }
            }
            "crate" | "self" | "super" if text(at + 1) == "::" && (at == 0 || text(at - 1) != "::") => {
                at = tree(&tokens, at, &module, &[], &mut uses);
                continue;
            }
            _ => {}
        }
        at += 1;
    }
    uses
}

/// Reads the path that begins at `at` behind `before`, with all groups; returns where it ends.
fn tree(tokens: &[Token], mut at: usize, module: &[String], before: &[String], uses: &mut Vec<Use>) -> usize {
    let text = |at: usize| tokens.get(at).map_or("", |token| token.text.as_str());
    let line = tokens.get(at).map_or(0, |token| token.line);
    let mut path = before.to_vec();
    loop {
        match text(at) {
            "{" => {
                at += 1;
                while !matches!(text(at), "}" | "") {
                    at = tree(tokens, at, module, &path, uses);
                    while !matches!(text(at), "}" | "," | "") {
                        at += 1;
                    }
                    at += usize::from(text(at) == ",");
                }
                return at + 1;
            }
            "crate" => path = Vec::new(),
            "self" if path.is_empty() => path = module.to_vec(),
            "self" => {}
            "super" if path.is_empty() => path = module[..module.len().saturating_sub(1)].to_vec(),
            "super" => drop(path.pop()),
            name => path.push(name.to_owned()),
        }
        at += 1;
        if text(at) != "::" {
            uses.push(Use { line, path });
            return at;
        }
        at += 1;
    }
}

fn rank(layer: &str) -> Option<usize> {
    LAYERS.iter().position(|known| *known == layer)
}

/// What is wrong with the uses of a file. `exported` tells which file of `ops/` a name of `ops` comes from.
fn faults(source: &str, module: &[&str], exported: &BTreeMap<String, String>) -> Vec<(usize, String)> {
    let Some(own) = module.first().and_then(|layer| rank(layer)) else { return Vec::new() };
    let mut faults = Vec::new();
    for Use { line, path } in uses(source, module) {
        let Some(other) = path.first().and_then(|layer| rank(layer)) else { continue };
        if other > own {
            faults.push((line, format!("'{}' is used in '{}'", path.join("::"), LAYERS[own])));
        }
        let (["ops", verb, ..], [layer, name, ..]) = (module, path.as_slice()) else { continue };
        let from = if exported.values().any(|file| file == name) { Some(name) } else { exported.get(name) };
        let may = |file: &String| file == verb || SHARED_BY_VERBS.contains(&file.as_str());
        if layer == "ops" && from.is_some_and(|file| !may(file)) {
            faults.push((line, format!("'{}' is used in the verb '{verb}'", path.join("::"))));
        }
    }
    faults
}

/// Which file each name comes from that `ops/mod.rs` passes on.
fn exported(source: &str) -> BTreeMap<String, String> {
    let tokens = tokens(source);
    let mut exported = BTreeMap::new();
    for at in 0..tokens.len() {
        if tokens[at].text == "use" && tokens.get(at + 2).is_some_and(|token| token.text == "::") {
            let mut found = Vec::new();
            tree(&tokens, at + 1, &[], &[], &mut found);
            let names = found.into_iter().filter_map(|found| <[String; 2]>::try_from(found.path).ok());
            exported.extend(names.map(|[file, name]| (name, file)));
        }
    }
    exported
}

fn files(directory: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(directory).expect("a directory") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            files.extend(self::files(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    files.sort();
    files
}

#[test]
fn no_layer_uses_one_to_its_right_and_no_verb_another() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let exported = exported(&fs::read_to_string(source.join("ops/mod.rs")).expect("the verbs"));
    assert!(exported.values().any(|file| file == "commit"), "{exported:?}");
    let (mut found, mut checked) = (String::new(), 0);
    for file in files(&source) {
        let relative = file.strip_prefix(&source).expect("it is below").with_extension("");
        let module: Vec<_> = relative.iter().map(|part| part.to_str().expect("a name")).collect();
        let module = module.strip_suffix(&["mod"]).unwrap_or(&module);
        let text = fs::read_to_string(&file).expect("source");
        checked += uses(&text, module).len();
        for (line, fault) in faults(&text, module, &exported) {
            writeln!(found, "src/{}.rs:{line}: {fault}", relative.display()).expect("a string");
        }
    }
    assert!(checked > 100, "only {checked} uses were found");
    assert!(found.is_empty(), "\n{found}");
}

#[test]
fn every_way_to_name_a_layer_is_seen() {
    let exported =
        exported("mod commit;\npub use commit::{CommitReport, commit};\npub use error::OpError;\nmod error;");
    for (module, source, expected) in [
        (&["store", "open"][..], "use crate::graph;", &[1][..]),
        (&["store", "open"], "use crate::graph::walk;", &[1]),
        (&["store", "open"], "\nuse crate::{model::NodeId,\n graph::{walk, trie}};", &[3, 3]),
        (&["store", "open"], "use crate::{self, ops as verbs};", &[1]),
        (&["store", "open"], "fn f() {\n crate::cli::run() }", &[2]),
        (&["store", "open"], "pub(in crate::store) fn f(x: crate::ops::Write) {}", &[1]),
        (&["store", "open"], "use super::super::graph::walk;", &[1]),
        (&["store", "open"], "use super::graph::walk;", &[]),
        (&["store", "open"], "mod tests {\n use super::super::super::graph; }\nuse super::super::ops;", &[2, 3]),
        (&["store", "staged", "log"], "use super::super::super::{cli, model};", &[1]),
        (&["store"], "use super::graph;", &[1]),
        (&["store", "open"], "use crate::{model, object::inner, store::{self, x}};", &[]),
        (&["store", "open"], "// crate::graph\n/* crate::ops /* */ crate::cli */ \"crate::graph\"", &[]),
        (
            &["store", "open"],
            "r#\"crate::graph \" crate::ops\"#; b\"\\\"crate::cli\"; 'c'; '\\''; '\"'; crate::cli",
            &[1],
        ),
        (&["store", "open"], "fn f<'a>(x: &'a crate::graph::X) {}", &[1]),
        (&["store", "open"], "use other::crate_::graph; other::graph::x();", &[]),
        (&["cli", "log"], "use crate::{ops, graph, model};", &[]),
        (&["model", "node"], "use crate::object;", &[1]),
        (&["main"], "use crate::cli;", &[]),
        (&["ops", "log"], "use super::commit;", &[1]),
        (&["ops", "log"], "use super::{OpError,\n CommitReport};", &[2]),
        (&["ops", "log"], "use crate::ops::commit::plan;", &[1]),
        (&["ops", "log"], "use super::error::OpError; use super::OpError;", &[]),
        (&["ops", "commit"], "mod tests { use super::*; use super::super::commit; }", &[]),
        (&["ops"], "pub use self::commit::commit;", &[]),
    ] {
        let lines: Vec<_> = faults(source, module, &exported).into_iter().map(|(line, _)| line).collect();
        assert_eq!(lines, expected, "{source}");
    }
}
