//! Tables in the project's own Markdown, which tests and generated files read.

/// The rows of the first table under `heading`, a whole line such as `## Exit status`; each row its trimmed cells.
pub fn rows(document: &str, heading: &str) -> Vec<Vec<String>> {
    let section = document.lines().skip_while(|line| *line != heading).skip(1);
    let table = section
        .take_while(|line| !line.starts_with('#'))
        .skip_while(|line| !line.starts_with('|'))
        .take_while(|line| line.starts_with('|'));
    let rows: Vec<_> = table.skip(2).map(cells).collect();
    assert!(!rows.is_empty(), "no table under '{heading}'");
    rows
}

fn cells(row: &str) -> Vec<String> {
    let row = row.trim().trim_start_matches('|').trim_end_matches('|');
    row.split('|').map(|cell| cell.trim().to_owned()).collect()
}

/// The words of `cell` that stand between backticks.
pub fn quoted(cell: &str) -> impl Iterator<Item = &str> {
    cell.split('`').skip(1).step_by(2)
}
