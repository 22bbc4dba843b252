//! Which refs go into a bundle, and what becomes of them where it is taken in.

use crate::place::{Place, id, node, session, time, words};
use mnemosyne::graph::Revision;
use mnemosyne::model::BranchName;
use mnemosyne::object::CommitId;
use mnemosyne::ops::{self, Condition, OpError, RefsReport, StagedState, Target, Write};
use mnemosyne::store::StoreError;
use std::collections::BTreeMap;

const MAIN: &str = "refs/heads/main";

/// Two commits on `main`, a branch `side` from the first, and two tags.
fn place() -> (Place, [CommitId; 3]) {
    let place = Place::new();
    let first = place.commit(&[], &[("a", Some("1"))], words("first", 1), &[MAIN]);
    let second = place.commit(&[first], &[("b", Some("2"))], words("second", 2), &[MAIN]);
    let side = place.commit(&[first], &[("a", Some("3"))], words("side", 3), &["refs/heads/side"]);
    place.set("refs/tags/v1", &first, "tag: the first\n\none");
    place.set("refs/tags/v2", &second, "tag");
    (place, [first, second, side])
}

fn refs<const N: usize>(refs: [(&str, CommitId); N]) -> BTreeMap<String, CommitId> {
    refs.into_iter().map(|(name, id)| (name.to_owned(), id)).collect()
}

/// The refs and prerequisites of a bundle, and how many commits and changes it has.
fn in_it(place: &Place, revisions: &[&str]) -> (BTreeMap<String, CommitId>, Vec<CommitId>, u64, u64) {
    let (_, report) = place.create(revisions).expect("a bundle");
    let refs = report.header.refs.into_iter().map(|(name, it)| (name, it.commit)).collect();
    (refs, report.header.prerequisites.into_iter().collect(), report.commits, report.changes)
}

#[test]
fn what_is_named_goes_in_and_what_is_left_out_is_built_on() {
    let (place, [first, second, side]) = place();
    let all = refs([(MAIN, second), ("refs/heads/side", side), ("refs/tags/v1", first), ("refs/tags/v2", second)]);
    assert_eq!(in_it(&place, &[]), (all.clone(), vec![], 3, 3));
    assert_eq!(in_it(&place, &["main"]), (refs([(MAIN, second)]), vec![], 2, 2));
    assert_eq!(in_it(&place, &["HEAD", "main", "refs/heads/main"]), (refs([(MAIN, second)]), vec![], 2, 2));
    assert_eq!(in_it(&place, &["v1..main"]), (refs([(MAIN, second)]), vec![first], 1, 1));
    assert_eq!(in_it(&place, &["main", "^v1"]), (refs([(MAIN, second)]), vec![first], 1, 1));
    assert_eq!(in_it(&place, &["main...side"]), (refs([(MAIN, second), ("refs/heads/side", side)]), vec![first], 2, 2));
    // Where only what is left out is named, all the rest goes in; and refs that name nothing new come along.
    let mut named = vec![first, second];
    named.sort();
    assert_eq!(in_it(&place, &["^main"]), (all, named, 1, 1));
}

#[test]
fn only_a_ref_can_be_an_end() {
    let (place, [first, ..]) = place();
    for revision in ["main~1", "v1^0", &first.to_string(), &first.to_string()[..8], "v1..main~0", "main@{0}"] {
        let Err(OpError::NotARef(name)) = place.create(&[revision]) else { panic!("{revision}") };
        assert_eq!(name, revision.strip_prefix("v1..").unwrap_or(revision));
    }
    ops::switch(&place.store, &session(), &Target::Detach(Revision::head()), time(0)).expect("HEAD on a commit");
    assert!(matches!(place.create(&["HEAD"]), Err(OpError::NotARef(name)) if name == "HEAD"));
    assert!(matches!(place.create(&["nothing"]), Err(OpError::Revision(_))));
}

#[test]
fn an_empty_bundle_is_none() {
    for (place, revisions) in [(place().0, &["main", "^main"][..]), (place().0, &["v1..v1"]), (Place::new(), &[])] {
        assert!(matches!(place.create(revisions), Err(OpError::NothingChosen)), "{revisions:?}");
    }
}

#[test]
fn a_tag_comes_with_what_it_says_and_when_it_was_set() {
    let (place, _) = place();
    let copy = Place::new();
    copy.import(&place.bundle(&[]), None).expect("a bundle");
    let told = |place: &Place| {
        let tags = ops::tags(&place.store, &session(), &[]).expect("tags").into_iter();
        tags.map(|tag| (tag.name, tag.commit, tag.time, tag.message)).collect::<Vec<_>>()
    };
    assert_eq!(told(&copy), told(&place));
    assert_eq!(told(&copy)[0].3.as_deref(), Some("the first\n\none"));
    assert_eq!(told(&copy)[0].2, time(77));
}

#[test]
fn a_tag_that_says_nothing_readable_is_damage_of_the_store() {
    let (place, [first, ..]) = place();
    for reason in ["tag: ", "tag:  ", "tag: x\n"] {
        place.set("refs/tags/v1", &first, reason);
        let refused = place.create(&["v1"]);
        assert!(matches!(refused, Err(OpError::Store(StoreError::Corrupt { .. }))), "{reason:?}: {refused:?}");
    }
    place.set("refs/tags/v1", &first, "set by something else");
    let (_, report) = place.create(&["v1"]).expect("a bundle");
    assert_eq!(report.header.refs["refs/tags/v1"].tag.as_ref().expect("a tag").message, None);
}

