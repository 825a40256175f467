//! What was once broken or misleading on the page, each thing tried again; the first
//! screen, and the wall that nobody gets over.

use serde_json::json;

use super::cdp::Browser;
use super::page::{DESKTOP, PHONE, Page, Screen};

type Done = Result<(), String>;

pub(crate) fn a_view_that_fails_to_load_is_asked_for_again(
    browser: &mut Browser,
    base: &str,
) -> Done {
    let mut page = Page::open(browser, base, "/", DESKTOP)?;
    page.expect_problem("explore.js");
    page.call(
        "Network.setBlockedURLs",
        json!({ "urls": ["*/js/explore.js*"] }),
    )?;
    page.click("#tab-explore")?;
    page.wait_for("document.getElementById('panel-explore').textContent.includes('did not load')")?;
    // The other views are there.
    page.click("#tab-lessons")?;
    page.wait_for("document.querySelector('.lesson-text .step')")?;
    page.call("Network.setBlockedURLs", json!({ "urls": [] }))?;
    page.click("#tab-explore")?;
    page.wait_for("document.querySelectorAll('#panel-explore svg.chart').length >= 2")?;
    page.close()
}

pub(crate) fn links_tell_what_is_on_show(browser: &mut Browser, base: &str) -> Done {
    let mut page = Page::open(browser, base, "/?n=40&start=spaced", DESKTOP)?;
    page.click("#tab-explore")?;
    page.wait_for("document.getElementById('explore-tokens')?.value === '5'")?;
    page.eval("(() => { const slider = document.getElementById('explore-tokens'); slider.value = '6'; slider.dispatchEvent(new Event('input', { bubbles: true })); })()")?;
    page.wait_for("location.pathname === '/explore' && location.search === '?n=40&m=6'")?;
    page.click("#tab-networks")?;
    page.wait_for("document.querySelector('.network-figure .reading').textContent.length > 20")?;
    page.check("location.pathname + location.search === '/networks'")?;
    page.fill("#network-tokens", "5")?;
    page.wait_for("location.search === '?tokens=5' || location.search === '?m=5'")?;
    page.click("#tab-lessons")?;
    page.wait_for("document.querySelector('.lesson-text .step')")?;
    page.check("location.pathname + location.search === '/lessons'")?;
    page.click("#tab-ring")?;
    page.wait_for("location.pathname + location.search === '/?n=40&start=spaced'")?;
    page.check("document.getElementById('m').value === '5' && headway.player.run.tokens === 5")?;
    page.close()
}

