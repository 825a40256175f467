//! Lessons, Explore, Networks, Fleet.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use headway_dashboard::Options;
use headway_dashboard::fleet::{NodeUrl, Powers};
use headway_testkit::tier::pick;
use serde_json::json;

use super::cdp::Browser;
use super::page::{DESKTOP, Page, Screen};

type Done = Result<(), String>;

/// Something has been drawn on the first canvas of a panel.
fn drawn(panel: &str) -> String {
    format!(
        "[...document.querySelectorAll('#panel-{panel} canvas')].some((canvas) => canvas.width > 50 && \
         canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data.some((value, index) => index % 4 === 3 && value > 0))"
    )
}

pub(crate) fn lessons_are_walked_through(browser: &mut Browser, base: &str) -> Done {
    let mut page = Page::open(browser, base, "/lessons", DESKTOP)?;
    // What the answers say, and what the picture beside them says.
    let said = |step: u32| match step {
        2 => {
            "/^(No: |You were right.)?(25)?$/.test(said) && shown.includes('Legitimate, 25 rounds')"
        }
        3 => "said === 'It takes half as long.' && answer.includes('48 rounds')",
        8 => "said === '3' && shown.includes('proved: never closer than 3.')",
        10 => "said === '2' && shown.includes('stay 2 apart')",
        _ => "said.length > 0",
    };
    for step in 1..=11 {
        page.wait_for(&format!(
            "document.querySelector('.lesson-text .step')?.textContent === 'Step {step} of 11'"
        ))?;
        page.wait_for(&drawn("lessons"))
            .map_err(|why| format!("step {step}: {why}"))?;
        page.check(&format!(
            "location.search === ({step} === 1 ? '' : '?step={step}')"
        ))?;
        page.wait_for(
            "document.querySelector('.lesson-stage .verdict-line').textContent.length > 10",
        )?;
        // Nothing says what is asked before it is answered.
        page.check("document.querySelectorAll('.predict button').length === 4 && document.querySelectorAll('.tries').length === 0 && [...document.querySelectorAll('.lesson-stage :is(.verdict-line, .reading)')].every((line) => getComputedStyle(line).visibility === 'hidden')")?;
        if step == 2 {
            // It plays, and the answer comes when it has been seen.
            page.click(".predict button:nth-of-type(1)")?;
            page.wait_for("document.querySelector('.answer b').textContent === 'You were right.'")?;
            page.wait_for("document.querySelectorAll('.lesson-stage .listing li.lit').length > 1")?;
        } else {
            page.click(".predict .quiet")?;
        }
        page.wait_for(&format!("(() => {{ const said = document.querySelector('.answer b').textContent; const answer = document.querySelector('.answer').textContent; \
             const shown = document.querySelector('.lesson-stage').textContent; return {}; }})()", said(step)))
            .map_err(|why| format!("step {step}: {why}"))?;
        // Every state of the step can be tried, and runs.
        let tries = page
            .eval("document.querySelectorAll('.tries button').length")?
            .as_u64()
            .unwrap_or(0);
        for number in 1..=pick(tries.min(1), tries, tries) {
            page.click(&format!(".tries button:nth-child({number})"))?;
            page.wait_for("document.querySelector('.mini-round').textContent !== 'round 0' && document.querySelector('.mini-round').textContent !== ''")
                .map_err(|why| format!("step {step}, try {number}: {why}"))?;
        }
        page.screenshot(&format!("lesson-{step}"), false)?;
        page.eval("document.activeElement.blur()")?;
        if step < 11 {
            page.key("ArrowRight")?;
        }
    }
    // Dijkstra's rings have their four tokens again, and too close; the delay ring has them apart.
    page.key("Space")?;
    page.wait_for("document.querySelector('.lesson-stage .mini .primary').getAttribute('aria-label') === 'Play'")?;
    page.key("Space")?;
    page.wait_for("(() => { const [rings, delays] = [...document.querySelectorAll('.pair .centre')]; return rings.textContent.endsWith('4 tokens') && rings.classList.contains('bad') && delays.classList.contains('good') \
         && Number(document.querySelector('.mini-round').textContent.slice(6)) > 40; })()")?;
    page.click(".lesson-nav .primary")?;
    // The last step leads to the ring.
    page.wait_for("location.pathname === '/' && !document.getElementById('panel-ring').hidden && headway.player.run.processes === 30")?;
    page.close()?;

    // The two errors of the program as printed are seen, and their corrections.
    let tries = [
        (1, "will not become legitimate"),
        (2, "Legitimate"),
        (3, "will not become legitimate"),
        (4, "Legitimate"),
    ];
    for (number, verdict) in tries.into_iter().take(pick(0, 4, 4)) {
        let mut page = Page::open(browser, base, "/lessons?step=5", DESKTOP)?;
        page.wait_for("document.querySelector('.predict .quiet')")?;
        page.click(".predict .quiet")?;
        page.wait_for("document.querySelectorAll('.tries button').length === 4")?;
        page.click(&format!(".tries button:nth-child({number})"))?;
        page.wait_for(&format!("document.querySelector('.lesson-stage .verdict-line').textContent.includes('{verdict}') && Number(document.querySelector('.mini-round').textContent.slice(6)) > 12"))
            .map_err(|why| format!("step 5, try {number}: {why}"))?;
        page.close()?;
    }
    Ok(())
}

