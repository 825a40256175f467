//! The interface described: for tools as OpenAPI, for people as a page made from
//! that, without a script.

use axum::Router;
use axum::body::Bytes;
use axum::http::header;
use axum::routing::{MethodRouter, get};
use headway_draw::escape::xml;
use serde_json::Value;

use super::document;
use crate::server::App;

pub(super) fn add(router: Router<App>) -> Router<App> {
    let document = document();
    let page = page(&document);
    router
        .route(
            "/api/openapi.json",
            sent("application/json", document.to_string()),
        )
        .route("/api/docs", sent("text/html; charset=utf-8", page))
}

fn sent(kind: &'static str, text: String) -> MethodRouter<App> {
    let text = Bytes::from(text);
    get(async move || ([(header::CONTENT_TYPE, kind)], text.clone()))
}

fn page(document: &Value) -> String {
    let title = text(&document["info"]["title"]);
    let about = text(&document["info"]["description"]);
    let mut tags: Vec<(&str, String)> = Vec::new();
    for (path, methods) in object(&document["paths"]) {
        for (method, value) in object(methods) {
            let tag = value["tags"][0].as_str().unwrap_or("other");
            let shown = operation(method, path, value);
            match tags.iter_mut().find(|(known, _)| *known == tag) {
                Some((_, operations)) => operations.push_str(&shown),
                None => tags.push((tag, shown)),
            }
        }
    }
    let types = object(&document["components"]["schemas"]).map(|(name, schema)| {
        let (name, about) = (xml(name), text(&schema["description"]));
        let fields = fields(schema);
        format!(
            "<details id=\"{name}\"><summary><code>{name}</code> {about}</summary>\n{fields}</details>\n"
        )
    });
    tags.push(("Types", types.collect()));
    let sections = tags
        .iter()
        .map(|(tag, shown)| format!("<h2>{}</h2>\n{shown}", xml(tag)));
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{title}: HTTP interface</title>\n\
         <link rel=\"stylesheet\" href=\"/style/palette.css\">\n\
         <link rel=\"stylesheet\" href=\"/style/docs.css\">\n\
         </head>\n<body>\n<main>\n<h1>{title}: HTTP interface</h1>\n<p>{about}</p>\n\
         <p><a href=\"/\">The page</a> · <a href=\"/api/openapi.json\">OpenAPI document</a></p>\n\
         {}</main>\n</body>\n</html>\n",
        sections.collect::<String>()
    )
}

fn operation(method: &str, path: &str, value: &Value) -> String {
    let parameters = value["parameters"].as_array().into_iter().flatten();
    let parameters = parameters.map(|parameter| {
        let place = text(&parameter["in"]);
        let kind = format!("{place} {}", kind(&parameter["schema"]));
        [
            text(&parameter["name"]),
            kind,
            text(&parameter["description"]),
        ]
    });
    let bodies = object(&value["requestBody"]["content"])
        .map(|(content, media)| [xml(content), kind(&media["schema"]), String::new()]);
    let answers = object(&value["responses"]).map(|(status, answer)| {
        let kinds = object(&answer["content"]).map(|(_, media)| kind(&media["schema"]));
        [
            xml(status),
            joined(kinds, ", "),
            text(&answer["description"]),
        ]
    });
    format!(
        "<details><summary><b>{}</b> <code>{}</code> {}</summary>\n{}{}{}</details>\n",
        method.to_uppercase(),
        xml(path),
        text(&value["summary"]),
        table("Parameters", parameters),
        table("Body", bodies),
        table("Answers", answers)
    )
}

/// The fields of a type, or what else it is.
fn fields(schema: &Value) -> String {
    let parts = schema["allOf"]
        .as_array()
        .map_or(std::slice::from_ref(schema), Vec::as_slice);
    let shown = parts.iter().map(|part| match part.get("properties") {
        None => format!("<p>{}</p>\n", kind(part)),
        Some(properties) => {
            let row = |(name, field): (&String, &Value)| {
                [xml(name), kind(field), text(&field["description"])]
            };
            table("", object(properties).map(row))
        }
    });
    shown.collect()
}

/// Rows of a name, a type and a meaning below a heading; nothing without rows.
fn table(heading: &str, rows: impl Iterator<Item = [String; 3]>) -> String {
    let rows: String = rows
        .map(|[name, kind, about]| {
            format!(
                "<tr><th scope=\"row\"><code>{name}</code></th><td>{kind}</td><td>{about}</td></tr>\n"
            )
        })
        .collect();
    match (rows.as_str(), heading) {
        ("", _) => String::new(),
        (rows, "") => format!("<table>\n{rows}</table>\n"),
        (rows, heading) => format!("<h3>{heading}</h3>\n<table>\n{rows}</table>\n"),
    }
}

/// A type in a few words, with links to those that have a name.
fn kind(schema: &Value) -> String {
    if let Some(path) = schema["$ref"].as_str() {
        let name = xml(path.rsplit('/').next().unwrap_or(path));
        return format!("<a href=\"#{name}\"><code>{name}</code></a>");
    }
    let list = |key: &str| schema[key].as_array().map(|list| list.iter());
    if let Some(choices) = list("oneOf").or_else(|| list("anyOf")) {
        return joined(choices.map(kind), " or ");
    }
    if let Some(values) = list("enum") {
        return joined(values.map(|value| xml(&value.to_string())), ", ");
    }
    if let Some(items) = list("prefixItems") {
        return format!("[{}]", joined(items.map(kind), ", "));
    }
    let named = |name: &Value| match (name.as_str().unwrap_or("anything"), schema.get("items")) {
        ("array", Some(items)) => format!("list of {}", kind(items)),
        ("null", _) => "nothing".to_owned(),
        (name, _) => xml(name),
    };
    match list("type") {
        Some(names) => joined(names.map(named), " or "),
        None => named(&schema["type"]),
    }
}

fn joined(parts: impl Iterator<Item = String>, between: &str) -> String {
    parts.collect::<Vec<_>>().join(between)
}

fn object(value: &Value) -> impl Iterator<Item = (&String, &Value)> {
    value.as_object().into_iter().flatten()
}

fn text(value: &Value) -> String {
    xml(value.as_str().unwrap_or(""))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every path and type of the document is on the page, and every link on it has
    /// somewhere to go.
    #[test]
    fn the_page_shows_the_whole_document() {
        let document = document();
        let page = page(&document);
        for (path, _) in object(&document["paths"]) {
            assert!(page.contains(&format!("<code>{path}</code>")), "{path}");
        }
        for link in page.split("href=\"#").skip(1) {
            let name = link.split('"').next().unwrap();
            assert!(page.contains(&format!("id=\"{name}\"")), "{name}");
        }
        assert!(object(&document["paths"]).count() >= 20);
    }
}
