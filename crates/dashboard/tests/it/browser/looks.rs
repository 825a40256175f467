//! What it looks like: light and dark, phones, less motion, screen readers, large
//! rings. Pictures are kept to be looked at.

use headway_testkit::tools;

use super::cdp::Browser;
use super::page::{DESKTOP, PHONE, Page, Screen};
use super::tabs::fleet_of;

type Done = Result<(), String>;

const VIEWS: [(&str, &str); 8] = [
    ("ring", "/?start=random&t=6"),
    ("moving-block", "/?m=4&program=moving-block&t=90"),
    ("lessons", "/lessons?step=2"),
    ("explore", "/explore"),
    ("networks", "/networks"),
    ("fleet", "/fleet"),
    ("lesson-chain", "/lessons?step=1"),
    ("lesson-dijkstra", "/lessons?step=11"),
];

/// Dark or not, its name, and the ground that it has.
const THEMES: [(bool, &str, &str); 2] = [
    (false, "light", "rgb(252, 252, 250)"),
    (true, "dark", "rgb(20, 23, 27)"),
];

/// Until what has changed is drawn.
const DRAWN: &str =
    "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))";

/// Until nothing more is on its way, but the frames of a ring that plays.
const QUIET: &str = "new Promise((done) => { const count = () => performance.getEntriesByType('resource').filter(({ name }) => !name.includes('/frame?')).length; \
    let last = count(); let calm = 0; \
    const look = () => { const now = count(); calm = now === last ? calm + 1 : 0; last = now; \
    if (calm > 8) done(true); else setTimeout(look, 60); }; look(); })";

pub(crate) fn light_and_dark(browser: &mut Browser, base: &str) -> Done {
    let ground = "getComputedStyle(document.body).backgroundColor";
    for (name, path) in VIEWS {
        let mut page = Page::open(browser, base, path, DESKTOP)?;
        page.eval(QUIET)?;
        for (dark, theme, colour) in THEMES {
            page.show_on(Screen { dark, ..DESKTOP })?;
            page.wait_for(&format!("{ground} === '{colour}'"))?;
            page.eval(DRAWN)?;
            page.screenshot(&format!("{name}-{theme}"), false)?;
        }
        page.close()?;
    }
    // The button wins over the system, and is remembered.
    let mut page = Page::open(browser, base, "/", DESKTOP)?;
    page.click("#theme")?;
    page.wait_for(&format!("{ground} === 'rgb(20, 23, 27)'"))?;
    // The canvas has changed too, not only what is around it.
    page.check(
        "headway.ring.draw() === undefined && document.documentElement.dataset.theme === 'dark'",
    )?;
    page.go("/")?;
    page.check(&format!("{ground} === 'rgb(20, 23, 27)'"))?;
    page.click("#theme")?;
    page.wait_for(&format!("{ground} === 'rgb(252, 252, 250)'"))?;
    page.close()
}

/// What docs/dashboard.md shows: what each picture says is on it is there.
pub(crate) fn pictures_of_the_documents(browser: &mut Browser, base: &str) -> Done {
    let shown = [
        (
            "dashboard",
            "/?t=15",
            false,
            "document.getElementById('centre-word').textContent === 'too close' && headway.player.frame.round === 15",
        ),
        (
            "dashboard-lesson",
            "/lessons?step=4",
            false,
            "document.querySelector('.tries') ? document.querySelector('.lesson-stage .verdict-line').textContent.startsWith('A jam') : void document.querySelector('.predict .quiet').click()",
        ),
        (
            "dashboard-dark",
            "/?n=500&m=20&d=20&start=random&t=200",
            true,
            "document.getElementById('verdict').textContent.startsWith('Not yet') && headway.player.frame.round === 200",
        ),
    ];
    for (name, path, dark, there) in shown {
        let mut page = Page::open(browser, base, path, Screen { dark, ..DESKTOP })?;
        page.wait_for(there)
            .map_err(|why| format!("{name}: {why}"))?;
        page.eval(QUIET)?;
        page.picture(name)?;
        page.close()?;
    }
    Ok(())
}

pub(crate) fn a_phone_shows_everything(browser: &mut Browser, base: &str) -> Done {
    for (name, path) in VIEWS {
        let mut page = Page::open(browser, base, path, PHONE)?;
        page.eval(QUIET)?;
        page.check("document.documentElement.scrollWidth <= 360 ? true : [...document.querySelectorAll('body *')].filter((e) => e.getBoundingClientRect().right > 361).map((e) => e.id || e.className || e.tagName).join()")?;
        for (dark, theme, _) in THEMES {
            page.show_on(Screen { dark, ..PHONE })?;
            page.eval(DRAWN)?;
            page.screenshot(&format!("phone-{name}-{theme}"), true)?;
        }
        page.close()?;
    }
    // It plays there, too, and is spaced within its screen.
    let mut page = Page::open(browser, base, "/", PHONE)?;
    page.check("document.getElementById('ring').getBoundingClientRect().width <= 360")?;
    page.click("#play")?;
    page.wait_for("document.getElementById('centre-word').textContent === 'legitimate'")?;
    page.screenshot("phone-legitimate", false)?;
    page.close()
}

