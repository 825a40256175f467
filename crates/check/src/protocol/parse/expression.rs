//! Expressions, by how strongly their operators bind.

use super::super::ast::{Binary, Expr, Fold, Folded, Kind, Range};
use super::super::token::{Place, Token};
use super::{Parser, Result};

/// Expressions nested deeper than this are refused.
const MAX_DEPTH: u32 = 100;
/// Expressions with more operators than this are refused: each may be below the next.
const MAX_OPERATORS: u32 = 500;

impl Parser<'_> {
    pub(super) fn expr(&mut self) -> Result<Expr> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return self.wrong(self.place(), "expressions nested too deeply");
        }
        if self.depth == 1 {
            self.operators = 0;
        }
        let expr = self.binary(0);
        self.depth -= 1;
        expr
    }

    fn count_operator(&mut self) -> Result<()> {
        self.operators += 1;
        if self.operators > MAX_OPERATORS {
            let says =
                format!("more than {MAX_OPERATORS} operators in one expression; use `define`");
            return self.wrong(self.place(), says);
        }
        Ok(())
    }

    /// Operators by how strongly they bind, the weakest first.
    fn operator(&self, level: usize) -> Option<(Binary, bool)> {
        let found = match self.peek() {
            Token::Word(word) => match (level, word.as_str()) {
                (0, "or") => Binary::Or,
                (1, "and") => Binary::And,
                (4, "div") => Binary::Div,
                (4, "mod") => Binary::Mod,
                _ => return None,
            },
            Token::Sign(sign) => match (level, *sign) {
                (2, "=") => Binary::Equal,
                (2, "!=") => Binary::Unequal,
                (2, "<") => Binary::Less,
                (2, "<=") => Binary::AtMost,
                // With the sides exchanged.
                (2, ">") => return Some((Binary::Less, true)),
                (2, ">=") => return Some((Binary::AtMost, true)),
                (3, "+") => Binary::Add,
                (3, "-") => Binary::Subtract,
                (4, "*") => Binary::Times,
                _ => return None,
            },
            _ => return None,
        };
        Some((found, false))
    }

    fn binary(&mut self, level: usize) -> Result<Expr> {
        if level == 5 {
            return self.unary();
        }
        let mut left = self.binary(level + 1)?;
        while let Some((operator, exchanged)) = self.operator(level) {
            let place = self.place();
            self.count_operator()?;
            self.next();
            let right = self.binary(level + 1)?;
            let (a, b) = if exchanged {
                (right, left)
            } else {
                (left, right)
            };
            let kind = Kind::Binary(operator, Box::new(a), Box::new(b));
            left = Expr { place, kind };
            if level == 2 && self.operator(2).is_some() {
                return self.wrong(
                    self.place(),
                    "two comparisons in a row; join them with `and`",
                );
            }
        }
        Ok(left)
    }

    fn unary(&mut self) -> Result<Expr> {
        let place = self.place();
        if self.is_word("not") || self.is_sign("-") {
            self.count_operator()?;
        }
        let kind = if self.skips_word("not") {
            // `not a = b` negates the comparison.
            Kind::Not(Box::new(self.binary(2)?))
        } else if self.skips_sign("-") {
            Kind::Minus(Box::new(self.unary()?))
        } else {
            return self.primary();
        };
        Ok(Expr { place, kind })
    }

    pub(super) fn primary(&mut self) -> Result<Expr> {
        let place = self.place();
        let kind = match self.peek().clone() {
            Token::Number(number) => {
                self.next();
                Kind::Number(number)
            }
            Token::Sign("(") => {
                self.next();
                let inner = self.expr()?;
                self.sign(")")?;
                inner.kind
            }
            Token::Word(word) => return self.named(place, word),
            _ => return self.expected("an expression"),
        };
        Ok(Expr { place, kind })
    }

    fn named(&mut self, place: Place, word: String) -> Result<Expr> {
        let fold = match word.as_str() {
            "all" => Some(Fold::All),
            "any" => Some(Fold::Any),
            "count" => Some(Fold::Count),
            "sum" => Some(Fold::Sum),
            "min" => Some(Fold::Min),
            "max" => Some(Fold::Max),
            _ => None,
        };
        let call = matches!(&self.tokens[self.at + 1].1, Token::Sign("("));
        let kind = match (fold, word.as_str()) {
            (Some(fold), _) if !call => {
                self.next();
                Kind::Fold(Box::new(self.folded(fold)?))
            }
            (_, "true" | "false") => {
                self.next();
                Kind::Bool(word == "true")
            }
            (_, "none") => {
                self.next();
                Kind::Number(-1)
            }
            (_, "self") => {
                self.next();
                Kind::Name(word)
            }
            (_, "if") => {
                self.next();
                let condition = self.expr()?;
                self.word("then")?;
                let yes = self.expr()?;
                self.word("else")?;
                Kind::If(Box::new([condition, yes, self.expr()?]))
            }
            (_, "min" | "max" | "abs" | "enabled" | "distance") => {
                self.next();
                Kind::Call(word, self.arguments()?)
            }
            _ => {
                let name = self.name("an expression")?.text;
                if self.is_sign("(") {
                    Kind::Call(name, self.arguments()?)
                } else if self.skips_sign("[") {
                    let whose = self.expr()?;
                    self.sign("]")?;
                    Kind::Of(name, Box::new(whose))
                } else {
                    Kind::Name(name)
                }
            }
        };
        Ok(Expr { place, kind })
    }

    fn arguments(&mut self) -> Result<Vec<Expr>> {
        self.sign("(")?;
        let arguments = self.list(Self::expr)?;
        self.sign(")")?;
        Ok(arguments)
    }

    pub(super) fn range(&mut self) -> Result<Range> {
        if self.skips_word("processes") {
            return Ok(Range::Processes);
        }
        if self.skips_word("neighbours") {
            let mut whose = None;
            if self.skips_sign("(") {
                whose = Some(self.expr()?);
                self.sign(")")?;
            }
            return Ok(Range::Neighbours(whose));
        }
        if self.depth == 0 {
            self.operators = 0;
        }
        let first = self.binary(3)?;
        self.sign("..")?;
        Ok(Range::Between(first, self.binary(3)?))
    }

    fn folded(&mut self, fold: Fold) -> Result<Folded> {
        let name = self.name("a name for the members")?.text;
        self.word("in")?;
        let range = self.range()?;
        let filter = if self.skips_word("where") {
            Some(self.expr()?)
        } else {
            None
        };
        self.sign(":")?;
        let body = self.expr()?;
        Ok(Folded {
            fold,
            name,
            range,
            filter,
            body,
        })
    }
}
