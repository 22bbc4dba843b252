//! Names that are like one that was given.

/// How many are told at the most.
const MOST: usize = 3;

/// What is told of the candidates whose names are like `word`, the likest first. A candidate is the name that is compared and
/// what is told of it.
pub fn nearest<'n>(word: &str, candidates: impl IntoIterator<Item = (&'n str, &'n str)>) -> Vec<String> {
    let liked = |(name, told): (&str, &'n str)| (strsim::jaro_winkler(name, word), told);
    let mut near: Vec<_> = candidates.into_iter().map(liked).filter(|(likeness, _)| *likeness > 0.8).collect();
    near.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(b.1)));
    near.dedup();
    near.into_iter().take(MOST).map(|(_, told)| told.to_owned()).collect()
}
