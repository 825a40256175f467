//! Where questions are asked: a request in, an answer out, the same whether it comes over
//! a network or from a page that has brought this program along.

use std::sync::Arc;

use bytes::Bytes;
use http::StatusCode;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::api::{about, charts, explore, lessons, lines, runs, walks};
use crate::error::ApiError;
use crate::limits::Limits;
use crate::runs::{Run, Runs};

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
    limits: Limits,
    /// Whether there is a fleet to be asked about elsewhere.
    fleet: bool,
    runs: Runs,
}

impl Desk {
    /// With nothing on it yet.
    pub fn new(limits: &Limits, fleet: bool) -> Desk {
        Desk {
            limits: limits.clone(),
            fleet,
            runs: Runs::new(limits),
        }
    }

    /// The runs that were made here.
    pub fn runs(&self) -> &Runs {
        &self.runs
    }

    /// What an answer costs: 1, or more where it can take seconds; the page's own files,
    /// which are at hand, cost nothing, so that a class can open it at once.
    pub fn price(path: &str) -> f64 {
        match path.strip_prefix("/api/") {
            None => 0.0,
            Some("chain") => 4.0,
            Some(explored) if explored.starts_with("explore/") => 4.0,
            Some("asynchrony" | "charts" | "walks") => 8.0,
            Some(_) => 1.0,
        }
    }

    /// The answer; `None` if nothing is ever answered at that path here.
    pub fn answer(&self, request: &Request) -> Option<Answer> {
        let way: Vec<&str> = request.path.strip_prefix("/api/")?.split('/').collect();
        let answered = match way[..] {
            ["about"] => request.by("GET", || json(&about::about(&self.limits, self.fleet))),
            ["runs"] => request.by("POST", || {
                let made = runs::create(&self.runs, &request.json()?)?;
                Ok(Answer {
                    status: StatusCode::CREATED,
                    ..json(&made)?
                })
            }),
            ["runs", id] => self.run(request, id),
            ["runs", id, what] => self.of_run(request, id, what)?,
            ["explore", "flow"] => request.by("GET", || json(&explore::flow(&request.params()?)?)),
            ["explore", "stabilization"] => {
                request.by("GET", || json(&explore::stabilization(&request.params()?)?))
            }
            ["charts"] => request.by("POST", || {
                json(&charts::chart(&request.kind, &request.body)?)
            }),
            ["walks"] => request.by("POST", || {
                json(&walks::walk(&request.json()?, &self.limits)?)
            }),
            ["chain"] => request.by("GET", || json(&lessons::chain(&request.params()?)?)),
            ["asynchrony"] => request.by("GET", || json(&lessons::asynchrony(&request.params()?)?)),
            _ => return None,
        };
        Some(answered.unwrap_or_else(Answer::from))
    }

    fn run(&self, request: &Request, id: &str) -> Result<Answer, ApiError> {
        match request.method.as_str() {
            "GET" => json(&runs::show(&*self.runs.get(id)?)?),
            "PUT" => {
                let settings = request.json()?;
                json(&runs::replace(&*self.steered(request, id)?, &settings)?)
            }
            "DELETE" => {
                self.steered(request, id)?;
                runs::remove(&self.runs, id)?;
                Ok(Answer {
                    status: StatusCode::NO_CONTENT,
                    ..Answer::new("application/json", Vec::new())
                })
            }
            _ => Err(ApiError::wrong_method()),
        }
    }

    fn of_run(&self, request: &Request, id: &str, what: &str) -> Option<Result<Answer, ApiError>> {
        let run = || self.runs.get(id);
        let steered = || self.steered(request, id);
        Some(match what {
            "frame" => request.by("GET", || {
                let at = request.params()?;
                json(&runs::frame(&*run()?, &at)?)
            }),
            "window" => request.by("GET", || {
                let stretch = request.params()?;
                json(&runs::window(&*run()?, &stretch)?)
            }),
            "lines" => request.by("GET", || {
                let stretch = request.params()?;
                json(&lines::lines(&*run()?, &stretch, &self.limits)?)
            }),
            "state" => request.by("GET", || {
                let at = request.params()?;
                runs::state(&*run()?, &at, &self.limits).map(Answer::from)
            }),
            "diagram.svg" => request.by("GET", || {
                let stretch = request.params()?;
                runs::diagram(&*run()?, &stretch, &self.limits).map(Answer::from)
            }),
            "seek" => request.by("POST", || {
                let to = request.json()?;
                json(&runs::seek(&*steered()?, &to)?)
            }),
            "step" => request.by("POST", || {
                let by = request.json()?;
                json(&runs::step(&*steered()?, &by)?)
            }),
            "play" => request.by("POST", || {
                let how = request.json()?;
                json(&runs::play(&*steered()?, &how)?)
            }),
            "faults" => request.by("POST", || {
                let with = request.json()?;
                json(&runs::strike(&*steered()?, &with)?)
            }),
            "class" => request.by("POST", || json(&runs::present(&self.runs, &*run()?)?)),
            "question" => request.by("POST", || {
                let question = request.json()?;
                json(&runs::question(&*steered()?, &question)?)
            }),
            "guess" => request.by("POST", || {
                let guess = request.json()?;
                json(&runs::guess(&*run()?, &guess)?)
            }),
            _ => return None,
        })
    }

