//! What people send to each other: the page without a server, the program beside the ring,
//! a class with its code to scan.

use std::io::{BufRead, BufReader, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex, OnceLock};
use std::thread;

use headway_dashboard::Options;
use headway_testkit::tools;

use super::cdp::Browser;
use super::page::{DESKTOP, PHONE, Page, pair};

type Done = Result<(), String>;

/// A point that an expression names.
fn at(page: &mut Page<'_>, expression: &str) -> Result<[f64; 2], String> {
    pair(&page.eval(expression)?).ok_or_else(|| format!("no point: {expression}"))
}

pub(crate) fn the_program_is_beside_the_ring(browser: &mut Browser, base: &str) -> Done {
    let mut page = Page::open(browser, base, "/?n=12&m=3&d=4", DESKTOP)?;
    let lit = "[...document.querySelectorAll('#listing-lines li.lit')].map((line) => line.textContent.trim()).join(' | ')";
    let title = "document.getElementById('listing-title').textContent";
    page.wait_for(&format!("{title} === 'Process 0: delay'"))?;
    // The pile is at process 0, whose counter has run down.
    page.wait_for(&format!(
        "{lit} === 'r ← r + tokens that arrive | if r > 0 and c = 0: | r ← r − 1, q ← 1, c ← C'"
    ))?;
    page.fill("#round", "1")?;
    page.wait_for(&format!("{lit} === 'r ← r + tokens that arrive | if r > 0 and c = 0: | else: | q ← 0, and c ← c − 1 if c > 0'"))?;
    // From the ring to the lines and to space and time.
    let on_ring = |process: u32| {
        format!(
            "(() => {{ const {{ ring }} = headway; const {{ where }} = ring; const box = ring.canvas.getBoundingClientRect(); const angle = where.angle({process}); \
         return [box.left + where.x + where.radius * Math.cos(angle), box.top + where.y + where.radius * Math.sin(angle)]; }})()"
        )
    };
    let [x, y] = at(&mut page, &on_ring(5))?;
    page.hover(x, y)?;
    page.wait_for(&format!(
        "{title} === 'Process 5: delay' && headway.spacetime.focused === 5"
    ))?;
    // From space and time to the ring.
    let in_diagram = "(() => { const { spacetime } = headway; const box = spacetime.canvas.getBoundingClientRect(); \
         return [box.left + 46 + (spacetime.box.width - 46 - 8) * 7.5 / 12, box.top + 18 + spacetime.view.perRound * (3 - spacetime.view.first)]; })()";
    let [x, y] = at(&mut page, in_diagram)?;
    page.hover(x, y)?;
    page.wait_for(&format!("{title} === 'Process 7: delay' && headway.ring.marks.focus === 7 && headway.listing.at === 3"))?;
    page.hover(5.0, 5.0)?;
    page.wait_for("headway.ring.marks.focus === null")?;
    // From a line to all processes that execute it: one token is on its way.
    page.fill("#round", "1")?;
    let [x, y] = at(
        &mut page,
        "(() => { const box = document.querySelector('#listing-lines li:nth-child(3)').getBoundingClientRect(); return [box.left + 40, box.top + 5]; })()",
    )?;
    page.hover(x, y)?;
    page.wait_for("headway.ring.marks.lit.join() === '1'")?;
    page.screenshot("listing", false)?;
    page.close()?;

    // Of the programs that measure as well.
    let mut page = Page::open(
        browser,
        base,
        "/?n=12&m=3&program=shortest-lap&start=random&t=30",
        PHONE,
    )?;
    page.wait_for(&format!("{title} === 'Process 0: shortest-lap' && document.querySelectorAll('#listing-lines li.lit').length > 5"))?;
    page.screenshot("listing-phone", true)?;
    page.close()
}

