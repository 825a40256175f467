//! Hands on the page: dragging, clicking, selecting, keys.

use serde_json::Value;

use super::cdp::Browser;
use super::page::{DESKTOP, Page, pair};

type Done = Result<(), String>;

/// Where a token's bead is on the screen.
fn bead(page: &mut Page<'_>, token: usize) -> Result<[f64; 2], String> {
    let at = page.eval(&format!(
        "import('/js/ring.js').then(({{ beadAt }}) => {{ const {{ ring }} = headway; const box = ring.canvas.getBoundingClientRect(); \
         const [x, y] = beadAt(ring.where, ring.moment, {token}); return [x + box.left, y + box.top]; }})"
    ))?;
    pair(&at).ok_or_else(|| "no bead".into())
}

/// A point of the screen at a process, so many pixels outside the circle.
fn beside(page: &mut Page<'_>, process: f64, outside: f64) -> Result<[f64; 2], String> {
    page.wait_for("headway.ring.where")?;
    let at = page.eval(&format!(
        "(() => {{ const {{ ring }} = headway; const {{ where }} = ring; const box = ring.canvas.getBoundingClientRect(); const angle = where.angle({process}); \
         const radius = where.radius + {outside}; return [box.left + where.x + radius * Math.cos(angle), box.top + where.y + radius * Math.sin(angle)]; }})()"
    ))?;
    pair(&at).ok_or_else(|| "no ring".into())
}

pub(crate) fn a_dragged_token_is_a_fault_that_heals(browser: &mut Browser, base: &str) -> Done {
    let mut page = Page::open(browser, base, "/?start=spaced&t=100", DESKTOP)?;
    page.check("headway.player.frame.legitimate")?;
    let from = bead(&mut page, 1)?;
    let to = bead(&mut page, 3)?;
    let way = [
        from,
        [from[0] + 12.0, from[1] - 12.0],
        [(from[0] + to[0]) / 2.0, (from[1] + to[1]) / 2.0],
        to,
    ];
    page.drag(&way)?;
    page.wait_for("headway.player.run.segments.length === 2")?;
    page.wait_for("document.getElementById('verdict').textContent.startsWith('Not yet')")?;
    // The token that was dragged is the one that moved, and it lies with the other.
    page.wait_for("headway.player.moment() && headway.player.moment().hop[1] === headway.player.moment().hop[3] && headway.player.moment().violated[1] === 1")?;
    page.check("location.search.includes('fault=move:') && location.search.includes('@100')")?;
    page.screenshot("fault", false)?;
    page.click("#play")?;
    page.wait_for("headway.player.frame.legitimate && headway.player.round > 100")?;
    page.wait_for("document.querySelectorAll('#desiderata .holds').length === 5")?;
    page.check("/^[A-E] moved \\d+ → \\d+, round 100×$/.test(document.querySelector('#faults li').textContent)")?;
    // Taking the fault back takes it out of the link, too.
    page.click("#faults button")?;
    page.wait_for(
        "headway.player.run.segments.length === 1 && !location.search.includes('fault')",
    )?;
    page.close()
}

pub(crate) fn clicks_change_programs_and_counters(browser: &mut Browser, base: &str) -> Done {
    let mut page = Page::open(browser, base, "/?start=spaced", DESKTOP)?;
    let [x, y] = beside(&mut page, 4.0, 0.0)?;
    page.hover(x, y)?;
    page.wait_for("document.getElementById('ring-hint').textContent.includes('process 4')")?;
    page.click_at(x, y)?;
    page.wait_for(
        "headway.player.segments.length === 2 && headway.player.segments[1].kinds[4] === 0",
    )?;
    page.click_at(x, y)?;
    page.wait_for(
        "headway.player.segments.length === 3 && headway.player.segments[2].kinds[4] === 1",
    )?;
    let inside = page.eval(
        "-(Math.max(9, Math.min(headway.ring.where.arc, 15)) + headway.ring.where.bar * 0.7)",
    )?;
    let [x, y] = beside(&mut page, 15.0, inside.as_f64().unwrap_or(-40.0))?;
    page.click_at(x, y)?;
    page.wait_for(
        "headway.player.run.settings.faults.some((fault) => fault.startsWith('counter:15:'))",
    )?;
    page.check("headway.player.frame.legitimate === false")?;
    page.close()
}

