//! `mnem version`

use super::support::Place;

#[test]
fn it_names_the_version_and_the_store_format() {
    let place = Place::empty();
    let version = env!("CARGO_PKG_VERSION");
    place.mnem(&["version"]).says(&format!("mnem {version} (store format 1)\n"), "");
    place.mnem(&["version", "-z"]).says(&format!("mnem {version} (store format 1)\0"), "");
    let json = format!("{{\"v\":1,\"type\":\"version\",\"version\":\"{version}\",\"format\":1}}\n");
    place.mnem(&["version", "--json"]).says(&json, "");
    for option in ["--version", "-V"] {
        place.mnem(&[option]).says(&format!("mnem {version}\n"), "");
    }
}