pub(crate) fn a_class_follows_and_guesses(browser: &mut Browser, base: &str) -> Done {
    let mut page = Page::open(browser, base, "/", DESKTOP)?;
    page.expect_problem("403");
    page.click("#present")?;
    // No phone can follow to an address of this machine alone.
    page.wait_for("document.getElementById('class-dialog').open && document.querySelector('#class-code pre').textContent.startsWith(`headway serve --listen 0.0.0.0:${location.port} --secret-file `)")?;
    page.check("!document.querySelector('#class-code .code')")?;
    page.check("import('/js/classroom.js').then(({ code, onlyHere }) => code('http://10.0.0.1/').querySelector('path') && ['localhost', '127.0.0.1', '[::1]'].every(onlyHere) && !['10.0.0.1', 'ring.example'].some(onlyHere))")?;
    page.check("document.getElementById('class-link').textContent === location.href && location.search.includes('run=')")?;
    page.screenshot("class-code", false)?;
    page.click("#class-dialog .primary")?;
    // Nobody else steers, whatever they send.
    let post = "globalThis.post = (what, body) => fetch(`/api/runs/${headway.player.run.id}/${what}`, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) }).then((answer) => answer.status); 0";
    page.eval(post)?;
    page.wait_for("await post('faults', { fault: 'pile' }) === 403 && await post('seek', { round: 9 }) === 403 && await post('question', { open: true }) === 403")?;
    // The presenter does.
    page.fill("#round", "7")?;
    page.wait_for(
        "(await (await fetch(`/api/runs/${headway.player.run.id}/frame`)).json()).round === 7",
    )?;
    page.fill("#round", "0")?;
    page.click("#class-bar button:nth-of-type(2)")?;
    page.wait_for("document.getElementById('class-bar').textContent.includes('0 guesses so far')")?;
    page.wait_for("await post('guess', { who: 'a', rounds: 25 }) === 200 && await post('guess', { who: 'b', rounds: 12 }) === 200 && await post('guess', { who: 'b', rounds: 30 }) === 200")?;
    page.wait_for("document.getElementById('class-bar').textContent.includes('2 guesses so far')")?;
    // Nobody guesses what the page already says.
    page.check("['verdict', 'timebar', 'spacetime'].every((id) => getComputedStyle(document.getElementById(id)).visibility === 'hidden')")?;
    page.click("#class-bar .primary")?;
    page.wait_for("getComputedStyle(document.getElementById('timebar')).visibility === 'visible'")?;
    page.wait_for("document.querySelectorAll('#class-bar .guesses .dot').length === 2 && document.getElementById('class-bar').textContent.includes('it is 25 rounds. 1 guess right.')")?;
    page.wait_for("headway.player.playing")?;
    page.screenshot("class-guesses", false)?;
    // The next question, and a follower.
    page.click("#class-bar button:nth-of-type(2)")?;
    page.wait_for("document.getElementById('class-bar').textContent.includes('0 guesses so far')")?;
    let link = page.eval("location.href")?;
    let path = link
        .as_str()
        .and_then(|link| link.strip_prefix(base))
        .map(str::to_owned);
    let key = page.eval("sessionStorage.getItem(`headway-key-${headway.together.id}`)")?;
    page.close()?;
    let mut page = Page::open(browser, base, &path.ok_or("no link")?, PHONE)?;
    // The presenter's page is closed, and then there is one again.
    page.wait_for(
        "document.getElementById('class-bar').textContent.includes('The presenter has left')",
    )?;
    page.eval(&format!("globalThis.key = {key}; globalThis.presenter = new EventSource(`/api/runs/${{headway.player.run.id}}/events?key=${{key}}`); {post}"))?;
    page.wait_for("document.getElementById('guess')")?;
    // A follower follows: nothing can be worked, and no key does anything.
    page.check("document.querySelectorAll('[data-steers]:not(:disabled)').length === 0 && document.getElementById('play').matches(':disabled') && document.getElementById('n').matches(':disabled') && document.getElementById('timebar').ariaDisabled === 'true'")?;
    for key in ["Space", "x", ".", "z"] {
        page.key(key)?;
    }
    page.check("!headway.player.playing && headway.player.run.settings.faults.length === 0")?;
    page.fill("#guess", "19")?;
    page.wait_for("(await (await fetch(`/api/runs/${headway.player.run.id}/frame`)).json()).class.guessed === 1")?;
    page.screenshot("class-follower", false)?;
    page.eval(
        "headway.player.fault('scramble').catch((error) => { document.title = error.code; })",
    )?;
    page.wait_for("document.title === 'presented'")?;
    // The presenter plays: what the follower asks for does not grow with the rounds.
    page.eval("globalThis.steer = (what, body) => post(`${what}?key=${key}`, body); steer('question', { open: false }).then(() => steer('seek', { round: 0 }))")?;
    page.wait_for("headway.player.round === 0 && headway.player.films.length && document.querySelector('#listing-lines li.lit')")?;
    page.eval("performance.clearResourceTimings(); globalThis.link = location.href; steer('play', { playing: true, speed: 60 })")?;
    page.wait_for("headway.player.round > 200 && headway.player.frame.legitimate")?;
    page.eval("steer('play', { playing: false })")?;
    page.wait_for("!headway.player.playing && headway.player.frame.round === headway.player.round && !headway.player.frame.partial")?;
    page.check("(() => { const asked = performance.getEntriesByType('resource').map(({ name }) => name).filter((name) => !/play|seek/.test(name)); return asked.length <= 4 || asked.join(' '); })()")?;
    page.check("location.href === link")?;
    page.eval("presenter.close()")?;
    page.wait_for(
        "document.getElementById('class-bar').textContent.includes('The presenter has left')",
    )?;
    // Nobody has to wait for that.
    page.click("#class-bar button")?;
    page.wait_for("document.getElementById('class-bar').hidden && !location.search.includes('run=') && !document.getElementById('play').matches(':disabled')")?;
    page.key("x")?;
    page.wait_for("headway.player.run.settings.faults.length === 1")?;
    page.close()
}

