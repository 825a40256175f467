//! A protocol file as words, numbers and signs, each with its place.

use std::fmt;

use winnow::ascii::{digit1, multispace1, till_line_ending};
use winnow::combinator::{alt, repeat};
use winnow::prelude::*;
use winnow::stream::Location;
use winnow::token::{literal, one_of, take_till, take_while};
use winnow::{LocatingSlice, ModalResult};

use super::ProtocolError;

/// A place in the text, in bytes.
pub(super) type Place = usize;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token {
    Word(String),
    Number(i64),
    Text(String),
    Sign(&'static str),
    End,
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Token::Word(word) => write!(f, "`{word}`"),
            Token::Number(number) => write!(f, "`{number}`"),
            Token::Text(text) => write!(f, "\"{text}\""),
            Token::Sign(sign) => write!(f, "`{sign}`"),
            Token::End => f.write_str("the end of the file"),
        }
    }
}

/// The longer ones first.
const SIGNS: [&str; 22] = [
    ":=", "->", "!=", "<=", ">=", "..", "=", "<", ">", "+", "-", "*", "/", "(", ")", "[", "]", ",",
    ":", "|", "{", "}",
];

type Input<'a> = LocatingSlice<&'a str>;

fn blank(input: &mut Input<'_>) -> ModalResult<()> {
    let comment = ('#', till_line_ending).void();
    repeat(0.., alt((multispace1.void(), comment))).parse_next(input)
}

fn word(input: &mut Input<'_>) -> ModalResult<Token> {
    let start = one_of(|c: char| c.is_alphabetic() || c == '_');
    let rest = take_while(0.., |c: char| c.is_alphanumeric() || c == '_');
    (start, rest)
        .take()
        .map(|word: &str| Token::Word(word.to_owned()))
        .parse_next(input)
}

fn token(input: &mut Input<'_>) -> ModalResult<Token> {
    let number = digit1.try_map(|digits: &str| digits.parse().map(Token::Number));
    let text = ('"', take_till(0.., ['"', '\n']), '"')
        .map(|(_, text, _): (_, &str, _)| Token::Text(text.to_owned()));
    alt((word, number, text, sign)).parse_next(input)
}

fn sign(input: &mut Input<'_>) -> ModalResult<Token> {
    for sign in SIGNS {
        let found: ModalResult<&str> = literal(sign).parse_next(input);
        if found.is_ok() {
            return Ok(Token::Sign(sign));
        }
    }
    winnow::combinator::fail.parse_next(input)
}

/// All tokens of a text, [`Token::End`] last.
pub(super) fn tokens(text: &str) -> Result<Vec<(Place, Token)>, ProtocolError> {
    let mut input = LocatingSlice::new(text);
    let mut found = Vec::new();
    loop {
        let _ = blank(&mut input);
        let place = input.current_token_start();
        if input.is_empty() {
            found.push((place, Token::End));
            return Ok(found);
        }
        match token(&mut input) {
            Ok(token) => found.push((place, token)),
            Err(_) => {
                let rest = &text[place..];
                let sign = rest.chars().next().unwrap_or(' ');
                let says = match sign {
                    '"' => "a text that does not end on its line".to_owned(),
                    '0'..='9' => "a number above 2^63".to_owned(),
                    '&' => "unexpected `&`; use `and`".to_owned(),
                    '!' => "unexpected `!`; use `not`".to_owned(),
                    _ => format!("unexpected `{sign}`"),
                };
                return Err(ProtocolError::at(text, place, says));
            }
        }
    }
}
