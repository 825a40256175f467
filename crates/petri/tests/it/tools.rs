//! Files checked by tools that nobody here wrote: jing and xmllint validate
//! against the PNML grammar, pm4py and SNAKES read the same net.
//!
//! scripts/install-tools installs the tools. The grammar is not part of this project: the
//! environment variable HEADWAY_PNML_GRAMMAR names its entry file, `ptnet.pntd`, or the
//! folder with it.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use headway_core::{Configuration, Process, Program, Ring, Separation};
use headway_petri::circuit::Circuit;
use headway_petri::net::{Direction, Marking, Net};
use headway_petri::separate::{Method, Request, add};
use headway_petri::{EventGraph, invariant, pnml, ring};
use headway_testkit::tools;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::common::circle;
use crate::pnml::spoilt;

/// Nets of all kinds that this crate writes. Ids and names agree in all, because
/// readers differ in which of the two they show.
fn specimens() -> Vec<(Net, Marking)> {
    let mut nets = Vec::new();
    for (processes, hops, delays) in [
        (1, 1, 1),
        (1, 4, 1),
        (2, 3, 0),
        (5, 2, 2),
        (8, 3, 8),
        (13, 1, 4),
    ] {
        let separation = Separation::new(hops).expect("at least 1");
        let programs = (0..processes)
            .map(|process| {
                if process < delays {
                    Program::Delay
                } else {
                    Program::Relay
                }
            })
            .collect();
        let ring = Ring::new(separation, programs).expect("not empty");
        let mut state = Configuration::piled(&ring, 3, 0);
        let last = processes - 1;
        state.processes[last] = Process {
            queued: 2,
            ..state.processes[last]
        };
        nets.push(ring::to_net(&ring, &state).expect("nobody measures"));
    }
    let plant = circle(7);
    let mut start = Marking(vec![0; plant.places()]);
    start.0[0] = 2;
    for method in [Method::MinorRing, Method::Monitor] {
        let circuit = Circuit {
            places: (0..7).collect(),
            transitions: (0..7).collect(),
        };
        let request = Request {
            circuit,
            separation: 3,
            at: None,
            method,
        };
        let done = add(&plant, &start, &request).expect("there is room");
        nets.push((done.net, done.marking));
    }
    nets
}

/// What only a validator is to see: odd ids, weights, huge numbers, extras.
fn oddities() -> Vec<(Net, Marking)> {
    let mut net = Net::new("1 odd net");
    net.name = "a < b & \"c\"".to_owned();
    net.add_place("1", 0);
    net.add_place("é ü", 1 << 40);
    net.name_last_place("<é>");
    net.add_transition("page");
    net.add_arc(0, 0, Direction::PlaceToTransition, u32::MAX.into());
    net.add_arc(1, 0, Direction::TransitionToPlace, 2);
    let mut odd = vec![(net, Marking(vec![u64::MAX, 0]))];
    let text = format!(
        "<x:pnml xmlns:x=\"{}\"><x:net id=\"n\" type=\"{}\"><x:page id=\"g\"><x:place id=\"p\">\
         <x:toolspecific tool=\"zoo\" version=\"1\" xmlns:z=\"urn:z\"><z:ape><b/></z:ape></x:toolspecific>\
         </x:place><x:referencePlace id=\"r\" ref=\"p\"/><x:transition id=\"t\"/>\
         <x:arc id=\"k\" source=\"r\" target=\"t\"/></x:page></x:net></x:pnml>",
        pnml::NAMESPACE,
        pnml::NET_TYPE
    );
    let read = pnml::read(text.as_bytes()).expect("valid").remove(0);
    odd.push((read.net, read.marking));
    odd
}

fn grammar() -> Result<PathBuf, String> {
    let Some(path) = std::env::var_os("HEADWAY_PNML_GRAMMAR").map(PathBuf::from) else {
        return Err(
            "set HEADWAY_PNML_GRAMMAR to ptnet.pntd of the PNML grammar (RELAX NG), which is not \
             part of this project"
                .to_owned(),
        );
    };
    let path = if path.is_dir() {
        path.join("ptnet.pntd")
    } else {
        path
    };
    if path.is_file() {
        Ok(path)
    } else {
        Err(format!(
            "HEADWAY_PNML_GRAMMAR: there is no file {}",
            path.display()
        ))
    }
}

