//! Crates as boxes, an arrow from each to those it is built from. An arrow that follows
//! from others is left out.
//!
//! Drawn in layers, as Sugiyama, Tagawa and Toda do it (1981): a crate stands above all
//! that it uses, an arrow that passes a layer gets a place in it, and the places of a
//! layer are ordered by the mean of their neighbours, so that few arrows cross.

use std::collections::BTreeMap;

use headway_draw::{Path, Svg, Theme};

use super::crates::Dependencies;

const BOX_WIDTH: i64 = 104;
const BOX_HEIGHT: i64 = 34;
const GAP: i64 = 28;
const LAYER: i64 = 84;
const MARGIN: i64 = 12;

const RULES: &str = "\
.crate { fill: $raised; stroke: $accent }
.name { font-size: 14px }
.arrow { fill: none; stroke: $relay; stroke-width: 1.5; marker-end: url(#tip) }
.tip { fill: $relay }
";

const TIP: &str = "<marker id=\"tip\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" orient=\"auto\"><path class=\"tip\" d=\"M0 0L8 4L0 8z\"/></marker>\n";

/// A place in a layer: a crate, or where an arrow passes by.
struct Place {
    name: Option<String>,
    /// The middle.
    x: i64,
}

/// Layers from the top; each arrow leads to a place of the layer below.
struct Drawing {
    layers: Vec<Vec<usize>>,
    places: Vec<Place>,
    arrows: Vec<(usize, usize)>,
}

pub(crate) fn svg(dependencies: &Dependencies) -> String {
    let mut drawing = layered(&reduced(dependencies));
    drawing.order();
    drawing.place();
    drawing.render()
}

/// Without what follows from the rest.
fn reduced(all: &Dependencies) -> Dependencies {
    let reaches = |from: &str, to: &str| {
        let mut open = vec![from];
        while let Some(at) = open.pop() {
            for next in &all[at] {
                if next == to {
                    return true;
                }
                open.push(next);
            }
        }
        false
    };
    let direct = |uses: &std::collections::BTreeSet<String>| {
        let needed = |to: &&String| !uses.iter().any(|other| other != *to && reaches(other, to));
        uses.iter().filter(needed).cloned().collect()
    };
    all.iter()
        .map(|(name, uses)| (name.clone(), direct(uses)))
        .collect()
}

fn layered(dependencies: &Dependencies) -> Drawing {
    let mut depths: BTreeMap<&str, usize> = BTreeMap::new();
    while depths.len() < dependencies.len() {
        for (name, uses) in dependencies {
            let below: Option<Vec<usize>> = uses
                .iter()
                .map(|name| depths.get(&**name).copied())
                .collect();
            if let Some(below) = below {
                depths.insert(name, below.into_iter().max().map_or(0, |depth| depth + 1));
            }
        }
    }
    let deepest = depths.values().copied().max().unwrap_or(0);
    let mut drawing = Drawing {
        layers: vec![Vec::new(); deepest + 1],
        places: Vec::new(),
        arrows: Vec::new(),
    };
    let layer = |name: &str| deepest - depths[name];
    let at: BTreeMap<&str, usize> = dependencies
        .keys()
        .map(|name| (&**name, drawing.add(Some(name.clone()), layer(name))))
        .collect();
    for (name, uses) in dependencies {
        for used in uses {
            let mut from = at[&**name];
            for passed in layer(name) + 1..layer(used) {
                let next = drawing.add(None, passed);
                drawing.arrows.push((from, next));
                from = next;
            }
            drawing.arrows.push((from, at[&**used]));
        }
    }
    drawing
}

impl Drawing {
    fn add(&mut self, name: Option<String>, layer: usize) -> usize {
        self.places.push(Place { name, x: 0 });
        self.layers[layer].push(self.places.len() - 1);
        self.places.len() - 1
    }

    fn width(&self, place: usize) -> i64 {
        if self.places[place].name.is_some() {
            BOX_WIDTH
        } else {
            GAP / 2
        }
    }

    /// The mean of `value` over the neighbours of a place, in thousandths.
    fn mean(&self, place: usize, value: impl Fn(usize) -> i64) -> Option<i64> {
        let other = |&(from, to): &(usize, usize)| match place {
            _ if place == from => Some(to),
            _ if place == to => Some(from),
            _ => None,
        };
        let values: Vec<i64> = self.arrows.iter().filter_map(other).map(value).collect();
        let count = i64::try_from(values.len()).ok()?;
        (count > 0).then(|| values.iter().sum::<i64>() * 1000 / count)
    }

    /// The best of many orders, each improved from another start.
    fn order(&mut self) {
        let mut best = (self.cost(), self.layers.clone());
        for start in 0..200_u64 {
            for layer in &mut self.layers {
                layer.sort_by_key(|&place| scattered(start, place as u64));
            }
            for turn in 0..8 {
                self.sweep(turn % 2 == 0);
            }
            while self.swap() {}
            best = best.min((self.cost(), self.layers.clone()));
        }
        self.layers = best.1;
    }

    /// Orders each layer by the mean of its neighbours, from the top or from the bottom.
    fn sweep(&mut self, down: bool) {
        let count = self.layers.len();
        for step in 0..count {
            let layer = if down { step } else { count - 1 - step };
            let ranks = self.ranks();
            let mut places = std::mem::take(&mut self.layers[layer]);
            places.sort_by_key(|&place| self.mean(place, |at| ranks[at]).unwrap_or(0));
            self.layers[layer] = places;
        }
    }

    /// Swaps two neighbours if that is better; whether any were.
    fn swap(&mut self) -> bool {
        let cost = self.cost();
        for layer in 0..self.layers.len() {
            for at in 1..self.layers[layer].len() {
                self.layers[layer].swap(at - 1, at);
                if self.cost() < cost {
                    return true;
                }
                self.layers[layer].swap(at - 1, at);
            }
        }
        false
    }

    /// How many arrows cross, then how far they lead aside.
    fn cost(&self) -> (usize, i64) {
        let ranks = self.ranks();
        let aside = |(from, to): &(usize, usize)| (ranks[*from] - ranks[*to]).abs();
        (self.crossings(&ranks), self.arrows.iter().map(aside).sum())
    }

    /// Where in its layer each place stands, spread over the same width in all.
    fn ranks(&self) -> Vec<i64> {
        let mut ranks = vec![0; self.places.len()];
        for layer in &self.layers {
            for (&place, rank) in layer.iter().zip(1_i64..) {
                ranks[place] = rank * 1000 / (layer.len() as i64 + 1);
            }
        }
        ranks
    }

    fn crossings(&self, ranks: &[i64]) -> usize {
        let mut layer_of = vec![0; self.places.len()];
        for (at, layer) in self.layers.iter().enumerate() {
            layer.iter().for_each(|&place| layer_of[place] = at);
        }
        let crosses = |a: &(usize, usize), b: &(usize, usize)| {
            layer_of[a.0] == layer_of[b.0]
                && (ranks[a.0] - ranks[b.0]).signum() * (ranks[a.1] - ranks[b.1]).signum() < 0
        };
        let of = |(at, a): (usize, &(usize, usize))| {
            self.arrows[at..].iter().filter(|b| crosses(a, b)).count()
        };
        self.arrows.iter().enumerate().map(of).sum()
    }

    /// Every place as near to the mean of its neighbours as its layer allows.
    fn place(&mut self) {
        for turn in 0..60 {
            for layer in self.layers.clone() {
                let wanted: Vec<i64> = layer
                    .iter()
                    .map(|&place| {
                        let mean = self.mean(place, |at| self.places[at].x * 1000);
                        if turn == 0 {
                            0
                        } else {
                            mean.map_or(0, |mean| mean / 1_000_000)
                        }
                    })
                    .collect();
                // From the left as far left as wanted, then the whole layer back by the
                // mean of what was too much.
                let mut xs: Vec<i64> = Vec::new();
                for (at, &place) in layer.iter().enumerate() {
                    let least = at.checked_sub(1).map(|before| {
                        xs[before] + (self.width(layer[before]) + self.width(place)) / 2 + GAP
                    });
                    xs.push(least.map_or(wanted[at], |least| least.max(wanted[at])));
                }
                let count = layer.len() as i64;
                let excess: i64 = xs.iter().zip(&wanted).map(|(x, wanted)| x - wanted).sum();
                for (&place, x) in layer.iter().zip(&xs) {
                    self.places[place].x = x - excess / count;
                }
            }
        }
        let left = self.places.iter().map(|place| place.x).min().unwrap_or(0);
        for place in &mut self.places {
            place.x += MARGIN + BOX_WIDTH / 2 - left;
        }
    }

    fn render(&self) -> String {
        let width =
            self.places.iter().map(|place| place.x).max().unwrap_or(0) + BOX_WIDTH / 2 + MARGIN;
        let layers = self.layers.len() as i64;
        let height = (layers - 1) * LAYER + BOX_HEIGHT + 2 * MARGIN;
        let title = "The crates of Headway: an arrow leads to what a crate is built from";
        let size = (width as f64, height as f64);
        let mut out = Svg::new((0.0, 0.0), size, title, Theme::Auto, RULES);
        out.raw(TIP);
        let mut tops = vec![0; self.places.len()];
        for (layer, y) in self
            .layers
            .iter()
            .zip((0..layers).map(|at| MARGIN + at * LAYER))
        {
            layer.iter().for_each(|&place| tops[place] = y);
        }
        for &(from, to) in &self.arrows {
            if self.places[from].name.is_some() {
                out.path("arrow", &self.arrow(from, to, &tops));
            }
        }
        for (place, top) in self.places.iter().zip(&tops) {
            let Some(name) = &place.name else { continue };
            let corner = ((place.x - BOX_WIDTH / 2) as f64, *top as f64);
            let size = (BOX_WIDTH as f64, BOX_HEIGHT as f64);
            out.rect("crate", corner, size).number("rx", 7.0);
            let middle = (place.x as f64, (top + BOX_HEIGHT / 2 + 5) as f64);
            out.text("name middle", middle, name);
        }
        out.finish()
    }

    /// From a crate, past the layers between, to a crate.
    fn arrow(&self, from: usize, mut to: usize, tops: &[i64]) -> Path {
        let at = |x: i64, y: i64| (x as f64, y as f64);
        let (mut x, mut y) = (self.places[from].x, tops[from] + BOX_HEIGHT);
        let mut path = Path::default();
        path.to('M', &[at(x, y)]);
        loop {
            let passed = self.places[to].name.is_none();
            let (next, end) = (self.places[to].x, tops[to]);
            let half = (y + end) / 2;
            path.to('C', &[at(x, half), at(next, half), at(next, end)]);
            if !passed {
                return path;
            }
            (x, y) = (next, end + BOX_HEIGHT);
            path.to('L', &[at(x, y)]);
            let onwards = self.arrows.iter().find(|(from, _)| *from == to);
            to = onwards.expect("an arrow that goes on").1;
        }
    }
}

/// Numbers without order, the same on every machine.
fn scattered(start: u64, place: u64) -> u64 {
    (start.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ place.wrapping_mul(0xd129_0e5d_84c7_11d7))
        .wrapping_mul(0xff51_afd7_ed55_8ccd)
        >> 20
}
