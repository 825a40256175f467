//! The interface described: for tools as OpenAPI, for people as a page made from
//! that, without a script.

use std::fmt::Write as _;

use axum::Router;
use axum::http::header;
use axum::routing::get;
use serde_json::Value;
use utoipa::openapi::OpenApi;

use crate::server::App;

pub(super) fn add(router: Router<App>, document: &OpenApi) -> Router<App> {
    let json = document.to_pretty_json().unwrap_or_default();
    let page = page(&serde_json::from_str(&json).unwrap_or_default());
    router
        .route("/api/openapi.json", sent("application/json", json))
        .route("/api/docs", sent("text/html; charset=utf-8", page))
        .route(
            "/api/docs.css",
            sent("text/css; charset=utf-8", STYLE.to_owned()),
        )
}

fn sent(kind: &'static str, text: String) -> axum::routing::MethodRouter<App> {
    let text = axum::body::Bytes::from(text);
    get(async move || ([(header::CONTENT_TYPE, kind)], text.clone()))
}

const STYLE: &str = "\
:root { color-scheme: light dark; --line: light-dark(#d7dbe0, #343a42); --soft: light-dark(#f3f5f7, #1c2127) }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 0 auto; padding: 1rem;
  color: light-dark(#1c1f24, #e6e8eb); background: light-dark(#ffffff, #15181c) }
code, pre { font: 0.9em ui-monospace, monospace }
details { border: 1px solid var(--line); border-radius: 6px; margin: 0.5rem 0; padding: 0.4rem 0.8rem }
summary { cursor: pointer; overflow-wrap: anywhere }
summary b { display: inline-block; min-width: 4.2em }
table { border-collapse: collapse; margin: 0.5rem 0; width: 100% }
td, th { border-bottom: 1px solid var(--line); padding: 0.25rem 0.8rem 0.25rem 0; text-align: left; vertical-align: top }
h3 { margin: 1rem 0 0.2rem; font-size: 1rem }
a { color: light-dark(#0b5cad, #7ab7f5) }
@media (max-width: 40rem) { td, th { padding-right: 0.4rem; font-size: 0.9rem } }
";

fn page(document: &Value) -> String {
    let mut out = String::new();
    let title = text(&document["info"]["title"]);
    // Writing to a string cannot fail.
    let _ = write!(
        out,
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{title}: HTTP interface</title>\n<link rel=\"stylesheet\" href=\"/api/docs.css\">\n\
         </head>\n<body>\n<main>\n<h1>{title}: HTTP interface</h1>\n<p>{}</p>\n\
         <p><a href=\"/\">The page</a> · <a href=\"/api/openapi.json\">OpenAPI document</a></p>\n",
        text(&document["info"]["description"])
    );
    for (tag, operations) in by_tag(document) {
        let _ = writeln!(out, "<h2>{}</h2>", escape(&tag));
        for operation in operations {
            write_operation(&mut out, &operation);
        }
    }
    out.push_str("<h2>Types</h2>\n");
    for (name, schema) in object(&document["components"]["schemas"]) {
        let _ = writeln!(
            out,
            "<details id=\"{0}\"><summary><code>{0}</code> {1}</summary>",
            escape(name),
            text(&schema["description"])
        );
        write_schema(&mut out, schema);
        out.push_str("</details>\n");
    }
    out.push_str("</main>\n</body>\n</html>\n");
    out
}

struct Operation<'a> {
    method: &'a str,
    path: &'a str,
    value: &'a Value,
}

/// The operations by their tags, in the order in which tags first come.
fn by_tag(document: &Value) -> Vec<(String, Vec<Operation<'_>>)> {
    let mut tags: Vec<(String, Vec<Operation<'_>>)> = Vec::new();
    for (path, methods) in object(&document["paths"]) {
        for (method, value) in object(methods) {
            let operation = Operation {
                method,
                path,
                value,
            };
            let tag = value["tags"][0].as_str().unwrap_or("other");
            match tags.iter_mut().find(|(known, _)| known == tag) {
                Some((_, operations)) => operations.push(operation),
                None => tags.push((tag.to_owned(), vec![operation])),
            }
        }
    }
    tags
}

fn write_operation(out: &mut String, operation: &Operation<'_>) {
    let value = operation.value;
    let _ = writeln!(
        out,
        "<details><summary><b>{}</b> <code>{}</code> {}</summary>",
        escape(&operation.method.to_uppercase()),
        escape(operation.path),
        text(&value["summary"])
    );
    let parameters = value["parameters"]
        .as_array()
        .map_or(&[][..], Vec::as_slice);
    if !parameters.is_empty() {
        out.push_str("<h3>Parameters</h3>\n<table>\n");
        for parameter in parameters {
            let _ = writeln!(
                out,
                "<tr><th scope=\"row\"><code>{}</code></th><td>{} {}</td><td>{}</td></tr>",
                text(&parameter["name"]),
                text(&parameter["in"]),
                kind(&parameter["schema"]),
                text(&parameter["description"])
            );
        }
        out.push_str("</table>\n");
    }
    for (content, media) in object(&value["requestBody"]["content"]) {
        let _ = writeln!(
            out,
            "<h3>Body</h3>\n<p>{}: {}</p>",
            escape(content),
            kind(&media["schema"])
        );
    }
    out.push_str("<h3>Answers</h3>\n<table>\n");
    for (status, answer) in object(&value["responses"]) {
        let kinds: Vec<String> = object(&answer["content"])
            .map(|(_, media)| kind(&media["schema"]))
            .collect();
        let _ = writeln!(
            out,
            "<tr><th scope=\"row\">{}</th><td>{}</td><td>{}</td></tr>",
            escape(status),
            kinds.join(", "),
            text(&answer["description"])
        );
    }
    out.push_str("</table>\n</details>\n");
}

fn write_schema(out: &mut String, schema: &Value) {
    let parts = match schema["allOf"].as_array() {
        Some(parts) => parts.iter().collect(),
        None => vec![schema],
    };
    for part in parts {
        if part.get("properties").is_none() {
            let _ = writeln!(out, "<p>{}</p>", kind(part));
            continue;
        }
        out.push_str("<table>\n");
        for (name, property) in object(&part["properties"]) {
            let _ = writeln!(
                out,
                "<tr><th scope=\"row\"><code>{}</code></th><td>{}</td><td>{}</td></tr>",
                escape(name),
                kind(property),
                text(&property["description"])
            );
        }
        out.push_str("</table>\n");
    }
}

/// A type in a few words, with links to those that have a name.
fn kind(schema: &Value) -> String {
    if let Some(name) = schema["$ref"]
        .as_str()
        .and_then(|path| path.rsplit('/').next())
    {
        return format!("<a href=\"#{0}\"><code>{0}</code></a>", escape(name));
    }
    for several in ["oneOf", "anyOf"] {
        if let Some(choices) = schema[several].as_array() {
            let kinds: Vec<String> = choices.iter().map(kind).collect();
            return kinds.join(" or ");
        }
    }
    if let Some(values) = schema["enum"].as_array() {
        let values: Vec<String> = values
            .iter()
            .map(|value| escape(&value.to_string()))
            .collect();
        return values.join(", ");
    }
    if let Some(items) = schema["prefixItems"].as_array() {
        let kinds: Vec<String> = items.iter().map(kind).collect();
        return format!("[{}]", kinds.join(", "));
    }
    let named: Vec<&str> = match &schema["type"] {
        Value::String(name) => vec![name],
        Value::Array(names) => names.iter().filter_map(Value::as_str).collect(),
        _ => vec!["anything"],
    };
    let named: Vec<String> = named
        .into_iter()
        .map(|name| match (name, schema.get("items")) {
            ("array", Some(items)) => format!("list of {}", kind(items)),
            ("null", _) => "nothing".to_owned(),
            _ => escape(name),
        })
        .collect();
    named.join(" or ")
}

fn object(value: &Value) -> impl Iterator<Item = (&String, &Value)> {
    value.as_object().into_iter().flatten()
}

fn text(value: &Value) -> String {
    escape(value.as_str().unwrap_or(""))
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::super::documented;

    /// Every path and type of the document is on the page, and every link on it has
    /// somewhere to go.
    #[test]
    fn the_page_shows_the_whole_document() {
        let document = documented().into_openapi();
        let value = serde_json::to_value(&document).unwrap();
        let page = super::page(&value);
        for path in document.paths.paths.keys() {
            assert!(page.contains(&format!("<code>{path}</code>")), "{path}");
        }
        for link in page.split("href=\"#").skip(1) {
            let name = link.split('"').next().unwrap();
            assert!(page.contains(&format!("id=\"{name}\"")), "{name}");
        }
        assert!(document.paths.paths.len() >= 20);
    }
}
