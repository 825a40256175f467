//! A run as a moving picture of the ring.

use std::f64::consts::TAU;
use std::fmt::Write as _;

use headway_core::{Program, Ring, Round};
use headway_draw::{Path, Point, Svg, TOKEN_COLOURS, Theme, token_rules};

use crate::run::Frame;

/// Every state of a run, to be drawn. The picture moves in every browser; where a
/// viewer asks for less motion, or knows no animation, it shows the last state.
#[derive(Clone, Debug)]
pub struct Film {
    delays: Vec<bool>,
    separation: u32,
    title: String,
    shots: Vec<Shot>,
}

#[derive(Clone, Debug)]
struct Shot {
    round: Round,
    /// Where the tokens are, in hops from process 0, on and on.
    hops: Vec<f64>,
    resting: Vec<bool>,
    closest: Option<u64>,
    legitimate: bool,
    /// What has just struck.
    fault: Option<String>,
}

/// More cannot be told apart.
pub const MAX_PROCESSES: usize = 200;
/// Longer films are cut here.
pub const MAX_SHOTS: usize = 2_000;

const RADIUS: f64 = 150.0;
const TOKEN: f64 = 13.0;
/// Where the stretch that a token claims for itself is drawn.
const CLAIM: f64 = RADIUS - 26.0;
const SIZE: f64 = 470.0;
/// Seconds for a round, for what a fault does, and for the last state.
const ROUND: f64 = 0.25;
const FAULT: f64 = 1.5;
const END: f64 = 2.0;

const RULES: &str = "\
.ring, .claim { fill: none }
.ring { stroke: $line; stroke-width: 2 }
.claim { stroke-width: 9; opacity: 0.4 }
.relay { fill: $raised; stroke: $relay; stroke-width: 1.5 }
.delay { fill: $delay }
.rest { fill: none; stroke: $bad; stroke-width: 3 }
.letter { fill: $ground; font-size: 14px; font-weight: 700 }
.large { font-size: 44px; font-weight: 600 }
.note { fill: $muted }
.good { fill: $good; font-weight: 600 }
.bad { fill: $bad; font-weight: 600 }
.tick { opacity: 0 }
.tick.last { opacity: 1 }
";

impl Film {
    /// Of a ring, without any state yet.
    pub fn new(ring: &Ring, title: &str) -> Film {
        let relays = ring
            .programs()
            .iter()
            .map(|program| *program != Program::Relay);
        Film {
            delays: relays.collect(),
            separation: ring.separation().hops(),
            title: title.to_owned(),
            shots: Vec::new(),
        }
    }

    /// Takes a state of the run; those beyond [`MAX_SHOTS`] are left out.
    pub fn observe(&mut self, frame: &Frame<'_>) {
        if self.shots.len() == MAX_SHOTS {
            return;
        }
        let turn = self.delays.len() as f64;
        let places = frame.tokens.places();
        let hops = places.iter().enumerate().map(|(token, place)| {
            let raw = place.lifted as f64;
            // A fault begins to count anew: the token takes the shortest way there.
            let last = self.shots.last().map_or(raw, |shot| shot.hops[token]);
            raw + ((last - raw) / turn + 0.5).floor() * turn
        });
        let shot = Shot {
            round: frame.round,
            hops: hops.collect(),
            resting: places.iter().map(|place| place.resting).collect(),
            closest: frame.tokens.min_distance(),
            legitimate: frame.legitimate,
            fault: frame.fault.map(ToString::to_string),
        };
        self.shots.push(shot);
    }

    /// Whether the end of the run is missing.
    pub fn is_cut(&self) -> bool {
        self.shots.len() == MAX_SHOTS
    }