#[test]
#[ignore = "make test-all"]
fn jing_accepts_what_is_written() -> Result<(), String> {
    validate("jing_accepts_what_is_written", "jing", "jing", &["-i"])
}

#[test]
#[ignore = "make test-all"]
fn xmllint_accepts_what_is_written() -> Result<(), String> {
    validate(
        "xmllint_accepts_what_is_written",
        "xmllint",
        "libxml2-utils",
        &["--noout", "--relaxng"],
    )
}

/// Every specimen is valid, and a spoilt one is not.
fn validate(test: &str, tool: &str, package: &str, before: &[&str]) -> Result<(), String> {
    // Written and read without the tool, too.
    let files = specimens().into_iter().chain(oddities());
    let files: Vec<(Net, String)> = files
        .map(|(net, marking)| {
            let text = pnml::to_string(&net, &marking);
            let back = pnml::read(text.as_bytes()).expect("what is written can be read");
            assert_eq!(back.len(), 1, "{}", net.id);
            (net, text)
        })
        .collect();
    let found = grammar().and_then(|grammar| {
        tools::program(&[tool], package)?;
        Ok(grammar)
    });
    let grammar = match found {
        Ok(grammar) => grammar,
        Err(why) => {
            tools::skip(test, &why);
            return Ok(());
        }
    };
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let check = |name: &str, text: &str| -> Result<(bool, String), String> {
        let path = folder.path().join(name);
        std::fs::write(&path, text).map_err(|error| error.to_string())?;
        let output = Command::new(tool)
            .args(before)
            .arg(&grammar)
            .arg(&path)
            .output()
            .map_err(|error| format!("{tool}: {error}"))?;
        let said = [output.stdout, output.stderr].concat();
        Ok((
            output.status.success(),
            String::from_utf8_lossy(&said).into_owned(),
        ))
    };
    for (index, (net, text)) in files.into_iter().enumerate() {
        let (valid, said) = check(&format!("{index}.pnml"), &text)?;
        if !valid {
            return Err(format!(
                "specimen {index} ({}) is not valid: {said}",
                net.id
            ));
        }
        let spoilt = text.replacen("<page ", "<leaf/><page ", 1);
        if check("spoilt.pnml", &spoilt)?.0 {
            return Err(format!(
                "{tool} accepts a spoilt file; is the grammar the right one?"
            ));
        }
    }
    Ok(())
}

#[test]
#[ignore = "make test-all"]
fn pm4py_and_snakes_read_the_same_net() -> Result<(), String> {
    let python = match tools::python(&["pm4py", "snakes", "numpy"], "pm4py SNAKES numpy") {
        Ok(python) => python,
        Err(why) => {
            tools::skip("pm4py_and_snakes_read_the_same_net", &why);
            return Ok(());
        }
    };
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let mut tasks = Vec::new();
    let nets = specimens();
    for (index, (net, marking)) in nets.iter().enumerate() {
        let file = folder.path().join(format!("{index}.pnml"));
        std::fs::write(&file, pnml::to_string(net, marking)).map_err(|error| error.to_string())?;
        let graph = EventGraph::of(net, marking).map_err(|error| error.to_string())?;
        let ids = |i: &invariant::Invariant| -> Vec<String> {
            i.places
                .iter()
                .map(|&place| net.place_id(place).to_owned())
                .collect()
        };
        let invariants: Vec<_> = invariant::generators(&graph).iter().map(ids).collect();
        tasks.push(json!({"file": file, "invariants": invariants}));
    }
    // A false invariant and a changed marking must be noticed.
    let mut false_task = tasks[3].clone();
    false_task["invariants"][0].as_array_mut().map(Vec::pop);
    tasks.push(false_task);
    let answers: Vec<Value> = ask(&python, "read.py", &json!(tasks))?;
    for ((net, marking), (answer, task)) in nets.iter().zip(answers.iter().zip(&tasks)) {
        for tool in ["pm4py", "SNAKES"] {
            compare(net, marking, &answer[tool])
                .map_err(|why| format!("{tool}, {}: {why}", net.id))?;
        }
        let own = answer["pm4py"]["own_invariants"].as_u64();
        let ours = task["invariants"].as_array().map(|list| list.len() as u64);
        if own != ours {
            return Err(format!("pm4py finds {own:?} P-invariants, we {ours:?}"));
        }
    }
    let noticed = answers
        .last()
        .is_some_and(|answer| answer["SNAKES"]["invariants_hold"] == false);
    let (net, marking) = &nets[3];
    let mut changed = marking.clone();
    changed.0[0] += 1;
    if !noticed || compare(net, &changed, &answers[3]["pm4py"]).is_ok() {
        return Err("a false invariant or marking goes unnoticed".to_owned());
    }
    Ok(())
}