pub(crate) fn a_shared_run_survives_another_ring(browser: &mut Browser, base: &str) -> Done {
    let mut page = Page::open(browser, base, "/", DESKTOP)?;
    page.click("#together")?;
    page.wait_for("headway.together.id && location.search.includes('run=')")?;
    page.eval("globalThis.before = headway.together.id; globalThis.seen = []; globalThis.follower = new EventSource(`/api/runs/${before}/events`); follower.addEventListener('frame', (event) => seen.push(JSON.parse(event.data).version)); 0")?;
    page.wait_for("seen.length > 0")?;
    page.click("[data-start=random]")?;
    page.wait_for("headway.player.run.settings.start === 'random'")?;
    page.fill("#n", "48")?;
    page.wait_for("headway.player.run.processes === 48")?;
    // Another page makes another ring of it: form and link say what is on show, and the
    // next change is a change of that, even in the field that has the focus.
    page.eval("fetch(`/api/runs/${before}`, { method: 'PUT', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ processes: 40, tokens: 4, separation: 9, start: 'spaced' }) })")?;
    page.wait_for("headway.player.run.processes === 40 && document.getElementById('n').value === '40' && document.querySelector('[data-start=spaced]').ariaPressed === 'true'")?;
    page.wait_for("location.search.startsWith('?n=40&m=4&d=9&start=spaced&run=')")?;
    page.fill("#m", "3")?;
    page.wait_for("headway.player.run.tokens === 3")?;
    page.check("fetch(`/api/runs/${before}`).then((answer) => answer.json()).then(({ settings }) => [settings.processes, settings.tokens, settings.separation, settings.start].join() === '40,3,9,spaced')")?;
    // What cannot be is not left standing in the form.
    page.expect_problem("422");
    page.fill("#n", "7000000")?;
    page.wait_for(
        "document.querySelector('.toast.error') && document.getElementById('n').value === '40'",
    )?;
    page.check("headway.together.id === before && headway.player.run.id === before && location.search.includes('run=')")?;
    // Whoever follows is told that it is another ring.
    page.wait_for("seen.at(-1) === headway.player.run.version && seen.at(-1) >= 3")?;
    // Wrong settings leave everyone where they are.
    page.check("fetch(`/api/runs/${before}`, { method: 'PUT', headers: { 'Content-Type': 'application/json' }, body: '{\"processes\": 0}' }).then((answer) => answer.status === 422)")?;
    page.check("fetch(`/api/runs/${before}`).then((answer) => answer.json()).then((run) => run.processes === 40)")?;
    page.eval("follower.close()")?;
    // Whoever leaves changes nothing for the others.
    page.click("#together")?;
    page.wait_for("headway.together.id === null && headway.player.run.id !== before && headway.player.run.tokens === 3")?;
    page.click("#fault-pile")?;
    page.wait_for("headway.player.run.settings.faults.length === 1")?;
    page.check("fetch(`/api/runs/${before}`).then((answer) => answer.json()).then(({ settings }) => settings.faults.length === 0)")?;
    page.close()
}

pub(crate) fn not_yet_is_not_no(browser: &mut Browser, base: &str) -> Done {
    let mut page = Page::open(browser, base, "/", DESKTOP)?;
    page.wait_for("document.querySelectorAll('#desiderata .soon').length > 0")?;
    page.check("document.querySelectorAll('#desiderata .fails').length === 0")?;
    page.check("/in \\d+ rounds/.test(document.querySelector('#desiderata .soon').textContent)")?;
    page.check("[...document.querySelectorAll('#desiderata .holds')].some((item) => item.textContent.includes('D5'))")?;
    page.check("!/leg:\\d/.test(document.getElementById('verdict').textContent)")?;
    page.screenshot("not-yet", false)?;
    // However late the answers come, no ✗ stands beside "legitimate".
    page.call(
        "Network.emulateNetworkConditions",
        json!({ "offline": false, "latency": 300, "downloadThroughput": -1, "uploadThroughput": -1 }),
    )?;
    page.eval("globalThis.wrong = 0; globalThis.looked = 0; headway.player.setSpeed(20); headway.player.play(); globalThis.look = () => { looked += 1; const good = document.getElementById('centre').classList.contains('good'); if (good && document.querySelector('#desiderata .fails, #desiderata .soon')) wrong += 1; if (headway.player.round < 120) requestAnimationFrame(look); }; look(); 0")?;
    page.wait_for("headway.player.round >= 120")?;
    page.check("looked > 10 && wrong === 0")?;
    page.close()?;
    // What never holds is ✗ all the same.
    let mut page = Page::open(browser, base, "/?m=6", DESKTOP)?;
    page.wait_for("[...document.querySelectorAll('#desiderata .fails')].some((item) => item.textContent.includes('D5'))")?;
    page.close()
}

