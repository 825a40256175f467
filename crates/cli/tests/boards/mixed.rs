//! One ring of boards and `headway node` processes on serial lines.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use headway_boards::drill::Drill;
use headway_boards::firmware::report::Order;
use headway_boards::image;
use headway_boards::setup::Settings;
use headway_boards::wire::Faults;
use headway_boards::yard::{Seen, Yard};
use headway_node::{Plan, RingId, recovery_rounds};
use headway_testkit::tools;

const NODES: u32 = 6;
const KEY: &[u8] = b"a key that boards and nodes know";

/// The members that are processes.
const PROCESSES: [u32; 2] = [2, 4];

/// A `headway node`.
struct Process {
    folder: PathBuf,
    index: u32,
    child: Option<Child>,
}

impl Process {
    /// Writes its configuration; its lines are the yard's sockets.
    fn new(folder: &Path, index: u32) -> Process {
        let file = |name: &str| folder.join(format!("{index}.{name}"));
        let line = |line| Yard::socket(folder, index, line).display().to_string();
        // Every use of a permit is written down, its end before the node knows of it.
        let seen = file("seen").display().to_string();
        let script = format!(
            "trap 'echo e $HEADWAY_TOKEN >> {seen}; exit' TERM; \
             echo g $HEADWAY_TOKEN $HEADWAY_FENCE >> {seen}; sleep 0.01; \
             echo e $HEADWAY_TOKEN >> {seen}"
        );
        let mut text = format!(
            "[node]\nname = \"m{index}\"\nlisten = \"serial\"\ntransport = \"serial\"\n\
             state_dir = \"{}\"\n\
             [ring]\nname = \"greenhouse\"\nkey_file = \"{}\"\ntokens = 2\nseparation = 2\n",
            file("state").display(),
            folder.join("key").display()
        );
        for member in 0..NODES {
            text += &format!(
                "[[ring.members]]\nname = \"m{member}\"\naddress = \"serial:{}\"\n",
                member + 1
            );
        }
        text += &format!(
            "[serial]\npredecessor = \"{}\"\nsuccessor = \"{}\"\n\
             [timing]\nrefresh = \"40ms\"\ntick = \"0ms\"\ndwell_most = \"2s\"\ngrace = \"100ms\"\n\
             [hook]\nwhen = \"every\"\ncommand = [\"/bin/sh\", \"-c\", \"{script}\"]\n\
             [api]\nsocket = \"{}\"\n",
            line(0),
            line(1),
            file("sock").display()
        );
        fs::write(file("toml"), text).expect("written");
        Process {
            folder: folder.to_owned(),
            index,
            child: None,
        }
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.join(format!("{}.{name}", self.index))
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_headway"));
        command.arg("node").args(words);
        command.arg("--config").arg(self.file("toml"));
        command.env("NO_COLOR", "1");
        command
    }

    fn start(&mut self) {
        let log = fs::File::options()
            .create(true)
            .append(true)
            .open(self.file("log"));
        let mut command = self.command(&[]);
        command.stdin(Stdio::null()).stdout(Stdio::null());
        self.child = Some(
            command
                .stderr(log.expect("a log"))
                .spawn()
                .expect("it starts"),
        );
    }

    fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
        if std::thread::panicking() {
            let log = fs::read_to_string(self.file("log")).unwrap_or_default();
            eprintln!("m{}:\n{log}", self.index);
        }
    }
}

/// The lines that a file has gained since the last time.
fn news(path: &Path, seen: &mut usize) -> Vec<String> {
    let text = fs::read_to_string(path).unwrap_or_default();
    let whole = text.rfind('\n').map_or(0, |end| end + 1);
    let new = text.get(*seen..whole).unwrap_or_default();
    *seen = whole.max(*seen);
    new.lines().map(str::to_owned).collect()
}

/// What the files of a process say.
fn spy(folder: PathBuf) -> impl FnMut(u32) -> Vec<Seen> {
    let mut read = [[0; 2]; NODES as usize];
    move |index| {
        let [seen, log] = &mut read[index as usize];
        let mut found = Vec::new();
        for line in news(&folder.join(format!("{index}.seen")), seen) {
            let words: Vec<&str> = line.split_whitespace().collect();
            let number = |at: usize| words[at].parse::<u64>().expect("a number");
            found.push(match words[0] {
                "g" => Seen::Granted(number(1) as u32, number(2)),
                _ => Seen::Ended(number(1) as u32),
            });
        }
        for line in news(&folder.join(format!("{index}.log")), log) {
            if line.contains("not settled") {
                found.push(Seen::Settled(false));
            } else if line.contains(" settled") {
                found.push(Seen::Settled(true));
            }
        }
        found
    }
}

