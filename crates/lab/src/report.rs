//! One HTML page with everything in it: figures, statements, findings.

use std::fmt::Write as _;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use headway_draw::Theme;
use headway_draw::escape::xml;

use crate::figure::{confidence, statistic};
use crate::spec::{Figure, Statistic, Sweep};
use crate::sweep::CellResult;
use crate::{Cell, VERSION};

/// A statement of the paper and what the data say about it.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// What the paper says, and where.
    pub statement: String,
    /// What decides, before looking at the data.
    pub criterion: String,
    /// The numbers found.
    pub evidence: String,
    /// Whether the data bear it out; `None` when they are too few to tell.
    pub holds: Option<bool>,
}

/// The findings on the paper's statements; none for other sweeps.
pub fn findings(sweep: &Sweep, results: &[CellResult]) -> Vec<Finding> {
    if sweep.name != "paper" {
        return Vec::new();
    }
    let data = Data { sweep, results };
    let graphs = [("graph-1", 2), ("graph-2", 5), ("graph-3", 10)];
    let mut findings: Vec<Finding> = graphs
        .iter()
        .filter_map(|&(grid, tokens)| data.few_delays_help(grid, tokens))
        .collect();
    findings.extend(data.linear());
    findings.extend(data.cubic_is_loose());
    findings
}

struct Data<'a> {
    sweep: &'a Sweep,
    results: &'a [CellResult],
}

const ROUNDS: &str = "legitimate_at";

impl Data<'_> {
    fn cells(&self, grid: &str) -> impl Iterator<Item = (&Cell, &CellResult)> {
        self.results
            .iter()
            .map(|result| (&self.sweep.cells[result.index as usize], result))
            .filter(move |(cell, _)| cell.grid == grid)
    }

    fn mean(&self, result: &CellResult) -> Option<f64> {
        statistic(self.sweep, ROUNDS, result, Statistic::Mean)
    }

    /// "The results suggest that having at least a few delay processes is
    /// beneficial."
    fn few_delays_help(&self, grid: &str, tokens: i64) -> Option<Finding> {
        let widest = self
            .cells(grid)
            .map(|(cell, _)| cell.number("separation"))
            .max()?;
        let at = |delays: i64| {
            self.cells(grid)
                .find(|(cell, _)| {
                    cell.number("delays") == delays && cell.number("separation") == widest
                })
                .map(|(_, result)| result)
        };
        let (one, few, all) = (at(1)?, at(5)?, at(50)?);
        let one_band = confidence(self.sweep, ROUNDS, one)?;
        let few_band = confidence(self.sweep, ROUNDS, few)?;
        let (one, few, all) = (self.mean(one)?, self.mean(few)?, self.mean(all)?);
        let apart = few_band.1 < one_band.0 || one_band.1 < few_band.0;
        let rest = if all < few {
            "the others help further"
        } else if all <= one {
            "the others take some of that back"
        } else {
            "the others take that back and more: tokens do not rest longer, but a delay that a \
             token passed before its last wait counts wrongly for up to d - 1 rounds, and there \
             are more such delays"
        };
        Some(Finding {
            statement: format!(
                "“Having at least a few delay processes is beneficial” (section 5.3), for {tokens} \
                 tokens on a ring of 50 with d = {widest}"
            ),
            criterion: "with 5 delays of 50 the average is below that with 1; where the two 95% \
                        confidence intervals touch, the samples are too few to tell"
                .to_owned(),
            evidence: format!(
                "1 delay: {one:.1} rounds ({:.1} to {:.1}); 5 delays: {few:.1} ({:.1} to {:.1}); 50 \
                 delays: {all:.1}: {rest}",
                one_band.0, one_band.1, few_band.0, few_band.1
            ),
            holds: apart.then_some(few < one),
        })
    }

    /// "The results suggest that expected convergence time is linear in n."
    fn linear(&self) -> Option<Finding> {
        let points: Vec<(f64, f64)> = self
            .cells("graph-4")
            .filter_map(|(cell, result)| {
                Some((cell.number("processes") as f64, self.mean(result)?))
            })
            .collect();
        let (slope, intercept, fit) = least_squares(&points)?;
        let bend = bend(&points)?;
        Some(Finding {
            statement: "“Expected convergence time is linear in n” (section 5.3), for m = 2, \
                        d = ⌊n/3⌋, n/2 delays"
                .to_owned(),
            criterion:
                "a straight line explains at least 99% of the variance of the averages, and \
                        a term in n² explains less than half a percent more"
                    .to_owned(),
            evidence: format!(
                "over {} ring sizes the line {slope:.3}·n {intercept:+.2} explains {:.2}%, and a \
                 term in n² {:.3}% more",
                points.len(),
                100.0 * fit,
                100.0 * bend
            ),
            holds: Some(fit >= 0.99 && bend < 0.005),
        })
    }

    /// "These simulations suggest that a bound O(n³) may be loose for the average
    /// case." It is loose for the worst case too.
    fn cubic_is_loose(&self) -> Option<Finding> {
        let mut largest: Option<(f64, i64)> = None;
        let mut beyond_bound = 0;
        for result in self.results {
            let n = self.sweep.cells[result.index as usize].number("processes");
            let most = statistic(self.sweep, ROUNDS, result, Statistic::Max)?;
            if largest.is_none_or(|(rounds, ring)| most / n as f64 > rounds / ring as f64) {
                largest = Some((most, n));
            }
            let last = statistic(self.sweep, "last_rest", result, Statistic::Max);
            let worst = statistic(self.sweep, "worst_last_rest", result, Statistic::Max);
            if let (Some(last), Some(worst)) = (last, worst) {
                beyond_bound += u32::from(last > worst);
            }
        }
        let (rounds, n) = largest?;
        let ratio = rounds / n as f64;
        Some(Finding {
            statement: "“A bound O(n³) may be loose for the average case” (section 5.3)".to_owned(),
            criterion:
                "no sample takes more than 2n rounds, and in no cell does the last rest come \
                        after the proved worst case (m-1)·d + max(L, d) - 1"
                    .to_owned(),
            evidence: format!(
                "the slowest sample, for its ring, took {rounds} rounds for n = {n}: {ratio:.2}·n. \
                 Cells beyond the proved worst case: {beyond_bound} of {}",
                self.results.len()
            ),
            holds: Some(ratio <= 2.0 && beyond_bound == 0),
        })
    }
}

