//! What a request brings and what an answer is: JSON, a query, a file.

use bytes::Bytes;
use http::StatusCode;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;
use serde::de::DeserializeOwned;
#[cfg(not(target_family = "wasm"))]
use serde_json::{Value, json};

use strum::VariantNames;

use crate::desk::{Answer, Request};
#[cfg(not(target_family = "wasm"))]
use crate::document::Document;
use crate::error::ApiError;

/// What is read from a request.
pub(crate) trait Input: Sized + 'static {
    /// What it is, or which of its fields is wrong.
    fn read(request: &Request) -> Result<Self, ApiError>;

    /// Its parameters or its body, as OpenAPI has them.
    #[cfg(not(target_family = "wasm"))]
    fn describe(document: &mut Document) -> Value;
}

/// What an answer is made of.
pub(crate) trait Output: Sized + 'static {
    fn answer(self) -> Result<Answer, ApiError>;

    /// Its status and what comes with it, as OpenAPI has them.
    #[cfg(not(target_family = "wasm"))]
    fn describe(document: &mut Document) -> (u16, Value);
}

/// A body in JSON.
pub(crate) struct Body<T>(pub(crate) T);

/// What stands after the question mark.
pub(crate) struct Query<T>(pub(crate) T);

/// A table in a file of some kind.
pub(crate) struct TableFile {
    pub(crate) kind: String,
    pub(crate) bytes: Bytes,
}

/// What was made, with the status that says so.
pub(crate) struct Made<T>(pub(crate) T);

/// It is done, and there is nothing to say.
pub(crate) struct Done;

/// A state to be kept as a file.
pub(crate) struct StateText {
    pub(crate) name: String,
    pub(crate) text: String,
}

/// A picture to be kept as a file.
pub(crate) struct Picture {
    pub(crate) name: &'static str,
    pub(crate) svg: String,
}

impl Input for () {
    fn read(_: &Request) -> Result<(), ApiError> {
        Ok(())
    }

    #[cfg(not(target_family = "wasm"))]
    fn describe(_: &mut Document) -> Value {
        json!({})
    }
}

impl<T: DeserializeOwned + JsonSchema + 'static> Input for Body<T> {
    /// The body, or which of its fields is wrong.
    fn read(request: &Request) -> Result<Body<T>, ApiError> {
        if request.kind != "application/json" {
            // Other sites can send some kinds without asking first, but not this one.
            let message = "expected a body with Content-Type: application/json";
            let status = StatusCode::UNSUPPORTED_MEDIA_TYPE;
            return Err(ApiError::new(status, "invalid_json", message));
        }
        // Fields could also be given as a list, in an order that nobody should rely on.
        if request.body.trim_ascii_start().first() == Some(&b'[') {
            return Err(invalid("expected a JSON object"));
        }
        let mut reader = serde_json::Deserializer::from_slice(&request.body);
        let value = serde_path_to_error::deserialize(&mut reader).map_err(|error| {
            let inner = error.inner();
            match inner.is_data() {
                true => wrong_field(&error.path().to_string(), &inner.to_string()),
                false => broken_json(inner),
            }
        })?;
        reader.end().map_err(|error| broken_json(&error))?;
        Ok(Body(value))
    }

    #[cfg(not(target_family = "wasm"))]
    fn describe(document: &mut Document) -> Value {
        let schema = document.inputs.subschema_for::<T>();
        let content = json!({ "application/json": { "schema": schema } });
        json!({ "requestBody": { "content": content, "required": true } })
    }
}

impl<T: DeserializeOwned + JsonSchema + 'static> Input for Query<T> {
    /// The query, or which of its fields is wrong.
    fn read(request: &Request) -> Result<Query<T>, ApiError> {
        let pairs = form_urlencoded::parse(request.query.as_bytes());
        let reader = serde_urlencoded::Deserializer::new(pairs);
        serde_path_to_error::deserialize(reader)
            .map(Query)
            .map_err(|error| wrong_field(&error.path().to_string(), &error.inner().to_string()))
    }

    #[cfg(not(target_family = "wasm"))]
    fn describe(document: &mut Document) -> Value {
        let mut whole = T::json_schema(&mut document.inputs).to_value();
        let fields = whole["properties"].as_object_mut().map(std::mem::take);
        let parameters = fields.into_iter().flatten().map(|(name, mut schema)| {
            let fields = schema.as_object_mut();
            let about = fields.and_then(|fields| fields.remove("description"));
            json!({ "name": name, "in": "query", "description": about, "schema": schema })
        });
        json!({ "parameters": parameters.collect::<Vec<_>>() })
    }
}

