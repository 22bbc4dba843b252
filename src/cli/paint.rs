//! Colours by role. Meaning never hangs on colour alone.

use crate::ops::StagedState;
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

impl Paint {
    /// A text in the colour of what became of a node.
    pub fn state(self, state: StagedState, text: &str) -> String {
        match state {
            StagedState::Added => self.added(text),
            StagedState::Removed => self.removed(text),
            StagedState::Modified | StagedState::Unchanged => text.to_owned(),
        }
    }
}

roles! {
    /// A commit's id.
    commit: Style::new().yellow();
    /// HEAD.
    head: Style::new().cyan().bold();
    /// A branch.
    branch: Style::new().green().bold();
    /// A tag.
    tag: Style::new().yellow().bold();
    /// A node's id.
    id: Style::new().bold();
    /// What came in.
    added: Style::new().green();
    /// What went.
    removed: Style::new().red();
    /// A word that came in, where the line around it stayed.
    added_word: Style::new().green().reverse();
    /// A word that went, where the line around it stayed.
    removed_word: Style::new().red().reverse();
    /// What was looked for.
    emphasis: Style::new().reverse();
    /// The place of a run of lines.
    hunk: Style::new().cyan();
    /// What is beside the point, such as a time that is only the commit's.
    dim: Style::new().dim();
    /// What a warning begins with.
    warning: Style::new().yellow();
    /// What an error begins with.
    error: Style::new().red().bold();
    /// What a hint begins with.
    hint: Style::new().cyan();
}