/// A line to a server that can be cut, and be led to another one.
struct Line {
    address: SocketAddr,
    to: Arc<Mutex<Option<String>>>,
    open: Arc<Mutex<Vec<TcpStream>>>,
}

impl Line {
    fn to(server: &str) -> Line {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let line = Line {
            address: listener.local_addr().expect("an address"),
            to: Arc::new(Mutex::new(Some(server.to_owned()))),
            open: Arc::default(),
        };
        let (to, open) = (Arc::clone(&line.to), Arc::clone(&line.open));
        thread::spawn(move || {
            for near in listener.incoming().flatten() {
                let Some(server) = to.lock().expect("no panic").clone() else {
                    continue;
                };
                let Ok(far) = TcpStream::connect(server) else {
                    continue;
                };
                let ends = || Some((near.try_clone().ok()?, far.try_clone().ok()?));
                for turned in [false, true] {
                    let Some((near, far)) = ends() else { continue };
                    let (mut from, mut into) = if turned { (far, near) } else { (near, far) };
                    thread::spawn(move || {
                        let _ = std::io::copy(&mut from, &mut into);
                        let _ = into.shutdown(Shutdown::Both);
                    });
                }
                open.lock().expect("no panic").extend([near, far]);
            }
        });
        line
    }

    /// As if the server were killed; then as if another one were there, if there is one.
    fn lead(&self, server: Option<&str>) {
        *self.to.lock().expect("no panic") = server.map(str::to_owned);
        for end in self.open.lock().expect("no panic").drain(..) {
            let _ = end.shutdown(Shutdown::Both);
        }
    }
}

/// A server that is killed under a shared run that stands still: that is told, and what can
/// be done then works.
pub(crate) fn a_server_dies_under_a_shared_run(browser: &mut Browser, base: &str) -> Done {
    let server = |base: &str| base.trim_start_matches("http://").to_owned();
    let line = Line::to(&server(base));
    let near = format!("http://{}", line.address);
    let mut page = Page::open(browser, &near, "/?start=spaced&n=40", DESKTOP)?;
    for problem in [
        "ERR_EMPTY_RESPONSE",
        "ERR_INCOMPLETE_CHUNKED_ENCODING",
        "ERR_CONNECTION",
        "ERR_SOCKET_NOT_CONNECTED",
        "404",
        "NetworkError",
        "can’t establish a connection",
        "was interrupted",
    ] {
        page.expect_problem(problem);
    }
    page.click("#together")?;
    page.wait_for("headway.together.id && headway.together.source.readyState === 1")?;
    page.eval("globalThis.before = headway.together.id; 0")?;
    line.lead(None);
    page.wait_for("document.getElementById('class-bar').textContent.includes('does not answer')")?;
    // It was only the line.
    line.lead(Some(&server(base)));
    page.wait_for("document.getElementById('class-bar').hidden && headway.together.id === before")?;
    line.lead(None);
    page.wait_for("document.getElementById('class-bar').textContent.includes('does not answer')")?;
    // Another server, which knows nothing of that run.
    let other = super::serve(Options::default());
    line.lead(Some(&other.to_string()));
    page.wait_for("headway.together.id === null && headway.player.run.id !== before && document.getElementById('class-bar').hidden")?;
    page.click("#fault-scramble")?;
    page.wait_for(
        "headway.player.run.settings.faults.length === 1 && headway.player.run.processes === 40",
    )?;
    page.click("#play")?;
    page.wait_for("headway.player.round > 2")?;
    page.close()?;
    // The same where nobody watches along, and nothing was asked meanwhile.
    let mut page = Page::open(browser, base, "/", DESKTOP)?;
    page.expect_problem("404");
    page.eval("fetch(`/api/runs/${headway.player.run.id}`, { method: 'DELETE' }).then((answer) => answer.status)")?;
    page.click("#fault-scramble")?;
    page.wait_for("headway.player.run.settings.faults.length === 1 && !document.querySelector('.toast.error')")?;
    page.close()
}

