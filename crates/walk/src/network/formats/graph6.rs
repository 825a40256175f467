//! graph6, digraph6 and sparse6, in which nauty, geng and many collections keep
//! graphs: six bits in each character from `?` to `~`, nodes numbered from 0.
//! (petgraph reads graph6 alone, and panics at what is not.)

use crate::network::{Builder, Node};
use crate::read::ReadError;

pub(super) fn read(text: &str) -> Result<Builder, ReadError> {
    let mut graphs = (1..)
        .zip(text.lines())
        .map(|(at, line)| {
            let headers = [">>graph6<<", ">>digraph6<<", ">>sparse6<<"];
            let rest = headers.iter().find_map(|header| line.strip_prefix(header));
            (at, rest.unwrap_or(line).trim())
        })
        .filter(|(_, line)| !line.is_empty());
    let (at, graph) = graphs
        .next()
        .ok_or_else(|| ReadError::at(1, "there is no graph"))?;
    if let Some((at, _)) = graphs.next() {
        return Err(ReadError::at(at, "a second graph: one graph per file"));
    }
    let (kind, code) = match graph.chars().next() {
        Some(kind @ ('&' | ':')) => (kind, &graph[1..]),
        _ => ('g', graph),
    };
    if let Some(odd) = code
        .chars()
        .find(|character| !('?'..='~').contains(character))
    {
        let message = format!("{odd:?} is not one of the characters ? to ~ of graph6");
        return Err(ReadError::at(at, message));
    }
    let mut bits = Bits {
        code: code.as_bytes(),
        next: 0,
    };
    let nodes = bits
        .size()
        .ok_or_else(|| ReadError::at(at, "the number of nodes is cut off"))?;
    let mut builder = Builder::default();
    super::numbered(&mut builder, 0, nodes, (text, at))?;
    let nodes = nodes as Node;
    let pairs = u64::from(nodes) * u64::from(nodes.saturating_sub(1));
    let wanted = match kind {
        '&' => u64::from(nodes) * u64::from(nodes),
        ':' => bits.left(),
        _ => pairs / 2,
    };
    if bits.left() < wanted || bits.left() >= wanted + 6 && kind != ':' {
        let message = format!(
            "{nodes} nodes take {} characters after their number, found {}",
            wanted.div_ceil(6),
            bits.left() / 6
        );
        return Err(ReadError::at(at, message));
    }
    match kind {
        ':' => sparse(&mut bits, nodes, &mut builder),
        '&' => {
            for row in 0..nodes {
                for column in 0..nodes {
                    if bits.take(1) == Some(1) {
                        builder.arc(row, column);
                    }
                }
            }
        }
        _ => {
            for column in 1..nodes {
                for row in 0..column {
                    if bits.take(1) == Some(1) {
                        builder.link(row, column);
                    }
                }
            }
        }
    }
    Ok(builder)
}

/// sparse6: one bit that says to go on to the next node, then a node; a smaller one is
/// linked to where we are, a larger one is where to go.
fn sparse(bits: &mut Bits<'_>, nodes: Node, builder: &mut Builder) {
    let width = nodes
        .saturating_sub(1)
        .checked_ilog2()
        .map_or(0, |log| log + 1);
    let mut at = 0;
    while let (Some(on), Some(node)) = (bits.take(1), bits.take(width)) {
        at += on;
        // The last bits are padding, which leads out of the graph.
        if at >= u64::from(nodes) || node >= u64::from(nodes) {
            return;
        }
        if node > at {
            at = node;
        } else {
            builder.link(node as Node, at as Node);
        }
    }
}

struct Bits<'a> {
    code: &'a [u8],
    /// The next bit.
    next: u64,
}

impl Bits<'_> {
    fn left(&self) -> u64 {
        self.code.len() as u64 * 6 - self.next
    }

    /// A number of that many bits, the highest first.
    fn take(&mut self, width: u32) -> Option<u64> {
        if self.left() < u64::from(width) {
            return None;
        }
        let bit = |at: u64| u64::from(self.code[(at / 6) as usize] - b'?') >> (5 - at % 6) & 1;
        let number =
            (self.next..self.next + u64::from(width)).fold(0, |sum, at| sum << 1 | bit(at));
        self.next += u64::from(width);
        Some(number)
    }

    /// The number of nodes: 6 bits; or ~ and 18; or ~~ and 36.
    fn size(&mut self) -> Option<u64> {
        for width in [6, 18] {
            let number = self.take(6)?;
            if number < 63 {
                self.next -= 6;
                return self.take(width);
            }
        }
        self.take(36)
    }
}
