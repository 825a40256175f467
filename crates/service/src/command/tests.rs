use std::path::{Path, PathBuf};
use std::sync::mpsc::sync_channel;

use headway_node::transport::Waker;

use super::*;
use crate::config::Sources;
use crate::identity::Identity;
use crate::rollouts::Task;

const GRANT: Grant = Grant { token: 0, fence: 7 };

/// In vain after this long.
const LONG: Duration = Duration::from_secs(60);

fn settings(folder: &Path) -> Settings {
    let key = |number: u8| Identity::new(&[number; 64]).public();
    let text = format!(
        "[node]\nname = \"a\"\nlisten = \"127.0.0.1:7400\"\nstate_dir = \"{}\"\n\
         [api]\nsocket = \"x\"\n[ring]\nname = \"r\"\ntokens = 1\nseparation = 1\n\
         [[ring.members]]\nname = \"a\"\naddress = \"127.0.0.1:7400\"\nkey = \"{}\"\n\
         [[ring.members]]\nname = \"b\"\naddress = \"127.0.0.1:7401\"\nkey = \"{}\"\n",
        folder.display(),
        key(1),
        key(2)
    );
    let read = Settings::read(&Sources {
        text,
        ..Sources::default()
    });
    read.unwrap_or_else(|mistakes| panic!("{mistakes:?}"))
}

/// Runs a step in an empty folder, which its scripts know as FOLDER, with one thread for what
/// blocks; and beside it `during`, with the folder and the way to give orders. How it ended, and
/// what is in the folder then.
fn step<F: Future<Output = ()>>(
    [command, healthy]: [&str; 2],
    settle: Duration,
    during: impl FnOnce(PathBuf, mpsc::UnboundedSender<Order>) -> F,
) -> (Result<(), String>, tempfile::TempDir) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().to_owned();
    let words = |text: &str| {
        let text = text.replace("FOLDER", &path.display().to_string());
        let words = ["/bin/sh".to_owned(), "-c".to_owned(), text];
        words.to_vec()
    };
    let healthy = Some(healthy).filter(|text| !text.is_empty());
    let task = Task {
        step: 1,
        attempt: 0,
        rollout: "r".into(),
        command: words(command),
        settle,
        healthy: healthy.map_or_else(Vec::new, words),
    };
    let permit = CommandPermit {
        grant: GRANT,
        run: 1,
        time: LONG,
        stop_timeout: LONG,
        task: Some(task.clone()),
    };
    let (requests, _received) = sync_channel(16);
    let handle = Handle::new(requests, Waker::new(|| ()));
    let (sender, mut orders) = mpsc::unbounded_channel();
    let settings = settings(&path);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .max_blocking_threads(1)
        .build()
        .expect("a runtime");
    let ended = runtime.block_on(async {
        let during = during(path.clone(), sender.clone());
        let step = permit.run_step(&task, &settings, &mut orders, &handle);
        tokio::time::timeout(LONG, async { tokio::join!(during, step).1 }).await
    });
    runtime.shutdown_background();
    (ended.expect("it ends"), folder)
}

async fn nothing(_: PathBuf, _: mpsc::UnboundedSender<Order>) {}

/// Asks the permit back when a command has begun.
async fn ask_back(folder: PathBuf, orders: mpsc::UnboundedSender<Order>) {
    while !folder.join("began").exists() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    orders.send(Order::Stop(GRANT)).expect("somebody listens");
}

const ENDS_WELL_WHEN_TOLD: &str =
    "trap 'exit 0' TERM; touch FOLDER/began; while :; do sleep 0.01; done";

#[test]
fn a_step_whose_permit_was_asked_back_goes_no_further() {
    let over = Err("its permit was over before it had ended".to_owned());
    let (ended, _) = step([ENDS_WELL_WHEN_TOLD, ""], Duration::ZERO, ask_back);
    assert_eq!(ended, over, "it took too long, whatever it says");
    let healthy = "touch FOLDER/asked";
    let settle = Duration::from_millis(100);
    let (ended, folder) = step([ENDS_WELL_WHEN_TOLD, healthy], settle, ask_back);
    assert_eq!(ended, over);
    assert!(!folder.path().join("asked").exists(), "without a permit");
    let (ended, _) = step(["exit 0", ENDS_WELL_WHEN_TOLD], Duration::ZERO, ask_back);
    assert_eq!(ended, over, "what was asked then is no answer");
    let (ended, folder) = step(["exit 0", healthy], settle, nothing);
    assert!(ended.is_ok() && folder.path().join("asked").exists());
}

/// As when the disk stalls that the rest of the program waits for.
#[test]
fn a_command_is_killed_in_time_though_the_rest_of_the_program_stands_still() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut settings = settings(folder.path());
    let began = folder.path().join("began");
    let script = format!(
        "trap '' TERM; echo $$ >{0}; while test -e {0}; do sleep 0.1; done",
        began.display()
    );
    settings.command.run = Some(["sh", "-c", &script].map(Into::into).to_vec());
    let stop_timeout = Duration::from_millis(400);
    let permit = CommandPermit {
        grant: GRANT,
        run: 1,
        time: LONG,
        stop_timeout,
        task: None,
    };
    let (requests, received) = sync_channel(16);
    let handle = Handle::new(requests, Waker::new(|| ()));
    let (_publish, published) = watch::channel(settings);
    let (orders, ordered) = mpsc::unbounded_channel();
    let runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = { runtime }.enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let _ended = start(ordered, published, handle).expect("a thread");
        orders.send(Order::Start(permit)).expect("somebody listens");
        while !std::fs::read(&began).is_ok_and(|text| text.ends_with(b"\n")) {
            std::thread::sleep(Duration::from_millis(1));
        }
        let asked = Instant::now();
        orders.send(Order::Stop(GRANT)).expect("somebody listens");
        let ended = received.iter().find_map(|(request, _)| match request {
            Request::CommandEnded { outcome, .. } => Some(outcome),
            _ => None,
        });
        assert_eq!(ended, Some(Outcome::Failed));
        let took = asked.elapsed();
        assert!(stop_timeout / 2 < took && took < LONG / 2, "{took:?}");
    });
}

#[test]
fn the_end_of_a_command_is_noticed_though_every_blocking_thread_is_busy() {
    let (release, blocked) = std::sync::mpsc::channel::<()>();
    let (ended, _) = step(["exit 0", ""], Duration::ZERO, |_, _| async move {
        tokio::task::spawn_blocking(move || blocked.recv());
    });
    drop(release);
    assert_eq!(ended, Ok(()));
}
