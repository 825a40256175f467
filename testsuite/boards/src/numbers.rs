//! What the programs need: flash, memory, stack, instructions, current.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use headway_testkit::tools;

/// Bytes of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// Code, constants and initial values.
    pub flash: u32,
    /// Memory besides the stack.
    pub ram: u32,
}

/// How large a program is, by the sections that the linker made.
///
/// # Errors
///
/// When binutils for the board are missing, or do not understand it.
pub fn size(program: &Path) -> Result<Size, String> {
    let tool = tools::program(&["arm-none-eabi-size"], "binutils-arm-none-eabi")?;
    let output = Command::new(tool).arg("-A").arg(program).output();
    let output = output.map_err(|error| error.to_string())?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let mut size = Size { flash: 0, ram: 0 };
    for line in text.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let &[section, bytes, _] = &*words else {
            continue;
        };
        let bytes = bytes.parse::<u32>().unwrap_or(0);
        match section {
            ".vector_table" | ".text" | ".rodata" => size.flash += bytes,
            ".data" => (size.flash, size.ram) = (size.flash + bytes, size.ram + bytes),
            ".bss" | ".uninit" => size.ram += bytes,
            _ => {}
        }
    }
    if size.flash == 0 {
        return Err(format!("no sections in {}: {text}", program.display()));
    }
    Ok(size)
}

/// The bytes of a function.
///
/// # Errors
///
/// When binutils for the board are missing, or there is no such function.
pub fn function(program: &Path, name: &str) -> Result<u32, String> {
    let tool = tools::program(&["arm-none-eabi-nm"], "binutils-arm-none-eabi")?;
    let output = Command::new(tool).arg("-S").arg(program).output();
    let output = output.map_err(|error| error.to_string())?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let line = text
        .lines()
        .find(|line| line.ends_with(&format!(" {name}")));
    let bytes = line.and_then(|line| line.split_whitespace().nth(1));
    bytes
        .and_then(|bytes| u32::from_str_radix(bytes, 16).ok())
        .ok_or_else(|| format!("no function {name} in {}", program.display()))
}

/// Runs `cost`, and says what it prints: names and numbers.
///
/// # Errors
///
/// When the emulator does not run, or the program says something else.
pub fn cost(program: &Path) -> Result<BTreeMap<String, u64>, String> {
    let mut child = Command::new("qemu-system-arm")
        .args(["-M", "lm3s6965evb", "-display", "none", "-monitor", "none"])
        .args(["-icount", "shift=5,align=off,sleep=on", "-serial", "stdio"])
        .arg("-kernel")
        .arg(program)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| format!("QEMU: {error}"))?;
    let mut found = BTreeMap::new();
    let mut ended = false;
    let lines = child.stdout.take().map(BufReader::new);
    for line in lines.into_iter().flat_map(BufReader::lines) {
        let line = line.map_err(|error| error.to_string())?;
        if line == "end" {
            ended = true;
            break;
        }
        if let Some((name, number)) = line.split_once(' ')
            && let Ok(number) = number.trim().parse()
        {
            found.insert(name.to_owned(), number);
        }
    }
    let _ = child.kill();
    let _ = child.wait();
    if ended {
        Ok(found)
    } else {
        Err("the program ended before it had said everything".to_owned())
    }
}

/// A model of the current that a board draws: three states and what each takes. The figures
/// are of no chip in particular; put in those of yours.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Model {
    /// The processor runs, in microamperes.
    pub awake: f64,
    /// It sleeps, with a clock and listening lines.
    pub asleep: f64,
    /// The sensor, when it is on, in addition.
    pub sensor: f64,
}

impl Model {
    /// 4 mA awake, 5 µA asleep, 2 mA for the sensor.
    pub const STATED: Model = Model {
        awake: 4000.0,
        asleep: 5.0,
        sensor: 2000.0,
    };

    /// Microamperes on average, of a board that runs `instructions` in a round and measures
    /// in `share` of all rounds for `sample` seconds, with `round` seconds a round and
    /// `rate` instructions a second.
    pub fn current(
        &self,
        instructions: f64,
        rate: f64,
        share: f64,
        sample: f64,
        round: f64,
    ) -> f64 {
        let awake = instructions / rate / round;
        let on = share * sample / round;
        self.awake * awake + self.asleep * (1.0 - awake) + self.sensor * on
    }
}
