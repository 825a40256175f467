//! Tokens to a protocol file, by recursive descent.

use super::ProtocolError;
use super::ast::{
    Action, Binary, Block, Definition, DomainPart, Expr, File, Fold, Folded, Graph, Kind, Name,
    Outcome, Property, Range, Variable, Who,
};
use super::token::{Place, Token, tokens};
use crate::Scheduler;

type Result<T> = std::result::Result<T, ProtocolError>;

/// Expressions nested deeper than this are refused.
const MAX_DEPTH: u32 = 100;

/// What may begin a part of a file.
const PARTS: &str = "`protocol`, `parameter`, `graph`, `scheduler`, `variable`, `given`, `define`, \
                     `process`, `legitimate`, `property` or `everywhere`";

/// Words that name nothing of the user's.
const RESERVED: [&str; 40] = [
    "protocol",
    "parameter",
    "graph",
    "scheduler",
    "variable",
    "given",
    "define",
    "process",
    "legitimate",
    "property",
    "everywhere",
    "and",
    "or",
    "not",
    "if",
    "then",
    "else",
    "div",
    "mod",
    "true",
    "false",
    "all",
    "any",
    "count",
    "sum",
    "min",
    "max",
    "in",
    "where",
    "processes",
    "neighbours",
    "others",
    "self",
    "none",
    "bool",
    "abs",
    "enabled",
    "edges",
    "of",
    "distance",
];

pub(super) fn parse(text: &str) -> Result<File> {
    let mut parser = Parser {
        text,
        tokens: tokens(text)?,
        at: 0,
        depth: 0,
    };
    parser.file()
}

struct Parser<'a> {
    text: &'a str,
    tokens: Vec<(Place, Token)>,
    at: usize,
    depth: u32,
}