impl Input for TableFile {
    fn read(request: &Request) -> Result<TableFile, ApiError> {
        Ok(TableFile {
            kind: request.kind.clone(),
            bytes: request.body.clone(),
        })
    }

    #[cfg(not(target_family = "wasm"))]
    fn describe(_: &mut Document) -> Value {
        let content = json!({ "text/csv": {}, "application/vnd.apache.parquet": {} });
        json!({ "requestBody": { "content": content, "required": true } })
    }
}

impl<T: Serialize + JsonSchema + 'static> Output for T {
    fn answer(self) -> Result<Answer, ApiError> {
        let body = serde_json::to_vec(&self).map_err(|_| ApiError::internal())?;
        Ok(Answer::new("application/json", body))
    }

    #[cfg(not(target_family = "wasm"))]
    fn describe(document: &mut Document) -> (u16, Value) {
        document.answer::<T>()
    }
}

impl<T: Serialize + JsonSchema + 'static> Output for Made<T> {
    fn answer(self) -> Result<Answer, ApiError> {
        Ok(Answer {
            status: StatusCode::CREATED,
            ..self.0.answer()?
        })
    }

    #[cfg(not(target_family = "wasm"))]
    fn describe(document: &mut Document) -> (u16, Value) {
        (201, T::describe(document).1)
    }
}

impl Output for Done {
    fn answer(self) -> Result<Answer, ApiError> {
        Ok(Answer {
            status: StatusCode::NO_CONTENT,
            ..Answer::new("application/json", Vec::new())
        })
    }

    #[cfg(not(target_family = "wasm"))]
    fn describe(document: &mut Document) -> (u16, Value) {
        document.done()
    }
}

impl Output for StateText {
    fn answer(self) -> Result<Answer, ApiError> {
        Ok(Answer {
            file_name: Some(self.name),
            ..Answer::new("application/json", self.text.into_bytes())
        })
    }

    #[cfg(not(target_family = "wasm"))]
    fn describe(_: &mut Document) -> (u16, Value) {
        (200, json!({ "description": "a state file" }))
    }
}

impl Output for Picture {
    fn answer(self) -> Result<Answer, ApiError> {
        Ok(Answer {
            file_name: Some(self.name.to_owned()),
            ..Answer::new("image/svg+xml", self.svg.into_bytes())
        })
    }

    #[cfg(not(target_family = "wasm"))]
    fn describe(_: &mut Document) -> (u16, Value) {
        (200, json!({ "description": "a picture: image/svg+xml" }))
    }
}

fn invalid(message: impl Into<String>) -> ApiError {
    ApiError::new(StatusCode::UNPROCESSABLE_ENTITY, "invalid", message)
}

fn broken_json(error: &serde_json::Error) -> ApiError {
    ApiError::new(StatusCode::BAD_REQUEST, "invalid_json", error.to_string())
}

fn wrong_field(path: &str, said: &str) -> ApiError {
    match path {
        "." | "?" => invalid(in_words(said)),
        field => invalid(format!("{field}: {}", in_words(said))).at(field),
    }
}

/// What a reader says of a value, in words for people: nobody has seen the lines of what a
/// page sends, nor knows how a number is kept.
fn in_words(said: &str) -> String {
    let said = said.rfind(" at line ").map_or(said, |at| &said[..at]);
    let said = said
        .trim_start_matches("invalid type: ")
        .trim_start_matches("invalid value: ")
        .replace("integer `", "`");
    if let Some((given, names)) = said
        .strip_prefix("unknown variant ")
        .and_then(|rest| rest.split_once(", expected "))
    {
        let names = names.trim_start_matches("one of ").replace('`', "");
        return format!("expected {names}, and not {given}");
    }
    match said.rsplit_once(", expected ") {
        Some((given, "u64" | "u32" | "usize")) => {
            format!("expected a whole number from 0 on, and not {given}")
        }
        _ => said,
    }
}

/// One of some words, in a description.
pub(crate) fn word<T: VariantNames>(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "string", "enum": T::VARIANTS })
}
