//! The grammar of revisions.

use super::{Base, Revision, RevisionError, Selection, Step};
use crate::model::CommitTime;

/// Reads a time within a revision; `None` where it is none.
pub type ReadTime<'t> = &'t dyn Fn(&str) -> Option<CommitTime>;

impl Revision {
    /// Reads the grammar; whether the commit exists is not looked at.
    pub fn parse(text: &str, read_time: ReadTime<'_>) -> Result<Self, RevisionError> {
        let fault = |why| RevisionError::Syntax { text: text.to_owned(), why };
        if text.contains("..") || text.starts_with('^') {
            return Err(fault("one commit is wanted here, and no range"));
        }
        let end = ["~", "^", "@{"].iter().filter_map(|start| text.find(start)).min().unwrap_or(text.len());
        let (name, mut rest) = text.split_at(end);
        let mut base = match name {
            "" if rest.starts_with("@{") => Base::HeadBranch,
            "" => return Err(fault("it names no commit")),
            "HEAD" | "@" => Base::Head,
            "ORIG_HEAD" => Base::OrigHead,
            name if name.chars().any(|c| c.is_control() || c.is_whitespace()) => {
                return Err(fault("a name holds no white space and no control characters"));
            }
            name => Base::Name(name.to_owned()),
        };
        if let Some(behind) = rest.strip_prefix("@{-1}").filter(|_| base == Base::HeadBranch) {
            (base, rest) = (Base::Previous, behind);
        }
        let mut nth = None;
        if let Some((count, behind)) = counted(rest) {
            nth = Some(count.parse().map_err(|_| fault("a count is too large"))?);
            rest = behind;
        } else if base == Base::HeadBranch {
            base = Base::Head;
        }
        let mut steps = Vec::new();
        while !rest.is_empty() {
            if let Some(inside) = rest.strip_prefix("@{") {
                let (time, behind) = inside.split_once('}').ok_or_else(|| fault("'@{' has no '}'"))?;
                if counted(rest).is_some() {
                    return Err(fault("'@{N}' stands right behind a name"));
                }
                if time.starts_with('-') {
                    return Err(fault("only '@{-1}' names where HEAD stood before, and nothing stands before it"));
                }
                let time = read_time(time);
                steps.push(Step::At(time.ok_or_else(|| fault("between '@{' and '}' stands a number or a time"))?));
                rest = behind;
                continue;
            }
            if !rest.starts_with(['~', '^']) {
                return Err(fault("behind a name only ~N, ^N, @{N} and @{TIME} may stand"));
            }
            let digits = rest[1..].find(|c: char| !c.is_ascii_digit()).map_or(rest.len(), |at| at + 1);
            let count = match &rest[1..digits] {
                "" => 1,
                digits => digits.parse().map_err(|_| fault("a count is too large"))?,
            };
            steps.push(if rest.starts_with('~') { Step::Back(count) } else { Step::Parent(count) });
            rest = &rest[digits..];
        }
        Ok(Self { text: text.to_owned(), base, nth, steps })
    }
}

/// The number in `@{N}` at the beginning of `text`, and what stands behind it.
fn counted(text: &str) -> Option<(&str, &str)> {
    let (count, behind) = text.strip_prefix("@{")?.split_once('}')?;
    (!count.is_empty() && count.bytes().all(|b| b.is_ascii_digit())).then_some((count, behind))
}

