//! What can be asked, as one table: how it is asked, what it costs, and who answers. The match
//! of a request, its price and the description of the interface come from it.

use std::sync::{Arc, LazyLock};

use crate::api::runs::{
    self, AtRound, Guess, Play, Presenter, Question, Seek, Step, Stretch, Strike,
};
use crate::api::{about, charts, explore, lessons, lines, walks};
use crate::desk::{Answer, Desk, Request, key};
use crate::error::ApiError;
use crate::exchange::{Body, Done, Input, Made, Output, Query};
use crate::runs::{Run, RunView};

/// A kind of request.
#[cfg_attr(
    target_family = "wasm",
    expect(dead_code, reason = "not described there")
)]
pub(crate) struct Route {
    /// `GET`, `POST`, `PUT` or `DELETE`.
    pub(crate) method: &'static str,
    /// With `{id}` where the name of a run stands.
    pub(crate) path: &'static str,
    /// In words.
    pub(crate) about: &'static str,
    /// Of the answer: 1, or more where it can take seconds.
    pub(crate) price: f64,
    /// Whether only its presenter may, if the run has one.
    pub(crate) steers: bool,
    /// A status that not all of its kind have, and when.
    pub(crate) refusal: Option<(u16, &'static str)>,
    handler: Handler,
    /// What is asked and answered.
    // Nothing is described within a page, which is to be light.
    #[cfg(not(target_family = "wasm"))]
    pub(crate) types: crate::document::Types,
}

type Handler = Box<dyn Fn(&Call<'_>) -> Result<Answer, ApiError> + Send + Sync>;

/// A request and whom it is made to.
struct Call<'a> {
    desk: &'a Desk,
    request: &'a Request,
    /// The name of the run.
    id: &'a str,
}

/// All there are.
pub(crate) static ROUTES: LazyLock<Vec<Route>> = LazyLock::new(table);

fn table() -> Vec<Route> {
    vec![
        get(
            "/api/about",
            "What the server is and how much it takes on",
            |call, ()| Ok(about::about(call.desk)),
        ),
        post("/api/runs", "Make a run", |call, Body(settings)| {
            let run = call.desk.runs.create(&settings)?;
            RunView::new(&run).map(Made)
        })
        .refuses(503, "too many runs are being watched"),
        get("/api/runs/{id}", "A run as it is now", |call, ()| {
            RunView::new(&*call.run()?)
        }),
        steer(
            "PUT",
            "/api/runs/{id}",
            "Put another ring in a run's place; its viewers see that one from now on. What is \
             wrong with it leaves the run as it was",
            |_, run, Body(settings)| {
                run.replace(&settings)?;
                RunView::new(run)
            },
        ),
        steer(
            "DELETE",
            "/api/runs/{id}",
            "Drop a run; its viewers are told",
            |call, _, ()| call.desk.runs.remove(call.id).map(|()| Done),
        ),
        get(
            "/api/runs/{id}/frame",
            "The state in any round, however far; the run stays where it is",
            |call, Query(at): Query<AtRound>| {
                let run = call.run()?;
                run.frame(&run.lock(), at.round)
            },
        ),
        steer(
            "POST",
            "/api/runs/{id}/seek",
            "Go to a round, however far; playing goes on from there",
            |_, run, Body(to): Body<Seek>| run.seek(to.round),
        ),
        steer(
            "POST",
            "/api/runs/{id}/step",
            "Stop playing and go some rounds on or back",
            |_, run, Body(by): Body<Step>| run.step(by.rounds),
        ),
        steer(
            "POST",
            "/api/runs/{id}/play",
            "Go on by itself, or stop",
            |_, run, Body(how): Body<Play>| run.play(how.playing, how.speed),
        ),
        steer(
            "POST",
            "/api/runs/{id}/faults",
            "Strike with a fault; segments and faults after that round are dropped",
            |_, run, Body(with): Body<Strike>| {
                run.strike(&with.fault, with.token, with.round)?;
                RunView::new(run)
            },
        ),
        get(
            "/api/runs/{id}/window",
            "The ways of all tokens over a stretch of rounds, and all that is needed to draw any \
             state in between",
            |call, Query(on): Query<Stretch>| call.run()?.window(on.from, on.rounds),
        ),
        get(
            "/api/runs/{id}/lines",
            "Which lines of its program every process executes in the rounds after a state",
            |call, Query(rounds)| lines::lines(&*call.run()?, &rounds, &call.desk.limits),
        ),
        get(
            "/api/runs/{id}/state",
            "The state of a round, as a file that `headway run --start FILE` takes",
            |call, Query(at)| runs::state(&*call.run()?, &at, &call.desk.limits),
        ),
        get(
            "/api/runs/{id}/diagram.svg",
            "The space-time diagram as a picture",
            |call, Query(stretch)| runs::diagram(&*call.run()?, &stretch, &call.desk.limits),
        ),
        get(
            "/api/runs/{id}/film.svg",
            "The ring as a picture that moves, from a round on",
            |call, Query(stretch)| runs::film(&*call.run()?, &stretch, &call.desk.limits),
        )
        .costs(4.0),
        post(
            "/api/runs/{id}/class",
            "Present a run: from now on only who has the key steers it",
            |call, ()| {
                let (run, key) = (call.run()?, call.desk.runs.new_key());
                run.class(|class| class.present(key.clone()))?;
                Ok(Presenter { key })
            },
        )
        .refuses(403, "somebody does already"),
        steer(
            "POST",
            "/api/runs/{id}/question",
            "Ask the class how many rounds it will take, or end the question",
            |_, run, Body(question): Body<Question>| {
                run.class(|class| {
                    class.ask(question.open);
                    Ok(())
                })?;
                run.frame(&run.lock(), None)
            },
        ),
        post(
            "/api/runs/{id}/guess",
            "Guess how many rounds it will take, while the class is asked",
            |call, Body(guess): Body<Guess>| {
                let run = call.run()?;
                run.class(|class| class.guess(&guess.who, guess.rounds))?;
                run.frame(&run.lock(), None)
            },
        )
        .refuses(403, "nobody asks"),
        get(
            "/api/explore/flow",
            "Flow against density: the traffic jam at m·d = n",
            |_, Query(asked)| explore::flow(&asked),
        )
        .costs(4.0),
        get(
            "/api/explore/stabilization",
            "Rounds until legitimate against the number of delays",
            |_, Query(asked)| explore::stabilization(&asked),
        )
        .costs(4.0),
        post(
            "/api/charts",
            "Open a table of results as columns to draw",
            |_, file| charts::chart(&file),
        )
        .costs(8.0)
        .refuses(415, "a kind of file that is not read"),
        post(
            "/api/walks",
            "Lay a walk over a network so that tokens stay apart in it",
            |call, Body(asked)| walks::walk(&asked, &call.desk.limits),
        )
        .costs(8.0),
        get(
            "/api/chain",
            "The open chain of the paper's motivating example, in lock-step",
            |_, Query(asked)| lessons::chain(&asked),
        )
        .costs(4.0),
        get(
            "/api/asynchrony",
            "The ring on phase clocks, under a schedule",
            |_, Query(asked)| lessons::asynchrony(&asked),
        )
        .costs(8.0),
        get(
            "/api/token-rings",
            "Dijkstra's K-state rings, all scrambled by a fault",
            |_, Query(asked)| lessons::token_rings(&asked),
        )
        .costs(4.0),
    ]
}

/// How a route makes an answer of what is read from a request.
type Answers<I, O> = fn(&Call<'_>, I) -> Result<O, ApiError>;

fn get<I: Input, O: Output>(path: &'static str, about: &'static str, by: Answers<I, O>) -> Route {
    let handler = move |call: &Call<'_>| by(call, I::read(call.request)?)?.answer();
    route::<I, O>("GET", path, about, Box::new(handler))
}

fn post<I: Input, O: Output>(path: &'static str, about: &'static str, by: Answers<I, O>) -> Route {
    Route {
        method: "POST",
        ..get(path, about, by)
    }
}

/// What changes a run.
fn steer<I: Input, O: Output>(
    method: &'static str,
    path: &'static str,
    about: &'static str,
    by: fn(&Call<'_>, &Run, I) -> Result<O, ApiError>,
) -> Route {
    let handler = move |call: &Call<'_>| {
        let input = I::read(call.request)?;
        let run = call.run()?;
        run.admits(key(&call.request.query).as_deref())?;
        by(call, &run, input)?.answer()
    };
    Route {
        steers: true,
        ..route::<I, O>(method, path, about, Box::new(handler))
    }
}

fn route<I: Input, O: Output>(
    method: &'static str,
    path: &'static str,
    about: &'static str,
    handler: Handler,
) -> Route {
    Route {
        method,
        path,
        about,
        price: 1.0,
        steers: false,
        refusal: None,
        handler,
        #[cfg(not(target_family = "wasm"))]
        types: (I::describe, O::describe),
    }
}

impl Route {
    fn costs(self, price: f64) -> Route {
        Route { price, ..self }
    }

    fn refuses(self, status: u16, when: &'static str) -> Route {
        Route {
            refusal: Some((status, when)),
            ..self
        }
    }

    /// The name of the run in a path, or nothing where there is none; `None` if it is
    /// another path.
    pub(crate) fn fits<'a>(&self, path: &'a str) -> Option<&'a str> {
        let (before, after) = self.path.split_once("{id}").unwrap_or((self.path, ""));
        let rest = path.strip_prefix(before)?.strip_suffix(after)?;
        let is_name = self.path.contains('{') && !rest.is_empty() && !rest.contains('/');
        (is_name || rest.is_empty() && !self.path.contains('{')).then_some(rest)
    }

    pub(crate) fn answer(
        &self,
        desk: &Desk,
        request: &Request,
        id: &str,
    ) -> Result<Answer, ApiError> {
        (self.handler)(&Call { desk, request, id })
    }
}

impl Call<'_> {
    fn run(&self) -> Result<Arc<Run>, ApiError> {
        self.desk.runs.get(self.id)
    }
}
