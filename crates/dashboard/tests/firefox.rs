//! A few journeys in Firefox, which is spoken to by puppeteer-core over WebDriver BiDi
//! (`tests/firefox.mjs`). `scripts/install-tools` installs both.

use std::path::Path;
use std::process::Command;

use headway_dashboard::Options;
use headway_testkit::tools;

mod common;

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
        .arg(format!("http://{}", common::serve(Options::default())))
        .output()
        .expect("node");
    let said = String::from_utf8_lossy(&journeys.stdout);
    let wrong = String::from_utf8_lossy(&journeys.stderr);
    assert!(journeys.status.success(), "{said}\n{wrong}");
    assert!(said.matches("... ok").count() >= 5, "{said}");
}
