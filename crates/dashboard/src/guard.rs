//! Who may ask: rates, hosts, origins and the secret; and what a browser is told
//! it may do with the page.
//!
//! A page on another site can make a browser send requests to a server on this
//! machine. Its `Origin` gives it away. It can also have its own name resolved to
//! 127.0.0.1; then the `Host` gives it away.

use std::net::{IpAddr, SocketAddr};
use std::str::FromStr;
use std::time::Instant;

use axum::extract::{Request, State};
use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use headway_page::{ApiError, Desk};
use subtle::ConstantTimeEq;

use crate::error::refused;
use crate::server::App;

/// Where a connection comes from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Peer(pub(crate) SocketAddr);

/// What is asked of every request.
#[derive(Clone, Debug)]
pub(crate) struct Guard {
    /// Reached from this machine only.
    pub(crate) loopback: bool,
    /// Names that a `Host` may have beside addresses and `localhost`.
    pub(crate) names: Vec<String>,
    pub(crate) secret: Option<Secret>,
    /// The content security policy.
    pub(crate) policy: HeaderValue,
    /// Whether some sites may show the page in a frame.
    pub(crate) embedded: bool,
}

/// What has to be shown to be let in.
#[derive(Clone)]
pub struct Secret(String);

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret(..)")
    }
}

impl Secret {
    /// A secret from the text of a file: 16 or more letters, digits, `-`, `_`, `.`
    /// or `~`, so that it fits into a link and a cookie as it is.
    ///
    /// # Errors
    ///
    /// What is wrong with it, without saying what it is.
    pub fn parse(text: &str) -> Result<Secret, &'static str> {
        let text = text.trim();
        if text.len() < 16 {
            return Err("is shorter than 16 characters");
        }
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_.~".contains(c);
        if !text.chars().all(plain) {
            return Err("has characters other than letters, digits, '-', '_', '.' and '~'");
        }
        Ok(Secret(text.to_owned()))
    }

    fn is(&self, shown: &str) -> bool {
        // Unequal lengths are told apart at once; that much a stranger may learn.
        self.0.as_bytes().ct_eq(shown.as_bytes()).into()
    }
}

const COOKIE: &str = "headway_secret";

const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; \
    img-src 'self' data: blob:; font-src 'self'; connect-src 'self'; \
    manifest-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'; \
    frame-ancestors ";

/// A site that may show the page in a frame: `https://school.example`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Embedder(String);

impl FromStr for Embedder {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Embedder, &'static str> {
        const EXPECTED: &str = "expected a site such as https://school.example";
        let host = text
            .strip_prefix("https://")
            .or(text.strip_prefix("http://"));
        let host = host.ok_or(EXPECTED)?;
        // Nothing that could end the directive it is put into, or that is no host.
        let plain = |c: char| c.is_ascii_alphanumeric() || "-.:[]".contains(c);
        if host.is_empty() || !host.chars().all(plain) {
            return Err(EXPECTED);
        }
        Ok(Embedder(text.to_owned()))
    }
}

/// What a browser is told of who may show the page in a frame.
pub(crate) fn policy(embedders: &[Embedder]) -> HeaderValue {
    let mut who: Vec<&str> = embedders.iter().map(|site| site.0.as_str()).collect();
    who.push(if who.is_empty() { "'none'" } else { "'self'" });
    let policy = HeaderValue::try_from(format!("{POLICY}{}", who.join(" ")));
    policy.unwrap_or(HeaderValue::from_static("default-src 'none'"))
}

/// Lets a request through, or not, and sets the headers of the answer.
pub(crate) async fn guard(State(app): State<App>, request: Request, next: Next) -> Response {
    let mut response = match app.guard.admit(&app, &request) {
        Ok(Admitted::Yes) => next.run(request).await,
        Ok(Admitted::LoggedIn(response)) => response,
        Err(error) => refused(&error, request.uri().path(), request.headers()),
    };
    let headers = response.headers_mut();
    let fixed = [
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (
            HeaderName::from_static("cross-origin-resource-policy"),
            "same-origin",
        ),
        (
            HeaderName::from_static("cross-origin-opener-policy"),
            "same-origin",
        ),
    ];
    for (name, value) in fixed {
        headers.insert(name, HeaderValue::from_static(value));
    }
    let policy = app.guard.policy.clone();
    headers.insert(header::CONTENT_SECURITY_POLICY, policy);
    // It cannot name sites, so it is left out where some may.
    if !app.guard.embedded {
        let deny = HeaderValue::from_static("DENY");
        headers.insert(header::X_FRAME_OPTIONS, deny);
    }
    let no_store = HeaderValue::from_static("no-store");
    headers.entry(header::CACHE_CONTROL).or_insert(no_store);
    response
}

enum Admitted {
    Yes,
    /// A login link was followed: the answer sets the cookie.
    LoggedIn(Response),
}

