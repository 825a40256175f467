//! Why a text is not what it should be.

use thiserror::Error;

use crate::network::NetworkError;

/// Why a text is not what it should be: a network, or conflicts (with what else can be wrong
/// with them).
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ReadError<E = NetworkError> {
    /// Something at a place.
    #[error("line {line}: {message}")]
    At {
        /// From 1.
        line: usize,
        /// What is wrong, and what was expected.
        message: String,
    },
    /// Something in a field of a JSON document.
    #[error("{field}: {message}")]
    Field {
        /// Such as `links[3].source`.
        field: String,
        /// What is wrong, and what was expected.
        message: String,
    },
    /// The text is of another kind.
    #[error("{0}")]
    Other(String),
    /// Well-formed, but of no use.
    #[error(transparent)]
    Content(#[from] E),
}

impl<E> ReadError<E> {
    pub(crate) fn at(line: usize, message: impl Into<String>) -> ReadError<E> {
        let message = message.into();
        ReadError::At { line, message }
    }

    pub(crate) fn field(field: impl Into<String>, message: impl Into<String>) -> ReadError<E> {
        let (field, message) = (field.into(), message.into());
        ReadError::Field { field, message }
    }
}
