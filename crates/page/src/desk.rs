//! Where questions are asked: a request in, an answer out, the same whether it comes over
//! a network or from a page that has brought this program along.

use bytes::Bytes;
use http::StatusCode;

use crate::error::ApiError;
use crate::exchange::Output;
use crate::limits::Limits;
use crate::routes::ROUTES;
use crate::runs::Runs;

/// What is asked.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// `GET`, `POST`, `PUT` or `DELETE`.
    pub method: String,
    /// `/api/...`
    pub path: String,
    /// What stands after the question mark.
    pub query: String,
    /// The content type of the body, in small letters, without parameters.
    pub kind: String,
    /// The body.
    pub body: Bytes,
}

/// What is answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// As in HTTP.
    pub status: StatusCode,
    /// The content type.
    pub kind: &'static str,
    /// What a file with it would be called, where it is one.
    pub file_name: Option<String>,
    /// When it is worth asking again, where it is not now.
    pub retry_after_s: Option<u32>,
    /// The body.
    pub body: Vec<u8>,
}

/// Answers what needs no network, and keeps the runs that are asked about.
pub struct Desk {
    pub(crate) limits: Limits,
    /// Whether there is a fleet to be asked about elsewhere.
    pub(crate) fleet: bool,
    /// Where other machines reach the page, if they do: `http://192.0.2.7:7007`.
    pub address: Option<String>,
    pub(crate) runs: Runs,
}

impl Desk {
    /// With nothing on it yet.
    pub fn new(limits: &Limits, fleet: bool) -> Desk {
        Desk {
            limits: limits.clone(),
            fleet,
            address: None,
            runs: Runs::new(limits),
        }
    }

    /// The runs that were made here.
    pub fn runs(&self) -> &Runs {
        &self.runs
    }

    /// Whether those who follow a presentation ask this: they have no secret but the name of
    /// the run, which is in their link and cannot be guessed.
    pub fn is_for_followers(&self, method: &str, path: &str, query: &str) -> bool {
        let presented = |id: &str| self.runs.get(id).is_ok_and(|run| run.is_presented());
        let Some(rest) = path.strip_prefix("/api/runs/") else {
            let run = parameter(query, "run");
            return method == "GET" && path == "/" && run.is_some_and(|id| presented(&id));
        };
        let (id, what) = rest.split_once('/').unwrap_or((rest, ""));
        (method == "GET" || (method == "POST" && what == "guess")) && presented(id)
    }

    /// What an answer costs: 1, or more where it can take seconds; the page's own files,
    /// which are at hand, cost nothing, so that a class can open it at once.
    pub fn price(path: &str) -> f64 {
        let route = ROUTES.iter().find(|route| route.fits(path).is_some());
        match route {
            Some(route) => route.price,
            None if path.starts_with("/api/") => 1.0,
            None => 0.0,
        }
    }

    /// The answer; `None` if nothing is ever answered at that path here.
    pub fn answer(&self, request: &Request) -> Option<Answer> {
        let asked = match request.method.as_str() {
            "HEAD" => "GET",
            other => other,
        };
        let mut known = false;
        for route in &*ROUTES {
            let Some(id) = route.fits(&request.path) else {
                continue;
            };
            if route.method == asked {
                let answer = route.answer(self, request, id);
                return Some(answer.unwrap_or_else(Answer::from));
            }
            known = true;
        }
        known.then(|| ApiError::wrong_method().into())
    }
}

/// The key in a query, which a presenter shows.
pub fn key(query: &str) -> Option<String> {
    parameter(query, "key")
}

fn parameter(query: &str, wanted: &str) -> Option<String> {
    let mut pairs = form_urlencoded::parse(query.as_bytes());
    pairs.find_map(|(name, value)| (name == wanted).then(|| value.into_owned()))
}

impl Answer {
    pub(crate) fn new(kind: &'static str, body: Vec<u8>) -> Answer {
        Answer {
            status: StatusCode::OK,
            kind,
            file_name: None,
            retry_after_s: None,
            body,
        }
    }
}

impl From<ApiError> for Answer {
    fn from(error: ApiError) -> Answer {
        let body = error.body().answer();
        Answer {
            status: error.status,
            retry_after_s: error.retry_after_s,
            ..body.unwrap_or_else(|_| Answer::new("application/json", Vec::new()))
        }
    }
}
