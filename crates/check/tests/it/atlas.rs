//! docs/atlas: what the engines say of the protocols that ship, beside what was published.
//!
//! `list.toml` there says which rows there are and what was published, `values.csv` has what
//! was computed, and `README.md` is written from both. With `HEADWAY_UPDATE=1` rows that are
//! new are computed, and the small ones again, with `HEADWAY_TESTS=soak` all. Without it the
//! same rows are compared with what is kept, and the page with what would be written.

use std::fmt::Write;

use headway_check::guarded::Divergences;
use headway_check::protocol::{self, Compiled, Engine, Protocol};
use headway_check::{CheckError, Control, Limits, Model, Scheduler};
use headway_testkit::tier::{Tier, tier};
use serde::Deserialize;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/atlas");
const PROTOCOLS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/protocols");
const AGAIN: &str = "run this test with HEADWAY_UPDATE=1 and look at the difference";
const COLUMNS: &str = "protocol,instance,scheduler,states,legitimate,closed,unfair,fair,steps,\
    moves,rounds,expected_steps,mean_steps,note,counterexample,fair_counterexample";
const LIMITS: Limits = Limits {
    memory_bytes: 3 << 30,
    work: 30_000_000_000,
};
/// Steps that the search for a shortest cycle may follow.
const WORK: u64 = 200_000_000;
/// States of a counterexample that are kept.
const SHOWN: usize = 12;
const CONVERGES: &str = "converges";

#[derive(Deserialize)]
struct List {
    protocol: Vec<Entry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    file: String,
    /// Settings of the rows that every run computes: "n=4 k=3", with "@central" behind them
    /// under this scheduler only.
    #[serde(default)]
    small: Vec<String>,
    #[serde(default)]
    large: Vec<String>,
    #[serde(default)]
    claim: Vec<Claim>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Claim {
    scheduler: String,
    /// In words.
    says: String,
    /// The same in the language of protocols, about the parameters and what was computed.
    holds: String,
    /// Which instances it is about.
    when: Option<String>,
    /// Who published it; without a source it is a conjecture.
    source: Option<String>,
    /// Who is right, where it differs.
    settled: Option<String>,
}

impl Entry {
    fn path(&self) -> String {
        format!("{PROTOCOLS}/{}.protocol", self.file)
    }

    fn instances(&self) -> impl Iterator<Item = &String> {
        self.small.iter().chain(&self.large)
    }

    fn protocol(&self, instance: &str) -> Protocol {
        let path = self.path();
        let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
        let pairs = instance.split(' ').filter_map(|pair| pair.split_once('='));
        let set: Vec<_> = pairs
            .map(|(name, value)| (name.to_owned(), value.parse().unwrap()))
            .collect();
        Protocol::parse(&text, &set).unwrap_or_else(|error| panic!("{path}: {error}"))
    }
}

/// By column.
#[derive(Clone)]
struct Row(Vec<String>);

impl Row {
    fn get(&self, column: &str) -> &str {
        &self.0[place(column)]
    }

