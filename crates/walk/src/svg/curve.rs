//! The walk as an arrowed curve that keeps beside the links.

use std::fmt::Write as _;

use super::{COLOURS, Point, Scene, unit};

impl Scene<'_> {
    /// The walk, one curve for the stretch ahead of each token, in its colour.
    pub(super) fn walk(&self, out: &mut String) {
        let walk = self.picture.walk;
        let starts = walk.even_tokens(self.picture.tokens.min(walk.len()));
        let width = (self.radius * 0.24).max(0.6);
        let arrows_every = (walk.len() / 240).max(1);
        for (token, &start) in starts.iter().enumerate() {
            let end = starts.get(token + 1).copied().unwrap_or(walk.len());
            let colour = COLOURS[token % COLOURS.len()];
            let mut path = String::new();
            let mut arrows = String::new();
            let (from, _) = self.middle(start + walk.len() - 1);
            let _ = write!(path, "M{:.1} {:.1}", from.0, from.1);
            for step in start..end {
                let (to, direction) = self.middle(step);
                self.turn(&mut path, step);
                let _ = write!(path, "L{:.1} {:.1}", to.0, to.1);
                if step % arrows_every == 0 {
                    self.arrow(&mut arrows, to, direction);
                }
            }
            let _ = writeln!(
                out,
                "<path class=\"walk\" stroke=\"{colour}\" stroke-width=\"{width:.2}\" d=\"{path}\"/>\
                 <path fill=\"{colour}\" d=\"{arrows}\"/>"
            );
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
    fn turn(&self, path: &mut String, step: usize) {
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
        let _ = write!(
            path,
            "L{:.1} {:.1}Q{:.1} {:.1} {:.1} {:.1}",
            enter.0, enter.1, corner.0, corner.1, leave.0, leave.1
        );
    }

    fn arrow(&self, out: &mut String, tip: Point, direction: Point) {
        let size = (self.radius * 0.62).max(1.4);
        let at = |along: f64, across: f64| {
            (
                tip.0 + size * (direction.0 * along - direction.1 * across),
                tip.1 + size * (direction.1 * along + direction.0 * across),
            )
        };
        let (head, left, right) = (at(0.9, 0.0), at(-0.6, 0.6), at(-0.6, -0.6));
        let _ = write!(
            out,
            "M{:.1} {:.1}L{:.1} {:.1} {:.1} {:.1}Z",
            head.0, head.1, left.0, left.1, right.0, right.1
        );
    }
}
