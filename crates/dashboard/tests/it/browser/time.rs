//! The clock: playing, stepping, seeking, and that what is drawn between two answers
//! of the server is what the server would have said.

use headway_testkit::tier::pick;

use super::cdp::Browser;
use super::page::{DESKTOP, Page};

type Done = Result<(), String>;

pub(crate) fn a_pile_spaces_itself(browser: &mut Browser, base: &str) -> Done {
    let mut page = Page::open(browser, base, "/", DESKTOP)?;
    page.check("document.getElementById('closest').textContent === '0'")?;
    page.check("document.getElementById('verdict').textContent.startsWith('Not yet')")?;
    page.check("headway.player.moment().violated.every(Boolean)")?;
    page.screenshot("first-view", false)?;
    page.click("#play")?;
    // Tokens glide: at some moment one is between two processes.
    page.wait_for("headway.ring.moment.hop.some((hop) => hop % 1 > 0.05 && hop % 1 < 0.95)")?;
    page.wait_for("document.getElementById('centre-word').textContent === 'legitimate'")?;
    page.wait_for("document.querySelectorAll('#desiderata .holds').length === 5")?;
    page.check("document.getElementById('closest').textContent === '6'")?;
    page.check("headway.player.moment().violated.every((red) => !red)")?;
    page.check("headway.player.round >= headway.player.segments[0].legitimate_at")?;
    page.screenshot("legitimate", false)?;
    page.close()
}

/// Where tokens are, which rest, and every counter, against `frame?round=R`.
const AGREES: &str = r#"(async (first, last) => {
  const { player } = headway;
  for (let round = first; round <= last; round += 1) {
    player.seek(round);
    let moment = null;
    for (let tries = 0; tries < 300 && !moment; tries += 1) {
      moment = player.moment();
      if (!moment) await new Promise((next) => setTimeout(next, 10));
    }
    const frame = await (await fetch(`/api/runs/${player.run.id}/frame?round=${round}`)).json();
    const at = JSON.stringify([...moment.hop]);
    if (at !== JSON.stringify(frame.at)) return `round ${round}: tokens at ${at}, the server says ${JSON.stringify(frame.at)}`;
    const resting = [...moment.resting].flatMap((rests, token) => (rests ? [token] : []));
    if (JSON.stringify(resting) !== JSON.stringify(frame.resting)) return `round ${round}: ${resting} rest, the server says ${frame.resting}`;
    const counters = [...moment.counter].flatMap((value, process) => (value ? [[process, value]] : []));
    if (JSON.stringify(counters) !== JSON.stringify(frame.counters)) return `round ${round}: counters ${JSON.stringify(counters)}, the server says ${JSON.stringify(frame.counters)}`;
    if (moment.closest !== frame.closest) return `round ${round}: closest ${moment.closest}, the server says ${frame.closest}`;
  }
  return true;
})"#;

pub(crate) fn a_film_agrees_with_the_server(browser: &mut Browser, base: &str) -> Done {
    let rings = [
        "/?start=random",
        "/?n=60&m=6&d=9&delays=every:3&start=random&seed=4",
        "/?n=24&m=7&d=5&start=random&seed=11",
        "/?n=40&m=4&d=9&delays=at:0&start=worst",
        "/?n=30&m=5&d=6&start=spaced&fault=scramble@10&fault=pile:0@20&fault=move:0:7@20&fault=program:3:relay@20&fault=counter:9:5@33",
    ];
    let mut page = Page::open(browser, base, rings[0], DESKTOP)?;
    for ring in rings {
        page.go(ring)?;
        let last = pick(if ring.contains("fault") { 36 } else { 12 }, 70, 70);
        page.check(&format!("{AGREES}(0, {last})"))
            .map_err(|why| format!("{ring}: {why}"))?;
    }
    page.check(&format!("{AGREES}(1e12, 1e12 + 3)"))?;
    // The check itself notices a film that is wrong.
    page.go(rings[1])?;
    page.eval("for (const film of headway.player.films) film.ways[0].at[0] += 1")?;
    let noticed = page.eval(&format!("{AGREES}(0, 3)"))?;
    if noticed == true {
        return Err("a film that is wrong was not noticed".into());
    }
    page.close()
}

pub(crate) fn a_measuring_film_agrees_with_the_server(browser: &mut Browser, base: &str) -> Done {
    let mut page = Page::open(
        browser,
        base,
        "/?program=measure&n=12&m=3&start=random",
        DESKTOP,
    )?;
    for program in ["measure", "measure-as-printed"] {
        for seed in [1, 2, 3] {
            page.go(&format!(
                "/?program={program}&n=12&m=3&start=random&seed={seed}"
            ))?;
            page.check(&format!("{AGREES}(0, 60)"))
                .map_err(|why| format!("{program}, seed {seed}: {why}"))?;
        }
    }
    page.close()
}

