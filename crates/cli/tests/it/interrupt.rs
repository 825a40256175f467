//! Ctrl-C ends every command with 130, and what is known by then is shown or kept.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::common::{folder, program, read};

/// Starts a command, interrupts it and gives what it printed, as soon as that has all of `wanted`.
///
/// Nobody sees from outside since when there is something to show, and a signal that comes before
/// that ends the program at once: the next signal comes later, as late as in half a minute.
fn interrupted(folder: &Path, arguments: &str, wanted: &[&str]) -> (String, String) {
    let mut after = Duration::from_millis(15);
    loop {
        // A shell's background job ignores SIGINT, and so does what it starts.
        let mut child = Command::new("env")
            .arg("--default-signal=INT")
            .arg(program())
            .args(arguments.split_whitespace())
            .current_dir(folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("it runs");
        // Its input stays open: the end of it is another reason to end.
        let _input = child.stdin.take();
        let id = child.id().to_string();
        // `env` still ignores the signal until it has become the program, which can take a
        // while on a busy machine.
        while std::fs::read_to_string(format!("/proc/{id}/comm")).is_ok_and(|name| name == "env\n")
        {
            std::thread::sleep(Duration::from_millis(1));
        }
        std::thread::sleep(after);
        let killed = Command::new("kill").args(["-INT", &id]).status();
        assert!(killed.expect("kill").success(), "{arguments} had ended");
        let output = child.wait_with_output().expect("it ends");
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
        let (out, err) = (text(output.stdout), text(output.stderr));
        // Without a code: it had no time to ask for the signal.
        let code = output.status.code();
        assert!(matches!(code, None | Some(130)), "{arguments}: {out}{err}");
        let has = |wanted: &&str| out.contains(wanted) || err.contains(wanted);
        if code.is_some() && wanted.iter().all(has) {
            return (out, err);
        }
        assert!(
            after < Duration::from_secs(30),
            "{arguments}: {wanted:?} in\n{out}{err}"
        );
        after *= 2;
    }
}

#[test]
fn commands_in_text_say_what_is_known() {
    let folder = folder();
    let net = "<pnml><net id=\"n\"><place id=\"p\"/><place id=\"q\"/><transition id=\"t\"/>\
               <arc source=\"p\" target=\"t\"/><arc source=\"t\" target=\"q\"/>\
               <arc source=\"t\" target=\"q\"/></net></pnml>";
    std::fs::write(folder.path().join("n.pnml"), net).expect("written");
    for (arguments, wanted) in [
        (
            "check delay-relay --processes 24 --tokens 4 --separation 6 --delays at:0,1,5",
            &["stopped", "so far"][..],
        ),
        (
            "run --processes 3000 --rounds 10000000000",
            &["Legitimate after round", "stopped after round"],
        ),
        // Its finished cells are kept.
        (
            "sweep --processes 20 2000 --tokens 9 --samples 3000000 --overwrite",
            &["--resume goes on"],
        ),
        ("ring --for 60s --nodes 6 --tokens 1", &["violations"]),
        ("serve --port 0", &["Headway is at"]),
        (
            "petri analyze n.pnml --mark p=9223372036854775808 --max-markings 100000000",
            &["this is what was known by then", "stopped after", "2·p + q"],
        ),
        // The states are still being listed, or their components looked for.
        ("check moving-block -n 4 -m 1 -d 3", &["stopped after"]),
        // What has nothing to show says so.
        ("forecast -", &["stopped: nothing to show yet"]),
    ] {
        interrupted(folder.path(), arguments, wanted);
    }
}

#[test]
fn commands_in_json_print_whole_json() {
    let folder = folder();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text);
    write("conveyor.pnml", &read("examples/petri/conveyor.pnml")).expect("written");
    // A random graph of some hundred members: nobody knows its bandwidth.
    let mut number = 1_u64;
    let mut next = || {
        number = number
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        number >> 33
    };
    let pairs: String = (0..900)
        .map(|_| (next() % 300, next() % 300))
        .filter(|(one, other)| one != other)
        .map(|(one, other)| format!("m{one},m{other}\n"))
        .collect();
    write("pairs.txt", &pairs).expect("written");
    let json = |arguments: &str, wanted: &str| {
        let arguments = format!("{arguments} --format json");
        let (out, _) = interrupted(folder.path(), &arguments, &[wanted]);
        serde_json::from_str::<serde_json::Value>(&out).expect("JSON")
    };
    let walk = json(
        "walk --generate grid:20x20 --tokens 3 --effort 1000",
        "the best walk so far",
    );
    assert_eq!(walk["interrupted"], true);
    assert!(walk["length"].as_u64().expect("steps") >= 400);
    let plan = json("plan pairs.txt --effort 1000", "the best so far");
    assert_eq!(plan["interrupted"], true);
    assert!(plan["separation"].as_u64() >= plan["lower_bound"].as_u64());
    let play = "petri play conveyor.pnml --rounds 99999999999 -o last.pnml";
    let played = json(play, "stopped after round");
    assert!(played["played"].as_array().expect("rounds").len() > 1);
    assert!(folder.path().join("last.pnml").exists());
}
