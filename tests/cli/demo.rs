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
fn as_json_each_scene_is_a_row() {
    let place = Place::empty();
    let mut story = String::new();
    for row in place.mnem(&["demo", "--json"]).output().lines() {
        let row: Row = serde_json::from_str(row).expect("a scene");
        assert_eq!((row.v, row.r#type), (1, "scene"));
        story += &match (row.remark, row.command, row.output) {
            (Some(remark), None, None) => format!("\n# {remark}\n"),
            (None, Some(command), Some(output)) => {
                format!("$ {command}\n{output}{}", if output.ends_with('\n') { "" } else { "\n" })
            }
            other => panic!("{other:?}"),
        };
    }
    assert_eq!(story, STORY);
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Row<'a> {
    v: u8,
    r#type: &'a str,
    remark: Option<String>,
    command: Option<String>,
    output: Option<String>,
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
