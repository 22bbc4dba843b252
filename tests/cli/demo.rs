//! `mnem demo`

use super::support::Place;

const STORY: &str = include_str!("demo.txt");

#[test]
fn it_plays_the_story_and_leaves_nothing_behind() {
    let place = Place::empty();
    place.mnem(&["demo"]).says(STORY, "");
    assert!(place.files().is_empty());
}

#[test]
fn the_story_does_not_hang_on_the_environment() {
    let place = Place::empty();
    let variables = [
        ("MNEM_DIR", "nowhere"),
        ("MNEM_REV", "HEAD~7"),
        ("MNEM_SESSION", "other"),
        ("MNEM_SOURCE", "other"),
        ("MNEM_LOCK_TIMEOUT", "never"),
        ("CLICOLOR_FORCE", "1"),
        ("TZ", "XXX-5:30"),
        ("USER", "other"),
    ];
    let run = variables.into_iter().fold(place.mnem(&["demo"]), |run, (name, value)| run.env(name, value));
    run.says(STORY, "");
}