pub(crate) fn a_moving_block_is_on_the_ring(browser: &mut Browser, base: &str) -> Done {
    let mut page = Page::open(browser, base, "/", DESKTOP)?;
    page.expect_problem("422");
    page.eval("(() => { const choice = document.getElementById('program'); choice.value = 'moving-block'; choice.dispatchEvent(new Event('change')); })()")?;
    page.wait_for("headway.player.run.program === 'moving-block' && location.search.includes('program=moving-block')")?;
    // Five tokens would have no slack.
    page.check("headway.player.run.tokens === 4 && headway.player.run.feasible")?;
    page.check("document.querySelector('[data-start=worst]').disabled && !document.getElementById('d-field').hidden")?;
    page.wait_for(
        "document.querySelectorAll('#desiderata li')[2].textContent.includes('not promised')",
    )?;
    // Every process does the same, and the holder of the pile tells 0.
    page.wait_for(
        "document.getElementById('listing-title').textContent === 'Process 0: moving-block'",
    )?;
    page.wait_for("document.querySelector('#listing-lines li:nth-child(4)').classList.contains('lit') && !document.querySelector('#listing-lines li:nth-child(6)').classList.contains('lit')")?;
    let last = pick(40, 70, 70);
    page.check(&format!("{AGREES}(0, {last})"))?;
    page.fill("#round", "0")?;
    // What it says of the last round may stand there until the next drawing.
    page.wait_for("document.getElementById('centre-word').textContent !== 'legitimate'")?;
    page.click("#play")?;
    page.wait_for("document.getElementById('centre-word').textContent === 'legitimate'")?;
    page.check("headway.player.moment().violated.every((red) => !red)")?;
    // The bar of time ends where the run does.
    page.eval("headway.player.pause(); document.getElementById('timebar').focus()")?;
    page.key("End")?;
    page.wait_for("headway.player.round === 5000 && headway.timebar.scale().place(5000) === 1")?;
    page.fill("#round", "0")?;
    // Nobody is in step: in some round one token moves and another waits.
    page.check("headway.player.films[0].ways.some((way) => new Set(way.rest).size === 2 && way.speed.some((speed) => speed >= 1))")?;
    page.click("#fault-pile")?;
    page.wait_for("headway.player.segments.length === 2 && document.getElementById('verdict').textContent.startsWith('Not yet')")?;
    // What it cannot do it says.
    page.eval("headway.player.pause()")?;
    page.eval(
        "headway.player.fault('counter:1:2').catch((error) => { document.title = error.message; })",
    )?;
    page.wait_for("document.title.includes('knows the faults')")?;
    let last = pick(12, 40, 40);
    page.check(&format!("{AGREES}(0, {last})"))?;
    // Far enough apart and never moving again is no success.
    page.go("/?program=moving-block&start=spaced")?;
    page.wait_for("document.getElementById('centre-word').textContent === 'spaced, but stuck' && document.getElementById('centre').classList.contains('bad') && document.querySelectorAll('#desiderata li')[4].className === 'fails'")?;
    page.go("/?program=moving-block&m=4")?;
    // The check itself notices tokens at another speed.
    page.eval("for (const film of headway.player.films) film.ways[0].speed.fill(2)")?;
    if page.eval(&format!("{AGREES}(0, 3)"))? == true {
        return Err("a film that is wrong was not noticed".into());
    }
    page.close()
}

pub(crate) fn any_round_can_be_sought(browser: &mut Browser, base: &str) -> Done {
    let mut page = Page::open(browser, base, "/?start=random", DESKTOP)?;
    page.fill("#round", "10^12")?;
    page.wait_for("headway.player.round === 1e12 && headway.player.frame.round === 1e12 && headway.ring.moment.round === 1e12")?;
    page.wait_for("document.getElementById('centre-word').textContent === 'legitimate'")?;
    page.check(&format!("{AGREES}(1e12, 1e12)"))?;
    page.screenshot("round-10-to-the-12", false)?;
    // The bar reaches as far, and its even part the rounds that matter.
    page.fill("#round", "0")?;
    page.wait_for("headway.player.round === 0")?;
    page.eval("document.getElementById('timebar').focus()")?;
    page.key("End")?;
    page.wait_for("headway.player.round === 1e12")?;
    page.key("ArrowLeft")?;
    page.wait_for("headway.player.round === 1e12 - 1")?;
    let middle = "(() => { const box = document.getElementById('timebar').getBoundingClientRect(); return [box.left + box.width * 0.4, box.top + 40]; })()";
    let at = page.eval(middle)?;
    page.click_at(at[0].as_f64().unwrap_or(0.0), at[1].as_f64().unwrap_or(0.0))?;
    page.wait_for("headway.player.round > 5 && headway.player.round < 40")?;
    page.fill("#round", "no number")?;
    page.check("document.getElementById('round').getAttribute('aria-invalid') === 'true'")?;
    page.close()
}