    fn set(&mut self, column: &str, value: &impl ToString) {
        self.0[place(column)] = value.to_string().replace(',', ";");
    }
}

fn place(column: &str) -> usize {
    let mut names = COLUMNS.split(',');
    names.position(|name| name == column).expect("a column")
}

/// A row for each scheduler.
fn computed(entry: &Entry, instance: &str) -> Vec<Row> {
    let protocol = entry.protocol(instance);
    let only = instance.split_once('@').map(|(_, only)| only);
    let rows = Scheduler::ALL.map(|scheduler| {
        let mut row = Row(vec![String::new(); COLUMNS.split(',').count()]);
        row.set("protocol", &entry.file);
        row.set("instance", &instance);
        row.set("scheduler", &scheduler);
        if only.is_some_and(|only| only != scheduler.name()) {
            row.set("note", &"left out");
        } else if let Err(error) = compute(&protocol, scheduler, &mut row) {
            row.set("note", &format!("not computed: {error}"));
        }
        row
    });
    rows.into()
}

fn compute(protocol: &Protocol, scheduler: Scheduler, row: &mut Row) -> Result<(), CheckError> {
    let control = Control::new(LIMITS);
    let report = protocol::check_with(Engine::Explicit, protocol, Some(scheduler), &control)?;
    if report.property("given").is_some_and(|given| !given.holds) {
        row.set("note", &"not defined: steps leave the given states");
        return Ok(());
    }
    let unasked = ["closure", "convergence"];
    for property in report
        .properties
        .iter()
        .filter(|one| !unasked.contains(&&*one.name))
    {
        assert!(property.holds, "{}: {property:?}", report.model);
    }
    row.set("states", &report.states);
    row.set("legitimate", &report.legitimate);
    row.set("closed", &if report.closure() { "yes" } else { "no" });
    if !report.convergence() {
        return diverge(protocol, scheduler, &control, row);
    }
    row.set("unfair", &CONVERGES);
    row.set("fair", &CONVERGES);
    if let Some(worst) = report.worst {
        let [moves, rounds] = [worst.moves, worst.rounds]
            .map(|most| most.map_or("?".to_owned(), |most| most.to_string()));
        row.set("steps", &worst.steps);
        row.set("moves", &moves);
        row.set("rounds", &rounds);
    }
    let figures = report.figures;
    row.set("mean_steps", &format!("{:.4}", figures.mean.unwrap_or(0.0)));
    let about = figures.expected_steps_low.map(|low| format!("{low:.6}"));
    let expected = figures.expected_steps_exact.or(about);
    row.set("expected_steps", &expected.unwrap_or_default());
    Ok(())
}

/// A shortest run that never becomes legitimate, and a shortest weakly fair one.
fn diverge(
    protocol: &Protocol,
    scheduler: Scheduler,
    control: &Control,
    row: &mut Row,
) -> Result<(), CheckError> {
    if protocol.is_random() {
        row.set("unfair", &"diverges");
        row.set("fair", &"not computed where chance decides");
        return Ok(());
    }
    let model = Compiled::new(protocol)?;
    let divergences = Divergences::new(&model, scheduler, control)?;
    let verdict = |fair| match divergences.shortest(fair, WORK) {
        _ if !divergences.any(fair) => (CONVERGES.to_owned(), String::new()),
        None => ("diverges".to_owned(), String::new()),
        Some(run) => {
            let all = run.stem.iter().chain(&run.cycle).take(SHOWN);
            let states: Vec<String> = all.map(|&rank| model.show(&model.state(rank))).collect();
            let stops = run.cycle.is_empty();
            let told = format!("cycle of {}", run.cycle.len());
            let told = if stops { "stops".to_owned() } else { told };
            (told, states.join(" / "))
        }
    };
    let (unfair, fair) = (verdict(false), verdict(true));
    row.set("unfair", &unfair.0);
    row.set("counterexample", &unfair.1);
    row.set("fair", &fair.0);
    row.set("fair_counterexample", &fair.1);
    Ok(())
}

/// Whether a claim holds of a row; `None` if it is not about it or needs what is not known.
fn holds(claim: &Claim, entry: &Entry, row: &Row) -> Option<bool> {
    if claim.scheduler != row.get("scheduler") || row.get("unfair").is_empty() {
        return None;
    }
    let expected = row.get("expected_steps");
    let (over, under) = expected.split_once('/').unwrap_or((expected, "1"));
    let told = entry.protocol(row.get("instance")).instance();
    let parameters = told.split(", ").filter(|part| part.contains(" = "));
    let mut text: String = parameters.map(|one| format!("parameter {one} ")).collect();
    let converges = u8::from(row.get("unfair") == CONVERGES);
    write!(text, "parameter converges = {converges} ").unwrap();
    let mut known = ["steps", "moves", "rounds"]
        .map(|name| (name, row.get(name)))
        .to_vec();
    known.extend([("over", over), ("under", under)]);
    for (name, value) in known {
        if value.parse::<u32>().is_ok() {
            write!(text, "parameter {name} = {value} ").unwrap();
        } else if claim.holds.contains(name) {
            return None;
        }
    }
    let value = |expression: &str| {
        let text = format!("{text} graph line(1) variable x_: 0..0 legitimate: {expression}");
        let one = Protocol::parse(&text, &[]).unwrap_or_else(|error| panic!("{text}: {error}"));
        let model = Compiled::new(&one).unwrap();
        model.legitimate(&model.state(0))
    };
    let about = claim.when.as_ref().is_none_or(|when| value(when));
    about.then(|| value(&claim.holds))
}

/// A claim with what it comes to, and whether it holds wherever it was looked at.
fn judged(claim: &Claim, entry: &Entry, rows: &[Row]) -> (String, Option<bool>) {
    let by = match &claim.source {
        Some(source) => format!("published: {source}"),
        None => "conjecture".to_owned(),
    };
    let mut text = format!("{}: {} ({by}).", claim.scheduler, claim.says);
    let mut all = None;
    for (wanted, word) in [(true, "Holds"), (false, "Differs")] {
        let mine = rows.iter().filter(|row| row.get("protocol") == entry.file);
        let these = mine.filter(|row| holds(claim, entry, row) == Some(wanted));
        let names: Vec<&str> = these.map(|row| shown(row.get("instance"))).collect();
        if !names.is_empty() {
            write!(text, " **{word}** for {}.", names.join(", ")).unwrap();
            all = Some(wanted);
        }
    }
    if let Some(settled) = &claim.settled {
        write!(text, " {settled}").unwrap();
    }
    (text, all)
}

fn shown(instance: &str) -> &str {
    instance.split(" @").next().unwrap_or(instance)
}

fn cell(row: &Row) -> String {
    let get = |column| row.get(column);
    let mut text = match (get("unfair"), get("expected_steps")) {
        ("", _) => return get("note").split(':').next().unwrap_or("").to_owned(),
        (CONVERGES, "") => format!("{} / {} / {}", get("steps"), get("moves"), get("rounds")),
        (CONVERGES, expected) => format!("E {expected}"),
        (unfair, _) if unfair == get("fair") => unfair.to_owned(),
        (unfair, _) => format!("{unfair}; fair: {}", get("fair")),
    };
    if !get("mean_steps").is_empty() {
        write!(text, " ({})", get("mean_steps")).unwrap();
    }
    if get("closed") == "no" {
        text.push_str(", not closed");
    }
    text
}

fn page(list: &List, rows: &[Row]) -> String {
    let [mut body, mut conjectures, mut differences] = [const { String::new() }; 3];
    for entry in &list.protocol {
        let file = &entry.file;
        let first = entry.instances().next().expect("a row");
        let protocol = entry.protocol(first);
        let title = protocol.title().unwrap_or(file);
        let lines = protocol.text().lines();
        let about: Vec<&str> = lines.map_while(|line| line.strip_prefix('#')).collect();
        write!(
            body,
            "\n### {title}\n\n[`{file}`](../../examples/protocols/{file}.protocol).{}\n\n\
             | instance | states | legitimate | synchronous | central | locally central | \
             distributed |\n|---|---|---|---|---|---|---|\n",
            about.concat()
        )
        .unwrap();
        for instance in entry.instances() {
            let all: Vec<&Row> = of(rows, entry, instance).collect();
            let told = |column| all.iter().map(|row| row.get(column)).max().unwrap_or("");
            let (states, legitimate) = (told("states"), told("legitimate"));
            write!(body, "| {} | {states} | {legitimate} |", shown(instance)).unwrap();
            for row in all {
                write!(body, " {} |", cell(row)).unwrap();
            }
            body.push('\n');
        }
        for claim in &entry.claim {
            let (text, all) = judged(claim, entry, rows);
            let differs = all == Some(false);
            let wrong = "`settled` says who is right exactly where it differs";
            assert_eq!(differs, claim.settled.is_some(), "{file}: {text}: {wrong}");
            write!(body, "\n* {text}").unwrap();
            if claim.source.is_none() {
                assert_eq!(all, Some(true), "{file}: {text}: no conjecture");
                writeln!(conjectures, "* **{title}**, {text}").unwrap();
            } else if differs {
                writeln!(differences, "* **{title}**, {text}").unwrap();
            }
        }
        body.push_str(if entry.claim.is_empty() { "" } else { "\n" });
    }
    let frame = read("frame.txt").replace("{conjectures}\n", &conjectures);
    let frame = frame.replace("{differences}\n", &differences);
    frame.replace("{protocols}\n", &body)
}

fn of<'a>(rows: &'a [Row], entry: &'a Entry, instance: &'a str) -> impl Iterator<Item = &'a Row> {
    let wanted = move |row: &&Row| row.0[0] == entry.file && row.0[1] == instance;
    rows.iter().filter(wanted)
}

