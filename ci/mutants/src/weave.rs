//! Puts every mutant of a file behind a switch: `a + b` becomes
//! `(if on(7) { (a) - (b) } else { a + b })`.
//!
//! The mutated branches hold the operands as they were, without the switches inside
//! them, since only one mutant is on at a time; so the text grows with the depth of
//! an expression and not exponentially.

use std::ops::Range;

use proc_macro2::Span;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};

use crate::list::{Genre, Mutant};

/// A file with switches.
pub struct Woven {
    pub text: String,
    /// Per mutant woven: where the text that only it uses is, and where the whole
    /// expression that was rewritten for it is.
    pub traces: Vec<Trace>,
}

pub struct Trace {
    pub id: u32,
    pub own: Range<usize>,
    pub site: Range<usize>,
}

/// Weaves `mutants`, all of one file, into its text. What it has no way to weave is
/// missing from the traces.
pub fn weave(text: &str, mutants: &[(u32, &Mutant)]) -> Result<Woven, String> {
    let file = syn::parse_file(text).map_err(|error| error.to_string())?;
    let mut finder = Finder {
        text,
        mutants,
        sites: Vec::new(),
    };
    for (id, mutant) in mutants {
        if mutant.genre == Genre::FnValue && !mutant.is_opaque() {
            let at = mutant.span.start.offset(text);
            let replace = vec![(*id, mutant.replacement.clone())];
            finder.sites.push(Site {
                range: at..at,
                what: What::Body,
                replace,
            });
        }
    }
    finder.visit_file(&file);
    let mut sites = finder.sites;
    // Outer before inner; what is put in between before what it stands in front of.
    sites.sort_by_key(|site| {
        let empty = site.range.is_empty();
        (site.range.start, !empty, usize::MAX - site.range.end)
    });
    let mut writer = Writer {
        text,
        out: String::new(),
        traces: Vec::new(),
    };
    writer.write(0..text.len(), &sites);
    Ok(Woven {
        text: writer.out,
        traces: writer.traces,
    })
}

/// A piece of text that is rewritten, and with what for which mutant.
struct Site {
    range: Range<usize>,
    what: What,
    replace: Vec<(u32, String)>,
}

enum What {
    /// In front of a function's body.
    Body,
    Binary {
        left: Range<usize>,
        right: Range<usize>,
    },
    Unary {
        operand: Range<usize>,
    },
    /// Behind a pattern: the arm's guard, if it has one. The replacement is the
    /// guard's value; none deletes the arm.
    Guard {
        guarded: bool,
    },
    /// A match, unchanged: what does not compile when one of these arms has a guard.
    Match {
        arms: Vec<u32>,
    },
    /// A field of a struct that has a base. The replacement is the base's field.
    Field {
        name: String,
        value: Range<usize>,
    },
}

struct Finder<'a> {
    text: &'a str,
    mutants: &'a [(u32, &'a Mutant)],
    sites: Vec<Site>,
}

impl Finder<'_> {
    fn at(&self, genre: Genre, start: usize) -> Vec<(u32, String)> {
        let here = self.mutants.iter().filter(|(_, mutant)| {
            mutant.genre == genre && mutant.span.start.offset(self.text) == start
        });
        here.map(|(id, mutant)| (*id, mutant.replacement.clone()))
            .collect()
    }

    fn add(&mut self, range: Range<usize>, what: What, replace: Vec<(u32, String)>) {
        if !replace.is_empty() {
            self.sites.push(Site {
                range,
                what,
                replace,
            });
        }
    }
}

impl<'ast> Visit<'ast> for Finder<'_> {
    fn visit_expr_binary(&mut self, expr: &'ast syn::ExprBinary) {
        // `if let ... && ...` is no value that could stand in parentheses.
        if !holds_let(&expr.left) && !holds_let(&expr.right) {
            let replace = self.at(Genre::BinaryOperator, bytes(expr.op.span()).start);
            let what = What::Binary {
                left: bytes(expr.left.span()),
                right: bytes(expr.right.span()),
            };
            self.add(bytes(expr.span()), what, replace);
        }
        visit::visit_expr_binary(self, expr);
    }

    fn visit_expr_unary(&mut self, expr: &'ast syn::ExprUnary) {
        let replace = self.at(Genre::UnaryOperator, bytes(expr.op.span()).start);
        let operand = bytes(expr.expr.span());
        self.add(bytes(expr.span()), What::Unary { operand }, replace);
        visit::visit_expr_unary(self, expr);
    }

    fn visit_expr_match(&mut self, expr: &'ast syn::ExprMatch) {
        let arms = expr.arms.iter();
        let arms = arms.flat_map(|arm| self.at(Genre::MatchArm, bytes(arm.span()).start));
        let arms: Vec<u32> = arms.map(|(id, _)| id).collect();
        if !arms.is_empty() {
            self.sites.push(Site {
                range: bytes(expr.span()),
                what: What::Match { arms },
                replace: Vec::new(),
            });
        }
        visit::visit_expr_match(self, expr);
    }

    fn visit_arm(&mut self, arm: &'ast syn::Arm) {
        let pattern = bytes(arm.pat.span());
        let mut replace = self.at(Genre::MatchArm, bytes(arm.span()).start);
        let guard = arm.guard.as_ref().map(|(_, guard)| bytes(guard.span()));
        if let Some(guard) = &guard {
            replace.extend(self.at(Genre::MatchArmGuard, guard.start));
        }
        let range = guard.clone().unwrap_or(pattern.end..pattern.end);
        self.add(
            range,
            What::Guard {
                guarded: guard.is_some(),
            },
            replace,
        );
        visit::visit_arm(self, arm);
    }

    fn visit_expr_struct(&mut self, expr: &'ast syn::ExprStruct) {
        if let Some(base) = &expr.rest {
            for field in &expr.fields {
                let name = bytes(field.member.span());
                let mut replace = self.at(Genre::StructField, name.start);
                let (path, base) = (bytes(expr.path.span()), bytes(base.span()));
                let (path, base) = (&self.text[path], &self.text[base]);
                for (_, with) in &mut replace {
                    let name = &self.text[name.clone()];
                    *with = format!("{{ let base: {path} = Clone::clone(&{base}); base.{name} }}");
                }
                let what = What::Field {
                    name: self.text[name].to_owned(),
                    value: bytes(field.expr.span()),
                };
                self.add(bytes(field.span()), what, replace);
            }
        }
        visit::visit_expr_struct(self, expr);
    }
}

