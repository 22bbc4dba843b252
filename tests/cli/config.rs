//! `mnem config`

use super::support::Place;

#[test]
fn without_arguments_it_lists_what_is_set_and_with_a_key_its_value() {
    let place = Place::with_store();
    place.mnem(&["config"]).says("", "");
    place.mnem(&["config", "--json"]).says("", "");
    place.mnem(&["config", "reflog-days", "030"]).says("", "");
    place.mnem(&["config", "author", " Bo\u{202e} <b@x> "]).says("", "");
    place.mnem(&["config"]).says("author=Bo\\u{202e} <b@x>\nreflog-days=30\n", "");
    place.mnem(&["config", "-z"]).says("author=Bo\\u{202e} <b@x>\0reflog-days=30\0", "");
    place.mnem(&["config", "reflog-days"]).says("30\n", "");
    let row = |key, value| format!("{{\"v\":1,\"type\":\"setting\",\"key\":\"{key}\",\"value\":\"{value}\"}}\n");
    let author = row("author", "Bo\u{202e} <b@x>");
    place.mnem(&["config", "--json"]).says(&format!("{author}{}", row("reflog-days", "30")), "");
    place.mnem(&["config", "--json", "author"]).says(&author, "");
    place.mnem(&["config", "--json", "author", "Cy"]).says("", "");
    place.mnem(&["config", "--unset", "author"]).says("", "");
    place.mnem(&["config"]).says("reflog-days=30\n", "");
    place.mnem(&["config", "--unset", "reflog-days"]).says("", "");
    for (key, default) in
        [("author", "the name of the user, else 'unknown'"), ("lock-timeout", "10s"), ("reflog-days", "90")]
    {
        let what = format!("the setting '{key}' has no value; the default is {default}");
        let said = format!("mnem: error[precondition-failed]: {what}\nhint: mnem config {key} VALUE\n");
        place.mnem(&["config", key]).refuses(1, &said);
    }
}

#[test]
fn a_setting_counts_where_neither_option_nor_variable_is_given() {
    let place = Place::with_store();
    place.mnem(&["config", "author", "-Bo"]).says("", "");
    let author = |arguments: &[&str], variable: &str, user: &str| {
        let commit = place.mnem(&["commit", "--allow-empty", "-qm", "c"]).arguments(arguments);
        commit.env("MNEM_AUTHOR", variable).env("USER", user).output();
        let row = place.mnem(&["log", "-n1", "--json"]).output();
        serde_json::from_str::<serde_json::Value>(&row).expect("JSON")["author"].as_str().expect("text").to_owned()
    };
    assert_eq!(author(&[], "", "cy"), "-Bo");
    assert_eq!(author(&[], "Di", "cy"), "Di");
    assert_eq!(author(&["--author", "Ed"], "Di", "cy"), "Ed");
    place.mnem(&["config", "author", "--unset"]).says("", "");
    assert_eq!(author(&[], "", "cy"), "cy");
}

#[test]
fn what_is_no_setting_or_no_value_is_refused() {
    let place = Place::with_story();
    let known = "the settings are author, lock-timeout, reflog-days";
    for (arguments, said) in [
        (&["config", "auhtor"][..], "bad-key]: no setting 'auhtor'\nhint: did you mean 'author'?"),
        (&["config", "auhtor", "x"], "bad-key]: no setting 'auhtor'\nhint: did you mean 'author'?"),
        (&["config", "--unset", "reflog"], "bad-key]: no setting 'reflog'\nhint: did you mean 'reflog-days'?"),
        (&["config", "x\u{1b}"], &format!("bad-key]: no setting 'x^['\nhint: {known}")),
        (&["config", "author", " "], "usage]: the author may not be blank"),
        (&["config", "author", "a\nb"], "usage]: the author may have one line only"),
        (
            &["config", "lock-timeout", "soon"],
            "usage]: cannot read 'soon' as a duration such as 10s, 500ms, 2m or 1h\nhint: such as 500ms, 10s or 2m",
        ),
        (&["config", "reflog-days", "-1"], "usage]: '-1' is no number of days\nhint: such as 90"),
        (&["config", "reflog-days", "1.5"], "usage]: '1.5' is no number of days\nhint: such as 90"),
        (
            &["config", "--unset"],
            "usage]: the following required arguments were not provided: <KEY>\nhint: see 'mnem config --help'",
        ),
        (
            &["config", "--unset", "author", "x"],
            "usage]: the argument '--unset' cannot be used with '[VALUE]'\nhint: see 'mnem config --help'",
        ),
    ] {
        place.mnem(arguments).refuses(129, &format!("mnem: error[{said}\n"));
    }
    place.mnem(&["config", "author", "x"]).env("MNEM_REV", "HEAD").refuses(
        129,
        "mnem: error[read-only-rev]: MNEM_REV is set to 'HEAD', so nothing is written\n\
         hint: to write, run it without: env -u MNEM_REV mnem …\n",
    );
}
