//! Tables in tests.

/// The rows of a table: a row a line, ` | ` between its cells, `\n` where a cell has a line
/// end, `\0` where it has a NUL byte.
///
/// # Panics
///
/// When a row has another number of cells.
pub fn rows<const CELLS: usize>(table: &str) -> impl Iterator<Item = [String; CELLS]> {
    table.lines().filter(|line| !line.is_empty()).map(|line| {
        let cells = line.split(" | ");
        let cells = cells.map(|cell| cell.replace("\\n", "\n").replace("\\0", "\0"));
        let cells: Vec<String> = cells.collect();
        cells
            .try_into()
            .unwrap_or_else(|cells| panic!("{CELLS} cells are expected: {cells:?}"))
    })
}