impl Guard {
    fn admit(&self, app: &App, request: &Request) -> Result<Admitted, ApiError> {
        let headers = request.headers();
        app.take_rate(peer(request), Desk::price(request.uri().path()))?;
        let host = self.check_host(headers)?;
        check_origin(request.method(), request.uri().path(), headers, &host)?;
        self.check_secret(app, request)
    }

    fn check_host(&self, headers: &HeaderMap) -> Result<Authority, ApiError> {
        let refuse =
            |message: String| ApiError::new(StatusCode::MISDIRECTED_REQUEST, "wrong_host", message);
        let authority = headers
            .get(header::HOST)
            .and_then(|host| Authority::try_from(host.as_bytes()).ok())
            .ok_or_else(|| refuse("the request has no Host header that can be read".to_owned()))?;
        let host = authority.host();
        let bare = host.trim_start_matches('[').trim_end_matches(']');
        let known = match bare.parse::<IpAddr>() {
            // No name, so nobody can have redirected it.
            Ok(address) => !self.loopback || address.is_loopback(),
            Err(_) => {
                host.eq_ignore_ascii_case("localhost")
                    || self
                        .names
                        .iter()
                        .any(|name| name.eq_ignore_ascii_case(host))
            }
        };
        if known {
            return Ok(authority);
        }
        Err(refuse(format!(
            "this server does not answer for the host {host}; use its address, or start it with \
             --host {host}"
        )))
    }

    fn check_secret(&self, app: &App, request: &Request) -> Result<Admitted, ApiError> {
        let Some(secret) = &self.secret else {
            return Ok(Admitted::Yes);
        };
        let headers = request.headers();
        if let Some(shown) = in_link(request.uri().query()) {
            if secret.is(shown) {
                return Ok(Admitted::LoggedIn(log_in(shown, request.uri())));
            }
        } else if bearer(headers)
            .into_iter()
            .chain(cookies(headers))
            .any(|shown| secret.is(shown))
        {
            return Ok(Admitted::Yes);
        }
        let (method, uri) = (request.method().as_str(), request.uri());
        let query = uri.query().unwrap_or("");
        if is_own_file(uri.path()) || app.desk.is_for_followers(method, uri.path(), query) {
            return Ok(Admitted::Yes);
        }
        // Guessing is dear.
        app.take_rate(peer(request), 20.0)?;
        Err(ApiError::new(
            StatusCode::UNAUTHORIZED,
            "secret",
            "this server wants its secret: open /?secret=SECRET once, or send it as \
             Authorization: Bearer SECRET; it is in the file given by --secret-file",
        ))
    }
}

/// What the page is made of is in every copy of the program.
fn is_own_file(path: &str) -> bool {
    path == "/icon.svg" || path.starts_with("/js/") || path.starts_with("/style/")
}

/// A page may only be asked by itself. Programs that are no browsers send neither
/// header.
fn check_origin(
    method: &Method,
    path: &str,
    headers: &HeaderMap,
    host: &Authority,
) -> Result<(), ApiError> {
    let refuse = |who: &str| {
        let message = format!("a page of {who} may not ask this server");
        Err(ApiError::forbidden("wrong_origin", message))
    };
    if let Some(origin) = headers.get(header::ORIGIN) {
        let own = |scheme: &str| origin.as_bytes() == format!("{scheme}://{host}").as_bytes();
        if !own("http") && !own("https") {
            return refuse(&String::from_utf8_lossy(origin.as_bytes()));
        }
    }
    let reading_a_page = method == Method::GET && !path.starts_with("/api/");
    let site = headers.get("sec-fetch-site").map(HeaderValue::as_bytes);
    match site {
        None | Some(b"same-origin" | b"none") => Ok(()),
        // Following a link from elsewhere to the page is fine.
        Some(_) if reading_a_page => Ok(()),
        Some(_) => refuse("another site"),
    }
}

fn peer(request: &Request) -> IpAddr {
    let peer = request.extensions().get::<Peer>();
    peer.map_or(IpAddr::from([127, 0, 0, 1]), |peer| peer.0.ip())
}

fn in_link(query: Option<&str>) -> Option<&str> {
    query?
        .split('&')
        .find_map(|pair| pair.strip_prefix("secret="))
}

fn bearer(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    value.strip_prefix("Bearer ").map(str::trim)
}

fn cookies(headers: &HeaderMap) -> impl Iterator<Item = &str> {
    headers
        .get_all(header::COOKIE)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(';'))
        .filter_map(|pair| pair.trim().strip_prefix(COOKIE)?.strip_prefix('='))
}

/// Keeps the secret as a cookie that scripts cannot read and other sites do not
/// send, and leads on to the same place without it.
fn log_in(secret: &str, asked: &Uri) -> Response {
    let cookie = format!("{COOKIE}={secret}; Path=/; HttpOnly; SameSite=Strict; Max-Age=2592000");
    let others = asked.query().unwrap_or("").split('&');
    let others: Vec<&str> = others.filter(|pair| !pair.starts_with("secret=")).collect();
    // Two slashes at the start would name another host.
    let mut target = format!("/{}", asked.path().trim_start_matches('/'));
    if others.iter().any(|pair| !pair.is_empty()) {
        target = format!("{target}?{}", others.join("&"));
    }
    let headers = [(header::SET_COOKIE, cookie), (header::LOCATION, target)];
    (StatusCode::SEE_OTHER, headers).into_response()
}