pub(crate) fn no_picture_of_other_numbers(browser: &mut Browser, base: &str) -> Done {
    let mut page = Page::open(browser, base, "/explore", DESKTOP)?;
    page.wait_for("document.querySelectorAll('#panel-explore svg.chart').length >= 2")?;
    page.expect_problem("422");
    page.eval("(() => { headway.view.own.explore.separation = 0; const slider = document.getElementById('explore-tokens'); slider.dispatchEvent(new Event('input', { bubbles: true })); })()")?;
    page.wait_for(
        "document.querySelectorAll('#panel-explore .card:not(:last-child) svg.chart').length === 0",
    )?;
    page.check(
        "document.querySelector('#panel-explore .reading').textContent.includes('separation')",
    )?;
    page.close()?;
    // A round that is on its way: the old picture is pale.
    let mut page = Page::open(browser, base, "/", DESKTOP)?;
    page.call(
        "Network.emulateNetworkConditions",
        json!({ "offline": false, "latency": 1500, "downloadThroughput": -1, "uploadThroughput": -1 }),
    )?;
    page.eval("headway.player.seek(1000000)")?;
    page.wait_for("document.querySelector('.ring-box').classList.contains('waiting')")?;
    page.wait_for("!document.querySelector('.ring-box').classList.contains('waiting')")?;
    page.close()
}

pub(crate) fn beads_have_letters(browser: &mut Browser, base: &str) -> Done {
    let mut page = Page::open(browser, base, "/?start=spaced", DESKTOP)?;
    let svg =
        "headway.makeFile('svg', headway.player, { rounds: 1 }).then((file) => file.blob.text())";
    page.check(&format!(
        "{svg}.then((text) => ['A', 'B', 'C', 'D', 'E'].every((letter) => text.includes(`>${{letter}}</text>`)))"
    ))?;
    // A picture says what it claims, and where it is from.
    page.check(&format!(
        "{svg}.then((text) => text.includes('From any state, legitimate within') && text.includes('start=spaced'))"
    ))?;
    page.close()
}

pub(crate) fn the_ring_is_seen_whole(browser: &mut Browser, base: &str) -> Done {
    let screens = [
        ("phone", PHONE),
        (
            "zoomed",
            Screen {
                width: 640,
                height: 400,
                scale: 2.0,
                ..DESKTOP
            },
        ),
        (
            "landscape",
            Screen {
                width: 740,
                height: 360,
                scale: 2.0,
                ..DESKTOP
            },
        ),
    ];
    for (name, screen) in screens {
        let mut page = Page::open(browser, base, "/", screen)?;
        page.screenshot(&format!("whole-{name}"), false)?;
        page.check("(() => { const ring = document.getElementById('ring').getBoundingClientRect(); const bar = document.querySelector('.transport').getBoundingClientRect(); return ring.height >= 200 && ring.height <= bar.top; })()")
            .map_err(|why| format!("{name}: {why}"))?;
        if screen.height > 500 {
            // What strikes it is at hand.
            page.check("(() => { const box = document.querySelector('.quick-faults button').getBoundingClientRect(); return box.height > 0 && box.bottom <= document.querySelector('.transport').getBoundingClientRect().top; })()")
                .map_err(|why| format!("{name}: {why}"))?;
            page.click(".quick-faults button")?;
            page.wait_for("headway.player.run.settings.faults.length === 1")?;
        }
        page.close()?;
    }
    Ok(())
}

pub(crate) fn keys_are_told_what_came_of_them(browser: &mut Browser, base: &str) -> Done {
    let mut page = Page::open(browser, base, "/?start=spaced", DESKTOP)?;
    page.eval("document.getElementById('ring').focus()")?;
    page.key("ArrowRight")?;
    page.wait_for("document.getElementById('ring-now').textContent.includes('delay')")?;
    page.key("Enter")?;
    page.wait_for("document.getElementById('ring-now').textContent.includes('relay')")?;
    page.key("Enter")?;
    page.wait_for("document.getElementById('ring-now').textContent.includes('delay')")?;
    // A key before the first picture counts.
    page.eval("headway.ring.moment = null")?;
    page.key("ArrowRight")?;
    page.check("document.getElementById('ring-now').textContent.startsWith('process 1, delay')")?;
    // News of a process that was left does not talk over what is done now.
    page.eval("headway.ring.marks.cursor = 0; globalThis.moment = headway.player.moment; headway.player.moment = () => null; 0")?;
    page.key("Enter")?;
    page.wait_for("headway.player.segments.at(-1).kinds[0] === 0")?;
    for _ in 0..6 {
        page.key("ArrowRight")?;
    }
    page.key("m")?;
    page.check(
        "document.getElementById('ring-now').textContent.includes('picked up at process 6')",
    )?;
    // Until whoever waits for news of it has looked once more.
    page.eval("globalThis.waiting = 1; setTimeout(() => (waiting = 0), 50); headway.player.moment = moment; 0")?;
    page.wait_for("waiting === 0")?;
    page.check(
        "document.getElementById('ring-now').textContent.includes('picked up at process 6')",
    )?;
    page.close()
}

