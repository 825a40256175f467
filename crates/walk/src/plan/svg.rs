//! The picture: the ring, the conflicts as chords, and a token at every place where the
//! tokens could be at once, or each station in a colour.

use headway_draw::{Path, Point, Svg, TOKEN_COLOURS, Theme, token_rules};

use super::Found;
use crate::network::Node;
use crate::plan::conflicts::Conflicts;

/// What is drawn.
#[derive(Clone, Copy, Debug)]
pub struct Picture<'a> {
    /// The conflicts.
    pub conflicts: &'a Conflicts,
    /// The order of the ring.
    pub found: &'a Found,
    /// The stations, if they are to be drawn in place of the order.
    pub stations: Option<&'a [Vec<Node>]>,
    /// m.
    pub tokens: u32,
    /// Light or dark.
    pub theme: Theme,
}

const RULES: &str = "\
.title { font-size: 20px; font-weight: 600 }
.note { fill: $muted }
.ring { fill: none; stroke: $line; stroke-width: 2 }
.chord { fill: none; stroke: $relay; stroke-opacity: 0.45 }
.widest { fill: none; stroke: $bad; stroke-width: 2.5 }
.member { fill: $raised; stroke: $relay }
.token { stroke: $ground; stroke-width: 1.2 }
";

const RADIUS: f64 = 230.0;
const CAPTION: f64 = 80.0;
/// Names are drawn for so many members.
const MAX_NAMES: usize = 60;
/// More chords than that are a blot.
const MAX_CHORDS: usize = 20_000;

/// Draws it as SVG.
pub fn draw(picture: &Picture<'_>) -> String {
    let conflicts = picture.conflicts;
    let by_station = picture.stations.map(|stations| stations.concat());
    let order = by_station.as_ref().unwrap_or(&picture.found.order);
    let longest = conflicts
        .names()
        .iter()
        .map(|name| name.chars().count())
        .max();
    let margin = match conflicts.len() <= MAX_NAMES {
        true => 40.0 + 7.5 * longest.unwrap_or(0).min(24) as f64,
        false => 40.0,
    };
    let side = 2.0 * (RADIUS + margin);
    let title = headline(picture);
    let rules = [RULES, &token_rules("f", "fill")].concat();
    let size = (side, side + CAPTION);
    let mut out = Svg::new((0.0, 0.0), size, &title, picture.theme, &rules);
    let centre = (side / 2.0, CAPTION + side / 2.0);
    let point = |place: usize, radius: f64| -> Point {
        let (sine, cosine) = (place as f64 / order.len() as f64 * std::f64::consts::TAU).sin_cos();
        (centre.0 + radius * sine, centre.1 - radius * cosine)
    };
    out.circle("ring", centre, RADIUS);
    let mut places = vec![0; order.len()];
    for (place, &member) in order.iter().enumerate() {
        places[member as usize] = place;
    }
    let pairs = (0..conflicts.len() as Node).flat_map(|one| {
        let others = conflicts.neighbours(one).iter();
        others
            .filter(move |&&other| one < other)
            .map(move |&other| (one, other))
    });
    let chord = |one: usize, other: usize| {
        let mut path = Path::default();
        // Bent inwards, the more the shorter: a straight one would hide behind the ring.
        path.to('M', &[point(one, RADIUS)]);
        let hops = one.abs_diff(other).min(order.len() - one.abs_diff(other));
        let inwards = RADIUS * (1.0 - (0.25 + hops as f64 / order.len() as f64).min(0.9));
        let middle = if one.abs_diff(other) * 2 <= order.len() {
            (one + other) as f64 / 2.0
        } else {
            (one + other + order.len()) as f64 / 2.0
        };
        let angle = middle / order.len() as f64 * std::f64::consts::TAU;
        let (sine, cosine) = angle.sin_cos();
        path.to(
            'Q',
            &[
                (centre.0 + inwards * sine, centre.1 - inwards * cosine),
                point(other, RADIUS),
            ],
        );
        path
    };
    for (one, other) in pairs.take(MAX_CHORDS) {
        out.path(
            "chord",
            &chord(places[one as usize], places[other as usize]),
        );
    }
    let ring: Vec<&str> = order.iter().map(|&member| conflicts.name(member)).collect();
    if let Some(widest) = conflicts.widest(&ring).filter(|_| by_station.is_none()) {
        let (one, other) = widest.pair;
        out.path(
            "widest",
            &chord(places[one as usize], places[other as usize]),
        );
    }
    let radius = (RADIUS * 2.4 / order.len() as f64).clamp(1.5, 8.0);
    let apart = order.len() / picture.tokens.max(1) as usize;
    let token = |place: usize| {
        let token = place / apart;
        let is_there = place.is_multiple_of(apart) && token < picture.tokens as usize;
        Some(token).filter(|_| is_there && picture.tokens > 1)
    };
    let colours: Vec<Option<usize>> = match picture.stations {
        None => (0..order.len()).map(token).collect(),
        Some(stations) => (stations.iter().enumerate())
            .flat_map(|(index, station)| vec![Some(index); station.len()])
            .collect(),
    };
    for (place, &member) in order.iter().enumerate() {
        let at = point(place, RADIUS);
        out.circle("member", at, radius)
            .title(conflicts.name(member));
        if conflicts.len() <= MAX_NAMES {
            let (x, y) = point(place, RADIUS + 16.0);
            let side = match x - centre.0 {
                offset if offset.abs() < 12.0 => "name middle",
                offset if offset < 0.0 => "name end",
                _ => "name",
            };
            out.text(side, (x, y + 4.5), conflicts.name(member));
        }
        if let Some(colour) = colours[place] {
            let class = format!("token f{}", colour % TOKEN_COLOURS);
            out.circle(&class, at, (radius * 0.7).max(2.5));
        }
    }
    out.text("title", (24.0, 36.0), &title);
    let note = format!(
        "{} members, {} pairs that may not be down together",
        conflicts.len(),
        conflicts.pairs()
    );
    out.text("note", (24.0, 58.0), &note);
    if picture.stations.is_some() {
        let note = "members of one colour are a station: they may be down together";
        out.text("note", (24.0, 76.0), note);
    } else if picture.found.separation > 1 {
        let note = "the strong line is a pair that is furthest apart";
        out.text("note", (24.0, 76.0), note);
    }
    out.finish()
}

fn headline(picture: &Picture<'_>) -> String {
    if let Some(stations) = picture.stations {
        return format!("{} stations, one after the other", stations.len());
    }
    match picture.tokens {
        ..2 => "one at a time".to_owned(),
        tokens => format!(
            "{tokens} at a time, {} hops apart",
            picture.found.separation
        ),
    }
}
