//! Links, files that come in, files that go out.

use serde_json::Value;

use super::cdp::Browser;
use super::page::{DESKTOP, Page};

type Done = Result<(), String>;

/// What is on show: settings, places, counters, and the picture itself.
const SHOWN: &str = "(() => { const { player, ring } = headway; ring.draw(); const moment = player.moment(); return JSON.stringify([{ ...player.run.settings, round: 0 }, player.round, \
    [...moment.hop], [...moment.resting], [...moment.counter], document.getElementById('verdict').textContent, ring.canvas.toDataURL().length]); })()";

const STATE: &str = r#"{ "separation": 4, "processes": [
  {"program": "delay", "resting": 3, "counter": 2}, {"program": "relay"}, {"program": "relay", "queued": 1}, {"program": "delay", "counter": 1},
  {"program": "relay"}, {"program": "relay"}, {"program": "delay"}, {"program": "relay"}, {"program": "relay", "resting": 1}, {"program": "delay"},
  {"program": "relay"}, {"program": "relay"}, {"program": "delay"}, {"program": "relay"}, {"program": "relay"}, {"program": "delay"},
  {"program": "relay"}, {"program": "relay"}, {"program": "delay"}, {"program": "relay"}, {"program": "relay"}, {"program": "delay"} ] }"#;

pub(crate) fn a_link_shows_the_same(browser: &mut Browser, base: &str) -> Done {
    let mut page = Page::open(browser, base, "/", DESKTOP)?;
    page.fill("#n", "48")?;
    page.fill("#m", "6")?;
    page.fill("#d", "7")?;
    page.click("[data-start=random]")?;
    page.fill("#seed", "77")?;
    page.wait_for("headway.player.run.settings.seed === 77 && headway.player.run.processes === 48 && headway.player.run.separation === 7")?;
    page.eval("(() => { const select = document.getElementById('delays'); select.value = 'every'; select.dispatchEvent(new Event('change', { bubbles: true })); })()")?;
    page.wait_for("headway.player.run.settings.delays === 'every:7'")?;
    page.fill("#round", "23")?;
    page.wait_for("headway.player.round === 23 && headway.player.frame.round === 23")?;
    page.click("#fault-scramble")?;
    page.wait_for("headway.player.segments.length === 2")?;
    page.fill("#round", "31")?;
    page.wait_for("headway.player.round === 31 && headway.player.moment() && headway.player.frame.round === 31 && !headway.player.frame.partial && location.search.includes('t=31')")?;
    let (shown, link) = (page.eval(SHOWN)?, page.eval("location.href")?);
    page.close()?;

    let link = link.as_str().ok_or("no link")?;
    let mut page = Page::open(browser, base, link, DESKTOP)?;
    page.wait_for("headway.player.moment() && headway.player.frame.round === 31 && !headway.player.frame.partial")?;
    let again = page.eval(SHOWN)?;
    if shown != again {
        return Err(format!("{link} shows\n{again}\nand was made from\n{shown}"));
    }
    page.check(&format!("location.href === {}", Value::from(link)))?;
    // The controls say the same as the link.
    page.check("document.getElementById('n').value === '48' && document.getElementById('delays').value === 'every' && document.getElementById('seed').value === '77'")?;
    // Back and forward go through tabs.
    page.click("#tab-explore")?;
    page.wait_for("location.pathname === '/explore'")?;
    page.eval("history.back()")?;
    page.wait_for("location.pathname === '/' && !document.getElementById('panel-ring').hidden")?;
    page.close()
}

pub(crate) fn a_bad_link_is_explained(browser: &mut Browser, base: &str) -> Done {
    let mut page = Page::open(browser, base, "/?n=7000000&m=3", DESKTOP)?;
    page.expect_problem("422");
    page.expect_problem("400");
    page.expect_problem("413");
    page.check("document.querySelector('.toast.error').textContent.includes('7000000')")?;
    page.check("headway.player.run.processes === 30")?;
    page.close()
}

pub(crate) fn a_state_file_is_dropped(browser: &mut Browser, base: &str) -> Done {
    let mut page = Page::open(browser, base, "/", DESKTOP)?;
    page.drop_file("state.json", STATE)?;
    page.wait_for("headway.player.run.processes === 22")?;
    page.wait_for("headway.player.films.length > 0 && headway.player.frame && location.hash.startsWith('#state=')")?;
    page.check("headway.player.run.tokens === 5 && headway.player.run.separation === 4")?;
    page.check("[...headway.player.moment().hop].sort().join() === '0,0,0,2,8'")?;
    page.wait_for("document.getElementById('n').value === '22'")?;
    page.screenshot("dropped-state", false)?;
    let (shown, link) = (page.eval(SHOWN)?, page.eval("location.href")?);
    page.go(link.as_str().unwrap_or_default())?;
    let again = page.eval(SHOWN)?;
    if shown != again {
        return Err(format!(
            "the link of a dropped state shows\n{again}\nnot\n{shown}"
        ));
    }
    page.close()
}

