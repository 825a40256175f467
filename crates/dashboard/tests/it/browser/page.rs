//! A page in the browser: what a person does and sees, in a few words.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use headway_testkit::tier::{Tier, tier};
use serde_json::{Value, json};

use super::cdp::Browser;

/// How a page is shown.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Screen {
    pub(crate) width: u32,
    pub(crate) height: u32,
    /// Pixels of the screen per pixel of the page.
    pub(crate) scale: f64,
    pub(crate) dark: bool,
    pub(crate) reduced_motion: bool,
}

pub(crate) const DESKTOP: Screen = Screen {
    width: 1280,
    height: 800,
    scale: 1.0,
    dark: false,
    reduced_motion: false,
};

pub(crate) const PHONE: Screen = Screen {
    width: 360,
    height: 740,
    scale: 2.0,
    ..DESKTOP
};

/// A tab of its own, with nothing remembered from others.
pub(crate) struct Page<'a> {
    browser: &'a mut Browser,
    base: String,
    context: String,
    session: String,
    screenshots: PathBuf,
    /// Errors of the console that a test provokes on purpose.
    expected: Vec<&'static str>,
}

type Done<T = ()> = Result<T, String>;

/// Runs before the page does: the dare has been seen.
const BEFORE: &str = "try { localStorage.setItem('headway-story', 'told') } catch {}";

