//! A few journeys in Firefox, which is spoken to by puppeteer-core over WebDriver BiDi
//! (`tests/firefox.mjs`). `scripts/install-tools` installs both.

use std::net::SocketAddr;
use std::path::Path;
use std::process::Command;

use headway_dashboard::{Options, Server};
use headway_testkit::tools;

#[test]
fn firefox_shows_the_page() {
    const TEST: &str = "firefox_shows_the_page";
    let target = std::env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into());
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let modules = here
        .join("../..")
        .join(target)
        .join("tools/node/node_modules");
    let found = tools::program(&["node"], "nodejs").and_then(|node| {
        let firefox = tools::program(&["firefox-esr", "firefox"], "firefox-esr")?;
        match modules.join("puppeteer-core").is_dir() {
            true => Ok((node, firefox)),
            false => {
                Err("install puppeteer-core (scripts/install-tools does, with npm)".to_owned())
            }
        }
    });
    let (node, firefox) = match found {
        Ok(found) => found,
        Err(why) => return tools::skip(TEST, &why),
    };
    let journeys = Command::new(node)
        .arg(here.join("tests/firefox.mjs"))
        .arg(modules.canonicalize().expect("it is a folder"))
        .arg(firefox)
        .arg(format!("http://{}", serve()))
        .output()
        .expect("node");
    let said = String::from_utf8_lossy(&journeys.stdout);
    let wrong = String::from_utf8_lossy(&journeys.stderr);
    assert!(journeys.status.success(), "{said}\n{wrong}");
    assert!(said.matches("... ok").count() >= 5, "{said}");
}

fn serve() -> SocketAddr {
    let (sender, address) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .build();
        runtime.expect("a runtime").block_on(async {
            let listen = SocketAddr::from(([127, 0, 0, 1], 0));
            let server = Server::bind(Options {
                listen,
                ..Options::default()
            });
            let server = server.expect("a free port");
            let address = server.address().expect("an address");
            sender.send(address).expect("a test that waits");
            server.serve(std::future::pending()).await;
        });
    });
    address.recv().expect("a server")
}
