//! Tokens to a protocol file, by recursive descent.

use super::ProtocolError;
use super::ast::{
    Action, Block, Definition, DomainPart, Expr, File, Graph, Kind, Name, Outcome, Property,
    Variable, Who,
};
use super::token::{Place, Token, tokens};
use crate::Scheduler;

mod expression;

type Result<T> = std::result::Result<T, ProtocolError>;

/// What may begin a part of a file.
const PARTS: &str = "`protocol`, `parameter`, `graph`, `scheduler`, `variable`, `given`, `define`, \
                     `process`, `legitimate`, `property` or `everywhere`";

/// Words that name nothing of the user's.
const RESERVED: &str = "protocol parameter graph scheduler variable given define process \
                        legitimate property everywhere and or not if then else div mod true false \
                        all any count sum min max in where processes neighbours others self none \
                        bool abs enabled edges of distance";

fn is_reserved(word: &str) -> bool {
    RESERVED.split(' ').any(|reserved| reserved == word)
}

pub(super) fn parse(text: &str) -> Result<File> {
    let mut parser = Parser {
        text,
        tokens: tokens(text)?,
        at: 0,
        depth: 0,
        operators: 0,
    };
    parser.file()
}

struct Parser<'a> {
    text: &'a str,
    tokens: Vec<(Place, Token)>,
    at: usize,
    depth: u32,
    operators: u32,
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
            Token::Word(word) if is_reserved(word) => {
                let says = format!("expected {what}, but {} is a reserved word", self.peek());
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
                _ if is_reserved(&part) && (self.is_sign(":") || self.is_sign("(")) => {
                    let says = format!("`{part}` is a reserved word and cannot name an action");
                    return self.wrong(place, says);
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
        while matches!(self.peek(), Token::Word(word) if !is_reserved(word)) {
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
}
