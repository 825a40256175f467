//! The walk as an arrowed curve that keeps beside the links.

use headway_draw::{Path, Point, Svg, TOKEN_COLOURS};

use super::{Scene, unit};

impl Scene<'_> {
    /// The walk, one curve for the stretch ahead of each token, in its colour.
    pub(super) fn walk(&self, out: &mut Svg) {
        let walk = self.picture.walk;
        let starts = walk.even_tokens(self.picture.tokens.min(walk.len()));
        let width = (self.radius * 0.24).max(0.6);
        let arrows_every = (walk.len() / 240).max(1);
        for (token, &start) in starts.iter().enumerate() {
            let end = starts.get(token + 1).copied().unwrap_or(walk.len());
            let (mut path, mut arrows) = (Path::default(), Path::default());
            let (from, _) = self.middle(start + walk.len() - 1);
            path.to('M', &[from]);
            for step in start..end {
                let (to, direction) = self.middle(step);
                self.turn(&mut path, step);
                path.to('L', &[to]);
                if step % arrows_every == 0 {
                    self.arrow(&mut arrows, to, direction);
                }
            }
            let colour = token % TOKEN_COLOURS;
            let curve = out.path(&format!("walk s{colour}"), &path);
            curve.number("stroke-width", width);
            out.path(&format!("f{colour}"), &arrows);
        }
    }

    /// The middle of a step's way, beside the link, and its direction.
    fn middle(&self, step: usize) -> (Point, Point) {
        let walk = self.picture.walk;
        let a = self.points[walk.at(step) as usize];
        let b = self.points[walk.at(step + 1) as usize];
        let direction = unit((b.0 - a.0, b.1 - a.1));
        let aside = self.radius * 0.45 + self.lane * f64::from(self.lanes[step % walk.len()]);
        let middle = (
            (a.0 + b.0) / 2.0 - direction.1 * aside,
            (a.1 + b.1) / 2.0 + direction.0 * aside,
        );
        (middle, direction)
    }

    /// The bend at the node where a step starts: beside it, or beyond it when the
    /// walk goes back where it came from.
    fn turn(&self, path: &mut Path, step: usize) {
        let walk = self.picture.walk;
        let (from, into) = self.middle(step + walk.len() - 1);
        let (to, out_of) = self.middle(step);
        let node = self.points[walk.at(step) as usize];
        // How far before and after the node the bend begins and ends.
        let ahead = |middle: Point, direction: Point| {
            (node.0 - middle.0) * direction.0 + (node.1 - middle.1) * direction.1
        };
        let reach = self.radius * 1.7;
        let before = (ahead(from, into) - reach).max(0.0);
        let after = (-ahead(to, out_of) - reach).max(0.0);
        let enter = (from.0 + into.0 * before, from.1 + into.1 * before);
        let leave = (to.0 - out_of.0 * after, to.1 - out_of.1 * after);
        let turned_back = into.0 * out_of.0 + into.1 * out_of.1 < -0.98;
        let corner = if turned_back {
            let beyond = self.radius * 2.0;
            (node.0 + into.0 * beyond, node.1 + into.1 * beyond)
        } else {
            let aside = self.radius * 0.45 + self.lane * f64::from(self.lanes[step % walk.len()]);
            let normal = unit((-into.1 - out_of.1, into.0 + out_of.0));
            (node.0 + normal.0 * aside, node.1 + normal.1 * aside)
        };
        path.to('L', &[enter]).to('Q', &[corner, leave]);
    }

    fn arrow(&self, out: &mut Path, tip: Point, direction: Point) {
        let size = (self.radius * 0.62).max(1.4);
        let at = |along: f64, across: f64| {
            (
                tip.0 + size * (direction.0 * along - direction.1 * across),
                tip.1 + size * (direction.1 * along + direction.0 * across),
            )
        };
        out.to('M', &[at(0.9, 0.0)]);
        out.to('L', &[at(-0.6, 0.6), at(-0.6, -0.6)]).to('Z', &[]);
    }
}
