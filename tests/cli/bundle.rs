//! `mnem bundle`

use super::support::{Answer, FIRST, Place, SECOND, THIRD};
use sha2::{Digest, Sha256};
use std::fs;
use std::os::unix::fs::PermissionsExt;

const FOUND: &str = "3 commits with 5 changes of nodes";
const AGAIN: &str = "hint: nothing was changed; get the file once more from where it comes\n";
const BESIDE: &str = "hint: take its refs in beside those here with '--prefix NAME'\n";

/// Two stores beside each other: `here` with the story and a tag, `there` without commits.
fn places() -> (Place, Place) {
    let here = Place::with_story();
    here.mnem(&["tag", "-q", "v1", FIRST, "-m", "so far"]).output();
    (here, Place::with_store())
}

fn refs() -> String {
    format!("{THIRD} refs/heads/main\n{FIRST} refs/tags/v1\n")
}

/// Makes a bundle, and returns its path.
fn create(place: &Place, revisions: &[&str]) -> String {
    place.mnem(&["bundle", "create", "-q", "it.bundle"]).arguments(revisions).output();
    place.argument("it.bundle")
}

#[test]
fn a_whole_history_goes_into_a_file_and_comes_out_of_it_with_its_ids() {
    let (here, there) = places();
    let size = "1392 bytes";
    here.mnem(&["bundle", "create", "all.bundle"]).says(&refs(), &format!("{FOUND} in {size}\n"));
    let path = here.path("all.bundle");
    assert_eq!(fs::metadata(&path).expect("a file").permissions().mode() & 0o7777, 0o600);
    let file = here.argument("all.bundle");
    // No store is needed.
    Place::empty().mnem(&["bundle", "verify", &file]).says(&refs(), &format!("{FOUND}; all is as it says\n"));
    let told = "new branch 'main'\nnew tag 'v1'\n3 new commits\n";
    there.mnem(&["bundle", "import", &file]).says(&refs(), told);
    for arguments in [
        &["log", "--json", "--all"][..],
        &["log", "--json", "--", "user/diet"],
        &["blame", "--json"],
        &["tag", "--json"],
        &["ls", "-l", "--json"],
        &["status", "--json"],
    ] {
        assert_eq!(there.mnem(arguments).output(), here.mnem(arguments).output(), "{arguments:?}");
    }
    let files = there.files();
    there.mnem(&["bundle", "import", &file]).says(&refs(), "0 new commits, 3 known\n");
    assert!(there.files() == files, "nothing is written for nothing");
    // A file that is there is replaced.
    here.mnem(&["bundle", "create", "all.bundle", "v1"])
        .says(&format!("{FIRST} refs/tags/v1\n"), "1 commit with 2 changes of nodes in 523 bytes\n");
}

#[test]
fn a_bundle_goes_through_pipes() {
    let (here, there) = places();
    let answer = here.mnem(&["bundle", "create", "-"]).command().output().expect("it runs");
    let bytes = answer.stdout;
    assert_eq!(String::from_utf8_lossy(&answer.stderr), format!("{FOUND} in {} bytes\n", bytes.len()));
    create(&here, &[]);
    assert_eq!(fs::read(here.path("it.bundle")).expect("a file"), bytes);
    for name in ["-", "/dev/stdin"] {
        there.mnem(&["bundle", "verify", "-q", name]).input(bytes.clone()).says(&refs(), "");
    }
    there.mnem(&["bundle", "import", "-q", "-"]).input(bytes).says(&refs(), "");
    there.mnem(&["log", "-n1", "--ids"]).says(&format!("{THIRD}\n"), "");
    there.mnem(&["bundle", "verify", "-"]).input(vec![b'x'; 100_000]).refuses(
        128,
        "mnem: error[corrupt]: 'standard input' is no bundle\n\
         hint: name a file that 'mnem bundle create' has made\n",
    );
}