pub(crate) fn explore_draws_what_the_sliders_say(browser: &mut Browser, base: &str) -> Done {
    let mut page = Page::open(browser, base, "/explore?n=100&m=10&d=5", DESKTOP)?;
    page.wait_for("document.querySelectorAll('#panel-explore svg.chart').length >= 2")?;
    page.check(
        "document.querySelectorAll('.reading')[0].textContent.includes('10 more would fit')",
    )?;
    page.eval("(() => { const slider = document.getElementById('explore-tokens'); slider.value = '30'; slider.dispatchEvent(new Event('input', { bubbles: true })); })()")?;
    page.wait_for(
        "document.querySelectorAll('.reading')[0].textContent.includes('10 too many, a jam')",
    )?;
    page.wait_for("location.search.includes('m=30')")?;
    page.drop_file("results.csv", "delays,separation,median,mean\n1,3,40,41.5\n2,3,30,31\n4,3,22,22.5\n1,5,60,61\n2,5,50,51\n4,5,33,34\n")?;
    page.wait_for(
        "document.querySelectorAll('#panel-explore .card:last-child svg.chart path').length >= 1",
    )?;
    page.check("document.querySelector('.choose').textContent.includes('separation')")?;
    page.eval("(() => { const [, , by] = document.querySelectorAll('.choose select'); by.value = 'separation'; by.dispatchEvent(new Event('change', { bubbles: true })); })()")?;
    page.wait_for("document.querySelectorAll('#panel-explore .card:last-child svg.chart > path').length === 2")?;
    page.screenshot("explore-table", true)?;
    // A sweep opens along what was varied, with how sure its means are.
    let mut sweep =
        "cell,tokens,delays,seed,samples,rounds_mean,rounds_low95,rounds_high95\n".to_owned();
    for cell in 0..8 {
        let (tokens, delays, mean) = (2 + cell / 4, 1 << (cell % 4), 50 - 4 * cell);
        sweep += &format!(
            "{cell},{tokens},{delays},7,100,{mean},{},{}\n",
            mean - 2,
            mean + 2
        );
    }
    page.drop_file("summary.csv", &sweep)?;
    page.wait_for("[...document.querySelectorAll('.choose select')].map((select) => select.value).join() === 'delays,rounds_mean,tokens' && document.querySelectorAll('#panel-explore .card:last-child path.band').length === 2")?;
    page.screenshot("explore-sweep", true)?;
    page.click("#panel-explore .page > p button")?;
    page.wait_for("location.pathname === '/' && headway.player.run.processes === 100")?;
    page.close()
}

pub(crate) fn a_network_has_its_ring(browser: &mut Browser, base: &str) -> Done {
    let mut page = Page::open(browser, base, "/networks", DESKTOP)?;
    page.wait_for("document.querySelector('.network-figure .reading').textContent.includes('stay 2 apart in the network')")?;
    page.wait_for(&drawn("networks"))?;
    page.wait_for("/^Now the closest two are 2 hops/.test(document.querySelectorAll('.network-figure .reading')[1].textContent)")?;
    page.drop_file("square.edges", "a b\nb c\nc d\nd a\n")?;
    page.wait_for(
        "document.querySelector('.network-figure .reading').textContent.includes('all 4 nodes')",
    )?;
    page.screenshot("network-file", false)?;
    page.expect_problem("422");
    page.expect_problem("400");
    page.fill("#network", "blob:7")?;
    page.wait_for("document.querySelector('.toast.error')")?;
    page.close()
}

pub(crate) fn a_fleet_that_is_not_there(browser: &mut Browser, base: &str) -> Done {
    let mut page = Page::open(browser, base, "/fleet", DESKTOP)?;
    page.wait_for(
        "document.getElementById('panel-fleet').textContent.includes('headway serve --fleet')",
    )?;
    page.close()
}