/// Slope, intercept and the share of variance explained (R²).
fn least_squares(points: &[(f64, f64)]) -> Option<(f64, f64, f64)> {
    let count = points.len() as f64;
    if points.len() < 3 {
        return None;
    }
    let mean_x = points.iter().map(|point| point.0).sum::<f64>() / count;
    let mean_y = points.iter().map(|point| point.1).sum::<f64>() / count;
    let (mut xx, mut xy, mut yy) = (0.0, 0.0, 0.0);
    for &(x, y) in points {
        xx += (x - mean_x) * (x - mean_x);
        xy += (x - mean_x) * (y - mean_y);
        yy += (y - mean_y) * (y - mean_y);
    }
    let slope = xy / xx;
    Some((slope, mean_y - slope * mean_x, xy * xy / (xx * yy)))
}

/// The share of variance that x² explains beyond a straight line.
fn bend(points: &[(f64, f64)]) -> Option<f64> {
    let squares: Vec<(f64, f64)> = points.iter().map(|&(x, _)| (x, x * x)).collect();
    let (slope, intercept, _) = least_squares(&squares)?;
    let mean_y = points.iter().map(|point| point.1).sum::<f64>() / points.len() as f64;
    let (mut bb, mut by, mut yy) = (0.0, 0.0, 0.0);
    for &(x, y) in points {
        // What of x² is no line.
        let bent = x * x - slope * x - intercept;
        bb += bent * bent;
        by += bent * (y - mean_y);
        yy += (y - mean_y) * (y - mean_y);
    }
    Some(by * by / (bb * yy))
}