#[test]
fn what_a_range_adds_goes_on_top_of_what_it_builds_on() {
    let (here, there) = places();
    let whole = here.argument("first.bundle");
    here.mnem(&["bundle", "create", "-q", "first.bundle", "v1"]).output();
    here.mnem(&["bundle", "create", "more.bundle", "v1..main"]).says(
        &format!("{THIRD} refs/heads/main\n"),
        &format!("2 commits with 3 changes of nodes in 952 bytes\nbuilds on {FIRST}\n"),
    );
    let more = here.argument("more.bundle");
    for verb in ["verify", "import"] {
        there.mnem(&["bundle", verb, &more]).refuses(
            1,
            &format!(
                "mnem: error[precondition-failed]: the bundle '{more}' builds on 1 commit that is not here: {FIRST}\n\
                 hint: take in first the bundle that has them\n"
            ),
        );
    }
    Place::empty().mnem(&["bundle", "verify", &more]).refuses(
        128,
        "mnem: error[no-store]: no memory store in '[PLACE]' or any parent directory\n\
         hint: create one with 'mnem init'\n",
    );
    there.mnem(&["bundle", "import", "-q", &whole]).output();
    let builds = format!("2 commits with 3 changes of nodes; all is as it says\nbuilds on {FIRST}\n");
    there.mnem(&["bundle", "verify", &more]).says(&format!("{THIRD} refs/heads/main\n"), &builds);
    there
        .mnem(&["bundle", "import", &more])
        .says(&format!("{THIRD} refs/heads/main\n"), "new branch 'main'\n2 new commits\n");
    // All refs come along, those that name nothing new too.
    here.mnem(&["bundle", "create", "-q", "all.bundle", "^v1"]).says(&refs(), "");
    here.mnem(&["bundle", "create", "-q", "all.bundle", "--all", "v1..main"]).says(&refs(), "");
}

#[test]
fn json_has_the_shapes() {
    let (here, there) = places();
    let bundle = format!(
        "{{\"v\":1,\"type\":\"bundle\",\"commits\":2,\"changes\":3,\"prerequisites\":[\"{FIRST}\"],\"refs\":[\
         {{\"ref\":\"refs/heads/main\",\"commit\":\"{THIRD}\",\"time\":null,\"message\":null}},\
         {{\"ref\":\"refs/tags/v1\",\"commit\":\"{FIRST}\",\"time\":\"2025-12-01T08:00:00.000+00:00\",\
         \"message\":\"so far\"}}]}}\n"
    );
    let create = ["bundle", "create", "-q", "--json", "more.bundle", "^v1"];
    here.mnem(&create).says(&bundle, "");
    here.mnem(&["bundle", "verify", "-q", "--json", "more.bundle"]).says(&bundle, "");
    let first = self::create(&here, &["v1"]);
    there.mnem(&["bundle", "import", "-q", &first]).output();
    let imported = format!(
        "{{\"v\":1,\"type\":\"imported\",\"new\":2,\"known\":0,\"refs\":[\
         {{\"ref\":\"refs/heads/main\",\"bundled\":\"{THIRD}\",\"old\":null,\"new\":\"{THIRD}\"}},\
         {{\"ref\":\"refs/tags/v1\",\"bundled\":\"{FIRST}\",\"old\":\"{FIRST}\",\"new\":\"{FIRST}\"}}]}}\n"
    );
    there.mnem(&["bundle", "import", "--json", "-q", &here.argument("more.bundle")]).says(&imported, "");
}

#[test]
fn nothing_is_written_in_a_dry_run() {
    let (here, there) = places();
    let file = create(&here, &[]);
    let stored = there.files();
    there
        .mnem(&["bundle", "import", "--dry-run", &file])
        .says(&refs(), "new branch 'main'\nnew tag 'v1'\n3 new commits; nothing is written\n");
    assert!(there.files() == stored);
    there.mnem(&["bundle", "import", "-q", "--dry-run", &file]).env("MNEM_REV", "HEAD").says(&refs(), "");
    there.mnem(&["bundle", "import", &file]).env("MNEM_REV", "HEAD").refuses(
        129,
        "mnem: error[read-only-rev]: MNEM_REV is set to 'HEAD', so nothing is written\n\
         hint: to write, run it without: env -u MNEM_REV mnem …\n",
    );
}

