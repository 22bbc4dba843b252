//! Merges and reverts of whole memories, in random histories, held against naive readings of what is to come of them.

mod body;
mod dice;
mod history;
mod joins;
mod leftover;
mod model;
mod naive;
mod origin;
mod origins;
mod place;
mod script;
mod undoing;
mod verbs;
