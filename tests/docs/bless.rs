//! Files of the project that tests compare, and rewrite when `MNEM_BLESS=1` is set.

use std::path::Path;

/// Where the package lies.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Whether files are to be rewritten.
#[expect(clippy::disallowed_methods, reason = "a test asks the one who runs it")]
pub fn is_blessing() -> bool {
    std::env::var_os("MNEM_BLESS").is_some_and(|value| value == "1")
}