pub(crate) fn stepping_and_speed(browser: &mut Browser, base: &str) -> Done {
    let mut page = Page::open(browser, base, "/?start=random", DESKTOP)?;
    page.click("#forward")?;
    page.wait_for("headway.player.round === 1 && !headway.player.playing")?;
    page.click("#forward")?;
    page.wait_for("headway.player.round === 2 && !headway.player.playing")?;
    page.click("#back")?;
    page.wait_for("headway.player.round === 1")?;
    page.click("#restart")?;
    page.wait_for("headway.player.round === 0")?;
    // Fast enough that films have to follow one another.
    page.eval("headway.player.setSpeed(1000)")?;
    page.click("#play")?;
    page.wait_for("headway.player.round > 3000")?;
    page.click("#play")?;
    page.wait_for(
        "!headway.player.playing && headway.player.frame.round === headway.player.round",
    )?;
    page.wait_for("location.search.includes(`t=${headway.player.round}`) && location.search.includes('speed=1000')")?;
    page.close()
}

pub(crate) fn a_jam_says_why(browser: &mut Browser, base: &str) -> Done {
    let mut page = Page::open(browser, base, "/?n=24&m=6&d=5&start=random", DESKTOP)?;
    page.check("document.getElementById('fits').classList.contains('bad')")?;
    page.check("document.getElementById('verdict').textContent.includes('30')")?;
    page.fill("#round", "200")?;
    page.wait_for("headway.player.frame.round === 200")?;
    page.wait_for("document.getElementById('centre-word').textContent === 'jam'")?;
    page.screenshot("jam", false)?;
    // A ring with room has no jam; the same slider takes it there.
    page.fill("#m", "4")?;
    page.wait_for("!document.getElementById('fits').classList.contains('bad') && headway.player.run.tokens === 4")?;
    page.close()
}

/// Another page that watches the same run is one more client of the server; here it
/// is played by plain requests.
pub(crate) fn a_run_is_watched_together(browser: &mut Browser, base: &str) -> Done {
    let mut page = Page::open(browser, base, "/?start=random", DESKTOP)?;
    page.eval(
        "globalThis.other = (what, body) => fetch(`/api/runs/${headway.player.run.id}/${what}`, { method: 'POST', headers: { 'Content-Type': 'application/json' }, \
         body: JSON.stringify(body) }).then((answer) => answer.json()); globalThis.served = () => fetch(`/api/runs/${headway.player.run.id}/frame`).then((answer) => answer.json()); 0",
    )?;
    page.click("#together")?;
    page.wait_for("headway.together.id && location.search.includes('run=')")?;
    // What is done here is done there.
    page.fill("#round", "50")?;
    page.wait_for("(await served()).round === 50")?;
    page.click("#play")?;
    page.wait_for("(await served()).playing")?;
    page.click("#play")?;
    page.wait_for("!(await served()).playing")?;
    // And what others do is seen here.
    page.eval("other('seek', { round: 300 })")?;
    page.wait_for("headway.player.round === 300")?;
    page.eval("other('faults', { fault: 'pile:4' })")?;
    page.wait_for("headway.player.segments.length === 2 && headway.player.frame && !headway.player.frame.legitimate")?;
    page.eval("other('play', { playing: true, speed: 12 })")?;
    page.wait_for(
        "headway.player.playing && headway.player.speed === 12 && headway.player.round > 305",
    )?;
    page.eval("other('play', { playing: false })")?;
    page.wait_for("!headway.player.playing && headway.player.round > 305")?;
    let link = page.eval("location.href")?;
    page.go(link.as_str().unwrap_or_default())?;
    page.wait_for(
        "headway.together.id && headway.player.segments.length === 2 && headway.player.round > 305",
    )?;
    page.close()
}

/// A server that drops a run, or does not answer for a while, is no reason to reload.
pub(crate) fn a_server_that_is_away_comes_back(browser: &mut Browser, base: &str) -> Done {
    let mut page = Page::open(
        browser,
        base,
        "/?start=random&fault=pile:3@40&t=60",
        DESKTOP,
    )?;
    page.expect_problem("404");
    page.expect_problem("ERR_INTERNET_DISCONNECTED");
    let before = page.eval("headway.player.run.id")?;
    page.eval("fetch(`/api/runs/${headway.player.run.id}`, { method: 'DELETE' }).then((answer) => answer.status)")?;
    page.fill("#round", "5000")?;
    page.wait_for(&format!("headway.player.run.id !== {before} && headway.player.frame?.round === 5000 && headway.player.moment()?.round === 5000"))?;
    page.check("headway.player.segments.length === 2 && !document.querySelector('.toast.error')")?;
    let network = |offline: bool| serde_json::json!({ "offline": offline, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1 });
    page.call("Network.emulateNetworkConditions", network(true))?;
    page.fill("#round", "90000")?;
    page.wait_for(
        "document.querySelector('.toast.error')?.textContent.includes('does not answer')",
    )?;
    page.check("document.querySelectorAll('.toast.error').length === 1")?;
    page.call("Network.emulateNetworkConditions", network(false))?;
    page.wait_for("headway.player.frame?.round === 90000 && headway.ring.moment.round === 90000")?;
    page.close()
}