impl App {
    fn take_rate(&self, address: IpAddr, price: f64) -> Result<(), ApiError> {
        let mut rates = self
            .rates
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner());
        rates.take(address, price, Instant::now()).map_err(|wait| {
            let seconds = wait.as_secs_f64().ceil().max(1.0);
            let message = format!("too many requests from {address}; wait {seconds} s");
            ApiError::new(StatusCode::TOO_MANY_REQUESTS, "too_fast", message)
                .retry_after_s(seconds as u32)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn guard(loopback: bool) -> Guard {
        Guard {
            loopback,
            names: vec!["ring.example".to_owned()],
            secret: None,
            policy: policy(&[]),
            embedded: false,
        }
    }

    fn host(guard: &Guard, host: &str) -> bool {
        let value = HeaderValue::try_from(host).unwrap();
        guard
            .check_host(&HeaderMap::from_iter([(header::HOST, value)]))
            .is_ok()
    }

    #[test]
    fn a_name_that_leads_here_by_stealth_is_refused() {
        let local = guard(true);
        for good in [
            "127.0.0.1:7007",
            "localhost:7007",
            "[::1]:7007",
            "Ring.Example",
            "127.0.0.5",
        ] {
            assert!(host(&local, good), "{good}");
        }
        for bad in [
            "evil.example:7007",
            "10.0.0.1:7007",
            "127.0.0.1.evil.example",
            "localhost.evil",
        ] {
            assert!(!host(&local, bad), "{bad}");
        }
        assert!(host(&guard(false), "10.0.0.1:7007"));
        assert!(!host(&guard(false), "evil.example:7007"));
        assert!(local.check_host(&HeaderMap::new()).is_err());
    }

    fn origin(method: &Method, path: &str, pairs: &[(HeaderName, &'static str)]) -> bool {
        let headers = pairs
            .iter()
            .map(|(name, value)| (name.clone(), HeaderValue::from_static(value)))
            .collect();
        let own = Authority::from_static("127.0.0.1:7007");
        check_origin(method, path, &headers, &own).is_ok()
    }

    #[test]
    fn only_the_own_page_may_ask() {
        let site = HeaderName::from_static("sec-fetch-site");
        let api = "/api/runs";
        assert!(origin(&Method::POST, api, &[]));
        assert!(origin(
            &Method::POST,
            api,
            &[(header::ORIGIN, "http://127.0.0.1:7007")]
        ));
        for other in [
            "http://evil.example",
            "null",
            "http://127.0.0.1:8000",
            "http://127.0.0.1:70071",
        ] {
            assert!(
                !origin(&Method::POST, api, &[(header::ORIGIN, other)]),
                "{other}"
            );
        }
        assert!(!origin(&Method::GET, api, &[(site.clone(), "cross-site")]));
        assert!(!origin(&Method::GET, api, &[(site.clone(), "same-site")]));
        assert!(origin(&Method::GET, api, &[(site.clone(), "same-origin")]));
        assert!(origin(&Method::GET, "/", &[(site, "cross-site")]));
    }

    #[test]
    fn only_sites_that_are_named_may_embed_the_page() {
        let text = |sites: &[&str]| {
            let sites: Vec<Embedder> = sites.iter().map(|site| site.parse().unwrap()).collect();
            policy(&sites).to_str().unwrap().to_owned()
        };
        assert!(text(&[]).ends_with("; frame-ancestors 'none'"));
        let named = text(&["https://a.example", "http://[::1]:80"]);
        assert!(named.ends_with("; frame-ancestors https://a.example http://[::1]:80 'self'"));
        for wrong in [
            "",
            "a.example",
            "https://",
            "https://a/b",
            "https://a; script-src *",
            "*",
        ] {
            assert!(wrong.parse::<Embedder>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn secrets_are_compared_whole() {
        let secret = Secret::parse("0123456789abcdef\n").unwrap();
        assert!(secret.is("0123456789abcdef"));
        assert!(!secret.is("0123456789abcdeg") && !secret.is("0123456789abcde") && !secret.is(""));
        assert!(Secret::parse("short").is_err());
        assert!(Secret::parse("0123456789abcdef;x").is_err());
        assert_eq!(format!("{secret:?}"), "Secret(..)");
    }

    #[test]
    fn a_login_link_never_leads_to_another_host() {
        let leads = |path: &str| {
            let asked = Uri::builder().path_and_query(path).build().unwrap();
            log_in("0123456789abcdef", &asked).headers()[header::LOCATION].clone()
        };
        assert_eq!(leads("//evil.example/x"), "/evil.example/x");
        // And loses nothing of what it shows.
        assert_eq!(leads("/?run=3f&secret=S&t=7"), "/?run=3f&t=7");
        assert_eq!(leads("/fleet?secret=S"), "/fleet");
    }
}