/// What a phone's camera would read.
pub(crate) fn codes_can_be_read(browser: &mut Browser, base: &str) -> Done {
    let zbarimg = match tools::program(&["zbarimg"], "zbar-tools") {
        Ok(zbarimg) => zbarimg,
        Err(why) => {
            tools::skip("codes_can_be_read", &why);
            return Ok(());
        }
    };
    let mut page = Page::open(browser, base, "/explore", DESKTOP)?;
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    for length in [1, 20, 57, 110, 170, 280, 450, 900, 1700] {
        let text = "https://ring.example/?n=30&fault=scramble@40&run=".repeat(40);
        let text = &text[..length];
        let picture = page.eval(&format!(
            "(async () => {{ const {{ qr }} = await import('/js/qr.js'); const rows = qr({text:?}); const side = rows.length; const wide = 4 * side + 32; \
             const dark = (x, y) => Number(rows[Math.floor(y / 4) - 4]?.[Math.floor(x / 4) - 4] ?? 0); \
             return `P1 ${{wide}} ${{wide}}\\n` + Array.from({{ length: wide }}, (_, y) => Array.from({{ length: wide }}, (_, x) => dark(x, y)).join(' ')).join('\\n'); }})()"
        ))?;
        let file = folder.path().join("code.pbm");
        std::fs::write(&file, picture.as_str().unwrap_or("")).map_err(|error| error.to_string())?;
        let read = Command::new(&zbarimg)
            .args(["-q", "--raw"])
            .arg(&file)
            .output();
        let read = read.map_err(|error| error.to_string())?;
        let read = String::from_utf8_lossy(&read.stdout).trim_end().to_owned();
        if read != text {
            return Err(format!("{length} bytes: read {read:?}"));
        }
    }
    page.wait_for("(await import('/js/qr.js')).qr('x'.repeat(3000)) === null")?;
    page.close()
}

/// The folder, built once for both browsers; `Err` says why there is none.
fn built() -> Result<PathBuf, String> {
    static BUILT: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    BUILT.get_or_init(build).clone()
}

fn build() -> Result<PathBuf, String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("page-alone");
    let script = Command::new(root.join("scripts/static-page"))
        .arg(&folder)
        .output();
    let script = script.map_err(|_| "install python3 (Debian: apt-get install python3)")?;
    let said = String::from_utf8_lossy(&script.stderr).trim().to_owned();
    match script.status.code() {
        Some(0) => Ok(folder),
        Some(2) => Err(said),
        _ => Err(format!("FAILED: {said}")),
    }
}

/// A web server that knows nothing but files, below /some/where/, and says that programs are
/// of this kind.
fn files(folder: PathBuf, program: &'static str) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("an address");
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let folder = folder.clone();
            thread::spawn(move || {
                let mut lines = BufReader::new(&stream).lines().map_while(Result::ok);
                let asked = lines.next().unwrap_or_default();
                lines.take_while(|line| !line.is_empty()).for_each(drop);
                let path = asked.split(' ').nth(1).unwrap_or("/");
                let path = path.split('?').next().unwrap_or("/");
                let name = path.strip_prefix("/some/where/").unwrap_or("nothing");
                let name = if name.is_empty() || name.ends_with('/') {
                    format!("{name}index.html")
                } else {
                    name.to_owned()
                };
                let kind = match name.rsplit('.').next() {
                    Some("html") => "text/html",
                    Some("js") => "text/javascript",
                    Some("css") => "text/css",
                    Some("svg") => "image/svg+xml",
                    Some("wasm") => program,
                    _ => "application/octet-stream",
                };
                let (status, body) = match std::fs::read(folder.join(&name)) {
                    Ok(body) => ("200 OK", body),
                    Err(_) => ("404 Not Found", Vec::new()),
                };
                let mut to = &stream;
                let _ = write!(
                    to,
                    "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
                    body.len()
                );
                let _ = to.write_all(&body);
            });
        }
    });
    address
}