    /// A run that is about to be changed, by who may.
    fn steered(&self, request: &Request, id: &str) -> Result<Arc<Run>, ApiError> {
        let run = self.runs.get(id)?;
        run.admits(key(&request.query).as_deref())?;
        Ok(run)
    }
}

/// The key in a query, which a presenter shows.
pub fn key(query: &str) -> Option<String> {
    let mut pairs = form_urlencoded::parse(query.as_bytes());
    pairs.find_map(|(name, value)| (name == "key").then(|| value.into_owned()))
}

impl Request {
    /// Answers if it is asked by this method.
    fn by(
        &self,
        method: &str,
        answer: impl FnOnce() -> Result<Answer, ApiError>,
    ) -> Result<Answer, ApiError> {
        if self.method == method || method == "GET" && self.method == "HEAD" {
            answer()
        } else {
            Err(ApiError::wrong_method())
        }
    }

    /// A JSON body, or which of its fields is wrong.
    fn json<T: DeserializeOwned>(&self) -> Result<T, ApiError> {
        if self.kind != "application/json" {
            // Other sites can send some kinds without asking first, but not this one.
            let message = "expected a body with Content-Type: application/json";
            let status = StatusCode::UNSUPPORTED_MEDIA_TYPE;
            return Err(ApiError::new(status, "invalid_json", message));
        }
        // Fields could also be given as a list, in an order that nobody should rely on.
        if self.body.trim_ascii_start().first() == Some(&b'[') {
            let status = StatusCode::UNPROCESSABLE_ENTITY;
            return Err(ApiError::new(status, "invalid", "expected a JSON object"));
        }
        let mut reader = serde_json::Deserializer::from_slice(&self.body);
        let value = serde_path_to_error::deserialize(&mut reader).map_err(|error| {
            let path = error.path().to_string();
            let inner = error.inner();
            match path.as_str() {
                _ if !inner.is_data() => broken_json(inner),
                "." | "?" => invalid(in_words(&inner.to_string())),
                field => invalid(format!("{field}: {}", in_words(&inner.to_string()))).at(field),
            }
        })?;
        reader.end().map_err(|error| broken_json(&error))?;
        Ok(value)
    }

    /// The query, or which of its fields is wrong.
    fn params<T: DeserializeOwned>(&self) -> Result<T, ApiError> {
        let pairs = form_urlencoded::parse(self.query.as_bytes());
        let reader = serde_urlencoded::Deserializer::new(pairs);
        serde_path_to_error::deserialize(reader).map_err(|error| {
            let path = error.path().to_string();
            let wrong = in_words(&error.inner().to_string());
            match path.as_str() {
                "." | "?" => invalid(wrong),
                field => invalid(format!("{field}: {wrong}")).at(field),
            }
        })
    }
}

fn invalid(message: impl Into<String>) -> ApiError {
    ApiError::new(StatusCode::UNPROCESSABLE_ENTITY, "invalid", message)
}

fn broken_json(error: &serde_json::Error) -> ApiError {
    ApiError::new(StatusCode::BAD_REQUEST, "invalid_json", error.to_string())
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

impl Answer {
    fn new(kind: &'static str, body: Vec<u8>) -> Answer {
        Answer {
            status: StatusCode::OK,
            kind,
            file_name: None,
            retry_after_s: None,
            body,
        }
    }
}

fn json(value: &impl Serialize) -> Result<Answer, ApiError> {
    let body = serde_json::to_vec(value).map_err(|_| ApiError::internal())?;
    Ok(Answer::new("application/json", body))
}

impl From<runs::File> for Answer {
    fn from(file: runs::File) -> Answer {
        Answer {
            file_name: Some(file.name),
            ..Answer::new(file.kind, file.text.into_bytes())
        }
    }
}

impl From<ApiError> for Answer {
    fn from(error: ApiError) -> Answer {
        let answer =
            json(&error.body()).unwrap_or_else(|_| Answer::new("application/json", Vec::new()));
        Answer {
            status: error.status,
            retry_after_s: error.retry_after_s,
            ..answer
        }
    }
}
