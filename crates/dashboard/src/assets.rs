//! The page's files, from inside the binary, or from a folder while one works on
//! them.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::Write;
use std::path::{Component, Path, PathBuf};

use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::Response;
use flate2::Compression;
use flate2::write::GzEncoder;
use headway_page::ApiError;

use crate::error::refused;

/// Every file of the page by its name; build.rs writes the list.
const EMBEDDED: &[(&str, &[u8])] = &include!(concat!(env!("OUT_DIR"), "/page.rs"));

/// The files that are sent.
pub(crate) enum Assets {
    Embedded(BTreeMap<String, Asset>),
    /// Read anew at every request.
    Folder(PathBuf),
}

/// A file, ready to be sent.
pub(crate) struct Asset {
    plain: Bytes,
    /// `None` where it would not be shorter.
    gzipped: Option<Bytes>,
    tag: HeaderValue,
}

/// Views of the page that have an address of their own.
const VIEWS: [&str; 4] = ["explore", "networks", "fleet", "lessons"];

/// How heavy the page is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PageWeight {
    /// How many files.
    pub files: usize,
    /// All of them together.
    pub bytes: usize,
    /// As a browser fetches them.
    pub gzipped_bytes: usize,
}

/// The weight of the embedded page: every file of it, whether or not a visit
/// needs it.
pub fn page_weight() -> PageWeight {
    embedded()
        .values()
        .fold(PageWeight::default(), |sum, asset| PageWeight {
            files: sum.files + 1,
            bytes: sum.bytes + asset.plain.len(),
            gzipped_bytes: sum.gzipped_bytes + asset.gzipped.as_ref().unwrap_or(&asset.plain).len(),
        })
}

fn embedded() -> BTreeMap<String, Asset> {
    let asset = |&(name, bytes): &(&str, &'static [u8])| {
        let asset = Asset::new(Bytes::from_static(bytes));
        (name.to_owned(), asset)
    };
    EMBEDDED.iter().map(asset).collect()
}

impl Asset {
    fn new(plain: Bytes) -> Asset {
        let mut hasher = DefaultHasher::new();
        plain.hash(&mut hasher);
        let tag = format!("\"{:016x}\"", hasher.finish());
        Asset {
            gzipped: gzip(&plain).filter(|zipped| zipped.len() < plain.len()),
            plain,
            tag: HeaderValue::try_from(tag).expect("hexadecimal digits"),
        }
    }
}

fn gzip(plain: &[u8]) -> Option<Bytes> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(plain).ok()?;
    encoder.finish().ok().map(Bytes::from)
}

impl Assets {
    pub(crate) fn new(folder: Option<PathBuf>) -> Assets {
        match folder {
            Some(folder) => Assets::Folder(folder),
            None => Assets::Embedded(embedded()),
        }
    }

    /// Answers a request for a path of the page.
    pub(crate) fn answer(&self, path: &str, headers: &HeaderMap) -> Response {
        let asked = path.trim_start_matches('/');
        let name = match asked.trim_end_matches('/') {
            view if view.is_empty() || VIEWS.contains(&view) => "index.html",
            // Browsers ask for it where a page names no picture.
            "favicon.ico" => "icon.svg",
            _ => asked,
        };
        let read;
        let asset = match self {
            Assets::Embedded(files) => files.get(name),
            Assets::Folder(folder) => {
                read = read_below(folder, name).map(Asset::new);
                read.as_ref()
            }
        };
        match asset {
            Some(asset) => asset.send(name, headers),
            None => {
                let message = format!("there is nothing at /{asked}");
                refused(&ApiError::not_found("unknown_path", message), path, headers)
            }
        }
    }
}

impl Asset {
    fn send(&self, name: &str, headers: &HeaderMap) -> Response {
        let known = headers.get(header::IF_NONE_MATCH) == Some(&self.tag);
        let zipped = self.gzipped.as_ref().filter(|_| accepts_gzip(headers));
        let body = match zipped {
            _ if known => Body::empty(),
            Some(zipped) => Body::from(zipped.clone()),
            None => Body::from(self.plain.clone()),
        };
        let mut response = Response::new(body);
        let sent = response.headers_mut();
        sent.insert(header::ETAG, self.tag.clone());
        // Checked at every visit, so that a new binary shows its own page.
        sent.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
        sent.insert(header::VARY, HeaderValue::from_static("accept-encoding"));
        let kind = HeaderValue::from_static(content_type(name));
        sent.insert(header::CONTENT_TYPE, kind);
        if known {
            *response.status_mut() = StatusCode::NOT_MODIFIED;
        } else if zipped.is_some() {
            let gzip = HeaderValue::from_static("gzip");
            response
                .headers_mut()
                .insert(header::CONTENT_ENCODING, gzip);
        }
        response
    }
}

fn accepts_gzip(headers: &HeaderMap) -> bool {
    let accepted = headers.get_all(header::ACCEPT_ENCODING).iter();
    accepted
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .map(|part| part.trim().to_ascii_lowercase())
        .any(|part| part == "gzip" || part.starts_with("gzip;") && !part.ends_with("q=0"))
}

fn content_type(name: &str) -> &'static str {
    match name.rsplit_once('.').map(|(_, ending)| ending) {
        Some("html") => "text/html; charset=utf-8",
        Some("js" | "mjs") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("json") => "application/json",
        Some("webmanifest") => "application/manifest+json",
        Some("svg") => "image/svg+xml",
        Some("png") => "image/png",
        Some("ico") => "image/x-icon",
        Some("woff2") => "font/woff2",
        Some("txt" | "md") => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    }
}

/// A file below a folder; `None` also for a name that leads out of it.
fn read_below(folder: &Path, name: &str) -> Option<Bytes> {
    let path = Path::new(name);
    let inside = path
        .components()
        .all(|part| matches!(part, Component::Normal(_)));
    let read = inside.then(|| std::fs::read(folder.join(path)))?;
    read.ok().map(Bytes::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_read_outside_the_folder() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("page");
        assert!(read_below(&folder, "index.html").is_some());
        assert!(read_below(&folder, "../Cargo.toml").is_none());
        assert!(read_below(&folder, "/etc/hostname").is_none());
    }

    #[test]
    fn gzip_is_sent_only_to_those_who_take_it() {
        let headers = |value: &'static str| {
            let value = HeaderValue::from_static(value);
            HeaderMap::from_iter([(header::ACCEPT_ENCODING, value)])
        };
        assert!(accepts_gzip(&headers("deflate, gzip;q=0.5")));
        assert!(accepts_gzip(&headers("gzip, br")));
        assert!(!accepts_gzip(&headers("gzip;q=0, br")));
        assert!(!accepts_gzip(&HeaderMap::new()));
    }
}