pub(crate) fn a_selection_is_scrambled(browser: &mut Browser, base: &str) -> Done {
    let mut page = Page::open(browser, base, "/?start=spaced", DESKTOP)?;
    let mut way = Vec::new();
    for process in 10..=16 {
        way.push(beside(&mut page, f64::from(process), 40.0)?);
    }
    page.drag(&way)?;
    page.wait_for("document.getElementById('fault-selection').textContent === 'Scramble 10-16'")?;
    page.screenshot("selection", false)?;
    page.click("#fault-selection")?;
    page.wait_for("headway.player.run.settings.faults[0] === 'scramble:10-16@0'")?;
    // Across process 0 it is two ranges.
    let mut way = Vec::new();
    for process in [28.0, 29.0, 30.0, 31.0] {
        way.push(beside(&mut page, process, 40.0)?);
    }
    page.drag(&way)?;
    page.wait_for(
        "document.getElementById('fault-selection').textContent === 'Scramble 28-29,0-1'",
    )?;
    page.click("#fault-selection")?;
    page.wait_for("headway.player.run.settings.faults.length === 2")?;
    page.close()
}

pub(crate) fn everything_works_by_keys(browser: &mut Browser, base: &str) -> Done {
    let mut page = Page::open(browser, base, "/?start=spaced", DESKTOP)?;
    page.key(".")?;
    page.wait_for("headway.player.round === 1 && !headway.player.playing")?;
    page.key(",")?;
    page.wait_for("headway.player.round === 0")?;
    page.key("Space")?;
    page.wait_for("headway.player.playing")?;
    page.key("Space")?;
    page.wait_for("!headway.player.playing")?;
    page.key("Home")?;
    page.key("x")?;
    page.wait_for("headway.player.segments.length === 2 && headway.player.run.settings.faults[0].startsWith('scramble@')")?;
    page.key("p")?;
    page.wait_for("headway.player.segments.length === 3")?;
    page.key("j")?;
    page.check("document.activeElement.id === 'round'")?;
    page.key("5")?;
    page.key("0")?;
    page.key("Enter")?;
    page.wait_for("headway.player.round === 50")?;

    // On the ring itself.
    page.go("/?start=spaced")?;
    page.wait_for(
        "headway.player.segments.length === 1 && \
         (document.getElementById('ring').focus(), document.activeElement.id === 'ring')",
    )?;
    for process in 0..4 {
        // One at a time: a busy machine may be behind.
        let there = format!(
            "document.getElementById('ring-now').textContent.startsWith('process {process}, delay')"
        );
        page.key("ArrowRight")?;
        page.wait_for(&there)?;
    }
    page.key("Enter")?;
    page.wait_for("headway.player.segments.at(-1).kinds[3] === 0")?;
    page.key("ArrowRight")?;
    page.key("c")?;
    page.wait_for(
        "headway.player.run.settings.faults.some((fault) => fault.startsWith('counter:4:'))",
    )?;
    for _ in 0..2 {
        page.key("ArrowRight")?;
    }
    page.key("m")?;
    page.wait_for(
        "document.getElementById('ring-now').textContent.includes('picked up at process 6')",
    )?;
    page.key("ArrowRight")?;
    page.key("ArrowRight")?;
    page.key("m")?;
    page.wait_for(
        "headway.player.run.settings.faults.some((fault) => fault.startsWith('move:6:8'))",
    )?;
    page.key("Shift+ArrowRight")?;
    page.key("Shift+ArrowRight")?;
    page.wait_for("document.getElementById('fault-selection').textContent === 'Scramble 8-10'")?;
    page.key("x")?;
    page.wait_for(
        "headway.player.run.settings.faults.some((fault) => fault.startsWith('scramble:8-10'))",
    )?;

    // Every control is reached by Tab, says what it is, and shows that it has the focus.
    page.go("/")?;
    let mut seen = Vec::new();
    for _ in 0..60 {
        page.key("Tab")?;
        let here = page.eval(
            "(() => { const element = document.activeElement; if (element === document.body) return null; \
             const name = element.getAttribute('aria-label') || element.textContent.trim() || (element.labels?.[0]?.textContent ?? '').trim() || element.title; \
             const style = getComputedStyle(element); return [element.id || element.textContent.trim(), name, style.outlineStyle !== 'none']; })()",
        )?;
        let Value::Array(parts) = here else { break };
        if parts[1] == "" || parts[2] == false {
            return Err(format!("no name or no visible focus: {parts:?}"));
        }
        seen.push(parts[0].as_str().unwrap_or_default().to_owned());
    }
    if !seen.iter().take(3).any(|id| id == "play") {
        return Err(format!("Play is not among the first three: {seen:?}"));
    }
    for wanted in [
        "ring",
        "spacetime",
        "n",
        "m",
        "d",
        "play",
        "timebar",
        "round",
        "speed",
        "fault-scramble",
        "open-state",
        "share",
    ] {
        if !seen.iter().any(|id| id == wanted) {
            return Err(format!("Tab does not reach {wanted}; it reaches {seen:?}"));
        }
    }

    // Tabs by arrow keys, and by numbers.
    page.eval("document.getElementById('tab-ring').focus()")?;
    page.key("ArrowRight")?;
    page.wait_for("location.pathname === '/lessons'")?;
    page.eval("document.activeElement.blur()")?;
    page.key("1")?;
    page.wait_for("location.pathname === '/'")?;
    page.key("?")?;
    page.wait_for("document.getElementById('keys-dialog').open")?;
    page.close()
}

