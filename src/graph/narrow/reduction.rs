//! ddmin, one result at a time.

use super::Tried;
use std::sync::Arc;

/// Which sets are looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    /// Each piece alone.
    Pieces,
    /// All pieces but one.
    Rests,
    /// The same where every piece is one change, and now none is left out: what lets the set count as minimal.
    Proof,
}

/// Some of the changes that are kept or left out together.
#[derive(Clone, Debug)]
struct Piece {
    changes: Arc<[usize]>,
    /// Whether it is the second half of what was one piece; the first stands before it if it is still there.
    is_second: bool,
}

/// How a try is likely to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Odds {
    /// It fails as likely as not.
    Even,
    /// It fails.
    Fails,
    /// It does not fail.
    Passes,
}

/// A set with which the test fails, as it gets smaller: ddmin, with two differences that save tries.
///
/// What is part of a set that passed is taken to pass too and is not tried, until every piece is one change and nothing else
/// is left to try: then it is tried after all. So what is found is minimal whether that holds of the test or not. It says
/// nothing of a part where the whole is unresolved. And when a piece is left out for good, it goes on with the piece behind
/// it and does not begin again.
#[derive(Clone, Debug)]
pub struct Reduction {
    /// The set, in pieces, in their order. Each is a run of it.
    pieces: Vec<Piece>,
    part: Part,
    /// The piece whose turn it is.
    at: usize,
    /// How many pieces this part still looks at.
    left: usize,
    /// What passed.
    passed: Vec<Arc<[usize]>>,
    /// Whether what was tried last was all but the piece before.
    is_behind: bool,
    wanted: Option<Vec<usize>>,
}

impl Reduction {
    /// Begins with a set that fails and is not empty, where the empty one does not.
    pub fn of(set: &[usize]) -> Self {
        let mut reduction = Self {
            pieces: Vec::new(),
            part: Part::Pieces,
            at: 0,
            left: 0,
            passed: Vec::new(),
            is_behind: false,
            wanted: None,
        };
        reduction.keep(set);
        reduction.settle();
        reduction
    }

    /// The set whose result it waits for; `None` when what it has is minimal.
    pub fn wanted(&self) -> Option<&[usize]> {
        self.wanted.as_deref()
    }

    /// The set that fails.
    pub fn set(&self) -> Vec<usize> {
        self.all_but(self.pieces.len())
    }

    /// How the try that it waits for is likely to end.
    pub fn odds(&self) -> Odds {
        let Some(wanted) = &self.wanted else { return Odds::Even };
        match self.part {
            Part::Pieces => Odds::Even,
            // Its other half is needed, and that is mostly the whole reason why both together were.
            Part::Rests if self.is_behind && self.pieces[self.at].is_second => Odds::Fails,
            Part::Rests => Odds::Even,
            Part::Proof if self.is_ruled_out(wanted) => Odds::Passes,
            Part::Proof => Odds::Even,
        }
    }

    /// Takes in the result of what was wanted.
    pub fn take(&mut self, tried: Tried) {
        let Some(wanted) = self.wanted.take() else { return };
        match (tried, self.part) {
            (Tried::Fails, Part::Pieces) => self.keep(&wanted),
            (Tried::Fails, Part::Rests | Part::Proof) => self.leave_out(),
            (Tried::Passes, _) => {
                self.passed.push(wanted.into());
                self.pass_on();
                self.is_behind = true;
            }
            (Tried::Unresolved, _) => self.pass_on(),
        }
        self.settle();
    }

    /// Begins again with less.
    fn keep(&mut self, set: &[usize]) {
        self.pieces = halves(set).collect();
        self.begin(if set.len() > 1 { Part::Pieces } else { Part::Proof });
    }

    /// Goes on without the piece whose turn it is.
    fn leave_out(&mut self) {
        self.pieces.remove(self.at);
        if let [only] = &self.pieces[..]
            && only.changes.len() > 1
        {
            let only = Arc::clone(&only.changes);
            return self.keep(&only);
        }
        self.at %= self.pieces.len();
        self.left = self.pieces.len();
        self.is_behind = false;
    }

    fn begin(&mut self, part: Part) {
        self.part = part;
        self.at = 0;
        self.left = self.pieces.len();
        self.is_behind = false;
    }

    fn pass_on(&mut self) {
        self.at = (self.at + 1) % self.pieces.len();
        self.left -= 1;
        self.is_behind = false;
    }

    /// Goes to the next set that has to be tried.
    fn settle(&mut self) {
        loop {
            if self.left > 0 {
                let set = self.candidate();
                if self.part == Part::Proof || !self.is_ruled_out(&set) {
                    self.wanted = Some(set);
                    return;
                }
                self.pass_on();
                continue;
            }
            let is_fine = self.pieces.iter().all(|piece| piece.changes.len() == 1);
            match self.part {
                Part::Pieces => self.begin(Part::Rests),
                Part::Rests if is_fine => self.begin(Part::Proof),
                Part::Rests => {
                    self.pieces = self.pieces.iter().flat_map(|piece| halves(&piece.changes)).collect();
                    self.begin(Part::Pieces);
                }
                Part::Proof => return,
            }
        }
    }

    /// What this part tries of the piece whose turn it is.
    fn candidate(&self) -> Vec<usize> {
        match self.part {
            Part::Pieces => self.pieces[self.at].changes.to_vec(),
            Part::Rests | Part::Proof => self.all_but(self.at),
        }
    }

    fn all_but(&self, at: usize) -> Vec<usize> {
        let others = self.pieces.iter().enumerate().filter(|&(own, _)| own != at);
        others.flat_map(|(_, piece)| piece.changes.iter().copied()).collect()
    }

    fn is_ruled_out(&self, set: &[usize]) -> bool {
        self.passed.iter().any(|passed| is_part(set, passed))
    }
}

/// The two halves of a piece; one that is a single change stays as it is.
fn halves(changes: &[usize]) -> impl Iterator<Item = Piece> + use<> {
    let (first, second) = changes.split_at(changes.len().div_ceil(2));
    let first = Piece { changes: first.into(), is_second: false };
    let second = (!second.is_empty()).then(|| Piece { changes: second.into(), is_second: true });
    std::iter::once(first).chain(second)
}

/// Whether `other` has all of `set`. Both ascend.
fn is_part(set: &[usize], other: &[usize]) -> bool {
    let mut others = other.iter();
    set.len() <= other.len() && set.iter().all(|own| others.find(|&other| other >= own) == Some(own))
}
