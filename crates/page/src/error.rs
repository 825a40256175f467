//! What a request that cannot be answered gets: a status, a code for programs, a
//! sentence for people, and the field that is to blame.

use http::StatusCode;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An error as it is sent. Nothing was changed by the request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ErrorBody {
    /// What went wrong.
    pub error: ErrorDetail,
}

/// What went wrong.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ErrorDetail {
    /// For programs: one of a fixed list of words.
    pub code: String,
    /// For people: what was found, what was expected.
    pub message: String,
    /// Which field of the request is to blame, if one is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
}

/// An error on its way to the client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiError {
    pub(crate) status: StatusCode,
    code: &'static str,
    message: String,
    field: Option<String>,
    pub(crate) retry_after_s: Option<u32>,
}

impl ApiError {
    /// An error with this status, code and sentence.
    pub fn new(status: StatusCode, code: &'static str, message: impl Into<String>) -> ApiError {
        ApiError {
            status,
            code,
            message: message.into(),
            field: None,
            retry_after_s: None,
        }
    }

    /// A value that is out of its domain.
    pub fn invalid(field: &str, message: impl Into<String>) -> ApiError {
        ApiError::new(StatusCode::UNPROCESSABLE_ENTITY, "invalid", message).at(field)
    }

    /// More than this server is set up for.
    pub fn too_large(field: &str, message: impl Into<String>) -> ApiError {
        ApiError::new(StatusCode::UNPROCESSABLE_ENTITY, "too_large", message).at(field)
    }

    /// What is not allowed.
    pub fn forbidden(code: &'static str, message: impl Into<String>) -> ApiError {
        ApiError::new(StatusCode::FORBIDDEN, code, message)
    }

    /// What is not there.
    pub fn not_found(code: &'static str, message: impl Into<String>) -> ApiError {
        ApiError::new(StatusCode::NOT_FOUND, code, message)
    }

    /// A mistake of ours; the details stay here.
    pub fn internal() -> ApiError {
        let message = "the server failed to answer this request";
        ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", message)
    }

    /// The sentence for people.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The same, with the field that is to blame.
    #[must_use]
    pub fn at(mut self, field: &str) -> ApiError {
        self.field = Some(field.to_owned());
        self
    }

    /// The same, with how long to wait.
    #[must_use]
    pub fn retry_after_s(mut self, seconds: u32) -> ApiError {
        self.retry_after_s = Some(seconds);
        self
    }

    /// A path that is asked in another way.
    pub fn wrong_method() -> ApiError {
        let message = "this path does not take this method; /api/docs lists what there is";
        ApiError::new(StatusCode::METHOD_NOT_ALLOWED, "method", message)
    }

    pub(crate) fn body(&self) -> ErrorBody {
        ErrorBody {
            error: ErrorDetail {
                code: self.code.to_owned(),
                message: self.message.clone(),
                field: self.field.clone(),
            },
        }
    }
}