    /// The moving picture.
    pub fn svg(&self) -> String {
        let mut out = self.stage();
        let Some(last) = self.shots.last() else {
            return out.finish();
        };
        let times = self.times();
        let length = times[times.len() - 1] + END;
        let mut style = String::new();
        for token in 0..last.hops.len() {
            let (colour, levels) = (token % TOKEN_COLOURS, self.levels(token));
            let at = |shot: usize| (self.shots[shot].hops[token], levels[shot]);
            self.frames(
                &mut style,
                &format!("claim{token}"),
                &times,
                at,
                |(hops, _)| format!("transform:{}", rotation(self.degrees(hops))),
            );
            self.frames(
                &mut style,
                &format!("token{token}"),
                &times,
                at,
                |(hops, level)| format!("transform:{}", self.placing(hops, level)),
            );
            let rests = |shot: usize| (f64::from(self.shots[shot].resting[token]), 0.0);
            self.frames(
                &mut style,
                &format!("rest{token}"),
                &times,
                rests,
                |(rests, _)| format!("stroke-opacity:{rests}"),
            );
            let plays = |name: &str, how: &str| {
                format!("animation:{name}{token} {length:.2}s {how} infinite")
            };
            let (hops, level) = at(self.shots.len() - 1);
            // The attributes are for viewers that do not play it.
            let claim = out.path(&format!("claim s{colour}"), &self.claim());
            let claim = claim.set("transform", &attribute(&rotation(self.degrees(hops))));
            claim.set("style", &plays("claim", "linear"));
            out.raw(&format!(
                "<g transform=\"{}\" style=\"{}\">\n",
                attribute(&self.placing(hops, level)),
                plays("token", "linear")
            ));
            out.circle(&format!("f{colour}"), (0.0, 0.0), TOKEN);
            let rest = out.circle("rest", (0.0, 0.0), TOKEN + 2.0);
            let rest = rest.number("stroke-opacity", f64::from(last.resting[token]));
            rest.set("style", &plays("rest", "step-end"));
            out.text("letter middle", (0.0, 5.0), &letter(token));
            out.raw("</g>\n");
        }
        self.texts(&mut out, &mut style, &times, length);
        out.raw(&format!(
            "<style>\n{style}@media (prefers-reduced-motion: reduce) {{ * {{ animation: none !important }} }}\n</style>\n"
        ));
        out.finish()
    }

    /// The last state alone.
    pub fn still(&self) -> Svg {
        let mut out = self.stage();
        let Some(last) = self.shots.last() else {
            return out;
        };
        for (token, &hops) in last.hops.iter().enumerate() {
            let colour = token % TOKEN_COLOURS;
            let level = self.levels(token)[self.shots.len() - 1];
            let at = self.at(hops, self.radius(level));
            out.circle(&format!("f{colour}"), at, TOKEN);
            if last.resting[token] {
                out.circle("rest", at, TOKEN + 2.0);
            }
            out.text("letter middle", (at.0, at.1 + 5.0), &letter(token));
        }
        self.text(&mut out, last, None);
        out
    }

    /// The ring without tokens.
    fn stage(&self) -> Svg {
        let rules = [
            RULES,
            &token_rules("s", "stroke"),
            &token_rules("f", "fill"),
        ]
        .concat();
        let corner = (-SIZE / 2.0, -SIZE / 2.0);
        let mut out = Svg::new(corner, (SIZE, SIZE), &self.title, Theme::Auto, &rules);
        out.circle("ring", (0.0, 0.0), RADIUS);
        let room = TAU * RADIUS / self.delays.len() as f64;
        for (process, &delays) in self.delays.iter().enumerate() {
            let class = if delays { "delay" } else { "relay" };
            let radius = (room * 0.3).min(6.0);
            let at = self.at(process as f64, RADIUS);
            out.circle(class, at, radius)
                .title(&format!("process {process}, {class}"));
        }
        out
    }

    fn degrees(&self, hops: f64) -> f64 {
        hops * 360.0 / self.delays.len() as f64
    }

    /// How far out a token is; those of a pile overlap if they have to.
    fn radius(&self, level: f64) -> f64 {
        let tokens = self.shots.first().map_or(0, |shot| shot.hops.len());
        let room = SIZE / 2.0 - RADIUS - TOKEN - 4.0;
        let apart = room / tokens.saturating_sub(1).max(1) as f64;
        RADIUS + level * apart.min(2.0 * TOKEN + 2.0)
    }

    /// A point so many hops from the top.
    fn at(&self, hops: f64, radius: f64) -> Point {
        let angle = self.degrees(hops).to_radians();
        (radius * angle.sin(), -radius * angle.cos())
    }

    /// The way of a token's own d hops, from the top on.
    fn claim(&self) -> Path {
        let mut path = Path::default();
        let hops = f64::from(self.separation).min(self.delays.len() as f64) - 0.3;
        let steps = (hops * 4.0).ceil().max(1.0) as usize;
        path.to('M', &[self.at(0.0, CLAIM)]);
        for step in 1..=steps {
            path.to('L', &[self.at(hops * step as f64 / steps as f64, CLAIM)]);
        }
        path
    }

    /// How a token gets to its place: round, outwards, and upright again.
    fn placing(&self, hops: f64, level: f64) -> String {
        let (degrees, out) = (self.degrees(hops), self.radius(level));
        format!(
            "{} translate(0px,{:.0}px) {}",
            rotation(degrees),
            -out,
            rotation(-degrees)
        )
    }