impl<'a> Page<'a> {
    /// Opens an address of the server, as somebody who has been there before, and waits
    /// until its first picture is drawn.
    pub(crate) fn open(
        browser: &'a mut Browser,
        base: &str,
        path: &str,
        screen: Screen,
    ) -> Done<Page<'a>> {
        let mut page = Page::blank(browser, base, screen)?;
        page.call(
            "Page.addScriptToEvaluateOnNewDocument",
            json!({ "source": BEFORE }),
        )?;
        page.go(path)?;
        Ok(page)
    }

    /// The same for somebody who comes for the first time.
    pub(crate) fn open_first(
        browser: &'a mut Browser,
        base: &str,
        screen: Screen,
    ) -> Done<Page<'a>> {
        let mut page = Page::blank(browser, base, screen)?;
        page.go("/")?;
        Ok(page)
    }

    fn blank(browser: &'a mut Browser, base: &str, screen: Screen) -> Done<Page<'a>> {
        let context = browser.call(None, "Target.createBrowserContext", json!({}))?;
        let context = text(&context["browserContextId"]);
        let target = browser.call(
            None,
            "Target.createTarget",
            json!({ "url": "about:blank", "browserContextId": context }),
        )?;
        let attached = browser.call(
            None,
            "Target.attachToTarget",
            json!({ "targetId": target["targetId"], "flatten": true }),
        )?;
        let session = text(&attached["sessionId"]);
        let screenshots = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/screenshots");
        let base = base.to_owned();
        let mut page = Page {
            browser,
            base,
            context,
            session,
            screenshots,
            expected: Vec::new(),
        };
        for domain in ["Page", "Runtime", "Log", "Network"] {
            page.call(&format!("{domain}.enable"), json!({}))?;
        }
        page.show_on(screen)?;
        Ok(page)
    }

    /// Another kind of screen.
    pub(crate) fn show_on(&mut self, screen: Screen) -> Done {
        let Screen {
            width,
            height,
            scale,
            ..
        } = screen;
        self.call(
            "Emulation.setDeviceMetricsOverride",
            json!({ "width": width, "height": height, "deviceScaleFactor": scale, "mobile": width < 500 }),
        )?;
        let scheme = if screen.dark { "dark" } else { "light" };
        let motion = if screen.reduced_motion {
            "reduce"
        } else {
            "no-preference"
        };
        self.call(
            "Emulation.setEmulatedMedia",
            json!({ "features": [ { "name": "prefers-color-scheme", "value": scheme }, { "name": "prefers-reduced-motion", "value": motion } ] }),
        )?;
        Ok(())
    }

    /// Goes to another address of the same server.
    pub(crate) fn go(&mut self, path: &str) -> Done {
        let url = if path.starts_with("http") {
            path.to_owned()
        } else {
            format!("{}{path}", self.base)
        };
        self.call("Page.navigate", json!({ "url": "about:blank" }))?;
        self.call("Page.navigate", json!({ "url": url }))?;
        self.wait_for("document.readyState === 'complete' && window.headway?.player.run && window.headway.player.moment() && window.headway.player.frame && (window.headway.view.tab !== 'ring' || window.headway.ring.moment)")
    }

    pub(crate) fn call(&mut self, method: &str, params: Value) -> Done<Value> {
        self.browser.call(Some(&self.session), method, params)
    }

    /// The value of an expression; promises are waited for.
    pub(crate) fn eval(&mut self, expression: &str) -> Done<Value> {
        let mut answer = self.call(
            "Runtime.evaluate",
            json!({ "expression": expression, "awaitPromise": true, "returnByValue": true, "userGesture": true }),
        )?;
        match answer.get("exceptionDetails") {
            None => Ok(answer["result"]["value"].take()),
            Some(problem) => Err(format!(
                "{expression}\n{}",
                problem["exception"]["description"]
                    .as_str()
                    .unwrap_or("fails")
            )),
        }
    }

    /// Waits until an expression is true. What it asks about may not be there yet, so
    /// an exception is a "not yet", too.
    pub(crate) fn wait_for(&mut self, expression: &str) -> Done {
        let begun = Instant::now();
        let mut last = String::new();
        while begun.elapsed() < Duration::from_secs(60) {
            match self.eval(&format!("(async () => Boolean({expression}))()")) {
                Ok(Value::Bool(true)) => return Ok(()),
                Ok(_) => last.clear(),
                Err(why) => last = why,
            }
            thread::sleep(Duration::from_millis(30));
        }
        let seen = self.eval("document.getElementById('toasts')?.textContent + ' | ' + document.getElementById('verdict')?.textContent")?;
        Err(format!(
            "waited in vain for: {expression}; the page says: {seen} {last}"
        ))
    }

    /// An expression has to be true now.
    pub(crate) fn check(&mut self, expression: &str) -> Done {
        match self.eval(expression)? {
            Value::Bool(true) => Ok(()),
            other => Err(format!("not true: {expression} (it is {other})")),
        }
    }

    /// Clicks in the middle of an element, as a person would.
    pub(crate) fn click(&mut self, selector: &str) -> Done {
        let at = self.eval(&format!(
            "(() => {{ const element = document.querySelector({}); if (!element) return null; element.scrollIntoView({{ block: 'nearest' }}); \
             const box = element.getBoundingClientRect(); return [box.left + box.width / 2, box.top + box.height / 2]; }})()",
            json!(selector)
        ))?;
        let [x, y] = pair(&at).ok_or_else(|| format!("there is no {selector}"))?;
        self.click_at(x, y)
    }

    /// Touches the middle of an element with a finger.
    pub(crate) fn tap(&mut self, selector: &str) -> Done {
        let at = self.eval(&format!(
            "(() => {{ const box = document.querySelector({}).getBoundingClientRect(); return [box.left + box.width / 2, box.top + box.height / 2]; }})()",
            json!(selector)
        ))?;
        let [x, y] = pair(&at).ok_or_else(|| format!("there is no {selector}"))?;
        for (kind, points) in [
            ("touchStart", json!([{ "x": x, "y": y }])),
            ("touchEnd", json!([])),
        ] {
            self.call(
                "Input.dispatchTouchEvent",
                json!({ "type": kind, "touchPoints": points }),
            )?;
        }
        Ok(())
    }

    pub(crate) fn click_at(&mut self, x: f64, y: f64) -> Done {
        self.drag(&[[x, y]])
    }

    /// Presses at the first point, moves over the others, lets go at the last.
    pub(crate) fn drag(&mut self, points: &[[f64; 2]]) -> Done {
        let mouse = |kind: &str, [x, y]: [f64; 2], buttons: u32| json!({ "type": kind, "x": x, "y": y, "button": "left", "buttons": buttons, "clickCount": 1 });
        let (first, last) = (points[0], points[points.len() - 1]);
        self.call("Input.dispatchMouseEvent", mouse("mouseMoved", first, 0))?;
        self.call("Input.dispatchMouseEvent", mouse("mousePressed", first, 1))?;
        for &point in &points[1..] {
            self.call("Input.dispatchMouseEvent", mouse("mouseMoved", point, 1))?;
        }
        self.call("Input.dispatchMouseEvent", mouse("mouseReleased", last, 0))?;
        Ok(())
    }

    /// Moves the pointer there.
    pub(crate) fn hover(&mut self, x: f64, y: f64) -> Done {
        self.call(
            "Input.dispatchMouseEvent",
            json!({ "type": "mouseMoved", "x": x, "y": y }),
        )?;
        Ok(())
    }

    /// Presses a key: a letter, or a name such as `Enter` or `Shift+ArrowRight`.
    pub(crate) fn key(&mut self, key: &str) -> Done {
        let (modifiers, name) = match key.strip_prefix("Shift+") {
            Some(name) => (8, name),
            None => (0, key),
        };
        let typed = match name {
            "Enter" => "\r",
            "Space" => " ",
            name if name.chars().count() == 1 => name,
            _ => "",
        };
        let code = match name {
            "Enter" => 13,
            "Space" => 32,
            "Tab" => 9,
            "End" => 35,
            "Home" => 36,
            "ArrowLeft" => 37,
            "ArrowUp" => 38,
            "ArrowRight" => 39,
            "ArrowDown" => 40,
            _ => 0,
        };
        let name = if name == "Space" { " " } else { name };
        let kind = if typed.is_empty() {
            "rawKeyDown"
        } else {
            "keyDown"
        };
        self.call(
            "Input.dispatchKeyEvent",
            json!({ "type": kind, "key": name, "text": typed, "modifiers": modifiers, "windowsVirtualKeyCode": code }),
        )?;
        self.call("Input.dispatchKeyEvent", json!({ "type": "keyUp", "key": name, "modifiers": modifiers, "windowsVirtualKeyCode": code }))?;
        Ok(())
    }

    /// Replaces what is in a field, and leaves it with Enter.
    pub(crate) fn fill(&mut self, selector: &str, content: &str) -> Done {
        self.eval(&format!("(() => {{ const field = document.querySelector({}); field.focus(); field.select(); }})()", json!(selector)))?;
        self.call("Input.insertText", json!({ "text": content }))?;
        self.key("Enter")
    }

    /// Drops a file on the page, as from a file manager.
    pub(crate) fn drop_file(&mut self, name: &str, content: &str) -> Done {
        let path = self.browser.folder().join(name);
        fs::write(&path, content).map_err(|error| format!("{}: {error}", path.display()))?;
        let data = json!({ "items": [], "files": [path], "dragOperationsMask": 1 });
        for kind in ["dragEnter", "dragOver", "drop"] {
            self.call(
                "Input.dispatchDragEvent",
                json!({ "type": kind, "x": 500, "y": 300, "data": data }),
            )?;
        }
        Ok(())
    }

    /// Keeps what the page looks like below target/screenshots, at night.
    pub(crate) fn screenshot(&mut self, name: &str, whole: bool) -> Done {
        if tier() == Tier::Small {
            return Ok(());
        }
        let folder = self.screenshots.clone();
        self.shoot(&folder, name, whole)
    }

    /// A picture that the documents show; with HEADWAY_UPDATE it is renewed.
    pub(crate) fn picture(&mut self, name: &str) -> Done {
        if std::env::var_os("HEADWAY_UPDATE").is_none() {
            return self.screenshot(name, false);
        }
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/images");
        self.shoot(&folder, name, false)
    }

    fn shoot(&mut self, folder: &Path, name: &str, whole: bool) -> Done {
        let shot = self.call(
            "Page.captureScreenshot",
            json!({ "format": "png", "captureBeyondViewport": whole }),
        )?;
        let bytes = base64(shot["data"].as_str().unwrap_or_default());
        fs::create_dir_all(folder).map_err(|error| error.to_string())?;
        let path = folder.join(format!("{name}.png"));
        fs::write(&path, bytes).map_err(|error| format!("{}: {error}", path.display()))
    }

    /// The console may say this, because the test asks for it.
    pub(crate) fn expect_problem(&mut self, part: &'static str) {
        self.expected.push(part);
    }

    /// Ends it. Errors of the console, exceptions, violations of the content-security
    /// policy and requests to other servers are failures.
    pub(crate) fn close(self) -> Done {
        self.browser.listen();
        let mut problems = Vec::new();
        for event in std::mem::take(&mut self.browser.events) {
            if event["sessionId"] != self.session.as_str() {
                continue;
            }
            let params = &event["params"];
            match event["method"].as_str().unwrap_or_default() {
                "Runtime.exceptionThrown" => problems.push(params["exceptionDetails"].to_string()),
                "Runtime.consoleAPICalled" if params["type"] == "error" => {
                    problems.push(params["args"].to_string());
                }
                "Log.entryAdded" if params["entry"]["level"] == "error" => {
                    problems.push(params["entry"].to_string());
                }
                "Network.requestWillBeSent" => {
                    let url = params["request"]["url"].as_str().unwrap_or_default();
                    if ![self.base.as_str(), "data:", "blob:", "about:"]
                        .iter()
                        .any(|start| url.starts_with(start))
                    {
                        problems.push(format!("a request to another server: {url}"));
                    }
                }
                _ => {}
            }
        }
        problems.retain(|problem| !self.expected.iter().any(|part| problem.contains(part)));
        self.browser.call(
            None,
            "Target.disposeBrowserContext",
            json!({ "browserContextId": self.context }),
        )?;
        if problems.is_empty() {
            Ok(())
        } else {
            Err(format!("the console has errors:\n{}", problems.join("\n")))
        }
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// Two numbers of an array.
pub(crate) fn pair(value: &Value) -> Option<[f64; 2]> {
    Some([value[0].as_f64()?, value[1].as_f64()?])
}

/// The bytes that the browser sends as text; it pads and never breaks lines.
fn base64(text: &str) -> Vec<u8> {
    let digit = |letter: u8| match letter {
        b'A'..=b'Z' => Some(letter - b'A'),
        b'a'..=b'z' => Some(letter - b'a' + 26),
        b'0'..=b'9' => Some(letter - b'0' + 52),
        b'+' => Some(62),
        b'/' => Some(63),
        _ => None,
    };
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    let (mut held, mut bits) = (0u32, 0);
    for digit in text.bytes().filter_map(digit) {
        held = held << 6 | u32::from(digit);
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            bytes.push((held >> bits) as u8);
        }
    }
    bytes
}
