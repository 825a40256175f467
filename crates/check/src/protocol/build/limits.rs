//! What is refused because it is too large: copies without end, depth that no stack has, and
//! numbers that would not be the right ones.

use super::super::node::Node;
use super::super::token::Place;
use super::expression::Typed;
use super::{Builder, Result};

/// Expressions larger than this, with all ranges and definitions written out, are refused.
const MAX_NODES: usize = 1 << 20;
/// Expressions deeper than this, with all definitions written out, are refused.
const MAX_LEVEL: usize = 1000;

impl Builder<'_> {
    /// One level further down in an expression. At the top, what is found there has to be right.
    pub(super) fn within(
        &self,
        place: Place,
        find: impl FnOnce() -> Result<Typed>,
    ) -> Result<Typed> {
        self.count(place, 1, 1)?;
        let level = self.level.get();
        self.level.set(level + 1);
        let found = find();
        self.level.set(level);
        let found = found?;
        let of = |variable: usize| {
            let domain = &self.variables[variable].domain;
            (domain[0].into(), domain[domain.len() - 1].into())
        };
        if level == 0 && found.node.bounds(&of).is_none() {
            return self.wrong(
                place,
                "a number in this may be above 2^31 or below -2^31, which is not computed",
            );
        }
        Ok(found)
    }

    /// A copy of something, for one more place.
    pub(super) fn copy(&self, place: Place, node: &Node) -> Result<Node> {
        let (size, depth) = node.extent();
        self.count(place, size, depth)?;
        Ok(node.clone())
    }

    /// Counts so many more nodes, as deep as this below the level.
    pub(super) fn count(&self, place: Place, size: usize, depth: usize) -> Result<()> {
        self.nodes.set(self.nodes.get().saturating_add(size));
        if self.nodes.get() > MAX_NODES {
            return self.wrong(
                place,
                "too much, with all ranges and definitions written out",
            );
        }
        if self.level.get() + depth > MAX_LEVEL {
            return self.wrong(place, "too deep, with all definitions written out");
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::protocol::Protocol;

    /// Why a file with this definition and this legitimate state is refused, if it is.
    fn refused(define: &str, legitimate: &str) -> Option<String> {
        let text = format!(
            "graph ring(8) variable x: 0..7 {define} process all: a: x > 0 -> x := 0 \
             legitimate: {legitimate}"
        );
        let parsed = Protocol::parse(&text, &[]);
        parsed.err().map(|error| error.to_string())
    }

    #[test]
    fn what_no_stack_and_no_memory_has_is_refused() {
        let nested = |what: &str, times: usize, close: &str| {
            format!("{}x[0]{} = 0", what.repeat(times), close.repeat(times))
        };
        let chain = |times: usize| format!("{}x[0] = 0", "x[1] + ".repeat(times));
        for (define, legitimate, says) in [
            ("", format!("{}true", "not ".repeat(100_000)), "operators"),
            ("", nested("- ", 100_000, ""), "operators"),
            ("", chain(100_000), "operators"),
            ("", nested("(", 100_000, ")"), "nested too deeply"),
            ("", nested("abs(", 60, ")"), "too much"),
            ("", nested("x[", 60, "]"), "too much"),
            ("define d(a) = a + a", nested("d(", 60, ")"), "too much"),
            (
                &format!("define d(a) = a{}", " + 1".repeat(400))[..],
                nested("d(", 3, ")"),
                "too deep",
            ),
            (
                &format!("define d(a) = a{}", " + 1".repeat(90))[..],
                nested("d(", 40, ")"),
                "too deep",
            ),
            (
                "",
                "all i in 0..2000000: x[0] = 0".into(),
                "too long a range",
            ),
        ] {
            let told = refused(define, &legitimate).unwrap_or_default();
            assert!(told.contains(says), "{says}: {told}");
        }
        assert_eq!(refused("", &chain(400)), None);
        assert_eq!(refused("define d(a) = a + a", &nested("d(", 8, ")")), None);
        assert_eq!(refused("", &nested("x[", 3, "]")), None);
    }

    /// They were cut off at the largest number before, and the answer was wrong.
    #[test]
    fn numbers_that_are_not_computed_are_refused() {
        for (legitimate, computed) in [
            ("x[0] * 46340 * 6620 < 1", true),
            ("x[0] * 46340 * 6621 < 1", false),
            ("46341 * 46341 > 1", false),
            ("x[0] + 2147483640 > 0", true),
            ("x[0] + 2147483641 > 0", false),
            ("0 - 2147483647 - x[0] < 0", false),
            ("(sum p in processes: 300000000) = 0", false),
            ("(sum p in processes: x[p] * 38347922) > 0", true),
            ("(sum p in processes: x[p] * 38347923) > 0", false),
            ("if x[0] = 1 then x[0] * 46340 * 46340 = 1 else true", false),
            ("max(x[0], 2147483647) + x[1] > 0", false),
            ("(x[0] * 2000000000) mod 7 = 1", false),
        ] {
            let told = refused("", legitimate);
            assert_eq!(told.is_none(), computed, "{legitimate}: {told:?}");
            let said = told.is_none_or(|told| told.contains("above 2^31"));
            assert!(said, "{legitimate}");
        }
    }
}