pub(crate) fn back_is_undo(browser: &mut Browser, base: &str) -> Done {
    let mut page = Page::open(browser, base, "/?start=spaced", DESKTOP)?;
    page.check("document.getElementById('undo').disabled")?;
    page.click("#fault-pile")?;
    page.wait_for("headway.player.run.settings.faults.length === 1")?;
    page.wait_for("!document.getElementById('undo').disabled")?;
    page.key("z")?;
    page.wait_for(
        "headway.player.run.settings.faults.length === 0 && !location.search.includes('fault')",
    )?;
    page.wait_for("document.getElementById('undo').disabled")?;
    page.fill("#m", "3")?;
    page.wait_for("headway.player.run.tokens === 3")?;
    page.click("#undo")?;
    page.wait_for("headway.player.run.tokens === 5 && document.getElementById('m').value === '5'")?;
    // Each click is a step of its own; all that a hand does to a slider is one.
    for faults in 1..=3 {
        page.click("#fault-pile")?;
        page.wait_for(&format!(
            "location.search.split('fault=').length === {faults} + 1"
        ))?;
    }
    page.key("z")?;
    page.wait_for("headway.player.run.settings.faults.length === 2")?;
    let slide = |value: u32| {
        format!(
            "(() => {{ const slider = document.getElementById('m-slide'); slider.value = {value}; slider.dispatchEvent(new Event('input', {{ bubbles: true }})); }})()"
        )
    };
    for value in [2, 4, 7] {
        page.eval(&slide(value))?;
        page.wait_for("headway.player.run.tokens === Number(document.getElementById('m').value) && location.search.includes(`m=${headway.player.run.tokens}`)")?;
    }
    page.key("z")?;
    page.wait_for("headway.player.run.tokens === 5 && headway.player.run.settings.faults.length === 2 && document.getElementById('m').value === '5'")?;
    page.close()
}

pub(crate) fn wrong_input_says_what_is_right(browser: &mut Browser, base: &str) -> Done {
    // A link keeps what is right with it.
    let mut page = Page::open(browser, base, "/?n=40&m=many&start=spaced", DESKTOP)?;
    page.wait_for(
        "document.querySelector('.toast.error')?.textContent.includes('m=many: expected a whole number from 1 on')",
    )?;
    page.check("headway.player.run.processes === 40 && headway.player.run.tokens === 5")?;
    page.fill("#round", "soon")?;
    page.wait_for("[...document.querySelectorAll('.toast.error')].some((line) => line.textContent.startsWith('soon is no round'))")?;
    page.close()?;
    let mut page = Page::open(browser, base, "/", DESKTOP)?;
    page.expect_problem("422");
    page.go("/?n=40&start=nowhere")?;
    page.wait_for("document.querySelector('.toast.error')?.textContent.startsWith('Not all of this link can be shown')")?;
    page.check("headway.player.run.processes === 40 && document.querySelector('.toast.error').textContent.includes('start: expected random, piled, spaced, worst, and not `nowhere`.')")?;
    // Firefox tells the console, too.
    page.expect_problem("input data is corrupted");
    page.go("/#state=xyz")?;
    page.wait_for(
        "document.querySelector('.toast.error')?.textContent.includes('cut off or damaged')",
    )?;
    page.close()
}

