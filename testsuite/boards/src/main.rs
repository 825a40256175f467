//! `make firmware`: compiles the firmware, runs rings of boards in QEMU, disturbs them and
//! checks what they promise.
//!
//! `headway-boards [SEED [TIMES]]`: everything is done TIMES times (1) to a ring without
//! keys and to one with keys, and a flaw that is built in has to be noticed.

use std::process::ExitCode;

use headway_boards::drill::Drill;
use headway_boards::image;
use headway_boards::wire::Faults;

fn main() -> ExitCode {
    let mut numbers = Vec::new();
    for argument in std::env::args().skip(1) {
        match argument.parse::<u64>() {
            Ok(number) => numbers.push(number),
            Err(_) => {
                eprintln!("error: `{argument}` is no number: headway-boards [SEED [TIMES]]");
                return ExitCode::from(2);
            }
        }
    }
    let seed = numbers.first().copied().unwrap_or(2009);
    let times = numbers.get(1).map_or(1, |times| *times as u32);
    if let Err(why) = image::emulator().map(drop).and_then(|()| image::compiler()) {
        eprintln!("error: {why}");
        return ExitCode::from(2);
    }
    match run(seed, times) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("error: {why}");
            ExitCode::FAILURE
        }
    }
}

fn run(seed: u64, times: u32) -> Result<(), String> {
    let mut tell = |line| println!("{line}");
    let drill = Drill {
        times,
        ..Drill::new(seed)
    };
    drill.run(&image::build("sensor", &[])?, &mut tell)?;
    let good_lines = Drill {
        faults: Faults::default(),
        times: 0,
        turns: 60,
        ..drill
    };
    good_lines.run(&image::build("sensor", &[])?, &mut tell)?;
    let keyed = Drill {
        keys: true,
        ..drill
    };
    keyed.run(&image::build("sensor", &["hmac"])?, &mut tell)?;
    match drill.run(&image::build("sensor", &["flawed"])?, &mut |_| ()) {
        Ok(()) => Err("a board that passes tokens on too early was not noticed".to_owned()),
        Err(why) if why.starts_with("broken promise") => {
            println!("✓ a board that passes tokens on too early: {why}");
            Ok(())
        }
        Err(why) => Err(why),
    }
}