pub(crate) fn space_and_time_zooms_pans_and_names(browser: &mut Browser, base: &str) -> Done {
    let mut page = Page::open(browser, base, "/?start=random&seed=5", DESKTOP)?;
    let corner = page.eval("(() => { const box = document.getElementById('spacetime').getBoundingClientRect(); return [box.left, box.top]; })()")?;
    let [left, top] = pair(&corner).ok_or("no diagram")?;
    // Over a token's line in state 0.
    let line = page.eval(
        "(() => { const { spacetime, player } = headway; const { view, box } = spacetime; const way = player.films[0].ways[2]; \
         const perProcess = (box.width - 46 - 8) / view.across; return [46 + (way.hop(0, 0) + 0.5) * perProcess, 18 + 1]; })()",
    )?;
    let [x, y] = pair(&line).ok_or("no way")?;
    page.hover(left + x, top + y)?;
    page.wait_for("/^token [A-E] · process \\d+ · round 0/.test(document.getElementById('spacetime-tip').textContent)")?;
    let before = page.eval("headway.spacetime.view.perRound")?;
    page.call(
        "Input.dispatchMouseEvent",
        serde_json::json!({ "type": "mouseWheel", "x": left + 150.0, "y": top + 150.0, "deltaX": 0, "deltaY": -400 }),
    )?;
    page.wait_for(&format!("headway.spacetime.view.perRound > {before} * 1.2"))?;
    page.drag(&[
        [left + 200.0, top + 150.0],
        [left + 150.0, top + 120.0],
        [left + 120.0, top + 60.0],
    ])?;
    page.wait_for("!headway.spacetime.following && headway.spacetime.view.first > 0 && headway.spacetime.view.process > 0")?;
    page.click("#zoom-reset")?;
    page.wait_for("headway.spacetime.following && headway.spacetime.view.process === 0")?;
    page.close()
}