fn bytes(span: Span) -> Range<usize> {
    span.byte_range()
}

fn holds_let(expr: &syn::Expr) -> bool {
    match expr {
        syn::Expr::Let(_) => true,
        syn::Expr::Binary(binary) => holds_let(&binary.left) || holds_let(&binary.right),
        _ => false,
    }
}

struct Writer<'a> {
    text: &'a str,
    out: String,
    traces: Vec<Trace>,
}

impl Writer<'_> {
    /// Writes a range of the old text with the sites in it rewritten.
    fn write(&mut self, range: Range<usize>, sites: &[Site]) {
        let mut at = range.start;
        for (index, site) in sites.iter().enumerate() {
            if site.range.start < at || site.range.end > range.end {
                continue;
            }
            self.out.push_str(&self.text[at..site.range.start]);
            self.rewrite(site, &sites[index + 1..]);
            at = site.range.end;
        }
        self.out.push_str(&self.text[at..range.end]);
    }

    fn rewrite(&mut self, site: &Site, inner: &[Site]) {
        let start = self.out.len();
        let first = self.traces.len();
        match &site.what {
            What::Body => {
                for (id, value) in &site.replace {
                    self.own(
                        *id,
                        &format!("if ::mutant_switch::on({id}) {{ return {value}; }} "),
                    );
                }
            }
            What::Binary { left, right } => {
                let (a, b) = (&self.text[left.clone()], &self.text[right.clone()]);
                self.out.push('(');
                for (id, op) in &site.replace {
                    self.own(
                        *id,
                        &format!("if ::mutant_switch::on({id}) {{ ({a}) {op} ({b}) }} else "),
                    );
                }
                self.out.push_str("{ ");
                self.write(left.clone(), inner);
                self.out.push_str(&self.text[left.end..right.start]);
                self.write(right.clone(), inner);
                self.out.push_str(" })");
            }
            What::Unary { operand } => {
                self.out.push('(');
                let a = &self.text[operand.clone()];
                for (id, _) in &site.replace {
                    self.own(
                        *id,
                        &format!("if ::mutant_switch::on({id}) {{ {a} }} else "),
                    );
                }
                self.out.push_str("{ ");
                self.out
                    .push_str(&self.text[site.range.start..operand.start]);
                self.write(operand.clone(), inner);
                self.out.push_str(" })");
            }
            What::Guard { guarded } => {
                if !guarded {
                    self.out.push_str(" if ");
                }
                // Never first, then always: one at most is on.
                let (always, never): (Vec<_>, Vec<_>) =
                    site.replace.iter().partition(|(_, value)| value == "true");
                for (id, _) in never {
                    self.own(*id, &format!("!::mutant_switch::on({id}) && "));
                }
                self.out.push('(');
                for (id, _) in always {
                    self.own(*id, &format!("::mutant_switch::on({id}) || "));
                }
                if *guarded {
                    self.write(site.range.clone(), inner);
                } else {
                    self.out.push_str("true");
                }
                self.out.push(')');
            }
            What::Match { arms } => {
                self.write(site.range.clone(), inner);
                let whole = start..self.out.len();
                for trace in &mut self.traces[first..] {
                    if arms.contains(&trace.id) {
                        trace.site = whole.clone();
                    }
                }
            }
            What::Field { name, value } => {
                self.out.push_str(&format!("{name}: "));
                for (id, with) in &site.replace {
                    self.own(*id, &format!("if ::mutant_switch::on({id}) {with} else "));
                }
                self.out.push_str("{ ");
                self.write(value.clone(), inner);
                self.out.push_str(" }");
            }
        }
        let whole = start..self.out.len();
        for trace in &mut self.traces[first..] {
            if site.replace.iter().any(|(id, _)| *id == trace.id) {
                trace.site = whole.clone();
            }
        }
    }

    fn own(&mut self, id: u32, text: &str) {
        let start = self.out.len();
        self.out.push_str(text);
        self.traces.push(Trace {
            id,
            own: start..self.out.len(),
            site: start..self.out.len(),
        });
    }
}
