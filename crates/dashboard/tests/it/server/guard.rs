//! Who may ask.

use headway_dashboard::{Options, Secret, Server};
use serde_json::json;

use super::support::{TestServer, fast};

#[test]
fn another_site_is_refused_and_changes_nothing() {
    let server = TestServer::new();
    let run = server.run(&json!({}));
    let path = format!("/api/runs/{}", run["id"].as_str().unwrap());
    let own = format!("http://{}", server.address);
    let step = |headers: &[(&str, &str)]| {
        let mut headers = headers.to_vec();
        headers.push(("Content-Type", "application/json"));
        server.ask("POST", &format!("{path}/step"), &headers, b"{}")
    };
    for headers in [
        [("Origin", "http://evil.example")].as_slice(),
        &[("Origin", "null")],
        &[("Origin", "http://localhost:1")],
        &[("Sec-Fetch-Site", "cross-site")],
        &[("Origin", own.as_str()), ("Sec-Fetch-Site", "same-site")],
    ] {
        let answer = step(headers);
        assert_eq!(
            (answer.status, answer.code().as_str()),
            (403, "wrong_origin")
        );
    }
    let answer = step(&[("Host", "evil.example")]);
    assert_eq!((answer.status, answer.code().as_str()), (421, "wrong_host"));
    assert_eq!(server.get(&path).json(), run, "nothing has changed");
    assert_eq!(step(&[("Origin", own.as_str())]).status, 200);
}

#[test]
fn every_answer_is_guarded_by_headers() {
    let server = TestServer::new();
    for path in ["/", "/api/about", "/nothing", "/api/docs"] {
        let headers = server.get(path).headers;
        let policy = &headers["content-security-policy"];
        assert!(
            policy.starts_with("default-src 'none'; script-src 'self'; "),
            "{policy}"
        );
        assert!(
            policy.contains("frame-ancestors 'none'") && !policy.contains("unsafe"),
            "{policy}"
        );
        assert_eq!(headers["x-content-type-options"], "nosniff");
        assert_eq!(headers["referrer-policy"], "no-referrer");
        assert!(!headers.contains_key("access-control-allow-origin"));
    }
}

const SECRET: &str = "an-unlikely-secret-0123456789";

fn with_secret() -> TestServer {
    TestServer::with(Options {
        secret: Some(Secret::parse(SECRET).expect("a secret")),
        names: vec!["ring.example".to_owned()],
        limits: fast(),
        ..Options::default()
    })
}

#[test]
fn without_the_secret_there_is_nothing() {
    let server = with_secret();
    let browser = [("Accept", "text/html,application/xhtml+xml")];
    let page = server.ask("GET", "/?run=3f", &browser, b"");
    assert_eq!(
        (page.status, page.headers["content-type"].as_str()),
        (401, "text/html; charset=utf-8")
    );
    assert!(page.text().contains("wants its secret"));
    for path in ["/", "/api/about", "/api/docs", "/api/runs/x"] {
        let answer = server.get(path);
        assert_eq!(
            (answer.status, answer.code().as_str()),
            (401, "secret"),
            "{path}"
        );
        assert!(!answer.text().contains(SECRET));
    }
    let wrong = [
        ("Authorization", "Bearer an-unlikely-secret-0123456788"),
        ("Authorization", "Bearer "),
        ("Authorization", SECRET),
        ("Cookie", "headway_secret=an-unlikely-secret"),
        ("Cookie", "token=an-unlikely-secret-0123456789"),
    ];
    for header in wrong {
        assert_eq!(
            server.ask("GET", "/api/about", &[header], b"").status,
            401,
            "{header:?}"
        );
    }
    assert_eq!(server.get("/?secret=guess").status, 401);
}

#[test]
fn the_token_opens_by_header_cookie_and_link() {
    let server = with_secret();
    let bearer = format!("Bearer {SECRET}");
    let answer = server.ask("GET", "/api/about", &[("Authorization", &bearer)], b"");
    assert_eq!(answer.status, 200);
    let link = server.get(&format!("/?run=3f&secret={SECRET}"));
    assert_eq!(
        (link.status, link.headers["location"].as_str()),
        (303, "/?run=3f")
    );
    let cookie = &link.headers["set-cookie"];
    for part in ["HttpOnly", "SameSite=Strict", "Path=/"] {
        assert!(cookie.contains(part), "{cookie}");
    }
    let pair = format!("other=1; {}", cookie.split(';').next().unwrap());
    let answer = server.ask("GET", "/api/about", &[("Cookie", &pair)], b"");
    assert_eq!(answer.status, 200);
    let named = [("Cookie", pair.as_str()), ("Host", "ring.example")];
    assert_eq!(server.ask("GET", "/api/about", &named, b"").status, 200);
}

#[test]
fn who_follows_a_presentation_needs_no_secret_and_steers_nothing() {
    let server = with_secret();
    let bearer = format!("Bearer {SECRET}");
    let mine = [
        ("Authorization", bearer.as_str()),
        ("Content-Type", "application/json"),
    ];
    let made = server.ask("POST", "/api/runs", &mine, b"{}").json();
    let id = made["id"].as_str().unwrap();
    let run = format!("/api/runs/{id}");
    let page = format!("/?n=40&run={id}");
    // It is not presented yet.
    for path in [&run, &page] {
        assert_eq!(server.get(path).status, 401, "{path}");
    }
    let class = server.ask("POST", &format!("{run}/class"), &mine, b"{}");
    assert_eq!(class.status, 200, "{}", class.text());
    for path in [
        &page,
        &run,
        &format!("{run}/frame"),
        &format!("{run}/window"),
    ] {
        assert_eq!(server.get(path).status, 200, "{path}");
    }
    for file in ["/js/main.js", "/style/base.css", "/icon.svg"] {
        assert_eq!(server.get(file).status, 200, "{file}");
    }
    let json = [("Content-Type", "application/json")];
    let guess = server.ask(
        "POST",
        &format!("{run}/guess"),
        &json,
        br#"{"who":"a","rounds":3}"#,
    );
    assert_eq!(
        (guess.status, guess.code().as_str()),
        (403, "closed"),
        "it is heard"
    );
    for path in ["/", "/api/about", "/explore", "/api/runs/0"] {
        assert_eq!(server.get(path).status, 401, "{path}");
    }
    for what in ["seek", "play", "faults", "class", "question"] {
        let path = format!("{run}/{what}");
        assert_eq!(
            server.ask("POST", &path, &json, b"{}").status,
            401,
            "{path}"
        );
    }
    assert_eq!(server.ask("DELETE", &run, &[], b"").status, 401);
}

#[test]
fn an_address_that_others_reach_needs_a_token() {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let _inside = runtime.enter();
    let error = Server::bind(Options {
        listen: "0.0.0.0:0".parse().unwrap(),
        ..Options::default()
    })
    .err()
    .expect("refused");
    assert_eq!(error.kind(), std::io::ErrorKind::PermissionDenied);
}