#[test]
fn refs_that_are_here_are_not_lost() {
    let (here, there) = places();
    let file = create(&here, &[]);
    there.mnem(&["put", "a", "1", "-qm", "own"]).output();
    let own = there.mnem(&["log", "--ids"]).output();
    for more in [&[][..], &["--dry-run"]] {
        there.mnem(&["bundle", "import", &file]).arguments(more).refuses(
            1,
            &format!(
                "mnem: error[not-fast-forward]: the bundle '{file}' has other commits than are here on the branch 'main'\n\
                 {BESIDE}"
            ),
        );
    }
    there.mnem(&["tag", "-q", "v1"]).output();
    there.mnem(&["branch", "-qm", "own"]).output();
    there.mnem(&["bundle", "import", &file]).refuses(
        128,
        &format!(
            "mnem: error[ref-exists]: the bundle '{file}' has another commit than is here for the tag 'v1'\n{BESIDE}"
        ),
    );
    for prefix in ["backup", "backup/"] {
        let answer = there.mnem(&["bundle", "import", &file, "--prefix", prefix]).answer();
        assert_eq!(answer.stdout, format!("{THIRD} refs/heads/backup/main\n{FIRST} refs/tags/backup/v1\n"));
    }
    there.mnem(&["branch"]).says(
        &format!(
            "  backup/main {} 2025-12-01T10:00:00.500+00:00 forget the allergies\n* own         {} 2025-12-01T08:00:00.000+00:00 own\n",
            &THIRD[..10],
            &own[..10]
        )
        .replace("2025-12-01T10:00:00.500+00:00", "2025-12-01T11:00:00.500+01:00"),
        "",
    );
    let log = there.mnem(&["reflog", "backup/main"]).output();
    assert!(log.ends_with(" bundle import\n") && log.starts_with(&THIRD[..10]), "{log}");
    // A branch goes forward, and one that has more stays.
    there.mnem(&["branch", "-qf", "backup/main", SECOND]).output();
    there.mnem(&["bundle", "import", &file, "--prefix", "backup"]).says(
        &format!("{THIRD} refs/heads/backup/main\n{FIRST} refs/tags/backup/v1\n"),
        "moved branch 'backup/main' forward\n0 new commits, 3 known\n",
    );
    there.mnem(&["switch", "-q", "backup/main"]).answer();
    there.mnem(&["put", "a", "2", "-qm", "more"]).output();
    let more = there.mnem(&["log", "--ids", "-n1"]).output();
    there.mnem(&["bundle", "import", &file, "--prefix", "backup"]).says(
        &format!("{} refs/heads/backup/main\n{FIRST} refs/tags/backup/v1\n", more.trim()),
        "kept branch 'backup/main', which has more\n0 new commits, 3 known\n",
    );
    there.mnem(&["bundle", "import", &file, "--prefix", "a b"]).refuses(
        129,
        "mnem: error[bad-ref]: 'a b': a branch name may not hold a space, a control character or one of ~ ^ : ? * [ \\\n\
         hint: such as 'main' or 'agents/seven'\n",
    );
}

#[test]
fn damage_is_that_of_the_bundle() {
    let (here, there) = places();
    let file = create(&here, &[]);
    let bytes = fs::read(&file).expect("a file");
    let with = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut bytes = bytes.clone();
        change(&mut bytes);
        fs::write(&file, bytes).expect("a file");
    };
    let refused = |status: i32, said: &str| {
        for arguments in [&["verify"][..], &["import"], &["import", "--dry-run"]] {
            there.mnem(&["bundle"]).arguments(arguments).arguments([&file]).refuses(status, said);
        }
    };
    let sum = format!(
        "mnem: error[corrupt]: the bundle '{file}' is damaged: its checksum does not fit: it was changed or cut off\n{AGAIN}"
    );
    with(&|bytes| bytes[100] ^= 1);
    refused(128, &sum);
    with(&|bytes| bytes.truncate(bytes.len() - 1));
    refused(128, &sum);
    with(&|bytes| bytes.truncate(20));
    refused(128, &format!("mnem: error[corrupt]: the bundle '{file}' is damaged: it is cut off\n{AGAIN}"));
    with(&|bytes| bytes[12] = b'2');
    refused(
        128,
        &format!(
            "mnem: error[unsupported-format]: the bundle '{file}' is of version 2, which this version of mnem does not read\n\
             hint: read it with a newer mnem\n"
        ),
    );
    with(&|bytes| bytes[0] = b'x');
    let none = "hint: name a file that 'mnem bundle create' has made\n";
    refused(128, &format!("mnem: error[corrupt]: '{file}' is no bundle\n{none}"));
    // The same length, another memory, and a sum that fits.
    with(&|bytes| {
        let at = bytes.windows(5).position(|part| part == b"steak").expect("a content");
        bytes[at] = b'S';
        sum_anew(bytes);
    });
    let answer = there.mnem(&["bundle", "verify", &file]).answer();
    let another = |answer: &Answer| {
        answer.status == 128
            && answer
                .stderr
                .starts_with(&format!("mnem: error[corrupt]: the bundle '{file}' is damaged: commit {SECOND} "))
            && answer.stderr.contains("names another memory than its changes make")
    };
    assert!(another(&answer), "{answer:?}");
    let answer = there.mnem(&["bundle", "import", &file]).answer();
    assert!(another(&answer), "{answer:?}");
    there.mnem(&["log", "--all"]).says("", "");
    there.mnem(&["tag"]).says("", "");
}