pub(crate) fn long_waits_can_be_skipped(browser: &mut Browser, base: &str) -> Done {
    let mut page = Page::open(browser, base, "/?n=10000&m=100&d=100", DESKTOP)?;
    page.wait_for("!document.getElementById('skip').hidden")?;
    page.check("/^Skip to round [\\d\\s]+ \\(\\d+ min at this speed\\)$/.test(document.getElementById('skip').textContent)")?;
    page.click("#skip")?;
    page.wait_for("headway.player.frame?.legitimate && document.getElementById('skip').hidden")?;
    page.close()
}

pub(crate) fn nothing_moves_by_itself_when_asked(browser: &mut Browser, base: &str) -> Done {
    let still = Screen {
        reduced_motion: true,
        ..DESKTOP
    };
    let mut page = Page::open(browser, base, "/networks", still)?;
    page.wait_for("document.querySelector('.network-figure .reading').textContent.length > 20")?;
    page.wait_for(
        "document.querySelector('#panel-networks .mini-round').textContent === 'round 0'",
    )?;
    page.check("document.querySelector('#panel-networks .mini .primary').getAttribute('aria-label') === 'Play'")?;
    page.click("#panel-networks .mini .primary")?;
    page.wait_for(
        "document.querySelector('#panel-networks .mini-round').textContent !== 'round 0'",
    )?;
    page.close()
}

/// The first screen: a ring that is well, and a dare; it unfolds as it is struck.
pub(crate) fn the_first_screen_is_a_dare(browser: &mut Browser, base: &str) -> Done {
    let seen = |parts: &str| {
        format!(
            "['.tabs > div', '.tools', '.controls', '.transport', '.side'].filter((part) => document.querySelector(part).getClientRects().length).join() === '{parts}'"
        )
    };
    let mut page = Page::open_first(browser, base, DESKTOP)?;
    page.wait_for("document.querySelector('.dare-words').textContent === `You cannot break this for more than ${headway.player.segments[0].worst_legitimate_at} rounds.`")?;
    page.wait_for("headway.player.playing && headway.player.frame.legitimate && !document.getElementById('ghost').hidden")?;
    page.check(&seen(""))?;
    page.screenshot("dare", false)?;
    page.key("x")?;
    page.wait_for("document.querySelector('.dare-words').textContent === 'Broken, for 33 rounds at most.' && document.getElementById('ghost').hidden")?;
    page.check(&seen(".transport"))?;
    page.wait_for("headway.player.frame.legitimate && /^Broken for \\d+ rounds/.test(document.querySelector('.dare-words').textContent)")?;
    page.check(&seen(".transport,.side"))?;
    // Only what hands did is a strike.
    page.wait_for("document.querySelectorAll('#beat .dot').length === 1")?;
    page.click("#dare [aria-pressed]")?;
    page.wait_for("headway.ring.marks.dress === 'buses' && document.getElementById('dare').textContent.includes('Buses')")?;
    page.screenshot("dare-end", false)?;
    page.click("#dare .dare-line > button")?;
    page.check(&seen(".tabs > div,.tools,.controls,.transport,.side"))?;
    page.check("headway.ring.marks.dress === undefined && headway.player.playing")?;
    // Once is enough, unless the logo is asked; whoever leaves early finds a ring that heals.
    page.go("/")?;
    page.check("document.getElementById('dare').hidden")?;
    page.click("#brand")?;
    page.wait_for("!document.getElementById('dare').hidden && headway.player.frame.legitimate")?;
    page.key("p")?;
    page.wait_for("headway.player.segments.length === 2")?;
    page.click("#dare .dare-line > button")?;
    page.check("document.getElementById('dare').hidden && !headway.player.frame.legitimate")?;
    page.wait_for("headway.player.frame.legitimate")?;
    page.close()
}