/// Gives a script some JSON and reads its answer.
fn ask<T: DeserializeOwned>(python: &Path, script: &str, task: &Value) -> Result<T, String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/tools");
    let mut child = Command::new(python)
        .arg(folder.join(script))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| error.to_string())?;
    let input = child.stdin.take();
    let sent = input.map(|mut input| input.write_all(task.to_string().as_bytes()));
    let output = child
        .wait_with_output()
        .map_err(|error| error.to_string())?;
    let said = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() || !matches!(sent, Some(Ok(()))) {
        return Err(format!("the Python script failed: {said}"));
    }
    serde_json::from_slice(&output.stdout).map_err(|error| format!("{error}: {said}"))
}

/// Python's own XML reader finds the same nets in all dialects, and refuses
/// nothing as XML that is read here.
#[test]
#[ignore = "make test-all"]
fn python_reads_the_same_dialects_and_xml() -> Result<(), String> {
    let python = match tools::python(&["xml.etree.ElementTree"], "python3") {
        Ok(python) => python,
        Err(why) => {
            tools::skip("python_reads_the_same_dialects_and_xml", &why);
            return Ok(());
        }
    };
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/pnml/dialects");
    let files = std::fs::read_dir(folder).map_err(|error| error.to_string())?;
    let files: Vec<PathBuf> = files.flatten().map(|file| file.path()).collect();
    let read = |text: &[u8]| pnml::read(text).map_err(|error| error.to_string());
    let mut texts: Vec<String> = spoilt::variants().collect();
    // The parser takes `:xmlns` for `xmlns` and `</:net>` for `</net>`; it is too kind
    // about nothing else.
    let kindness = |text: &str| text.contains(" :xmlns") || text.contains("</:");
    texts.retain(|text| pnml::read(text.as_bytes()).is_ok() && !kindness(text));
    let accepted = texts.len();
    texts.push("<pnml>]]></pnml>".to_owned());
    let answer: Value = ask(
        &python,
        "second.py",
        &json!({"files": files, "texts": texts}),
    )?;
    if answer["not_well_formed"] != json!([accepted]) {
        let first = answer["not_well_formed"][0].as_u64().unwrap_or(0) as usize;
        return Err(format!("read, although not well-formed: {}", texts[first]));
    }
    for (path, seen) in files
        .iter()
        .zip(answer["files"].as_array().into_iter().flatten())
    {
        let bytes = std::fs::read(path).map_err(|error| error.to_string())?;
        let imported = read(&bytes)?.remove(0);
        let mut seen = seen.clone();
        seen["invariants_hold"] = json!(true);
        seen["invariants_span"] = json!(true);
        compare(&imported.net, &imported.marking, &seen)
            .map_err(|why| format!("{}: {why}", path.display()))?;
    }
    if files.len() < 6 {
        return Err(format!("only {} files of dialects", files.len()));
    }
    Ok(())
}

fn compare(net: &Net, marking: &Marking, seen: &Value) -> Result<(), String> {
    let places: BTreeMap<&str, u64> = (0..net.places())
        .map(|place| (net.place_id(place), marking.0[place]))
        .collect();
    let mut transitions: Vec<&str> = (0..net.transitions())
        .map(|transition| net.transition_id(transition))
        .collect();
    transitions.sort_unstable();
    let mut arcs: Vec<(&str, &str, u64)> = net
        .arcs()
        .iter()
        .map(|arc| {
            let place = net.place_id(arc.place as usize);
            let transition = net.transition_id(arc.transition as usize);
            match arc.direction {
                Direction::PlaceToTransition => (place, transition, arc.weight),
                Direction::TransitionToPlace => (transition, place, arc.weight),
            }
        })
        .collect();
    arcs.sort_unstable();
    for (what, ours) in [
        ("places", json!(places)),
        ("transitions", json!(transitions)),
        ("arcs", json!(arcs)),
        ("invariants_hold", json!(true)),
        ("invariants_span", json!(true)),
    ] {
        if seen[what] != ours {
            return Err(format!(
                "{what} differ:\n  we write {ours}\n  it reads {}",
                seen[what]
            ));
        }
    }
    Ok(())
}