#[test]
fn refs_go_below_a_prefix() {
    let (place, [first, second, side]) = place();
    let bytes = place.bundle(&[]);
    let copy = Place::new();
    let own = copy.commit(&[], &[("a", Some("own"))], words("own", 9), &[MAIN]);
    let report = copy.import(&bytes, Some("from/x")).expect("a bundle");
    let all = refs([
        (MAIN, own),
        ("refs/heads/from/x/main", second),
        ("refs/heads/from/x/side", side),
        ("refs/tags/from/x/v1", first),
        ("refs/tags/from/x/v2", second),
    ]);
    assert_eq!(copy.refs(), all);
    assert_eq!(
        report.refs.iter().map(|it| &it.name[..]).collect::<Vec<_>>(),
        all.keys().filter(|name| *name != MAIN).collect::<Vec<_>>()
    );
    let before = copy.dump();
    for prefix in ["a b".to_owned(), "x".repeat(255)] {
        assert!(matches!(copy.import(&bytes, Some(&prefix)), Err(OpError::Name(_))), "{prefix}");
    }
    assert_eq!(copy.dump(), before);
}

#[test]
fn a_branch_moves_forward_and_no_other_way() {
    let (place, [first, second, side]) = place();
    let copy = Place::new();
    let import = |revisions: &[&str]| copy.import(&place.bundle(revisions), None);
    import(&["v1"]).expect("a bundle");
    copy.set(MAIN, &first, "test");
    let moved = import(&["main"]).expect("it is ahead");
    assert_eq!((moved.refs[0].old, moved.refs[0].new), (Some(first), second));
    assert_eq!(copy.refs()[MAIN], second);
    // What has all that comes stays.
    let own = copy.commit(&[second], &[("c", Some("own"))], words("own", 9), &[MAIN]);
    let before = copy.dump();
    let kept = import(&["main"]).expect("it is behind");
    assert_eq!((kept.refs[0].bundled, kept.refs[0].old, kept.refs[0].new), (second, Some(own), own));
    assert_eq!(copy.dump(), before);
    // The branch of the bundle goes on from where this one was.
    let other = place.commit(&[second], &[("c", Some("other"))], words("other", 9), &[MAIN]);
    let refused = import(&["main"]);
    let Err(OpError::Diverged { branches, .. }) = refused else { panic!("{refused:?}") };
    assert_eq!((branches, copy.dump()), (vec!["main".to_owned()], before.clone()));
    // An older branch, and one of which the commit is here.
    copy.set("refs/heads/side", &first, "test");
    assert_eq!(import(&["side"]).expect("it is ahead").refs[0].old, Some(first));
    copy.set("refs/heads/side", &own, "test");
    assert!(matches!(import(&["side"]), Err(OpError::Diverged { .. })), "the commit {side} is here");
    // A merge of both goes on from either.
    let merge = place.commit(&[other, side], &[], words("merge", 10), &["refs/heads/side"]);
    copy.set("refs/heads/side", &side, "test");
    assert_eq!(import(&["side"]).expect("it is ahead").refs[0].new, merge);
}

#[test]
fn a_tag_that_is_here_stays() {
    let (place, [_, second, _]) = place();
    let copy = Place::new();
    copy.import(&place.bundle(&["v1", "v2"]), None).expect("a bundle");
    copy.set("refs/tags/v2", &second, "tag: said otherwise");
    let before = copy.dump();
    copy.import(&place.bundle(&["v1", "v2"]), None).expect("they name what they name");
    assert_eq!(copy.dump(), before);
    copy.set("refs/tags/v1", &second, "tag");
    let before = copy.dump();
    let refused = copy.import(&place.bundle(&[]), None);
    let Err(OpError::TagsElsewhere { tags, .. }) = refused else { panic!("{refused:?}") };
    assert_eq!((tags, copy.dump()), (vec!["v1".to_owned()], before));
}

#[test]
fn what_a_session_has_staged_goes_on_top_of_what_comes() {
    let (place, [first, second, _]) = place();
    let copy = Place::new();
    copy.import(&place.bundle(&["v1"]), Some("base")).expect("a bundle");
    copy.set(MAIN, &first, "test");
    let write = |name: &str, text: &str| Write::Set(node(&id(name), text));
    let staged = vec![write("a", "mine"), write("b", "mine")];
    ops::put(&copy.store, &session(), staged, Condition::Any).expect("staged");
    copy.import(&place.bundle(&["main"]), None).expect("a bundle");
    assert_eq!(copy.refs()[MAIN], second);
    let status = ops::status(&copy.store, &session()).expect("a status");
    let states: Vec<_> = status.staged.iter().map(|change| (change.id.as_str().to_owned(), change.state)).collect();
    assert_eq!(states, [("a".to_owned(), StagedState::Modified), ("b".to_owned(), StagedState::Modified)]);
    // `b` came in meanwhile: a conflict, as when another session commits.
    let request = ops::CommitRequest { words: words("mine", 5), allow_empty: false, only: vec![], overwrite: false };
    let refused = ops::commit(&copy.store, &session(), &request);
    assert!(matches!(refused, Err(OpError::Conflict(ids)) if ids == [id("b")]));
}

#[test]
fn a_branch_that_was_deleted_comes_again() {
    let (place, [_, second, side]) = place();
    let copy = Place::new();
    let bytes = place.bundle(&["main", "side"]);
    copy.import(&bytes, None).expect("a bundle");
    let name = BranchName::new("side").expect("a name");
    let RefsReport { changes, .. } =
        ops::delete_branches(&copy.store, &session(), &[name], true, time(5)).expect("deleted");
    assert_eq!(changes[0].old, Some(side));
    let report = copy.import(&bytes, None).expect("a bundle");
    assert_eq!((report.new, report.known, report.refs[1].old), (0, 3, None));
    assert_eq!(copy.refs(), refs([(MAIN, second), ("refs/heads/side", side)]));
}
