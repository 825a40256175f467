//! The interface described, as an OpenAPI document: from the table of what can be asked, and
//! from the types of what is asked and answered.

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, SchemaGenerator};
use serde_json::{Map, Value, json};

use crate::error::ErrorBody;
use crate::exchange::Output;
use crate::routes::{ROUTES, Route};

/// How what is asked and what is answered are described.
pub(crate) type Types = (
    fn(&mut Document) -> Value,
    fn(&mut Document) -> (u16, Value),
);

/// A description that is being made.
pub struct Document {
    pub(crate) inputs: SchemaGenerator,
    pub(crate) outputs: SchemaGenerator,
    paths: Map<String, Value>,
}

/// The parameter of requests about a run that somebody may present.
pub const PRESENTER: &[(&str, &str)] = &[("key", "The presenter's, if somebody presents the run.")];

/// A request that is answered elsewhere than at a desk.
pub struct Operation<'a> {
    /// `GET` or `POST`.
    pub method: &'a str,
    /// With names in braces where it differs.
    pub path: &'a str,
    /// In words.
    pub about: &'a str,
    /// The names of parameters and what they are.
    pub parameters: &'a [(&'a str, &'a str)],
    /// The status of an answer, and what comes with it.
    pub answer: fn(&mut Document) -> (u16, Value),
    /// What else may come, and when.
    pub refusals: &'a [(u16, &'a str)],
}

impl Document {
    /// Of all that is answered at a desk.
    pub fn new() -> Document {
        let settings = SchemaSettings::draft2020_12().with(|settings| {
            settings.definitions_path = "/components/schemas".into();
            settings.meta_schema = None;
        });
        let mut document = Document {
            inputs: settings.clone().for_deserialize().into_generator(),
            outputs: settings.for_serialize().into_generator(),
            paths: Map::new(),
        };
        for route in &*ROUTES {
            document.route(route);
        }
        document
    }

    fn route(&mut self, route: &Route) {
        let mut asked = (route.types.0)(self);
        let mut refusals = Vec::new();
        refusals.extend(route.refusal);
        if route.steers {
            refusals.push((403, "somebody else presents the run"));
        }
        if route.path.contains("{id}") {
            refusals.push((404, "there is no such run"));
        }
        if asked.as_object().is_some_and(|asked| !asked.is_empty()) {
            refusals.push((422, "a field is wrong, or too large"));
        }
        let key = if route.steers { PRESENTER } else { &[] };
        let operation = self.add(&Operation {
            method: route.method,
            path: route.path,
            about: route.about,
            parameters: key,
            answer: route.types.1,
            refusals: &refusals,
        });
        if let Some(body) = asked.get_mut("requestBody") {
            operation["requestBody"] = body.take();
        }
        if let (Some(more), Some(known)) = (
            asked["parameters"].as_array(),
            operation["parameters"].as_array_mut(),
        ) {
            known.extend_from_slice(more);
        }
    }

    /// Adds what is answered elsewhere.
    pub fn add(&mut self, it: &Operation<'_>) -> &mut Value {
        let error = ErrorBody::describe(self).1["content"].take();
        let of_path = it.path.split('{').skip(1).map(|rest| {
            let name = rest.split('}').next().unwrap_or(rest);
            let about = match name {
                "id" => "Of the run.",
                "name" => "Of whom it is about.",
                _ => "What is to be done.",
            };
            json!({
                "name": name, "in": "path", "required": true, "description": about,
                "schema": { "type": "string" },
            })
        });
        let of_query = it.parameters.iter().map(|(name, about)| {
            json!({
                "name": name, "in": "query", "description": about,
                "schema": { "type": "string" },
            })
        });
        let parameters: Vec<Value> = of_path.chain(of_query).collect();
        let (status, answer) = (it.answer)(self);
        let mut answers = Map::from_iter([(status.to_string(), answer)]);
        for (status, when) in it.refusals {
            let refused = json!({ "description": when, "content": error });
            answers.insert(status.to_string(), refused);
        }
        let methods = self.paths.entry(it.path.to_owned()).or_insert(json!({}));
        let topic = it.path.trim_start_matches("/api/").split('/').next();
        methods[it.method.to_lowercase()] = json!({
            "tags": [topic], "summary": it.about, "parameters": parameters, "responses": answers,
        });
        &mut methods[it.method.to_lowercase()]
    }

    /// An answer of this type, in JSON.
    pub fn answer<T: JsonSchema>(&mut self) -> (u16, Value) {
        let schema = self.outputs.subschema_for::<T>();
        let content = json!({ "application/json": { "schema": schema } });
        (
            200,
            json!({ "description": "the answer", "content": content }),
        )
    }

    /// No answer but that it is done.
    pub fn done(&mut self) -> (u16, Value) {
        (204, json!({ "description": "it is done" }))
    }

    /// Server-sent events of this name, whose data are of this type; in the end one named
    /// `gone`.
    pub fn events<T: JsonSchema>(&mut self, name: &str) -> (u16, Value) {
        let mut answer = self.answer::<T>().1;
        let schema = answer["content"]["application/json"].take();
        let about = format!("events named `{name}`, and `gone` at the end");
        let content = json!({ "text/event-stream": schema });
        (200, json!({ "description": about, "content": content }))
    }

    /// The whole.
    pub fn finish(mut self) -> Value {
        let mut types = self.outputs.take_definitions(true);
        // What is both asked and answered needs no field when it is asked.
        types.extend(self.inputs.take_definitions(true));
        json!({
            "openapi": "3.1.0",
            "info": {
                "title": "Headway",
                "version": env!("CARGO_PKG_VERSION"),
                "description": "Rings of circulating tokens: make a run, look at any round of \
                    it, strike it with faults, watch it. The page uses nothing else. Rounds go \
                    up to 2^53 - 1. A request that is answered with an error has changed nothing.",
                "license": {
                    "name": "MIT OR Apache-2.0",
                    "identifier": "MIT OR Apache-2.0",
                },
            },
            "paths": self.paths,
            "components": { "schemas": types },
        })
    }
}

impl Default for Document {
    fn default() -> Document {
        Document::new()
    }
}