fn sum_anew(bytes: &mut [u8]) {
    let (body, sum) = bytes.split_at_mut(bytes.len() - 32);
    sum.copy_from_slice(&Sha256::digest(body));
}

#[test]
fn a_claim_in_a_bundle_is_known_by_name() {
    let (here, there) = (Place::with_store(), Place::with_store());
    here.mnem(&["put", "k", "v", "-qm", "m"]).output();
    let commit = here.mnem(&["log", "--ids"]).output();
    let file = create(&here, &[]);
    let mut bytes = fs::read(&file).expect("a file");
    let at = bytes.windows(7).position(|part| part == b"{\"id\":\"").expect("a node");
    bytes[at - 1] += 1;
    let kind = bytes.windows(6).position(|part| part == b"\"note\"").expect("a kind");
    bytes.splice(kind..kind + 6, *b"\"claim\"");
    sum_anew(&mut bytes);
    fs::write(&file, bytes).expect("a file");
    for verb in ["verify", "import"] {
        there.mnem(&["bundle", verb, &file]).refuses(
            128,
            &format!(
                "mnem: error[unsupported-kind]: the bundle '{file}' holds a node that this version does not read: \
                 commit {}: content kind 'claim' is reserved for a later version\nhint: read it with a newer mnem\n",
                commit.trim()
            ),
        );
    }
}

#[test]
fn what_can_not_be_made_leaves_the_file_as_it_was() {
    let (here, _) = places();
    let file = create(&here, &[]);
    for (arguments, said) in [
        (
            &["HEAD~1"][..],
            "mnem: error[bad-revision]: 'HEAD~1' is no branch and no tag, so nothing would name its commits in the bundle\n\
             hint: name it first: mnem branch NAME 'HEAD~1'\n",
        ),
        (&["nothing"], "mnem: error[bad-revision]: unknown revision 'nothing'\nhint: see 'mnem log --oneline'\n"),
    ] {
        here.mnem(&["bundle", "create", &file]).arguments(arguments).refuses(128, said);
    }
    let none = "mnem: error[nothing-to-commit]: no commit is chosen\n\
                hint: see what a range chooses with 'mnem log --oneline A..B'\n";
    here.mnem(&["bundle", "create", &file, "main..main"]).refuses(1, none);
    Place::with_store().mnem(&["bundle", "create", "-"]).refuses(1, none);
    here.mnem(&["bundle", "create", "none/it"])
        .refuses(128, "mnem: error[io]: writing '[PLACE]/none/it' failed: No such file or directory (os error 2)\n");
    here.mnem(&["bundle", "import", "none"]).refuses(
        128,
        "mnem: error[io]: cannot read 'none': No such file or directory (os error 2)\n\
         hint: name a file that is there; - is standard input\n",
    );
    here.mnem(&["bundle"]).refuses(129, "mnem: error[usage]: no command is named\nhint: see 'mnem bundle --help'\n");
}

#[test]
fn names_are_escaped_for_people_and_exact_behind_nul() {
    let (here, there) = places();
    here.mnem(&["tag", "-q", "a\u{202e}", "HEAD"]).output();
    here.mnem(&["bundle", "create", "-q", "it.bundle", "a\u{202e}"])
        .says(&format!("{THIRD} refs/tags/a\\u{{202e}}\n"), "");
    let file = here.argument("it.bundle");
    there.mnem(&["bundle", "verify", "-qz", &file]).says(&format!("{THIRD} refs/tags/a\u{202e}\0"), "");
    there
        .mnem(&["bundle", "import", &file])
        .says(&format!("{THIRD} refs/tags/a\\u{{202e}}\n"), "new tag 'a\\u{202e}'\n3 new commits\n");
}