/// The page: no file beside it is needed.
pub fn html(
    sweep: &Sweep,
    pictures: &[(&Figure, String)],
    findings: &[Finding],
    command: &str,
) -> String {
    let mut page = String::new();
    let title = xml(&sweep.title);
    let _ = write!(
        page,
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         <title>{title}</title>\n<style>\n{}</style></head>\n<body><main>\n<h1>{title}</h1>\n",
        Theme::Auto.style(STYLE)
    );
    let _ = writeln!(page, "<p>{}</p>", xml(sweep.about.trim()));
    let _ = writeln!(
        page,
        "<p class=\"made\">{} cells of {} samples each, seed {}, headway {VERSION}. Made by \
         <code>{}</code></p>",
        sweep.cells.len(),
        sweep.samples,
        sweep.seed,
        xml(command)
    );
    if !findings.is_empty() {
        page.push_str("<h2>The paper's statements</h2>\n");
        for finding in findings {
            let (class, word) = match finding.holds {
                Some(true) => ("yes", "borne out"),
                Some(false) => ("no", "not borne out"),
                None => ("open", "too few samples to tell"),
            };
            let _ = writeln!(
                page,
                "<section class=\"finding\"><h3>{} <span class=\"{class}\">{word}</span></h3>\
                 <p>{}</p><p class=\"made\">Criterion: {}.</p></section>",
                xml(&finding.statement),
                xml(&finding.evidence),
                xml(&finding.criterion)
            );
        }
        page.push_str("<h2>The graphs</h2>\n");
    }
    page.push_str("<div class=\"figures\">\n");
    for (figure, svg) in pictures {
        let _ = writeln!(
            page,
            "<figure><img alt=\"{}\" src=\"data:image/svg+xml;base64,{}\"></figure>",
            xml(&format!(
                "{}: {} against {}",
                figure.title, figure.y_label, figure.x_label
            )),
            BASE64_STANDARD.encode(svg)
        );
    }
    page.push_str(
        "</div>\n<p class=\"made\">Bands are 95% confidence intervals of the mean.</p>\n",
    );
    page.push_str("</main></body></html>\n");
    page
}

const STYLE: &str = "\
:root { color-scheme: light dark }
body { color: $ink; background: $ground }
.made { color: $muted }
.finding { border-top: 1px solid $line }
.yes { color: $good }
.no { color: $bad }
body { margin: 0; font: 16px/1.5 system-ui, sans-serif }
main { max-width: 96rem; margin: 0 auto; padding: 1.5rem }
h1 { margin-top: 0 } h3 { margin: 0 0 .3rem; font-size: 1rem }
p { max-width: 75ch; margin: .3rem 0 .8rem }
.made { font-size: .875rem }
.finding { padding: .8rem 0 .2rem }
.yes, .no, .open { font-weight: 700; white-space: nowrap }
.yes::before { content: '✓ ' } .no::before { content: '✗ ' }
.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(32rem, 100%), 1fr)); gap: 1rem }
figure { margin: 0 } img { width: 100%; height: auto }
";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_a_line_and_a_parabola_is_not() {
        let line: Vec<(f64, f64)> = (1..20)
            .map(|x| (f64::from(x), 3.0 * f64::from(x) - 7.0))
            .collect();
        let (slope, intercept, fit) = least_squares(&line).unwrap();
        assert!((slope - 3.0).abs() < 1e-9 && (intercept + 7.0).abs() < 1e-9);
        assert!((fit - 1.0).abs() < 1e-9 && bend(&line).unwrap() < 1e-9);
        let parabola: Vec<(f64, f64)> = line.iter().map(|&(x, _)| (x, x * x)).collect();
        let (_, _, fit) = least_squares(&parabola).unwrap();
        assert!(bend(&parabola).unwrap() > 0.005);
        assert!((fit + bend(&parabola).unwrap() - 1.0).abs() < 1e-9);
    }
}
