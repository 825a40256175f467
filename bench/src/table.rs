//! The table: work, ours, baseline, ratio, goal, met or not.

use std::alloc::{GlobalAlloc, Layout, System};
use std::fmt::{self, Write as _};
use std::hint::black_box;
use std::str::FromStr;
use std::sync::atomic::{AtomicBool, AtomicIsize, Ordering};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

/// The heap, which counts only while [`peak_bytes`] asks it to: threads that all write
/// one counter would keep one another waiting, and what they do would seem to be slow.
struct Heap {
    counting: AtomicBool,
    current: AtomicIsize,
    peak: AtomicIsize,
}

#[global_allocator]
static HEAP: Heap = Heap {
    counting: AtomicBool::new(false),
    current: AtomicIsize::new(0),
    peak: AtomicIsize::new(0),
};

impl Heap {
    fn count(&self, bytes: isize) {
        if self.counting.load(Ordering::Relaxed) {
            let now = self.current.fetch_add(bytes, Ordering::Relaxed) + bytes;
            self.peak.fetch_max(now, Ordering::Relaxed);
        }
    }
}

// SAFETY: all is done by the system's allocator.
unsafe impl GlobalAlloc for Heap {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        self.count(layout.size() as isize);
        // SAFETY: the caller's promises are those that it asks for.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        self.count(layout.size() as isize);
        // SAFETY: as above.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        self.count(-(layout.size() as isize));
        // SAFETY: as above.
        unsafe { System.dealloc(memory, layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        self.count(size as isize - layout.size() as isize);
        // SAFETY: as above.
        unsafe { System.realloc(memory, layout, size) }
    }
}

/// All rows measured so far.
#[derive(Default)]
pub(crate) struct Table {
    /// Which area is being measured.
    pub(crate) area: &'static str,
    pub(crate) rows: Vec<Measured>,
}

/// A row, where it belongs, and which version was measured.
#[derive(Deserialize, Serialize)]
pub(crate) struct Measured {
    pub(crate) area: String,
    pub(crate) version: String,
    #[serde(flatten)]
    pub(crate) row: Row,
}

/// One claim.
#[derive(Deserialize, Serialize)]
pub(crate) struct Row {
    /// What is done, with its size.
    pub(crate) work: String,
    /// What we need for it.
    pub(crate) ours: String,
    /// What it is compared with, and what that needs.
    pub(crate) baseline: String,
    /// The ratio that the goal is about.
    pub(crate) ratio: f64,
    /// What the ratio has to be.
    pub(crate) goal: Goal,
}

/// What a ratio has to be.
#[derive(Clone, Copy, Deserialize, Serialize)]
#[serde(into = "String", try_from = "String")]
pub(crate) enum Goal {
    /// Baseline over ours: this many times less.
    AtLeast(f64),
    /// Ours over the baseline: at most this many times.
    AtMost(f64),
    /// Nobody has asked for any: it is for the reader to know.
    None,
}

impl fmt::Display for Goal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Goal::AtLeast(least) => write!(f, "≥ {least}"),
            Goal::AtMost(most) => write!(f, "≤ {most}"),
            Goal::None => write!(f, "none"),
        }
    }
}

impl From<Goal> for String {
    fn from(goal: Goal) -> String {
        goal.to_string()
    }
}

impl TryFrom<String> for Goal {
    type Error = String;

    fn try_from(text: String) -> Result<Goal, String> {
        let number = |text: &str| f64::from_str(text).map_err(|error| format!("{text}: {error}"));
        match text.split_once(' ') {
            Some(("≥", least)) => number(least).map(Goal::AtLeast),
            Some(("≤", most)) => number(most).map(Goal::AtMost),
            None if text == "none" => Ok(Goal::None),
            _ => Err(format!("{text}: expected a goal such as ≥ 2, ≤ 2 or none")),
        }
    }
}

impl Row {
    /// Whether the goal is met; nothing where there is none.
    pub(crate) fn met(&self) -> Option<bool> {
        match self.goal {
            Goal::AtLeast(least) => Some(self.ratio >= least),
            Goal::AtMost(most) => Some(self.ratio <= most),
            Goal::None => None,
        }
    }
}

impl Table {
    /// Adds a row and shows it at once on standard error.
    pub(crate) fn add(&mut self, row: Row) {
        eprintln!("  {}: {} (goal {})", row.work, number(row.ratio), row.goal);
        self.rows.push(Measured {
            area: self.area.to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            row,
        });
    }

    /// Whether every goal is met.
    pub(crate) fn all_met(&self) -> bool {
        self.rows
            .iter()
            .all(|measured| measured.row.met() != Some(false))
    }
}

/// Rows as a table in Markdown.
pub(crate) fn markdown(rows: &[&Measured]) -> String {
    let mut text = String::from(
        "| work | ours | baseline | ratio | goal | met | version |\n|---|---|---|---|---|---|---|\n",
    );
    for Measured { version, row, .. } in rows {
        let met = match row.met() {
            Some(true) => "yes",
            Some(false) => "NO",
            None => "–",
        };
        let (ratio, goal) = (number(row.ratio), row.goal);
        let Row {
            work,
            ours,
            baseline,
            ..
        } = row;
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "| {work} | {ours} | {baseline} | {ratio} | {goal} | {met} | {version} |"
        );
    }
    text
}

/// The shortest of `times` runs of `work`: noise only ever adds.
pub(crate) fn best_of<T>(times: u32, mut work: impl FnMut() -> T) -> Duration {
    (0..times)
        .map(|_| {
            let start = Instant::now();
            black_box(work());
            start.elapsed()
        })
        .min()
        .unwrap_or_default()
}

/// Bytes of heap that `work` needs at most at one time, beyond what there was.
pub(crate) fn peak_bytes<T>(work: impl FnOnce() -> T) -> (T, usize) {
    HEAP.current.store(0, Ordering::Relaxed);
    HEAP.peak.store(0, Ordering::Relaxed);
    HEAP.counting.store(true, Ordering::Relaxed);
    let result = work();
    HEAP.counting.store(false, Ordering::Relaxed);
    (result, HEAP.peak.load(Ordering::Relaxed).unsigned_abs())
}

/// `ours` over `theirs`.
pub(crate) fn ratio(ours: Duration, theirs: Duration) -> f64 {
    ours.as_secs_f64() / theirs.as_secs_f64()
}

/// A duration for people.
pub(crate) fn time(duration: Duration) -> String {
    let seconds = duration.as_secs_f64();
    if seconds >= 1.0 {
        format!("{seconds:.2} s")
    } else if seconds >= 1e-3 {
        format!("{:.2} ms", seconds * 1e3)
    } else if seconds >= 1e-6 {
        format!("{:.2} µs", seconds * 1e6)
    } else {
        format!("{:.0} ns", seconds * 1e9)
    }
}

/// A ratio for people.
pub(crate) fn number(value: f64) -> String {
    if value >= 100.0 {
        format!("{value:.0}")
    } else if value >= 0.01 || value == 0.0 {
        format!("{value:.2}")
    } else {
        format!("{value:.5}")
    }
}
