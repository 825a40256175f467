//! One board: a page of flash, an emulator, and a way into its memory.

use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use headway_firmware::page::Page;

/// Where the page is, and where the memory is.
const PAGE_AT: u32 = 0x2_0000;
const MEMORY_AT: u32 = 0x2000_0000;

/// The memory of a program without authentication, in bytes.
pub const MEMORY_BYTES: u32 = 4096;

/// An emulated board.
#[derive(Debug)]
pub struct Board {
    image: PathBuf,
    folder: PathBuf,
    page: Page,
    emulator: Option<Child>,
}

impl Board {
    /// A board without power; its lines are sockets in `folder`.
    pub fn new(image: &Path, folder: &Path, page: Page) -> Board {
        Board {
            image: image.to_owned(),
            folder: folder.to_owned(),
            page,
            emulator: None,
        }
    }

    /// Gives it power; `salt` is a number that it has not had before.
    ///
    /// # Errors
    ///
    /// When the emulator does not start.
    pub fn start(&mut self, salt: u64) -> Result<(), String> {
        let name = |kind: &str| self.folder.join(format!("{}.{kind}", self.page.index));
        self.page.salt = salt;
        std::fs::write(name("page"), self.page.write()).map_err(|error| error.to_string())?;
        let mut command = Command::new("qemu-system-arm");
        command.args(["-M", "lm3s6965evb", "-display", "none", "-monitor", "none"]);
        // An instruction takes 32 ns of the board's time, whatever the computer does.
        command.args(["-icount", "shift=5,align=off,sleep=on"]);
        command.arg("-kernel").arg(&self.image);
        let page = name("page").display().to_string();
        command.args([
            "-device",
            &format!("loader,file={page},addr={PAGE_AT:#x},force-raw=on"),
        ]);
        for line in 0..3 {
            let path = name(&line.to_string()).display().to_string();
            command.args(["-chardev", &format!("socket,id=line{line},path={path}")]);
            command.args(["-serial", &format!("chardev:line{line}")]);
        }
        let debugger = name("gdb").display().to_string();
        command.args(["-gdb", &format!("unix:{debugger},server=on,wait=off")]);
        command.stdin(Stdio::null()).stdout(Stdio::null());
        let child = command.spawn().map_err(|error| format!("QEMU: {error}"))?;
        self.emulator = Some(child);
        Ok(())
    }

    /// Takes its power.
    pub fn stop(&mut self) {
        if let Some(mut emulator) = self.emulator.take() {
            let _ = emulator.kill();
            let _ = emulator.wait();
        }
    }

    /// Whether its emulator still runs.
    pub fn runs(&mut self) -> bool {
        let ended = self.emulator.as_mut().map(Child::try_wait);
        matches!(ended, Some(Ok(None)))
    }

    /// Writes into its memory from outside, as a debugger does, while it stands still.
    ///
    /// # Errors
    ///
    /// When the emulator does not answer.
    pub fn poke(&self, offset: u32, bytes: &[u8]) -> Result<(), String> {
        let path = self.folder.join(format!("{}.gdb", self.page.index));
        let mut debugger = UnixStream::connect(&path).map_err(|error| error.to_string())?;
        let limit = Some(Duration::from_secs(20));
        debugger
            .set_read_timeout(limit)
            .map_err(|error| error.to_string())?;
        ask(&mut debugger, "?")?;
        for (at, piece) in (0..).zip(bytes.chunks(256)) {
            let hex: String = piece.iter().map(|byte| format!("{byte:02x}")).collect();
            let address = MEMORY_AT + offset + at * 256;
            let answer = ask(
                &mut debugger,
                &format!("M{address:x},{:x}:{hex}", piece.len()),
            )?;
            if answer != "OK" {
                return Err(format!("the emulator answered {answer} to a write"));
            }
        }
        // It goes on.
        ask(&mut debugger, "D").map(drop)
    }
}

/// A packet of gdb's remote protocol, and the answer.
fn ask(debugger: &mut UnixStream, packet: &str) -> Result<String, String> {
    let sum = packet.bytes().fold(0_u8, u8::wrapping_add);
    write!(debugger, "${packet}#{sum:02x}").map_err(|error| error.to_string())?;
    let mut answer = Vec::new();
    let mut byte = [0];
    let mut after = 0;
    while after < 2 {
        debugger
            .read_exact(&mut byte)
            .map_err(|error| format!("no answer to {packet:.20}: {error}"))?;
        if answer.contains(&b'#') {
            after += 1;
        }
        answer.push(byte[0]);
    }
    debugger
        .write_all(b"+")
        .map_err(|error| error.to_string())?;
    let text = String::from_utf8_lossy(&answer).into_owned();
    let inside = text
        .split_once('$')
        .and_then(|(_, rest)| rest.split_once('#'));
    inside
        .map(|(inside, _)| inside.to_owned())
        .ok_or_else(|| format!("the emulator answered {text}"))
}

impl Drop for Board {
    fn drop(&mut self) {
        self.stop();
    }
}