impl Selection {
    /// Reads a revision, `^A`, `A..B` or `A...B`; an end that is left out is HEAD.
    pub fn parse(text: &str, read_time: ReadTime<'_>) -> Result<Self, RevisionError> {
        let end = |text: &str| if text.is_empty() { Ok(Revision::head()) } else { Revision::parse(text, read_time) };
        if let Some(without) = text.strip_prefix('^') {
            return Ok(Self::Without(Revision::parse(without, read_time)?));
        }
        if let Some((one, other)) = text.split_once("...") {
            return Ok(Self::Either(end(one)?, end(other)?));
        }
        match text.split_once("..") {
            Some((one, other)) => Ok(Self::Between(end(one)?, end(other)?)),
            None => Ok(Self::Of(Revision::parse(text, read_time)?)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use regex::Regex;

    const NOON: &str = "2026-01-02T12:00:00.000+00:00";

    fn read(text: &str) -> Option<CommitTime> {
        (text == "noon").then(|| CommitTime::parse(NOON).expect("a time"))
    }

    fn parse(text: &str) -> Result<Revision, RevisionError> {
        Revision::parse(text, &read)
    }

    fn steps(text: &str) -> Vec<Step> {
        parse(text).expect("a revision").steps
    }

    #[test]
    fn steps_follow_the_name() {
        for text in ["HEAD", "@", "@~2^", "@{noon}", "@@{noon}", "@@{1}", "HEAD@{1}"] {
            assert_eq!(parse(text).expect("a revision").base, Base::Head, "{text}");
        }
        assert_eq!(parse("a/b-c.d").expect("a revision").base, Base::Name("a/b-c.d".into()));
        assert_eq!(parse("@{1}~2").expect("a revision").base, Base::HeadBranch);
        assert_eq!(parse("@{-1}@{1}~2").expect("a revision").base, Base::Previous);
        assert_eq!(parse("ORIG_HEAD~2").expect("a revision").base, Base::OrigHead);
        assert_eq!(parse("x@{10}~").expect("a revision").nth, Some(10));
        assert_eq!(steps("x"), []);
        assert_eq!(steps("x~"), [Step::Back(1)]);
        assert_eq!(steps("x~0^^2~10"), [Step::Back(0), Step::Parent(1), Step::Parent(2), Step::Back(10)]);
        let noon = Step::At(CommitTime::parse(NOON).expect("a time"));
        assert_eq!(steps("x~2@{noon}^"), [Step::Back(2), noon, Step::Parent(1)]);
    }

    #[test]
    fn what_is_not_in_the_grammar_is_refused() {
        for text in [
            "x@{-1}",
            "@{-2}",
            "@{-1",
            "x@{1}@{2}",
            "x~@{1}",
            "x@{noon}@{1}",
            "x@{}",
            "x@{99999999999999999999}",
            "",
            "~1",
            "^",
            "x~a",
            "x^1y",
            "a b",
            "a\n",
            "x~99999999999999999999",
            "x@{night}",
            "x@{noon",
            "x~é",
            "^é",
        ] {
            assert!(matches!(parse(text), Err(RevisionError::Syntax { .. })), "{text:?}");
        }
    }

    #[test]
    fn selections_name_ends() {
        let select = |text| Selection::parse(text, &read).expect("a selection");
        let (a, b, head) = (parse("a").expect("a"), parse("b~2").expect("b"), Revision::head());
        assert_eq!(select("a"), Selection::Of(a.clone()));
        assert_eq!(select("^a"), Selection::Without(a.clone()));
        assert_eq!(select("a..b~2"), Selection::Between(a.clone(), b.clone()));
        assert_eq!(select("a.."), Selection::Between(a.clone(), head.clone()));
        assert_eq!(select("..b~2"), Selection::Between(head.clone(), b.clone()));
        assert_eq!(select("a...b~2"), Selection::Either(a.clone(), b));
        assert_eq!(select("...a"), Selection::Either(head, a));
        for text in ["^", "", "a..b..c d", "^a..b c"] {
            assert!(Selection::parse(text, &read).is_err(), "{text:?}");
        }
    }

    fn base() -> impl Strategy<Value = (&'static str, Base)> {
        let name = |name: &'static str| (name, Base::Name(name.to_owned()));
        prop::sample::select(vec![
            ("HEAD", Base::Head),
            ("@", Base::Head),
            ("ORIG_HEAD", Base::OrigHead),
            ("@{-1}", Base::Previous),
            name("main"),
            name("refs/heads/a{b}"),
            name("a@b@"),
            name("@a"),
            name("0123abcd"),
        ])
    }

    fn step() -> impl Strategy<Value = (String, Step)> {
        let counted = |sign, step: fn(u64) -> Step| {
            let plain = Just((format!("{sign}"), step(1)));
            prop_oneof![plain, any::<u64>().prop_map(move |count| (format!("{sign}{count}"), step(count)))]
        };
        let noon = CommitTime::parse(NOON).expect("a time");
        prop_oneof![counted('~', Step::Back), counted('^', Step::Parent), Just(("@{noon}".to_owned(), Step::At(noon)))]
    }

    proptest! {
        #[test]
        fn what_is_made_of_parts_is_read_as_them(
            (name, base) in base(),
            nth in proptest::option::of(any::<u64>()),
            steps in proptest::collection::vec(step(), 0..5),
        ) {
            let (spelled, steps): (Vec<_>, Vec<_>) = steps.into_iter().unzip();
            let text = format!("{name}{}{}", nth.map_or(String::new(), |nth| format!("@{{{nth}}}")), spelled.concat());
            let revision = parse(&text).expect("a revision");
            prop_assert_eq!(revision.to_string(), &text[..]);
            prop_assert_eq!(Selection::parse(&text, &read).expect("a selection"), Selection::Of(revision.clone()));
            prop_assert_eq!(revision, Revision { text, base, nth, steps });
        }

        #[test]
        fn any_text_is_read_or_refused(text in any::<String>()) {
            prop_assert!(parse(&text).map_or(true, |revision| revision.to_string() == text));
            if let Ok(selection) = Selection::parse(&text, &read) {
                let named = |revision: &Revision| text.contains(&revision.to_string()) || *revision == Revision::head();
                prop_assert!(selection.ends().into_iter().all(|(revision, _)| named(revision)));
            }
        }

        #[test]
        fn the_grammar_is_that_of_a_pattern(
            tokens in proptest::collection::vec(prop::sample::select(vec![
                "a", "@", "{", "}", "@{", "noon", "1", "0", "-", "-1", "@{-1}", "@{1}", "@{noon}", "~", "^", "HEAD", " ", "\n",
            ]), 0..8),
        ) {
            let text = tokens.concat();
            let name = r"(?:(?:[^~^@\s\p{Cc}]|@+[^~^@{\s\p{Cc}])+@*|@+)";
            let base = format!(r"(?:(?:{name}|@\{{-1\}})(?:@\{{[0-9]+\}})?|@\{{[0-9]+\}}|@\{{noon\}})");
            let pattern = Regex::new(&format!(r"\A{base}(?:[~^][0-9]*|@\{{noon\}})*\z")).expect("a pattern");
            prop_assert_eq!(parse(&text).is_ok(), pattern.is_match(&text), "{}", text);
        }
    }
}