pub(crate) fn less_motion_when_asked(browser: &mut Browser, base: &str) -> Done {
    let still = Screen {
        reduced_motion: true,
        ..DESKTOP
    };
    let mut page = Page::open(browser, base, "/", still)?;
    page.eval("globalThis.between = 0; globalThis.seen = new Set(); headway.player.on('moment', () => { const moment = headway.player.moment(); if (!moment) return; seen.add(moment.round); if (moment.hop.some((hop) => hop % 1)) between += 1; }); 0")?;
    page.click("#play")?;
    page.wait_for("seen.size > 8")?;
    page.check("between === 0")?;
    page.close()?;
    // Without the wish it glides: the check can fail.
    let mut page = Page::open(browser, base, "/", DESKTOP)?;
    page.eval("globalThis.between = 0; headway.player.on('moment', () => { if (headway.player.moment()?.hop.some((hop) => hop % 1)) between += 1; }); 0")?;
    page.click("#play")?;
    page.wait_for("between > 0")?;
    page.close()
}

pub(crate) fn a_screen_reader_is_told(browser: &mut Browser, base: &str) -> Done {
    let mut page = Page::open(browser, base, "/", DESKTOP)?;
    page.wait_for("document.getElementById('verdict-live').textContent === 'not legitimate'")?;
    page.check("document.getElementById('verdict-live').getAttribute('aria-live') === 'polite'")?;
    // What counts down is not announced: few changes from pile to legitimate.
    page.eval("globalThis.told = []; new MutationObserver(() => told.push(document.getElementById('verdict-live').textContent)).observe(document.getElementById('verdict-live'), { childList: true, characterData: true, subtree: true }); 0")?;
    page.click("#play")?;
    page.wait_for("told.some((text) => text.startsWith('Legitimate'))")?;
    page.check("told.length <= 2")?;
    for path in ["/", "/lessons?step=2", "/explore", "/networks", "/fleet"] {
        page.go(path)?;
        page.eval(QUIET)?;
        // Everything that can be worked has a name; every picture, too; ids are unique.
        page.check(
            "(() => { const nameless = [...document.querySelectorAll('button, input:not([hidden]), select, canvas:not([aria-hidden]), svg[role=img], [role=slider]')].filter((element) => element.offsetParent !== null && \
             !(element.getAttribute('aria-label') || element.textContent.trim() || [...(element.labels ?? [])].some((label) => label.textContent.trim()) || element.title)); \
             const ids = [...document.querySelectorAll('[id]')].map((element) => element.id); const twice = ids.filter((id, index) => ids.indexOf(id) !== index); \
             return nameless.length + twice.length === 0 || nameless.map((element) => element.outerHTML).join() + twice.join(); })()",
        )
        .map_err(|why| format!("{path}: {why}"))?;
    }
    page.close()
}

pub(crate) fn large_rings_are_drawn(browser: &mut Browser, base: &str) -> Done {
    for (n, path) in [
        (500, "/?n=500&m=25&d=20&start=random&speed=30"),
        (10_000, "/?n=10000&m=500&d=20&start=random&speed=60"),
    ] {
        let mut page = Page::open(browser, base, path, DESKTOP)?;
        page.eval(QUIET)?;
        page.check(&format!("headway.ring.where.single === {}", n == 500))?;
        // Something is drawn all round the circle.
        page.check(
            "(() => { const { canvas, where, box } = headway.ring; headway.ring.draw(); const context = canvas.getContext('2d'); let inked = 0; \
             for (let share = 0; share < 64; share += 1) { const angle = where.angle((share / 64) * where.n); const data = context.getImageData(Math.round((where.x + where.radius * Math.cos(angle)) * box.scale) - 3, \
             Math.round((where.y + where.radius * Math.sin(angle)) * box.scale) - 3, 7, 7).data; if (data.some((value, index) => index % 4 === 3 && value > 0)) inked += 1; } return inked === 64 || `${inked} of 64`; })()",
        )?;
        page.screenshot(&format!("ring-{n}"), false)?;
        page.close()?;
    }
    Ok(())
}

