//! The space-time diagram as a picture: processes across, rounds down, one line
//! per token, waits as bars.

use std::iter::StepBy;
use std::ops::Range;

use headway_core::Round;
use headway_draw::{Path, Point, Svg, TOKEN_COLOURS, Theme, token_rules};

use super::{Forecast, Timeline, Trajectory};

const LEFT: f64 = 64.0;
const TOP: f64 = 84.0;
const PLOT_WIDTH: f64 = 1000.0;
const MIDDLE: f64 = LEFT + PLOT_WIDTH / 2.0;
const RIGHT: f64 = LEFT + PLOT_WIDTH;
const MARGIN_RIGHT: f64 = 40.0;
const MARGIN_BELOW: f64 = 44.0;

const RULES: &str = "\
.title { font-size: 17px; font-weight: 600 }
.settled { fill: $good-wash }
.axis { stroke: $line }
.mark { stroke: $ink; stroke-dasharray: 5 4 }
.delay { fill: $delay }
.way { fill: none; stroke-linejoin: round; stroke-linecap: round }
.wait { stroke: $bad }
";

impl Timeline<'_> {
    /// The [`picture`](Timeline::picture) as SVG.
    pub fn svg(&self, last: Round, title: &str) -> String {
        self.picture(last, title).finish()
    }

    /// Draws the rounds from 0 to `last`. The text above says what it shows.
    ///
    /// The picture has a fixed width; lines get thinner as the ring gets larger, so
    /// that 1,000 processes by 2,000 rounds can still be read.
    pub fn picture(&self, last: Round, title: &str) -> Svg {
        let forecast = self.forecast;
        let per_process = PLOT_WIDTH / forecast.shape.processes as f64;
        // Square cells where they fit, else squeezed to at most two widths high.
        let tallest = 2.0 * PLOT_WIDTH / (last.max(1) as f64);
        let scale = Scale {
            forecast,
            line: self,
            last,
            per_process,
            per_round: per_process.min(22.0).min(tallest),
        };
        let size = (RIGHT + MARGIN_RIGHT, scale.bottom() + MARGIN_BELOW);
        let rules = format!("{RULES}{}", token_rules("t", "stroke"));
        let mut picture = Svg::new((0.0, 0.0), size, title, Theme::Auto, &rules);
        picture.text("title", (LEFT, 26.0), title);
        scale.draw_settled(&mut picture);
        scale.draw_axes(&mut picture);
        scale.draw_delays(&mut picture);
        scale.draw_ways(&mut picture);
        picture
    }
}

/// Where things are in the picture.
struct Scale<'a> {
    forecast: &'a Forecast<'a>,
    line: &'a Timeline<'a>,
    last: Round,
    /// Pixels per process and per round.
    per_process: f64,
    per_round: f64,
}