/// The ring's identity and the least fence, as `check-config` tells them for boards.
fn for_boards(process: &Process) -> (RingId, u64) {
    let output = process
        .command(&["check-config"])
        .output()
        .expect("it runs");
    let told = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let line = told
        .lines()
        .find_map(|line| line.strip_prefix("for boards"));
    let line = line.expect("a line for boards").trim();
    let rest = line.strip_prefix("ring ").expect("the ring");
    let (ring, fence) = rest.split_once(", fences from ").expect("fences");
    let byte = |at: usize| u8::from_str_radix(&ring[2 * at..2 * at + 2], 16).expect("hex");
    (
        RingId(std::array::from_fn(byte)),
        fence.parse().expect("a number"),
    )
}

#[test]
fn boards_and_processes_on_one_ring() {
    let found = image::emulator().map(drop).and_then(|()| image::compiler());
    if let Err(why) = found {
        return tools::skip("boards_and_processes_on_one_ring", &why);
    }
    let image = image::build("sensor", &["hmac"]).expect("it compiles");
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("key"), KEY).expect("written");
    let private = std::os::unix::fs::PermissionsExt::from_mode(0o600);
    fs::set_permissions(folder.path().join("key"), private).expect("private");
    let mut processes = PROCESSES.map(|index| Process::new(folder.path(), index));
    let (ring, fence_floor) = for_boards(&processes[0]);
    let plan = Plan::new(NODES, 2, 2).expect("they fit");
    let settings = Settings {
        plan,
        ring,
        fence_floor,
        boards: (0..NODES)
            .filter(|index| !PROCESSES.contains(index))
            .collect(),
        keys: Some(vec![KEY.to_vec(); NODES as usize]),
        faults: Faults {
            loss: 0.0001,
            corrupt: 0.0001,
            ..Faults::default()
        },
        ..Drill::new(7).settings()
    };
    let boards = settings.boards.clone();
    let mut yard = Yard::start(&image, folder.path(), settings).expect("it starts");
    yard.set_spy(Box::new(spy(folder.path().to_owned())));
    processes.iter_mut().for_each(Process::start);
    let settle = |yard: &mut Yard| {
        let rounds = yard.settle(Duration::from_secs(60)).expect("it settles");
        let bound = recovery_rounds(&plan);
        assert!(
            u64::from(rounds) <= bound,
            "{rounds} rounds, stated {bound}"
        );
    };
    let watch = |yard: &mut Yard, turns: u64| {
        let visits = |yard: &Yard| yard.observer().visits().iter().copied().min().unwrap_or(0);
        let wanted = visits(yard) + 2 * turns;
        let came = yard.run_until(Duration::from_secs(60), |yard| visits(yard) >= wanted);
        let observer = yard.observer();
        assert!(came, "permits stopped: {:?}", observer.visits());
        assert_eq!(observer.violations(), [], "a promise was broken");
        let most = observer.visits().iter().max().copied().unwrap_or(0);
        assert!(
            most - visits(yard) <= 2,
            "unequal visits: {:?}",
            observer.visits()
        );
    };
    settle(&mut yard);
    watch(&mut yard, 5);

    yard.ask().expect("they answer");
    yard.fault("scramble");
    for (seed, index) in (1..).zip(boards) {
        yard.order(index, Order::Scramble { seed });
    }
    settle(&mut yard);
    watch(&mut yard, 5);

    // A process that is killed goes on from its state: no fault, and no promise is broken.
    processes[0].kill();
    yard.run_for(Duration::from_millis(200));
    processes[0].start();
    watch(&mut yard, 5);

    // The roster is fixed.
    let refused = Command::new(env!("CARGO_BIN_EXE_headway"))
        .args(["node", "remove", "m0", "--socket"])
        .arg(processes[1].file("sock"))
        .output()
        .expect("it runs");
    let told = String::from_utf8_lossy(&refused.stderr);
    assert!(
        !refused.status.success() && told.contains("fixed"),
        "{told}"
    );
}
