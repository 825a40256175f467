//! Every request that a test makes and every answer that it gets, against the document that
//! the server gives out.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use jsonschema::Validator;
use serde_json::{Value, json};

use super::support::{Answer, TestServer, fast};

const TYPES: &str = "#/components/schemas/";

/// The document, in which types have no other fields than those it names.
static DOCUMENT: LazyLock<Value> = LazyLock::new(|| {
    let mut document = headway_dashboard::document();
    let types = document["components"]["schemas"].as_object_mut();
    for schema in types.expect("types").values_mut() {
        schema["unevaluatedProperties"] = false.into();
    }
    document
});

/// Compares what was asked and answered with the document.
pub(crate) fn check(method: &str, target: &str, body: &[u8], answer: &Answer) {
    if let Err(why) = compare(method, target, body, answer) {
        panic!("{method} {target}: {why}: the document does not say so");
    }
}

/// Compares what an event brings.
pub(crate) fn check_event(name: &str, data: &Value) {
    let kind = match name {
        "frame" => "Frame",
        "fleet" => "FleetView",
        _ => return assert_eq!((name, data), ("gone", &json!({}))),
    };
    if let Err(why) = validate(&json!({ "$ref": format!("{TYPES}{kind}") }), data) {
        panic!("{name}: {why}: the document does not say so");
    }
}

fn compare(method: &str, target: &str, body: &[u8], answer: &Answer) -> Result<(), String> {
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let asked = if method == "HEAD" { "GET" } else { method };
    let status = answer.status;
    let Some(operation) = operation(path, &asked.to_lowercase()) else {
        let of_no_type = ["/api/docs", "/api/openapi.json"];
        let known = !path.starts_with("/api/") || of_no_type.contains(&path) || status >= 300;
        return known.then_some(()).ok_or("not in the document".to_owned());
    };
    let response = &operation["responses"][status.to_string()];
    let error = json!({ "$ref": format!("{TYPES}ErrorBody") });
    let schema = match response {
        Value::Null if status < 300 => return Err(format!("{status} is not in the document")),
        // Everybody who asks too fast or without a secret is refused in the same way.
        Value::Null if status >= 400 => &error,
        _ => &response["content"]["application/json"]["schema"],
    };
    if schema.is_object() && method != "HEAD" {
        validate(schema, &answer.json())?;
    }
    if status >= 300 {
        return Ok(());
    }
    let known: Vec<&Value> = operation["parameters"]
        .as_array()
        .into_iter()
        .flatten()
        .collect();
    for name in query
        .split('&')
        .map(|pair| pair.split('=').next().unwrap_or(pair))
    {
        let is_known = name.is_empty() || known.iter().any(|known| known["name"] == *name);
        if !is_known && name != "secret" {
            return Err(format!("the parameter {name} is not in the document"));
        }
    }
    match &operation["requestBody"]["content"]["application/json"]["schema"] {
        Value::Null => Ok(()),
        schema => validate(schema, &serde_json::from_slice(body).expect("JSON")),
    }
}

fn operation(path: &str, method: &str) -> Option<&'static Value> {
    let fits = |template: &str| {
        let mut parts = path.split('/');
        let all = template.split('/').all(|part| {
            parts
                .next()
                .is_some_and(|own| part.starts_with('{') || part == own)
        });
        all && parts.next().is_none()
    };
    let mut paths = DOCUMENT["paths"].as_object().expect("paths").iter();
    paths.find(|(template, _)| fits(template))?.1.get(method)
}

fn validate(schema: &Value, value: &Value) -> Result<(), String> {
    static BUILT: LazyLock<Mutex<HashMap<String, Arc<Validator>>>> = LazyLock::new(Mutex::default);
    let mut built = BUILT.lock().unwrap_or_else(PoisonError::into_inner);
    let validator = built.entry(schema.to_string()).or_insert_with(|| {
        let mut whole = schema.clone();
        whole["components"] = DOCUMENT["components"].clone();
        Arc::new(jsonschema::validator_for(&whole).expect("a schema"))
    });
    let validator = Arc::clone(validator);
    drop(built);
    let wrong = |error: jsonschema::ValidationError<'_>| {
        let text: String = value.to_string().chars().take(400).collect();
        format!("{error} at `{}` of {text}", error.instance_path())
    };
    validator.validate(value).map_err(wrong)
}

/// What is in the document is there: no path is answered as if there were nothing, no method
/// is refused.
#[test]
fn whatever_is_documented_is_answered() {
    let server = TestServer::new();
    for (path, methods) in DOCUMENT["paths"].as_object().unwrap() {
        let path = path
            .replace("{id}", "none")
            .replace("{name}", "a")
            .replace("{what}", "b");
        for method in methods.as_object().unwrap().keys() {
            let answer = server.ask(&method.to_uppercase(), &path, &[], b"");
            assert_ne!(answer.status, 405, "{method} {path}");
            if answer.status == 404 {
                assert_ne!(answer.code(), "unknown_path", "{method} {path}");
            }
        }
    }
}

/// What the document does not know is noticed.
#[test]
fn a_field_a_path_and_a_status_that_are_not_documented_are_noticed() {
    let server = TestServer::with(headway_dashboard::Options {
        limits: fast(),
        ..headway_dashboard::Options::default()
    });
    let mut about = server.get("/api/about");
    let compared = |about: &Answer, path: &str| compare("GET", path, b"", about);
    assert_eq!(compared(&about, "/api/about"), Ok(()));
    assert!(
        compared(&about, "/api/abouts")
            .unwrap_err()
            .contains("not in the document")
    );
    assert!(
        compared(&about, "/api/about?x=1")
            .unwrap_err()
            .contains("parameter x")
    );
    let mut more = about.json();
    more["limits"]["more"] = 1.into();
    about.body = more.to_string().into_bytes();
    assert!(compared(&about, "/api/about").unwrap_err().contains("more"));
    about.status = 202;
    assert!(compared(&about, "/api/about").unwrap_err().contains("202"));
}