impl Scale<'_> {
    fn x(&self, process: f64) -> f64 {
        LEFT + (process + 0.5) * self.per_process
    }

    fn y(&self, round: f64) -> f64 {
        TOP + round * self.per_round
    }

    fn at(&self, process: f64, round: f64) -> Point {
        (self.x(process), self.y(round))
    }

    fn bottom(&self) -> f64 {
        self.y(self.last as f64)
    }

    fn draw_settled(&self, picture: &mut Svg) {
        let summary = match self.forecast.legitimate_at() {
            Some(round) if round <= self.last => {
                let top = self.y(round as f64);
                let size = (PLOT_WIDTH, self.bottom() - top);
                picture.rect("settled", (LEFT, top), size);
                picture.line("mark", (LEFT, top), (RIGHT, top));
                format!("legitimate from round {round} on (shaded)")
            }
            Some(round) => format!("legitimate from round {round} on (not shown)"),
            None => "never legitimate: a traffic jam".to_owned(),
        };
        let delays = if self.forecast.shape.starts_delay {
            ""
        } else {
            "; ▾ delay"
        };
        let legend = format!("{summary}; red bars: a token rests{delays}");
        picture.text("legend", (LEFT, 47.0), &legend);
    }

    fn draw_axes(&self, picture: &mut Svg) {
        let bottom = self.bottom();
        for process in ticks(self.forecast.shape.processes, 20) {
            let x = self.x(process as f64);
            picture.line("axis", (x, TOP), (x, bottom));
            let below = (x, bottom + 18.0);
            picture.text("middle", below, &process.to_string());
        }
        for round in ticks(self.last + 1, 20) {
            let y = self.y(round as f64);
            picture.line("axis", (LEFT, y), (RIGHT, y));
            let beside = (LEFT - 8.0, y + 4.0);
            picture.text("end", beside, &round.to_string());
        }
        let below = (MIDDLE, bottom + 36.0);
        picture.text("middle", below, "process");
        let upright = format!(
            "translate(16 {:.1}) rotate(-90)",
            f64::midpoint(TOP, bottom)
        );
        let round = picture.text("middle", (0.0, 0.0), "round");
        round.set("transform", &upright);
    }

    fn draw_delays(&self, picture: &mut Svg) {
        let shape = &self.forecast.shape;
        if shape.starts_delay {
            return;
        }
        let room = PLOT_WIDTH / self.line.delays.len() as f64;
        let half = (room * 0.35).clamp(0.4, 5.0);
        let mut path = Path::default();
        for delay in &self.line.delays {
            let x = self.x(shape.process(i128::from(delay.at)) as f64);
            let (above, below) = (TOP - 14.0, TOP - 6.0);
            path.to('M', &[(x - half, above)]);
            path.to('L', &[(x + half, above), (x, below)]).to('Z', &[]);
        }
        picture.path("delay", &path);
    }

    fn draw_ways(&self, picture: &mut Svg) {
        // Across and down, how far apart the lines are when the tokens are spread evenly.
        let turn = self.forecast.shape.processes as f64 * self.per_round;
        let room = PLOT_WIDTH.min(turn) / self.forecast.shape.tokens.max(1) as f64;
        // Of round 0 alone there are only dots.
        let thin = if self.last == 0 {
            6.0
        } else {
            (room * 0.1).clamp(0.5, 3.0)
        };
        for token in 0..self.forecast.shape.tokens {
            let (moves, rests) = self.paths(&self.line.trajectory(token, self.last));
            let class = format!("way t{}", token % TOKEN_COLOURS as u64);
            picture.path(&class, &moves).number("stroke-width", thin);
            if !rests.is_empty() {
                let rests = picture.path("way wait", &rests);
                rests.number("stroke-width", thin * 1.6);
            }
        }
    }

    /// The moves of a token, cut where it passes process 0, and its rests.
    fn paths(&self, way: &Trajectory) -> (Path, Path) {
        let n = self.forecast.shape.processes;
        let (mut moves, mut rests) = (Path::default(), Path::default());
        let mut round = 0;
        if self.last == 0 {
            // A dot: a line of no length has round ends.
            let dot = self.at(way.place(round).0 as f64, 0.0);
            moves.to('M', &[dot]).to('L', &[dot]);
        }
        let mut waits = way.waits().iter().peekable();
        while round < self.last {
            let process = way.place(round).0;
            let from = self.at(process as f64, round as f64);
            if let Some(wait) = waits.next_if(|wait| wait.from <= round) {
                // It is released in the round after, and still there at its end.
                round = (wait.to + 1).min(self.last);
                let to = (from.0, self.y(round as f64));
                rests.to('M', &[from]).to('L', &[to]);
                continue;
            }
            let wait = waits.peek();
            let until_wait = wait.map_or(self.last, |wait| wait.from.min(self.last));
            let hops = (until_wait - round).min(n - process);
            let (x, y) = ((process + hops) as f64, (round + hops) as f64);
            if process + hops == n {
                // At process n it is at process 0 of the next turn: half a cell beyond.
                let (to, again) = (self.at(x - 0.5, y - 0.5), self.at(-0.5, y - 0.5));
                moves.to('M', &[from]).to('L', &[to]);
                moves.to('M', &[again]).to('L', &[self.at(0.0, y)]);
            } else {
                moves.to('M', &[from]).to('L', &[self.at(x, y)]);
            }
            round += hops.max(1);
        }
        (moves, rests)
    }
}

/// At most `most` round numbers below `end`.
fn ticks(end: u64, most: u64) -> StepBy<Range<u64>> {
    let mut step = 1;
    while end.div_ceil(step) > most {
        // 1, 2, 5, 10, 20, 50, …
        step = match step.to_string().as_bytes()[0] {
            b'2' => step / 2 * 5,
            _ => step * 2,
        };
    }
    (0..end).step_by(step as usize)
}
