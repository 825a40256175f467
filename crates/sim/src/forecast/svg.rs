//! The space-time diagram as a picture: processes across, rounds down, one line
//! per token, waits as bars.

use std::fmt::Write as _;
use std::iter::StepBy;
use std::ops::Range;

use headway_core::Round;

use super::{Forecast, Timeline, Trajectory};

const LEFT: f64 = 64.0;
const TOP: f64 = 84.0;
const PLOT_WIDTH: f64 = 1000.0;
const RIGHT: f64 = 40.0;
const BOTTOM: f64 = 44.0;

/// Colours that can be told apart on light and dark grounds, also by people who
/// see few colours: the eight of Okabe and Ito less black, and one more.
const COLOURS: [&str; 8] = [
    "#e69f00", "#56b4e9", "#009e73", "#c8b400", "#0072b2", "#d55e00", "#cc79a7", "#8a6fd1",
];

/// Plain rules first, for viewers that know no media queries.
const STYLE: &str = "\
  text { font: 13px system-ui, sans-serif; fill: #1c1f24 }
  .title { font-size: 17px; font-weight: 600 }
  .ground { fill: #ffffff }
  .settled { fill: #e9f5ec }
  .axis { stroke: #d7dbe0; stroke-width: 1 }
  .mark { stroke: #1c1f24; stroke-width: 1; stroke-dasharray: 5 4 }
  .delay { fill: #1c1f24 }
  .way { fill: none; stroke-linejoin: round; stroke-linecap: round }
  .wait { fill: none; stroke: #c0392b; stroke-linecap: round }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6e8eb }
    .ground { fill: #15181c }
    .settled { fill: #17291d }
    .axis { stroke: #343a42 }
    .mark { stroke: #e6e8eb }
    .delay { fill: #e6e8eb }
    .wait { stroke: #ff7b6b }
  }
";

impl Timeline<'_> {
    /// Draws the rounds from 0 to `last`. The text above says what it shows.
    ///
    /// The picture has a fixed width; lines get thinner as the ring gets larger, so
    /// that 1,000 processes by 2,000 rounds can still be read.
    pub fn svg(&self, last: Round, title: &str) -> String {
        Picture::new(self, last).draw(title)
    }
}

struct Picture<'a> {
    forecast: &'a Forecast<'a>,
    line: &'a Timeline<'a>,
    last: Round,
    /// Pixels per process and per round.
    per_process: f64,
    per_round: f64,
}

impl<'a> Picture<'a> {
    fn new(line: &'a Timeline<'a>, last: Round) -> Picture<'a> {
        let forecast = line.forecast;
        let processes = forecast.shape.processes as f64;
        let per_process = PLOT_WIDTH / processes;
        // Square cells where they fit, else squeezed to at most two widths high.
        let tallest = 2.0 * PLOT_WIDTH / (last.max(1) as f64);
        Picture {
            forecast,
            line,
            last,
            per_process,
            per_round: per_process.min(22.0).min(tallest),
        }
    }

    fn x(&self, process: f64) -> f64 {
        LEFT + (process + 0.5) * self.per_process
    }

    fn y(&self, round: f64) -> f64 {
        TOP + round * self.per_round
    }

    fn draw(&self, title: &str) -> String {
        let width = LEFT + PLOT_WIDTH + RIGHT;
        let height = self.y(self.last as f64) + BOTTOM;
        let mut out = String::new();
        // Writing to a string cannot fail.
        let _ = writeln!(
            out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" \
             width=\"{width:.0}\" height=\"{height:.0}\" role=\"img\">\n<title>{}</title>\n<style>\n{STYLE}</style>\n\
             <rect class=\"ground\" width=\"{width:.0}\" height=\"{height:.0}\"/>",
            escape(title)
        );
        let _ = writeln!(
            out,
            "<text class=\"title\" x=\"{LEFT}\" y=\"26\">{}</text>",
            escape(title)
        );
        self.draw_settled(&mut out);
        self.draw_axes(&mut out);
        self.draw_ways(&mut out);
        out.push_str("</svg>\n");
        out
    }

    fn draw_settled(&self, out: &mut String) {
        let summary = match self.forecast.legitimate_at() {
            Some(round) if round <= self.last => {
                let top = self.y(round as f64);
                let height = self.y(self.last as f64) - top;
                let right = LEFT + PLOT_WIDTH;
                let _ = writeln!(
                    out,
                    "<rect class=\"settled\" x=\"{LEFT}\" y=\"{top:.1}\" width=\"{PLOT_WIDTH}\" height=\"{height:.1}\"/>\n\
                     <line class=\"mark\" x1=\"{LEFT}\" y1=\"{top:.1}\" x2=\"{right}\" y2=\"{top:.1}\"/>"
                );
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
        let _ = writeln!(
            out,
            "<text x=\"{LEFT}\" y=\"47\">{summary}; red bars: a token rests{delays}</text>"
        );
    }

    fn draw_axes(&self, out: &mut String) {
        let bottom = self.y(self.last as f64);
        for process in ticks(self.forecast.shape.processes, 20) {
            let x = self.x(process as f64);
            let _ = writeln!(
                out,
                "<line class=\"axis\" x1=\"{x:.1}\" y1=\"{TOP}\" x2=\"{x:.1}\" y2=\"{bottom:.1}\"/>\
                 <text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{process}</text>",
                bottom + 18.0
            );
        }
        for round in ticks(self.last + 1, 20) {
            let y = self.y(round as f64);
            let _ = writeln!(
                out,
                "<line class=\"axis\" x1=\"{LEFT}\" y1=\"{y:.1}\" x2=\"{:.1}\" y2=\"{y:.1}\"/>\
                 <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{round}</text>",
                LEFT + PLOT_WIDTH,
                LEFT - 8.0,
                y + 4.0
            );
        }
        let _ = writeln!(
            out,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">process</text>\
             <text transform=\"translate(16 {:.1}) rotate(-90)\" text-anchor=\"middle\">round</text>",
            LEFT + PLOT_WIDTH / 2.0,
            bottom + 36.0,
            f64::midpoint(TOP, bottom)
        );
        self.draw_delays(out);
    }

    fn draw_delays(&self, out: &mut String) {
        let shape = &self.forecast.shape;
        if shape.starts_delay {
            return;
        }
        let room = PLOT_WIDTH / self.line.delays.len() as f64;
        let half = (room * 0.35).clamp(0.4, 5.0);
        let mut path = String::new();
        for delay in &self.line.delays {
            let x = self.x(shape.process(i128::from(delay.at)) as f64);
            let _ = write!(
                path,
                "M{:.1} {:.1}h{:.1}L{x:.1} {:.1}z",
                x - half,
                TOP - 14.0,
                2.0 * half,
                TOP - 6.0
            );
        }
        let _ = writeln!(out, "<path class=\"delay\" d=\"{path}\"/>");
    }

    fn draw_ways(&self, out: &mut String) {
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
            let way = self.line.trajectory(token, self.last);
            let colour = COLOURS[(token % COLOURS.len() as u64) as usize];
            let (moves, rests) = self.paths(&way);
            let _ = writeln!(
                out,
                "<path class=\"way\" stroke=\"{colour}\" stroke-width=\"{thin:.1}\" d=\"{moves}\"/>"
            );
            if !rests.is_empty() {
                let _ = writeln!(
                    out,
                    "<path class=\"wait\" stroke-width=\"{:.1}\" d=\"{rests}\"/>",
                    thin * 1.6
                );
            }
        }
    }

    /// The moves of a token, cut where it passes process 0, and its rests.
    fn paths(&self, way: &Trajectory) -> (String, String) {
        let n = self.forecast.shape.processes;
        let (mut moves, mut rests) = (String::new(), String::new());
        let mut round = 0;
        if self.last == 0 {
            // A dot: a line of no length has round ends.
            let (process, _) = way.place(round);
            let _ = write!(moves, "M{:.1} {TOP:.1}h0", self.x(process as f64));
        }
        let mut waits = way.waits().iter().peekable();
        while round < self.last {
            let (process, _) = way.place(round);
            if let Some(wait) = waits.next_if(|wait| wait.from <= round) {
                // It is released in the round after, and still there at its end.
                let end = (wait.to + 1).min(self.last);
                let x = self.x(process as f64);
                let (from, to) = (self.y(round as f64), self.y(end as f64));
                let _ = write!(rests, "M{x:.1} {from:.1}V{to:.1}");
                round = end;
                continue;
            }
            let until_wait = waits
                .peek()
                .map_or(self.last, |wait| wait.from.min(self.last));
            let hops = (until_wait - round).min(n - process);
            let start = (self.x(process as f64), self.y(round as f64));
            // At process n it is at process 0 of the next turn: half a cell beyond.
            let beyond = if process + hops == n { 0.5 } else { 0.0 };
            let end = (
                self.x((process + hops) as f64 - beyond),
                self.y((round + hops) as f64 - beyond),
            );
            let _ = write!(
                moves,
                "M{:.1} {:.1}L{:.1} {:.1}",
                start.0, start.1, end.0, end.1
            );
            if beyond > 0.0 {
                let _ = write!(
                    moves,
                    "M{:.1} {:.1}L{:.1} {:.1}",
                    self.x(-0.5),
                    end.1,
                    self.x(0.0),
                    self.y((round + hops) as f64)
                );
            }
            round += hops.max(1);
        }
        (moves, rests)
    }
}

/// At most so many round numbers below `end`.
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

fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}
