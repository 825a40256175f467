//! Pajek's networks: `*Vertices`, whose numbers are names and whose labels are shown,
//! then `*Edges` and `*Arcs` with one link a line, `*Edgeslist` and `*Arcslist` with
//! all links of a vertex on a line, or a `*Matrix`. In a two-mode network
//! (`*Vertices 5 2`) the rows of a matrix are the first vertices, its columns the others. A
//! comment begins with `%`.

use super::words;
use crate::network::{Builder, Node};
use crate::read::ReadError;

pub(super) fn read(text: &str) -> Result<Builder, ReadError> {
    let mut builder = Builder::default();
    let mut section = String::new();
    let mut row = 0;
    // How many vertices are of the first of two modes.
    let mut first_mode = None;
    for (index, line) in text.lines().enumerate() {
        let wrong = |message: String| ReadError::at(index + 1, message);
        let words = words(line, '%').map_err(wrong)?;
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let Some(&first) = words.first() else {
            continue;
        };
        let vertex = |builder: &Builder, number: &str| -> Result<Node, ReadError> {
            let known = number.trim_start_matches('0');
            builder.find(known).ok_or_else(|| {
                wrong(format!(
                    "{number:?} is not the number of a vertex, 1 to {}",
                    builder.len()
                ))
            })
        };
        if let Some(name) = first.strip_prefix('*') {
            section = name.to_ascii_lowercase();
            row = 0;
            match section.as_str() {
                "vertices" if builder.is_empty() => {
                    let count: u32 = words
                        .get(1)
                        .and_then(|count| count.parse().ok())
                        .ok_or_else(|| wrong("expected their number after *Vertices".to_owned()))?;
                    super::numbered(&mut builder, 1, u64::from(count), (text, index + 1))?;
                    first_mode = words.get(2).and_then(|count| count.parse::<usize>().ok());
                    if first_mode.is_some_and(|first| first > count as usize) {
                        return Err(wrong(format!("more than {count} in the first mode")));
                    }
                }
                "network" | "edges" | "arcs" | "edgeslist" | "arcslist" | "matrix" => {}
                _ => {
                    return Err(wrong(format!(
                        "expected one *Vertices, then *Edges, *Arcs, *Edgeslist, *Arcslist or \
                         *Matrix; found {first:?}"
                    )));
                }
            }
            continue;
        }
        match section.as_str() {
            "vertices" => {
                let node = vertex(&builder, first)?;
                if let Some(label) = words.get(1) {
                    builder.label(node, label);
                }
                let number = |at: usize| words.get(at)?.parse().ok();
                if let (Some(x), Some(y)) = (number(2), number(3)) {
                    builder.place(node, x, y);
                }
            }
            "edges" | "arcs" | "edgeslist" | "arcslist" => {
                let from = vertex(&builder, first)?;
                // After both ends of a single link come its weight and looks.
                let list = section.ends_with("list");
                let ends = if list {
                    &words[1..]
                } else {
                    words.get(1..2).unwrap_or(&[])
                };
                if ends.is_empty() {
                    return Err(wrong("expected a second vertex on this line".to_owned()));
                }
                for end in ends {
                    let to = vertex(&builder, end)?;
                    builder.join(from, to, section.starts_with("arcs"));
                }
            }
            "matrix" => {
                let (rows, columns) = shape(&builder, first_mode);
                if words.len() != columns || row == rows {
                    return Err(wrong(format!("expected {rows} rows of {columns} numbers")));
                }
                for (column, weight) in words.iter().enumerate() {
                    let weight: f64 = weight
                        .parse()
                        .map_err(|_| wrong(format!("{weight:?} is not a number")))?;
                    match first_mode {
                        _ if weight == 0.0 => {}
                        None => builder.arc(row as Node, column as Node),
                        Some(first) => builder.join(row as Node, (first + column) as Node, false),
                    }
                }
                row += 1;
            }
            _ => {
                return Err(wrong(
                    "expected *Vertices with their number first".to_owned(),
                ));
            }
        }
    }
    let (rows, _) = shape(&builder, first_mode);
    if section == "matrix" && row < rows {
        let end = text.lines().count();
        return Err(ReadError::at(
            end,
            format!("expected {rows} rows, found {row}"),
        ));
    }
    Ok(builder)
}

/// How many rows and columns a matrix has.
fn shape(builder: &Builder, first_mode: Option<usize>) -> (usize, usize) {
    let all = builder.len();
    first_mode.map_or((all, all), |first| (first, all - first))
}
