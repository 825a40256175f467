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
    page: Page<'static>,
    keys: Option<[Vec<u8>; 2]>,
    emulator: Option<Child>,
}

impl Board {
    /// A board without power; its lines are sockets in `folder`, and it has keys for its two
    /// links, or none.
    pub fn new(
        image: &Path,
        folder: &Path,
        page: Page<'static>,
        keys: Option<[Vec<u8>; 2]>,
    ) -> Board {
        Board {
            image: image.to_owned(),
            folder: folder.to_owned(),
            page,
            keys,
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
        let keys = self.keys.as_ref();
        let page = Page {
            keys: keys.map(|keys| keys.each_ref().map(|key| &**key)),
            ..self.page
        };
        std::fs::write(name("page"), page.write()).map_err(|error| error.to_string())?;
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
        let log = std::fs::File::create(name("log")).map_err(|error| error.to_string())?;
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log);
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

/// A packet of gdb's remote protocol, and the answer; that it has stopped is none.
fn ask(debugger: &mut UnixStream, packet: &str) -> Result<String, String> {
    let sum = packet.bytes().fold(0_u8, u8::wrapping_add);
    write!(debugger, "${packet}#{sum:02x}").map_err(|error| error.to_string())?;
    loop {
        let answer = hear(debugger).map_err(|error| format!("{packet:.20}: {error}"))?;
        if !answer.starts_with('T') {
            return Ok(answer);
        }
    }
}

/// The next packet.
fn hear(debugger: &mut UnixStream) -> std::io::Result<String> {
    let mut packet = String::new();
    let mut byte = [0];
    while !packet.ends_with('#') {
        debugger.read_exact(&mut byte)?;
        packet.push(byte[0].into());
    }
    debugger.read_exact(&mut [0; 2])?;
    debugger.write_all(b"+")?;
    let inside = packet.trim_end_matches('#').rsplit('$').next();
    Ok(inside.unwrap_or_default().to_owned())
}

impl Drop for Board {
    fn drop(&mut self) {
        self.stop();
    }
}
