//! A browser, spoken to over Chromium's debugging pipe: messages of JSON, each ended by a
//! zero byte. That needs neither a port nor a library for WebSockets; the two pipes
//! are named ones, which the shell opens as descriptors 3 and 4. A browser ends when its pipe
//! does, so it never outlives the tests, and the shell then removes its folder. Firefox is
//! spoken to in the same words, which `firefox.mjs` translates.

use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use headway_testkit::tools;
use serde_json::{Value, json};

/// Which browser.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Kind {
    Chromium,
    Firefox,
}

impl Kind {
    /// The program and its arguments; or what to install.
    pub(crate) fn command(self) -> Result<Vec<PathBuf>, String> {
        match self {
            Kind::Chromium => {
                let names = ["chromium", "chromium-browser", "google-chrome"];
                let flags = [
                    "--headless",
                    "--no-sandbox",
                    "--disable-gpu",
                    "--disable-background-networking",
                    "--disable-component-update",
                    "--disable-sync",
                    "--disable-dev-shm-usage",
                    "--no-first-run",
                    "--remote-debugging-pipe",
                ];
                let program = tools::program(&names, "chromium")?;
                Ok([program]
                    .into_iter()
                    .chain(flags.map(PathBuf::from))
                    .collect())
            }
            Kind::Firefox => {
                let bridge =
                    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/browser/firefox.mjs");
                Ok(vec![
                    tools::program(&["node"], "nodejs")?,
                    bridge,
                    tools::node_modules("puppeteer-core")?,
                    tools::program(&["firefox-esr", "firefox"], "firefox-esr")?,
                ])
            }
        }
    }
}

/// No answer takes longer than this, unless something hangs.
const PATIENCE: Duration = Duration::from_secs(240);

/// A browser that runs.
pub(crate) struct Browser {
    to: File,
    from: Receiver<Value>,
    last_id: u64,
    /// What it told without being asked.
    pub(crate) events: Vec<Value>,
    folder: PathBuf,
}

impl Browser {
    /// Starts one with a fresh profile.
    pub(crate) fn start(kind: Kind, command: Vec<PathBuf>) -> Result<Browser, String> {
        let folder = tempfile::tempdir().map_err(|error| format!("no folder for it: {error}"))?;
        let folder = folder.keep();
        let (input, output) = (folder.join("to-browser"), folder.join("from-browser"));
        let made = Command::new("mkfifo").arg(&input).arg(&output).status();
        if !made.is_ok_and(|status| status.success()) {
            return Err("mkfifo cannot make the pipes to the browser".into());
        }
        let profile = (kind == Kind::Chromium)
            .then(|| format!("--user-data-dir={}", folder.join("profile").display()));
        let mut child = Command::new("sh")
            .arg("-c")
            .arg("\"$@\" 3<\"$FOLDER/to-browser\" 4>\"$FOLDER/from-browser\"; rm -rf \"$FOLDER\"")
            .arg("sh")
            .args(command)
            .args(profile)
            .env("FOLDER", &folder)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| format!("cannot start a shell: {error}"))?;
        // Opening waits for the other side, in the order in which the shell opens.
        let open = |error| format!("cannot open a pipe to the browser: {error}");
        let to = OpenOptions::new().write(true).open(&input).map_err(open)?;
        let back = File::open(&output).map_err(open)?;
        let (sender, from) = channel();
        thread::spawn(move || {
            for message in BufReader::new(back).split(0) {
                let Ok(message) = message else { break };
                let Ok(value) = serde_json::from_slice(&message) else {
                    continue;
                };
                // Nobody listens any more: the pipe is read to its end all the same.
                let _ = sender.send(value);
            }
            let _ = child.wait();
        });
        Ok(Browser {
            to,
            from,
            last_id: 0,
            events: Vec::new(),
            folder,
        })
    }

    /// Calls a method of the protocol and waits for its answer.
    pub(crate) fn call(
        &mut self,
        session: Option<&str>,
        method: &str,
        params: Value,
    ) -> Result<Value, String> {
        self.last_id += 1;
        let id = self.last_id;
        let mut message = json!({ "id": id, "method": method });
        message["params"] = params;
        if let Some(session) = session {
            message["sessionId"] = session.into();
        }
        let mut bytes = message.to_string().into_bytes();
        bytes.push(0);
        self.to
            .write_all(&bytes)
            .map_err(|error| format!("{method}: the browser is gone: {error}"))?;
        let deadline = Instant::now() + PATIENCE;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let mut answer = self.from.recv_timeout(left).map_err(|error| match error {
                RecvTimeoutError::Timeout => {
                    format!("{method}: no answer in {} seconds", PATIENCE.as_secs())
                }
                RecvTimeoutError::Disconnected => format!("{method}: the browser is gone"),
            })?;
            if answer["id"] != id {
                self.events.push(answer);
                continue;
            }
            return match answer["error"]["message"].as_str() {
                Some(error) => Err(format!("{method}: {error}")),
                None => Ok(answer["result"].take()),
            };
        }
    }

    /// Takes in what has been told meanwhile.
    pub(crate) fn listen(&mut self) {
        self.events.extend(self.from.try_iter());
    }

    /// A folder of this browser's own.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }
}