/// A run of `headway check --witness`, with a loop: stepped through, and round again.
pub(crate) fn a_run_is_stepped_through(browser: &mut Browser, base: &str) -> Done {
    let mut page = Page::open(browser, base, "/", DESKTOP)?;
    let run = r#"{"model": "Colouring", "start": null, "repeats_from": 1,
        "states_in_words": ["colour 0 0 1  up T F F", "colour 1 0 1  up T F F", "colour 0 0 1  up T T F"]}"#;
    page.drop_file("run.json", run)?;
    page.wait_for("document.querySelector('dialog[open] h2')?.textContent === 'Colouring'")?;
    page.check("document.querySelectorAll('.witness td').length === 6 && !document.querySelector('.witness .changed')")?;
    let changed = "[...document.querySelectorAll('.witness .changed')].map((cell) => cell.textContent).join() ===";
    page.key("ArrowRight")?;
    page.check(&format!("{changed} '1'"))?;
    page.key("ArrowRight")?;
    page.check(&format!("{changed} '0,T'"))?;
    page.screenshot("witness", false)?;
    page.key("ArrowRight")?;
    page.check("document.querySelector('dialog[open] .note').textContent.startsWith('state 1 of 2; after state 2 comes state 1')")?;
    page.check("headway.player.run.processes !== 3")?;
    page.close()
}

pub(crate) fn a_broken_file_changes_nothing(browser: &mut Browser, base: &str) -> Done {
    let mut page = Page::open(browser, base, "/?start=random&t=5", DESKTOP)?;
    let before = page.eval(SHOWN)?;
    page.expect_problem("400");
    page.expect_problem("422");
    page.drop_file(
        "broken.json",
        &STATE.replace("\"counter\": 2", "\"counter\": 9"),
    )?;
    page.wait_for("document.querySelector('.toast.error')?.textContent.includes('line 2')")?;
    page.check("document.querySelector('.toast.error').textContent.includes('counter')")?;
    let after = page.eval(SHOWN)?;
    if before != after {
        return Err(format!(
            "a file that cannot be read changed\n{before}\nto\n{after}"
        ));
    }
    page.close()
}

pub(crate) fn pictures_states_and_films_are_saved(browser: &mut Browser, base: &str) -> Done {
    let mut page = Page::open(browser, base, "/?start=random&seed=3&t=4&speed=20", DESKTOP)?;
    page.eval(
        "globalThis.file = async (kind, rounds = 6) => { const { name, blob } = await headway.makeFile(kind, headway.player, { rounds }); \
         return { name, blob, bytes: new Uint8Array(await blob.arrayBuffer()), text: () => blob.text() }; }; 0",
    )?;
    page.check(
        "file('svg').then(async ({ name, text }) => { const picture = new DOMParser().parseFromString(await text(), 'image/svg+xml'); \
         return name.endsWith('.svg') && !picture.querySelector('parsererror') && picture.querySelectorAll('path').length > 20 && picture.querySelector('title').textContent.includes('round 4'); })",
    )?;
    page.check(
        "file('png').then(async ({ blob, bytes }) => { const image = await createImageBitmap(blob); return bytes[1] === 0x50 && image.width === 2560 && image.height === 1440; })",
    )?;
    // The state that is saved is the one on show, and can be opened again.
    page.check(
        "file('json').then(async ({ text }) => { const state = JSON.parse(await text()); const moment = headway.player.moment(); \
         const tokens = state.processes.flatMap((process, index) => Array(process.queued + process.resting).fill(index)); \
         return state.separation === 6 && JSON.stringify(tokens) === JSON.stringify([...moment.hop].sort((a, b) => a - b)); })",
    )?;
    page.check("file('film').then(async ({ name, text }) => name.endsWith('.svg') && /@keyframes token4/.test(await text()) && (await text()).includes('from round 4 on'))")?;
    // One click has the code of this state, and what it shows elsewhere is the same.
    page.eval("globalThis.copied = ''; navigator.clipboard.writeText = async (text) => { copied = text; }; 0")?;
    page.click("#embed")?;
    page.wait_for("document.getElementById('embed-dialog').open && copied === document.getElementById('embed-code').value")?;
    page.check("copied.startsWith(`<iframe src=\"${location.href.replace(/&/g, '&amp;')}\" `) && location.search.includes('seed=3') && location.search.includes('t=4')")?;
    page.click("#embed-dialog .primary")?;
    // The same picture, seen.
    page.eval("file('svg').then(({ blob }) => { const image = new Image(); image.src = URL.createObjectURL(blob); image.style.cssText = 'position:fixed;inset:0;width:100%;height:100%;z-index:99'; document.body.append(image); return image.decode(); })")?;
    page.screenshot("export-svg", false)?;
    page.close()
}