/// Something that answers like a node: its status, whatever it is asked.
fn node(index: usize, members: usize) -> NodeUrl {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let port = listener.local_addr().expect("an address").port();
    thread::spawn(move || {
        // Tokens move: a ring that stands is told first, however slow the browser is.
        for (hops, stream) in listener.incoming().flatten().enumerate() {
            let lines = BufReader::new(&stream).lines();
            lines
                .map_while(Result::ok)
                .take_while(|line| !line.is_empty())
                .for_each(drop);
            let holding = if index.is_multiple_of(3) {
                json!([{ "token": index / 3, "fencing": 17, "since_ms": 340 }])
            } else {
                json!([])
            };
            let silent = if index == 2 { json!(["n1"]) } else { json!([]) };
            let status = json!({
                "name": format!("n{index}"), "index": index, "members": members, "ring": "web", "settled": index != 4, "phase": "settling",
                "round": 90 + index, "holding": holding, "silent": silent, "separation": 3, "tokens": 2, "hops": hops, "permits": 12, "rejected": {},
                "rollouts": [{ "name": "kernel", "rollout_state": "running", "total": 7, "done": 3, "running": 1, "failed": 1, "left_ms": 240_000,
                    "command": ["uname", "-r"], "steps": [{ "name": "n2", "step_phase": "failed", "why": "exit code 3" }] }]
            })
            .to_string();
            let _ = write!(
                &stream,
                "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{status}",
                status.len()
            );
        }
    });
    format!("http://127.0.0.1:{port}")
        .parse()
        .expect("a node's address")
}

/// A server that watches so many nodes, of which the last does not answer.
pub(crate) fn fleet_of(nodes: usize) -> String {
    let mut fleet: Vec<NodeUrl> = (0..nodes - 1).map(|index| node(index, nodes)).collect();
    // One that nobody is behind.
    fleet.push("http://127.0.0.1:9".parse().expect("an address"));
    let options = Options {
        fleet,
        ..Options::default()
    };
    format!("http://{}", super::serve(options))
}

pub(crate) fn a_fleet_is_watched(browser: &mut Browser, _: &str) -> Done {
    let base = fleet_of(7);
    let screens = [
        ("light", DESKTOP),
        (
            "dark",
            Screen {
                dark: true,
                ..DESKTOP
            },
        ),
    ];
    for (theme, screen) in screens.into_iter().take(pick(1, 2, 2)) {
        let mut page = Page::open(browser, &base, "/fleet", screen)?;
        page.wait_for("document.querySelectorAll('.fleet tbody tr').length === 7")?;
        page.wait_for("document.querySelector('#panel-fleet .verdict-line').textContent.startsWith('http://127.0.0.1:9 does not answer, and tokens that get there wait. Start it again; if that cannot be: headway node remove http://127.0.0.1:9. 6 of 7 nodes answer.')")?;
        page.check("!document.querySelector('#panel-fleet .verdict-line').textContent.includes('have settled')")?;
        page.check("document.querySelectorAll('.fleet tbody tr.away').length === 1")?;
        page.check("document.querySelector('.fleet tbody').textContent.includes('token 1') && document.querySelector('.fleet').textContent.includes('n1')")?;
        page.wait_for("document.querySelector('.rollouts progress')?.value === 3 && document.querySelector('.rollouts').textContent.includes('3 of 7 done, 1 running, 1 failed, about 4 min left.')")?;
        page.check("document.querySelector('.rollouts').textContent.includes('n2 failed: exit code 3') && document.querySelector('.rollouts').textContent.includes('headway rollout pause kernel')")?;
        // Watching only: nothing to press.
        page.check("document.querySelectorAll('#panel-fleet button').length === 0")?;
        page.wait_for(&drawn("fleet"))?;
        page.screenshot(&format!("fleet-watched-{theme}"), false)?;
        page.close()?;
    }
    // A demonstration, by somebody who may order rollouts: there is something to press.
    let (sender, orders) = channel();
    let base = format!(
        "http://{}",
        super::serve(Options {
            fleet: (0..3).map(|index| node(index, 3)).collect(),
            powers: Powers {
                node_socket: Some("/nowhere/node.sock".into()),
                demonstration: Some(sender),
            },
            ..Options::default()
        })
    );
    let mut page = Page::open(browser, &base, "/fleet", DESKTOP)?;
    page.expect_problem("502");
    // All answer, and now it counts what they say of themselves.
    page.wait_for("document.querySelector('#panel-fleet .verdict-line').textContent.startsWith('3 of 3 nodes answer, 3 have settled.')")?;
    page.wait_for("document.querySelectorAll('.demo button').length === 4 && document.querySelectorAll('.rollouts button').length === 2")?;
    page.click(".demo button:nth-child(2)")?;
    let order = orders.recv_timeout(Duration::from_secs(60));
    if order.as_deref() != Ok("k n1") {
        return Err(format!("what came of the button: {order:?}"));
    }
    // What a node refuses is told.
    page.click(".rollouts button")?;
    page.wait_for("document.querySelector('.toast.error')?.textContent.includes('node.sock')")?;
    page.screenshot("fleet-demo", false)?;
    page.close()
}