pub(crate) fn the_page_needs_no_server(browser: &mut Browser, _: &str) -> Done {
    let folder = match built() {
        Ok(folder) => folder,
        Err(why) if why.starts_with("FAILED") => return Err(why),
        Err(why) => {
            tools::skip("the_page_needs_no_server", &why);
            return Ok(());
        }
    };
    let base = &format!("http://{}", files(folder.clone(), "application/wasm"));
    let mut page = Page::open(browser, base, "/some/where/?start=random&seed=7", DESKTOP)?;
    page.check("headway.player.run.processes === 30 && document.getElementById('together').hidden && document.getElementById('present').hidden")?;
    page.wait_for("document.querySelectorAll('#listing-lines li.lit').length > 1")?;
    page.click("#play")?;
    page.wait_for("headway.player.round > 3")?;
    page.click("#fault-pile")?;
    page.wait_for(
        "headway.player.segments.length === 2 && location.search.includes('fault=pile')",
    )?;
    page.fill("#round", "10^12")?;
    page.wait_for("document.getElementById('verdict').textContent.startsWith('Legitimate')")?;
    page.screenshot("alone", false)?;
    page.click("#tab-explore")?;
    page.wait_for("document.querySelectorAll('#panel-explore svg.chart').length >= 2 && location.pathname === '/some/where/explore/'")?;
    page.click("#tab-networks")?;
    page.wait_for("document.querySelector('.network-figure .reading').textContent.length > 20")?;
    page.click("#tab-fleet")?;
    page.wait_for(
        "document.getElementById('panel-fleet').textContent.includes('no server behind it')",
    )?;
    page.close()?;
    // A web server that does not know the kind of the program sends it all the same.
    let other = &format!("http://{}", files(folder, "application/octet-stream"));
    let mut page = Page::open(
        browser,
        other,
        "/some/where/?program=moving-block&m=4",
        DESKTOP,
    )?;
    page.check("headway.player.run.program === 'moving-block'")?;
    page.close()?;
    // A view's own link works as well.
    let mut page = Page::open(browser, base, "/some/where/", DESKTOP)?;
    page.go("/some/where/lessons/index.html?step=9")?;
    page.wait_for(
        "document.querySelector('.lesson-stage .verdict-line')?.textContent.includes('more than 24 processes')",
    )?;
    page.close()
}

/// Every exercise of the handout opens, and its answer is what the page shows.
pub(crate) fn exercises_have_the_right_answers(browser: &mut Browser, base: &str) -> Done {
    let text = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/research/teaching.md");
    let text = std::fs::read_to_string(text).map_err(|error| error.to_string())?;
    let mut opened = 0;
    for exercise in text.split("\n**").skip(1) {
        let mut checks = exercise.split("<!-- check: ").skip(1);
        for link in exercise.split("](http://127.0.0.1:7007").skip(1) {
            let link = link.split(')').next().unwrap_or("");
            let mut page = Page::open(browser, base, link, DESKTOP)?;
            if let Some(check) = checks.next() {
                let check = check.split(" -->").next().unwrap_or("");
                page.wait_for(check)
                    .map_err(|why| format!("{link}: {why}"))?;
                let answer = exercise.split("\n> ").nth(1).unwrap_or("");
                for number in check.split("=== ").skip(1) {
                    let digits: String = number.chars().take_while(char::is_ascii_digit).collect();
                    if !answer.contains(&digits) {
                        return Err(format!(
                            "{link}: the answer does not say {digits}: {answer}"
                        ));
                    }
                }
            }
            page.check("[...document.querySelectorAll('.toast.error')].length === 0")?;
            page.close()?;
            opened += 1;
        }
        if checks.next().is_some() {
            return Err(format!("a check without a link: {exercise}"));
        }
    }
    match opened {
        0..10 => Err(format!("only {opened} links")),
        _ => Ok(()),
    }
}
