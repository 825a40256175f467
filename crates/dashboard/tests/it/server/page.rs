//! The page's files, and the interface described.

use std::path::Path;

use headway_dashboard::{Options, page_weight};

use super::support::{TestServer, fast};

fn page_folder() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("page")
}

#[test]
fn the_binary_holds_the_page() {
    let server = TestServer::new();
    let index = server.get("/");
    assert_eq!(
        (index.status, index.headers["content-type"].as_str()),
        (200, "text/html; charset=utf-8")
    );
    let on_disk = std::fs::read(page_folder().join("index.html")).unwrap();
    assert_eq!(index.body, on_disk);
    assert_eq!(
        server.get("/favicon.ico").headers["content-type"],
        "image/svg+xml"
    );
    // A path that nobody knows is a page for people, and JSON for programs.
    let browser = [("Accept", "text/html,*/*;q=0.8")];
    let page = server.ask("GET", "/lesons", &browser, b"");
    assert_eq!(
        (page.status, page.headers["content-type"].as_str()),
        (404, "text/html; charset=utf-8")
    );
    assert!(
        page.text().contains("there is nothing at /lesons") && page.text().contains("href=\"/\"")
    );
    assert_eq!(server.get("/lesons").code(), "unknown_path");
    assert_eq!(
        server.ask("GET", "/api/lesons", &browser, b"").code(),
        "unknown_path"
    );
    for view in [
        "/explore/",
        "/explore",
        "/networks",
        "/fleet",
        "/lessons",
        "/index.html",
    ] {
        assert_eq!(server.get(view).body, on_disk, "{view}");
    }
}

#[test]
fn a_page_that_is_known_is_not_sent_again() {
    let server = TestServer::new();
    let zipped = server.ask("GET", "/", &[("Accept-Encoding", "gzip")], b"");
    assert_eq!(zipped.headers["content-encoding"], "gzip");
    assert_eq!(&zipped.body[..2], b"\x1f\x8b");
    let tag = zipped.headers["etag"].clone();
    let again = server.ask("GET", "/", &[("If-None-Match", &tag)], b"");
    assert_eq!((again.status, again.body.len()), (304, 0));
}

#[test]
fn a_folder_can_take_the_place_of_the_page() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("index.html"), "mine").unwrap();
    let server = TestServer::with(Options {
        page: Some(folder.path().to_owned()),
        limits: fast(),
        ..Options::default()
    });
    assert_eq!(server.get("/").text(), "mine");
    std::fs::write(folder.path().join("index.html"), "changed").unwrap();
    assert_eq!(server.get("/").text(), "changed");
    for outside in [
        "/../Cargo.toml",
        "/..%2fCargo.toml",
        "//etc/hostname",
        "/./index.html/",
    ] {
        assert_eq!(server.get(outside).status, 404, "{outside}");
    }
}

#[test]
fn the_page_is_light() {
    let weight = page_weight();
    assert!(weight.bytes < 320_000, "{weight:?}");
    assert!(weight.gzipped_bytes < 110_000, "{weight:?}");
}

/// Nothing in the page names another host, or would be refused by the policy.
#[test]
fn the_page_asks_nobody_else() {
    fn files(folder: &Path, found: &mut Vec<std::path::PathBuf>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                files(&path, found);
            } else {
                found.push(path);
            }
        }
    }
    let mut found = Vec::new();
    files(&page_folder(), &mut found);
    assert!(!found.is_empty());
    for path in found {
        let Ok(text) = std::fs::read_to_string(&path) else {
            continue;
        };
        for scheme in ["http://", "https://", "//cdn"] {
            for (at, _) in text.match_indices(scheme) {
                let rest = &text[at..text.len().min(at + 60)];
                let harmless = [
                    "http://www.w3.org/",
                    "http://127.0.0.1",
                    "http://localhost",
                    "http://10.0.0.",
                ];
                assert!(
                    harmless.iter().any(|known| rest.starts_with(known)),
                    "{}: {rest}",
                    path.display()
                );
            }
        }
    }
    let index = std::fs::read_to_string(page_folder().join("index.html")).unwrap();
    assert!(!index.contains("style=\"") && !index.contains("<style") && !index.contains("onclick"));
}

/// Programs and starts that can be chosen are those that there are.
#[test]
fn every_program_and_start_can_be_chosen() {
    use headway_sim::settings::{RingProgram, Start};
    let index = std::fs::read_to_string(page_folder().join("index.html")).unwrap();
    let select = index.split("<select id=\"program\">").nth(1).unwrap();
    let options = select
        .split("</select>")
        .next()
        .unwrap()
        .split("value=\"")
        .skip(1);
    let options: Vec<&str> = options
        .map(|rest| rest.split('"').next().unwrap())
        .collect();
    assert_eq!(options, <RingProgram as strum::VariantNames>::VARIANTS);
    for start in Start::ALL {
        assert!(
            index.contains(&format!("data-start=\"{start}\"")),
            "{start}"
        );
    }
}

/// The page's colours are those of all other pictures.
#[test]
fn the_colours_are_those_of_the_drawing_kit() {
    let path = page_folder().join("style/palette.css");
    if std::env::var_os("HEADWAY_UPDATE").is_some() {
        std::fs::write(&path, headway_draw::page_css()).unwrap();
    }
    let kept = std::fs::read_to_string(&path).unwrap();
    let message = "run this test with HEADWAY_UPDATE=1 and look at the page";
    assert_eq!(kept, headway_draw::page_css(), "{message}");
    let script = std::fs::read_to_string(page_folder().join("js/palette.js")).unwrap();
    let count = format!("TOKEN_COLOURS = {};", headway_draw::TOKEN_COLOURS);
    assert!(script.contains(&count), "{count}");
}

#[test]
fn the_interface_is_described() {
    let server = TestServer::new();
    let document = server.get("/api/openapi.json").json();
    assert!(document["openapi"].as_str().unwrap().starts_with("3.1"));
    let page = server.get("/api/docs");
    assert_eq!(page.headers["content-type"], "text/html; charset=utf-8");
    assert!(page.text().contains("<code>/api/runs/{id}/window</code>"));
    assert!(!page.text().contains("<script"));
    for style in ["palette", "docs"] {
        assert_eq!(server.get(&format!("/style/{style}.css")).status, 200);
        assert!(page.text().contains(&format!("\"/style/{style}.css\"")));
    }
    let about = server.get("/api/about").json();
    assert_eq!(about["limits"]["largest_round"], 9_007_199_254_740_991_u64);
}
