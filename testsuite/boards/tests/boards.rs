//! The firmware, compiled, measured and run: a ring of eight boards, C, and the numbers that
//! the guide states.

use std::path::{Path, PathBuf};
use std::process::Command;

use headway_boards::drill::Drill;
use headway_boards::image::{self, root, target};
use headway_boards::numbers::{self, Model};
use headway_testkit::tools;

/// Whether emulator and compiler are there; else the test is skipped.
fn ready(test: &str) -> bool {
    let found = image::emulator().map(drop).and_then(|()| image::compiler());
    found.map_err(|why| tools::skip(test, &why)).is_ok()
}

#[allow(clippy::needless_pass_by_value, reason = "as the drills call it")]
fn tell(line: String) {
    println!("{line}");
}

#[test]
fn eight_boards_keep_their_promises() {
    if !ready("eight_boards_keep_their_promises") {
        return;
    }
    let drill = Drill {
        turns: 4,
        ..Drill::new(2009)
    };
    let image = image::build("sensor", &[]).expect("it compiles");
    drill.run(&image, &mut tell).expect("all is kept");
    let flawed = image::build("sensor", &["flawed"]).expect("it compiles");
    let caught = drill.run(&flawed, &mut |_| ());
    let why = caught.expect_err("a board passes tokens on before its work is done");
    assert!(why.starts_with("broken promise"), "{why}");
}

#[test]
fn eight_boards_with_keys_on_every_link() {
    if !ready("eight_boards_with_keys_on_every_link") {
        return;
    }
    let drill = Drill {
        keys: true,
        turns: 4,
        times: 0,
        ..Drill::new(7)
    };
    let image = image::build("sensor", &["hmac"]).expect("it compiles");
    drill.run(&image, &mut tell).expect("all is kept");
}

/// A row of the guide's table: what it states for a program.
fn stated(row: &str) -> Vec<f64> {
    let guide = std::fs::read_to_string(root().join("docs/embedded.md")).expect("the guide");
    let line = guide
        .lines()
        .find(|line| line.starts_with(&format!("| {row} |")));
    let line = line.unwrap_or_else(|| panic!("no row `{row}` in the guide"));
    let cells = line
        .split('|')
        .skip(2)
        .map(|cell| cell.trim().replace(',', ""));
    cells.filter_map(|cell| cell.parse().ok()).collect()
}

/// Compilers differ; what the guide states is what one of them made.
fn near(what: &str, stated: f64, measured: f64) {
    println!("{what}: stated {stated}, measured {measured}");
    let apart = (measured - stated).abs() / stated;
    assert!(apart < 0.15, "{what}: stated {stated}, measured {measured}");
}

#[test]
fn numbers_are_as_the_guide_states() {
    let test = "numbers_are_as_the_guide_states";
    if !ready(test) {
        return;
    }
    if let Err(why) = tools::program(&["arm-none-eabi-size"], "binutils-arm-none-eabi") {
        return tools::skip(test, &why);
    }
    for (features, row, flash, ram) in [
        (&[][..], "a node, 4 tokens", 24 * 1024, 4 * 1024),
        (
            &["hmac"][..],
            "the same with HMAC, a key for each link",
            40 * 1024,
            6 * 1024,
        ),
    ] {
        let program = image::build("sensor", features).expect("it fits the memory it may use");
        let size = numbers::size(&program).expect("sections");
        let mut roomy = features.to_vec();
        roomy.push("roomy");
        let cost = numbers::cost(&image::build("cost", &roomy).expect("it compiles"));
        let cost = cost.expect("it runs");
        assert_eq!(cost["settled"], 1);
        let stated = stated(row);
        let [stated_flash, stated_ram, stated_stack, stated_hop] = stated[..] else {
            panic!("{row}: {stated:?}");
        };
        near("flash", stated_flash, size.flash.into());
        near("memory", stated_ram, size.ram.into());
        near("instructions of a hop", stated_hop, cost["hop"] as f64);
        assert!(size.flash <= flash && f64::from(size.ram) + stated_stack <= f64::from(ram));
        if features.is_empty() {
            let code = numbers::function(
                &image::build("cost", &["roomy"]).expect("it compiles"),
                "core_round",
            );
            let code = code.expect("it is there");
            println!(
                "the core's round: {code} bytes, {} instructions",
                cost["core-round"]
            );
            assert!(
                code < 1024 && cost["process-bytes"] <= 16,
                "{code} bytes of code"
            );
            assert!(
                cost["core-round"] < 100,
                "{} instructions",
                cost["core-round"]
            );
        }
    }
}