/// Nothing covers the ring, and who asked for less motion sees none.
pub(crate) fn the_dare_fits_every_screen(browser: &mut Browser, base: &str) -> Done {
    for (width, height) in [(390, 844), (640, 400), (844, 390)] {
        let screen = Screen {
            width,
            height,
            reduced_motion: true,
            ..PHONE
        };
        let mut page = Page::open_first(browser, base, screen)?;
        page.wait_for("document.querySelector('.dare-words')?.textContent.includes('33')")?;
        let whole = "(() => { const box = (part) => document.querySelector(part).getBoundingClientRect(); const [ring, dare, bar] = [box('#ring'), box('#dare'), box('.transport')]; \
             const apart = ring.top >= dare.bottom || ring.left >= dare.right; return (ring.height >= 200 && apart && ring.bottom <= (bar.top || innerHeight)) || JSON.stringify([ring, dare, bar]); })()";
        page.check(whole)?;
        page.key("x")?;
        page.wait_for("document.body.dataset.dare === '2'")?;
        page.check(whole)?;
        page.check("!headway.player.playing")?;
        page.tap("#dare .dare-line > button")?;
        page.wait_for("document.getElementById('dare').hidden && headway.player.frame.legitimate")?;
        page.check("headway.player.run.settings.faults.length === 1")?;
        page.close()
            .map_err(|why| format!("{width}x{height}: {why}"))?;
    }
    Ok(())
}

pub(crate) fn every_strike_is_a_dot_before_the_wall(browser: &mut Browser, base: &str) -> Done {
    let mut page = Page::open(browser, base, "/", DESKTOP)?;
    // Nobody has struck it yet.
    page.wait_for("document.getElementById('beat-best').textContent.startsWith('No strike yet')")?;
    page.check("document.querySelectorAll('#beat .dot').length === 0 && document.getElementById('beat-claim').textContent.includes('within 33 rounds')")?;
    for strikes in 1..=5 {
        page.click("#fault-scramble")?;
        page.wait_for(&format!(
            "document.querySelectorAll('#beat .dot').length === {strikes}"
        ))?;
    }
    page.check("(() => { const wall = Number(document.querySelector('#beat .wall').getAttribute('x1')); return [...document.querySelectorAll('#beat .dot')].every((dot) => Number(dot.getAttribute('cx')) <= wall + 0.1); })()")?;
    page.screenshot("beat", false)?;
    // The link to the slowest so far shows it again.
    page.click("[data-start=worst]")?;
    page.wait_for("document.querySelectorAll('#beat .dot').length === 6")?;
    // To take one back is no strike.
    page.key("z")?;
    page.wait_for("headway.player.run.settings.faults.length === 5")?;
    page.check("document.querySelectorAll('#beat .dot').length === 6")?;
    page.eval("globalThis.copied = ''; navigator.clipboard.writeText = (text) => { copied = text; return Promise.resolve(); }; 0")?;
    page.click("#beat-link")?;
    page.wait_for("copied !== ''")?;
    let link = page.eval("copied")?;
    let best = page.eval("document.getElementById('beat-best').textContent")?;
    page.go(link.as_str().unwrap_or_default())?;
    if !best
        .as_str()
        .is_some_and(|best| best.contains("the wall itself"))
    {
        return Err(format!("the worst start is not the wall: {best}"));
    }
    page.check("(() => { const { legitimate_at, from } = headway.player.segments.at(-1); return legitimate_at - from === 33; })()")?;
    // Another ring is another theorem.
    page.fill("#n", "48")?;
    page.wait_for("headway.player.run.processes === 48 && document.querySelectorAll('#beat .dot').length === 0")?;
    page.close()?;
    // A jam has no wall.
    let mut page = Page::open(browser, base, "/?m=6", DESKTOP)?;
    page.wait_for("headway.player.segments[0].jam")?;
    page.check("document.getElementById('beat').hidden")?;
    page.close()
}