fn read(name: &str) -> String {
    std::fs::read_to_string(format!("{FOLDER}/{name}")).unwrap_or_default()
}

fn csv(rows: &[Row]) -> String {
    let lines = rows.iter().map(|row| row.0.join(",") + "\n");
    std::iter::once(format!("{COLUMNS}\n"))
        .chain(lines)
        .collect()
}

#[test]
fn the_atlas_is_what_the_engines_say() {
    let update = std::env::var_os("HEADWAY_UPDATE").is_some();
    let list: List = toml::from_str(&read("list.toml")).unwrap_or_else(|error| panic!("{error}"));
    let kept = read("values.csv");
    let row = |line: &str| Row(line.split(',').map(str::to_owned).collect());
    let kept: Vec<Row> = kept.lines().skip(1).map(row).collect();
    let mut rows: Vec<Row> = Vec::new();
    for entry in &list.protocol {
        for instance in entry.instances() {
            let before: Vec<Row> = of(&kept, entry, instance).cloned().collect();
            let again = entry.small.contains(instance) || tier() == Tier::Soak;
            let new = before.is_empty();
            assert!(
                update || !new,
                "{} {instance}: not kept; {AGAIN}",
                entry.file
            );
            rows.extend(if again || new {
                computed(entry, instance)
            } else {
                before
            });
            if update && new {
                // What takes hours is kept at once.
                let rest = kept
                    .iter()
                    .filter(|row| !rows.iter().any(|one| one.0[..2] == row.0[..2]));
                let all: Vec<Row> = rows.iter().chain(rest).cloned().collect();
                std::fs::write(format!("{FOLDER}/values.csv"), csv(&all)).unwrap();
            }
        }
    }
    let written = [
        ("values.csv", csv(&rows)),
        ("README.md", page(&list, &rows)),
    ];
    for (name, now) in written {
        if update {
            std::fs::write(format!("{FOLDER}/{name}"), &now).unwrap();
        }
        let kept = read(name);
        for (number, (kept, now)) in (1..).zip(kept.lines().zip(now.lines())) {
            assert_eq!(
                kept, now,
                "docs/atlas/{name}:{number}; if it is meant, {AGAIN}"
            );
        }
        assert_eq!(kept.len(), now.len(), "docs/atlas/{name}; {AGAIN}");
    }
}