/// What opens on top of a view, or is added to it: its name, where, how, and when it is there.
const OPENED: [(&str, &str, &str, &str); 9] = [
    (
        "embed",
        "/",
        "document.getElementById('embed').click()",
        "document.getElementById('embed-dialog').open",
    ),
    (
        "keys",
        "/",
        "document.getElementById('keys').click()",
        "document.getElementById('keys-dialog').open",
    ),
    (
        "class",
        "/",
        "document.getElementById('present').click()",
        "document.getElementById('class-dialog').open && document.querySelector('#class-code pre')",
    ),
    (
        "question",
        "/",
        "document.getElementById('present').click()",
        "document.querySelector('#class-bar button') && (document.getElementById('class-dialog').close(), document.querySelectorAll('#class-bar button')[1].click(), \
         document.getElementById('class-bar').textContent.includes('guesses so far'))",
    ),
    (
        "follower",
        "/",
        "headway.together.share().then(() => fetch(`/api/runs/${headway.together.id}/class`, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: '{}' }))",
        "document.body.classList.contains('led')",
    ),
    (
        "away",
        "/",
        "headway.together.share().then(() => headway.together.reached(false))",
        "document.getElementById('class-bar').classList.contains('bad')",
    ),
    (
        "run",
        "/",
        "import('/js/witness.js').then(({ showWitness }) => showWitness({ model: 'Colouring', start: null, repeats_from: 1, states_in_words: ['colour 0 1', 'colour 1 1'] }))",
        "document.querySelector('dialog[open] .witness')",
    ),
    (
        "strike",
        "/?n=40&m=many&start=spaced&t=9",
        "document.getElementById('fault-scramble').click()",
        "document.querySelector('#beat .dot') && document.querySelector('.toast.error') && document.querySelector('#faults button')",
    ),
    (
        "selection",
        "/?start=spaced",
        "document.getElementById('ring').focus(); document.getElementById('ring').dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowRight', shiftKey: true, bubbles: true }))",
        "document.getElementById('fault-selection').textContent !== 'Scramble selection'",
    ),
];

/// What axe-core has against a page as it is, light and dark.
fn axe(page: &mut Page<'_>, axe: &str, screen: Screen) -> Result<Vec<String>, String> {
    let run = "axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) => \
        violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 120)).join(' ; ')}`).join('\\n'))";
    let mut found = Vec::new();
    page.eval(&format!("{axe}; 0"))?;
    for (dark, theme, colour) in THEMES {
        page.show_on(Screen { dark, ..screen })?;
        page.wait_for(&format!(
            "getComputedStyle(document.body).backgroundColor === '{colour}'"
        ))?;
        page.eval(DRAWN)?;
        let said = page.eval(run)?;
        if said != "" {
            let said = said.as_str().unwrap_or("no answer");
            found.push(format!("{theme}, {} px: {said}", screen.width));
        }
    }
    Ok(found)
}

/// axe-core finds nothing in anybody's way: every view, light and dark, desktop and phone,
/// and what opens on top of the page.
pub(crate) fn axe_has_nothing_to_say(browser: &mut Browser, base: &str) -> Done {
    let source = match tools::node_modules("axe-core") {
        Ok(modules) => std::fs::read_to_string(modules.join("axe-core/axe.min.js")),
        Err(why) => {
            tools::skip("axe_has_nothing_to_say", &why);
            return Ok(());
        }
    };
    let source = source.map_err(|error| error.to_string())?;
    let mut found = Vec::new();
    let fleet = fleet_of(7);
    let mut look = |name: &str, page: &mut Page<'_>, screen| {
        let said = axe(page, &source, screen)?;
        found.extend(said.iter().map(|said| format!("{name}, {said}")));
        Ok::<(), String>(())
    };
    for screen in [DESKTOP, PHONE] {
        for (name, path) in VIEWS {
            let mut page = Page::open(browser, base, path, screen)?;
            page.eval(QUIET)?;
            look(name, &mut page, screen)?;
            page.close()?;
        }
        for (name, path, open, there) in OPENED {
            let mut page = Page::open(browser, base, path, screen)?;
            page.eval(&format!("{open}; 0"))?;
            page.wait_for(there)
                .map_err(|why| format!("{name}: {why}"))?;
            page.screenshot(&format!("opened-{name}-{}", screen.width), false)?;
            look(name, &mut page, screen)?;
            page.close()?;
        }
        let mut page = Page::open(browser, &fleet, "/fleet", screen)?;
        page.wait_for("document.querySelector('.rollouts progress')")?;
        look("watched fleet", &mut page, screen)?;
        page.close()?;
        // The first screen, and what comes of it.
        let still = Screen {
            reduced_motion: true,
            ..screen
        };
        let mut page = Page::open_first(browser, base, still)?;
        page.wait_for("document.body.dataset.dare === '1'")?;
        look("dare", &mut page, still)?;
        page.key("x")?;
        page.wait_for("document.body.dataset.dare === '2'")?;
        page.key("j")?;
        page.fill("#round", "100")?;
        page.wait_for("document.body.dataset.dare === '3'")?;
        look("dare met", &mut page, still)?;
        page.close()?;
    }
    // The check itself is checked: in an opened dialog, a picture without a name is found.
    let mut page = Page::open(browser, base, "/", DESKTOP)?;
    page.eval("document.getElementById('keys').click(); document.querySelector('#keys-dialog').append(document.createElement('img')); 0")?;
    let said = axe(&mut page, &source, DESKTOP)?;
    if !said.iter().any(|said| said.contains("image-alt")) {
        found.push(format!("an image without a name is not found: {said:?}"));
    }
    page.close()?;
    match found.is_empty() {
        true => Ok(()),
        false => Err(found.join("\n")),
    }
}