#[test]
fn current_by_the_stated_model() {
    // 1,000,000 instructions at 10 million a second in a round of a second, and a
    // measurement of 0.5 s in a quarter of all rounds.
    let current = Model::STATED.current(1e6, 1e7, 0.25, 0.5, 1.0);
    assert!((current - (400.0 + 4.5 + 250.0)).abs() < 1e-9, "{current}");
    let instructions = stated("a round of a board")[0];
    for (row, round) in [("a round a second", 1.0), ("a round a minute", 60.0)] {
        let current = Model::STATED.current(instructions, 12.5e6, 0.25, 0.005, round);
        near(row, stated(row)[0], current);
    }
}

/// A static library, the header and an example that uses it.
fn library(board: bool) -> Result<PathBuf, String> {
    let firmware = root().join("firmware");
    let (mut command, folder) = if board {
        (
            Command::new(firmware.join("cargo")),
            "thumbv7m-none-eabi/release",
        )
    } else {
        (Command::new("cargo"), "release")
    };
    command.args(["build", "--release", "--quiet", "-p", "headway-c"]);
    command
        .env("CARGO_TARGET_DIR", target())
        .current_dir(&firmware);
    run(&mut command)?;
    Ok(target().join(folder).join("libheadway.a"))
}

fn run(command: &mut Command) -> Result<String, String> {
    let output = command
        .output()
        .map_err(|error| format!("{command:?}: {error}"))?;
    if !output.status.success() {
        let told = String::from_utf8_lossy(&output.stderr);
        return Err(format!("{command:?}: {}: {told}", output.status));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

const SAYS: &str = "a token went on after 2 rounds\nsettled after 25 ms; permits 10 10 10\n";

fn compile(compiler: &Path, library: &Path, to: &Path, more: &[&str]) -> Result<String, String> {
    let mut command = Command::new(compiler);
    command
        .args(["-std=c11", "-Wall", "-Wextra", "-Werror"])
        .args(more);
    command
        .arg("example.c")
        .arg(library)
        .args(["-lgcc", "-o"])
        .arg(to);
    run(command.current_dir(root().join("firmware/c")))
}

#[test]
fn a_program_in_c_on_this_computer() {
    let compiler = match tools::program(&["cc", "gcc"], "gcc") {
        Ok(compiler) => compiler,
        Err(why) => return tools::skip("a_program_in_c_on_this_computer", &why),
    };
    let folder = tempfile::tempdir().expect("a folder");
    let program = folder.path().join("example");
    compile(
        &compiler,
        &library(false).expect("a library"),
        &program,
        &[],
    )
    .expect("it compiles");
    assert_eq!(run(&mut Command::new(program)), Ok(SAYS.to_owned()));
}

#[test]
fn the_same_program_in_c_on_the_board() {
    let test = "the_same_program_in_c_on_the_board";
    if !ready(test) {
        return;
    }
    let compiler = match tools::program(&["arm-none-eabi-gcc"], "gcc-arm-none-eabi") {
        Ok(compiler) => compiler,
        Err(why) => return tools::skip(test, &why),
    };
    let folder = tempfile::tempdir().expect("a folder");
    let program = folder.path().join("example");
    let flags = "-mcpu=cortex-m3 -mthumb -Os -ffreestanding -nostdlib -T board.ld \
                 -Wl,--gc-sections -Wl,-z,noexecstack start.c";
    let flags: Vec<&str> = flags.split_whitespace().collect();
    compile(
        &compiler,
        &library(true).expect("a library"),
        &program,
        &flags,
    )
    .expect("it compiles");
    let mut board = Command::new("qemu-system-arm");
    board.args(["-M", "lm3s6965evb", "-display", "none", "-monitor", "none"]);
    board.args([
        "-semihosting-config",
        "enable=on,target=native",
        "-serial",
        "stdio",
    ]);
    board
        .arg("-kernel")
        .arg(program)
        .stdin(std::process::Stdio::null());
    assert_eq!(run(&mut board), Ok(SAYS.to_owned()));
}

#[test]
fn the_header_is_made_from_the_library() {
    let tool = match tools::program(&["cbindgen"], "cbindgen") {
        Ok(tool) => tool,
        Err(why) => return tools::skip("the_header_is_made_from_the_library", &why),
    };
    let folder = root().join("firmware/c");
    let mut command = Command::new(tool);
    command.args(["--quiet", "--config", "cbindgen.toml", "src/lib.rs"]);
    let made = run(command.current_dir(&folder)).expect("a header");
    let kept = std::fs::read_to_string(folder.join("headway.h")).expect("a header");
    assert!(
        made == kept,
        "firmware/c/headway.h is stale: cd firmware/c && cbindgen --config cbindgen.toml src/lib.rs > headway.h"
    );
}