impl Parser<'_> {
    fn peek(&self) -> &Token {
        &self.tokens[self.at].1
    }

    fn place(&self) -> Place {
        self.tokens[self.at].0
    }

    fn next(&mut self) -> Token {
        let token = self.peek().clone();
        self.at = (self.at + 1).min(self.tokens.len() - 1);
        token
    }

    fn wrong<T>(&self, place: Place, says: impl Into<String>) -> Result<T> {
        Err(ProtocolError::at(self.text, place, says))
    }

    fn expected<T>(&self, what: &str) -> Result<T> {
        let says = format!("expected {what}, found {}", self.peek());
        self.wrong(self.place(), says)
    }

    fn is_sign(&self, sign: &str) -> bool {
        matches!(self.peek(), Token::Sign(found) if *found == sign)
    }

    fn is_word(&self, word: &str) -> bool {
        matches!(self.peek(), Token::Word(found) if found == word)
    }

    fn skips_sign(&mut self, sign: &str) -> bool {
        let found = self.is_sign(sign);
        if found {
            self.next();
        }
        found
    }

    fn skips_word(&mut self, word: &str) -> bool {
        let found = self.is_word(word);
        if found {
            self.next();
        }
        found
    }

    fn sign(&mut self, sign: &str) -> Result<()> {
        if self.skips_sign(sign) {
            return Ok(());
        }
        self.expected(&format!("`{sign}`"))
    }

    fn word(&mut self, word: &str) -> Result<()> {
        if self.skips_word(word) {
            return Ok(());
        }
        self.expected(&format!("`{word}`"))
    }

    fn name(&mut self, what: &str) -> Result<Name> {
        let place = self.place();
        match self.peek() {
            Token::Word(word) if RESERVED.contains(&word.as_str()) => {
                let says = format!(
                    "expected {what}, but {} has a meaning of its own",
                    self.peek()
                );
                self.wrong(place, says)
            }
            Token::Word(text) => {
                let text = text.clone();
                self.next();
                Ok(Name { place, text })
            }
            _ => self.expected(what),
        }
    }

    /// Some of them, with commas between.
    fn list<T>(&mut self, mut each: impl FnMut(&mut Self) -> Result<T>) -> Result<Vec<T>> {
        let mut all = vec![each(self)?];
        while self.skips_sign(",") {
            all.push(each(self)?);
        }
        Ok(all)
    }

    fn file(&mut self) -> Result<File> {
        let mut file = File::default();
        loop {
            let place = self.place();
            let part = match self.peek() {
                Token::End => return Ok(file),
                Token::Word(word) => word.clone(),
                _ => return self.expected(PARTS),
            };
            self.next();
            match part.as_str() {
                "protocol" => match self.next() {
                    Token::Text(text) => file.title = Some(text),
                    _ => return self.wrong(place, "expected a text in \"…\" after `protocol`"),
                },
                "parameter" => {
                    let name = self.name("the name of a parameter")?;
                    self.sign("=")?;
                    file.parameters.push((name, self.expr()?));
                }
                "graph" if file.graph.is_some() => return self.wrong(place, "a second graph"),
                "graph" => file.graph = Some(self.graph()?),
                "scheduler" => file.scheduler = Some(self.scheduler()?),
                "variable" => {
                    let name = self.name("the name of a variable")?;
                    self.sign(":")?;
                    let domain = self.domain()?;
                    file.variables.push(Variable { name, domain });
                }
                "given" => {
                    self.skips_sign(":");
                    file.given.push(self.expr()?);
                }
                "define" => file.definitions.push(self.definition()?),
                "process" => file.blocks.push(self.block()?),
                "legitimate" if file.legitimate.is_some() => {
                    return self.wrong(place, "a second `legitimate`; join them with `and`");
                }
                "legitimate" => {
                    self.skips_sign(":");
                    file.legitimate = Some(self.expr()?);
                }
                "property" | "everywhere" => {
                    let name = self.name("the name of a property")?;
                    self.sign(":")?;
                    let holds = self.expr()?;
                    let everywhere = part == "everywhere";
                    file.properties.push(Property {
                        name,
                        everywhere,
                        holds,
                    });
                }
                _ => {
                    self.at -= 1;
                    return self.expected(PARTS);
                }
            }
        }
    }

    fn scheduler(&mut self) -> Result<Scheduler> {
        let place = self.place();
        let mut name = String::new();
        while let Token::Word(word) = self.peek() {
            name.push_str(word);
            self.next();
            if !self.skips_sign("-") {
                break;
            }
            name.push('-');
        }
        match name.parse() {
            Ok(scheduler) => Ok(scheduler),
            Err(error) => self.wrong(place, format!("{error}, found `{name}`")),
        }
    }

    fn graph(&mut self) -> Result<Graph> {
        if self.skips_word("edges") {
            // `edges of 4: 0-1, 1-2, 2-3`: an end is a number or a name.
            self.word("of")?;
            let processes = self.expr()?;
            self.sign(":")?;
            let edges = self.list(|parser| {
                let from = parser.primary()?;
                parser.sign("-")?;
                Ok((from, parser.primary()?))
            })?;
            return Ok(Graph::Edges(processes, edges));
        }
        let name = self.name("a graph: ring, line, star, complete, tree, grid or edges")?;
        self.sign("(")?;
        let sizes = self.list(Self::expr)?;
        self.sign(")")?;
        Ok(Graph::Generated(name, sizes))
    }

    fn domain(&mut self) -> Result<Vec<DomainPart>> {
        let mut parts = Vec::new();
        loop {
            parts.push(if self.skips_word("bool") {
                DomainPart::Bool
            } else if self.skips_word("neighbours") {
                DomainPart::Neighbours
            } else {
                let first = self.expr()?;
                if self.skips_sign("..") {
                    DomainPart::Between(first, self.expr()?)
                } else {
                    DomainPart::One(first)
                }
            });
            if !self.skips_sign("|") {
                return Ok(parts);
            }
        }
    }

    fn definition(&mut self) -> Result<Definition> {
        let name = self.name("the name of a definition")?;
        let mut arguments = Vec::new();
        if self.skips_sign("(") {
            let names = self.list(|parser| parser.name("the name of an argument"))?;
            arguments = names.into_iter().map(|name| name.text).collect();
            self.sign(")")?;
        }
        self.sign("=")?;
        let body = self.expr()?;
        Ok(Definition {
            name,
            arguments,
            body,
        })
    }

    fn block(&mut self) -> Result<Block> {
        let who = if self.skips_word("all") {
            Who::All
        } else if self.skips_word("others") {
            Who::Others
        } else if matches!(self.tokens.get(self.at + 1), Some((_, Token::Word(word))) if word == "where")
        {
            let name = self.name("a name for the process")?;
            self.word("where")?;
            Who::Where(name.text, self.expr()?)
        } else {
            Who::Listed(self.list(Self::expr)?)
        };
        self.sign(":")?;
        let mut actions = Vec::new();
        while matches!(self.peek(), Token::Word(word) if !RESERVED.contains(&word.as_str())) {
            actions.push(self.action()?);
        }
        Ok(Block { who, actions })
    }

    fn action(&mut self) -> Result<Action> {
        let name = self.name("the name of an action")?;
        let each = if self.skips_sign("(") {
            let member = self.name("a name for the members")?.text;
            self.word("in")?;
            let range = self.range()?;
            self.sign(")")?;
            Some((member, range))
        } else {
            None
        };
        self.sign(":")?;
        let guard = self.expr()?;
        self.sign("->")?;
        let mut outcomes = Vec::new();
        loop {
            let chance = if matches!(self.peek(), Token::Number(_)) || self.is_sign("(") {
                let numerator = self.primary()?;
                let one = Expr {
                    place: numerator.place,
                    kind: Kind::Number(1),
                };
                let denominator = if self.skips_sign("/") {
                    self.primary()?
                } else {
                    one
                };
                self.sign(":")?;
                Some((numerator, denominator))
            } else {
                None
            };
            let assignments = self.list(|parser| {
                let name = parser.name("a variable to assign to")?;
                let mut whose = None;
                if parser.skips_sign("[") {
                    whose = Some(parser.expr()?);
                    parser.sign("]")?;
                }
                parser.sign(":=")?;
                Ok((name, whose, parser.expr()?))
            })?;
            outcomes.push(Outcome {
                chance,
                assignments,
            });
            if !self.skips_sign("|") {
                return Ok(Action {
                    name,
                    each,
                    guard,
                    outcomes,
                });
            }
        }
    }

    pub(super) fn expr(&mut self) -> Result<Expr> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return self.wrong(self.place(), "expressions nested too deeply");
        }
        let expr = self.binary(0);
        self.depth -= 1;
        expr
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

    fn primary(&mut self) -> Result<Expr> {
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

    fn range(&mut self) -> Result<Range> {
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
