//! Sweep files: what is wrong with them is said with its key and its place.

use headway_lab::SpecError;
use headway_lab::model::MODELS;
use headway_lab::{Sweep, figure, report, shipped, sweep};

fn mistake(text: &str) -> (SpecError, (usize, usize)) {
    match Sweep::parse(text) {
        Ok(_) => panic!("accepted:\n{text}"),
        Err(error) => {
            let place = error.line_and_column(text);
            (error, place)
        }
    }
}

#[test]
fn mistakes_have_a_key_and_a_place() {
    let head = "name = \"x\"\nmeasure = [\"legitimate_at\"]\n";
    for (text, key, line, column, says) in [
        ("name = ", "syntax", 1, 8, ""),
        ("measure = [\"waits\"]\n[[grid]]\n", "name", 1, 1, "missing"),
        ("name = \"a b\"\n", "name", 1, 8, "letters"),
        (
            "name = \"x\"\nmodle = \"ring\"\n",
            "modle",
            2,
            1,
            "unknown key",
        ),
        (
            "name = \"x\"\nmodel = \"rong\"\n",
            "model",
            2,
            9,
            "sensor-network",
        ),
        ("name = \"x\"\nsamples = 0\n", "samples", 2, 11, "1 to"),
        (
            "name = \"x\"\nmeasure = [\"wait\"]\n",
            "measure",
            2,
            12,
            "waits",
        ),
        (
            "name = \"x\"\nmeasure = [\"waits\"]\n",
            "grid",
            1,
            1,
            "[[grid]]",
        ),
    ] {
        let (error, place) = mistake(text);
        assert_eq!(
            (error.key.as_str(), place),
            (key, (line, column)),
            "{text}: {error}"
        );
        assert!(error.message.contains(says), "{text}: {error}");
    }
    for (grid, key, line, column, says) in [
        ("procesess = 5", "grid.procesess", 4, 13, "processes"),
        ("processes = 0", "grid.processes", 4, 13, "out of range"),
        ("processes = [5, true]", "grid.processes", 4, 17, "a number"),
        ("tokens = \"q/2\"", "grid.tokens", 4, 10, "'q'"),
        ("tokens = \"5..1\"", "grid.tokens", 4, 10, "ascending"),
        ("delays = \"most\"", "grid.delays", 4, 10, "every:K"),
        ("delays = 99", "grid.delays", 4, 10, "24 processes"),
        ("start = \"weird\"", "grid.start", 4, 9, "spaced"),
        ("start = []", "grid.start", 4, 1, "empty"),
        ("fault = \"boom@3\"", "grid.fault", 4, 9, "scramble"),
        ("fault = \"move:1:2@3\"", "grid.fault", 4, 9, "depends"),
        (
            "start = \"worst\"\nseparation = 24",
            "grid.start",
            4,
            9,
            "no worst start",
        ),
    ] {
        let text = format!("{head}[[grid]]\n{grid}\n");
        let (error, place) = mistake(&text);
        assert_eq!(error.key, key, "{text}: {error}");
        if says != "empty" {
            assert_eq!(place, (line, column), "{text}: {error}");
        }
        assert!(error.message.contains(says), "{text}: {error}");
    }
    let (error, place) = mistake(&format!(
        "{head}[[grid]]\n[[figure]]\nname = \"f\"\nx = \"delays\"\ny = \"waits\"\n"
    ));
    assert_eq!((error.key.as_str(), place), ("figure.y", (7, 5)));
}

#[test]
fn axes_expand_in_order_without_repeats() {
    let sweep = Sweep::parse(
        "name = \"x\"\nmeasure = [\"waits\"]\n[[grid]]\nprocesses = [12, \"4..6:2\"]\n\
         tokens = 2\nseparation = [\"n/m\", \"n/4+1\", 2]\n",
    )
    .unwrap();
    let cells: Vec<(i64, i64)> = sweep
        .cells
        .iter()
        .map(|cell| (cell.number("processes"), cell.number("separation")))
        .collect();
    assert_eq!(cells, [(12, 6), (12, 4), (12, 2), (4, 2), (6, 3), (6, 2)]);
}

#[test]
fn every_shipped_experiment_runs_and_is_drawn() {
    for (name, text) in shipped::EXPERIMENTS {
        let mut sweep = Sweep::parse(text).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(sweep.name, *name);
        assert!(!sweep.about.is_empty() && !sweep.figures.is_empty());
        sweep.samples = 2;
        // The cells of the costly models are all alike; some of them will do.
        let keep = if sweep.model.name == "ring" {
            usize::MAX
        } else {
            40
        };
        let cells = (0..sweep.cells.len().min(keep) as u32).collect();
        let options = sweep::Options {
            cells: Some(cells),
            ..sweep::Options::default()
        };
        let mut results = Vec::new();
        let never = std::sync::atomic::AtomicBool::new(false);
        sweep::run(&sweep, &options, &never, |event| {
            if let sweep::SweepEvent::Cell(cell) = event {
                results.push(cell);
            }
            Ok(())
        })
        .unwrap();
        for drawn in &sweep.figures {
            match figure::draw(&sweep, drawn, &results) {
                Ok(picture) => {
                    let svg = picture.finish();
                    for text in [&drawn.title, &drawn.x_label, &drawn.y_label] {
                        assert!(svg.contains(&headway_draw::escape::xml(text)), "{svg}");
                    }
                    #[cfg(feature = "png")]
                    if drawn.name == "jam" {
                        assert!(figure::png(&svg).unwrap().starts_with(b"\x89PNG"));
                    }
                    assert!(!svg.contains("NaN") && !svg.contains("inf\""), "{svg}");
                }
                Err(error) => assert!(keep == 40, "{name}: {error}"),
            }
        }
        let findings = report::findings(&sweep, &results);
        assert_eq!(findings.is_empty(), *name != "paper");
    }
}

#[test]
fn models_are_well_formed() {
    for model in MODELS {
        for (index, axis) in model.axes.iter().enumerate() {
            let before = &model.axes[..index];
            assert!(before.iter().all(|other| other.name != axis.name));
            assert!(!axis.about.is_empty());
        }
        for measure in model.measures {
            assert!(measure.scale > 0 && !measure.about.is_empty());
        }
        let first = model.measures[0].name;
        let text = format!(
            "name = \"x\"\nmodel = \"{}\"\nmeasure = [\"{first}\"]\n[[grid]]\n",
            model.name
        );
        assert_eq!(
            Sweep::parse(&text).unwrap().cells.len(),
            1,
            "defaults make sense"
        );
    }
}
