//! Colours by role. Meaning never hangs on colour alone.

use console::Style;

/// Whether and how text is coloured.
#[derive(Clone, Copy, Debug, Default)]
pub struct Paint {
    /// Whether there are colours at all.
    pub colored: bool,
}

macro_rules! roles {
    ($($(#[$doc:meta])* $role:ident: $style:expr;)*) => {
        impl Paint {
            $($(#[$doc])* pub fn $role(self, text: &str) -> String {
                if self.colored { $style.force_styling(true).apply_to(text).to_string() } else { text.to_owned() }
            })*
        }
    };
}

roles! {
    /// A commit's id.
    commit: Style::new().yellow();
    /// HEAD.
    head: Style::new().cyan().bold();
    /// A branch.
    branch: Style::new().green().bold();
    /// What a warning begins with.
    warning: Style::new().yellow();
    /// What an error begins with.
    error: Style::new().red().bold();
    /// What a hint begins with.
    hint: Style::new().cyan();
}