    /// In every shot, how many tokens at its process are ahead of a token.
    fn levels(&self, token: usize) -> Vec<f64> {
        let turn = self.delays.len() as f64;
        let level = |shot: &Shot| {
            let place = |token: usize| shot.hops[token].rem_euclid(turn);
            let tokens = shot.hops.len();
            // Tokens are numbered from the front, and at the seam on from the last one.
            let ahead = (1..tokens).map(|back| (token + tokens - back) % tokens);
            let here = ahead
                .take_while(|&other| place(other) == place(token))
                .count();
            let all = here + 1 == tokens;
            (if all { token } else { here }) as f64
        };
        self.shots.iter().map(level).collect()
    }

    /// When each shot is reached.
    fn times(&self) -> Vec<f64> {
        let mut now = 0.0;
        let reached = self.shots.iter().enumerate().map(|(index, shot)| {
            now += match (&shot.fault, index) {
                (_, 0) => 0.0,
                (Some(_), _) => FAULT,
                (None, _) => ROUND,
            };
            now
        });
        reached.collect()
    }

    /// Key frames, where something changes its pace; `at` is a shot's value.
    fn frames(
        &self,
        style: &mut String,
        name: &str,
        times: &[f64],
        at: impl Fn(usize) -> (f64, f64),
        css: impl Fn((f64, f64)) -> String,
    ) {
        let last = times.len() - 1;
        let length = times[last] + END;
        let pace = |shot: usize| {
            let (one, other) = (at(shot), at(shot + 1));
            let time = times[shot + 1] - times[shot];
            ((other.0 - one.0) / time, (other.1 - one.1) / time)
        };
        // Writing to a string cannot fail.
        let _ = write!(style, "@keyframes {name} {{");
        for (shot, time) in times.iter().enumerate() {
            if shot == 0 || shot == last || pace(shot - 1) != pace(shot) {
                let percent = 100.0 * time / length;
                let _ = write!(style, " {percent:.3}% {{{}}}", css(at(shot)));
            }
        }
        let _ = writeln!(style, " 100% {{{}}} }}", css(at(last)));
    }

    /// What stands in the middle, one text for each shot.
    fn texts(&self, out: &mut Svg, style: &mut String, times: &[f64], length: f64) {
        for (name, seconds) in [("round", ROUND), ("fault", FAULT), ("end", END)] {
            let shown = 100.0 * seconds / length;
            let _ = writeln!(
                style,
                "@keyframes {name} {{ 0% {{opacity:1}} {shown:.3}% {{opacity:0}} 100% {{opacity:0}} }}\n\
                 .{name} {{ animation:{name} {length:.2}s step-end infinite }}"
            );
        }
        for (index, shot) in self.shots.iter().enumerate() {
            let next = self.shots.get(index + 1);
            let fault = next.and_then(|next| next.fault.as_deref());
            let name = match (next, fault) {
                (None, _) => "end last",
                (_, Some(_)) => "fault",
                _ => "round",
            };
            out.raw(&format!(
                "<g class=\"tick {name}\" style=\"animation-delay:{:.2}s\">\n",
                times[index] - length
            ));
            self.text(out, shot, fault);
            out.raw("</g>\n");
        }
    }

    fn text(&self, out: &mut Svg, shot: &Shot, fault: Option<&str>) {
        let needed = shot.hops.len() * self.separation as usize;
        let fault = fault.and_then(|fault| fault.split('@').next());
        let (class, word) = match (fault, shot.legitimate) {
            (Some(fault), _) => ("bad", format!("fault: {fault}")),
            (None, true) => ("good", "legitimate".to_owned()),
            (None, false) if needed > self.delays.len() => ("bad", "a traffic jam".to_owned()),
            (None, false) => ("bad", "recovering".to_owned()),
        };
        let line = |out: &mut Svg, class: &str, y: f64, text: &str| {
            out.text(&format!("{class} middle"), (0.0, y), text);
        };
        line(out, "note", -52.0, &format!("round {}", shot.round));
        if let Some(closest) = shot.closest {
            line(out, "large", 4.0, &closest.to_string());
            line(
                out,
                "note",
                26.0,
                &format!("hops apart, {} wanted", self.separation),
            );
        }
        line(out, class, 56.0, &word);
    }
}

fn rotation(degrees: f64) -> String {
    format!("rotate({}deg)", (degrees * 100.0).round() / 100.0)
}

/// As an attribute, where lengths and angles have no units.
fn attribute(css: &str) -> String {
    css.replace("deg", "").replace("px", "")
}

/// As in the diagram.
fn letter(token: usize) -> String {
    char::from(b'A' + (token % 26) as u8).to_string()
}

#[cfg(test)]
mod tests;
