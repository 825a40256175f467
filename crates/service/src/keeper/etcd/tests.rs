//! Nodes without a ring and an etcd of Debian's: what is answered is true, also when it is killed
//! and when its data is put back.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use axum::Json;
use axum::routing::post;
use headway_testkit::etcd::Server;
use headway_testkit::tools;

use super::*;
use crate::keeper::{ELECTION, Order, run};
use crate::membership::decision::Kind;
use crate::membership::roster::{Member, Terms};

fn first() -> Roster {
    let member = |at| Member {
        name: format!("k{at}"),
        address: format!("10.0.0.{}:7400", at + 1),
        http: None,
        key: None,
    };
    Roster {
        version: 1,
        ring: "kept".into(),
        members: (0..5).map(member).collect(),
        terms: Terms {
            dwell_most_ms: 1000,
            grace_ms: 100,
            ..Terms::default()
        },
        etcd: true,
        ..Roster::default()
    }
}

/// All rosters that anybody was told of, by version.
#[derive(Default)]
struct Observer {
    rosters: BTreeMap<u64, Roster>,
    contradicted: bool,
}

impl Observer {
    fn see(&mut self, roster: &Roster) {
        let known = self.rosters.entry(roster.version);
        self.contradicted |= known.or_insert_with(|| roster.clone()) != roster;
    }
}

#[derive(Default)]
struct Told {
    roster: Roster,
    wrong: Option<String>,
    decisions: BTreeMap<u64, Result<Decision, String>>,
    wanted: BTreeMap<u64, Change>,
}

struct Node {
    orders: mpsc::UnboundedSender<Order>,
    told: Arc<Mutex<Told>>,
}

struct World {
    folder: tempfile::TempDir,
    seen: Arc<Mutex<Observer>>,
    endpoints: Vec<String>,
    next: u64,
}

impl World {
    fn new(endpoints: Vec<String>) -> World {
        World {
            folder: tempfile::tempdir().unwrap(),
            seen: Arc::default(),
            endpoints,
            next: 0,
        }
    }

    /// A node that has this roster, and what it has kept under its name.
    fn start(&self, at: usize, roster: Roster) -> Node {
        let (orders, ordered) = mpsc::unbounded_channel();
        let (tell, mut telling) = mpsc::unbounded_channel();
        let folder = self.folder.path().join(at.to_string());
        std::fs::create_dir_all(&folder).unwrap();
        let setup = Setup {
            name: format!("k{at}"),
            folder,
            etcd: self.endpoints.clone(),
            election: ELECTION,
            random: || 7,
        };
        tokio::spawn(run(setup, ordered, tell));
        let _ = orders.send(Order::Roster(roster.clone()));
        let told = Arc::new(Mutex::new(Told {
            roster,
            ..Told::default()
        }));
        let (node, again) = (Arc::clone(&told), orders.clone());
        let seen = Arc::clone(&self.seen);
        tokio::spawn(async move {
            while let Some(request) = telling.recv().await {
                let mut told = node.lock().unwrap();
                let roster = match request {
                    Request::Keeping(wrong) => {
                        told.wrong = wrong;
                        continue;
                    }
                    Request::Decided(roster) => *roster,
                    Request::Decision { id, decision } => {
                        told.decisions.insert(id, decision.clone());
                        let Ok(Decision { refused: None, .. }) = decision else {
                            continue;
                        };
                        // As the machine does: it knows what its change makes of the roster.
                        let mut next = Decided::new(told.roster.clone());
                        next.apply(&told.wanted[&id]);
                        next.roster
                    }
                    _ => continue,
                };
                seen.lock().unwrap().see(&roster);
                if roster.version > told.roster.version {
                    told.roster = roster.clone();
                    let _ = again.send(Order::Roster(roster));
                }
            }
        });
        Node { orders, told }
    }

    fn want(&mut self, node: &Node, out: usize) -> u64 {
        self.next += 1;
        let mut told = node.told.lock().unwrap();
        let change = Change {
            id: self.next,
            version: told.roster.version,
            settled: true,
            kind: Kind::LeaveOut {
                name: format!("k{out}"),
            },
        };
        told.wanted.insert(self.next, change.clone());
        let _ = node.orders.send(Order::Propose(change));
        self.next
    }

    async fn decided(&mut self, node: &Node, out: usize) -> Result<Decision, String> {
        let id = self.want(node, out);
        node.answered(id).await
    }
}

impl Node {
    async fn answered(&self, id: u64) -> Result<Decision, String> {
        self.until(|told| told.decisions.get(&id).cloned()).await
    }

    async fn until<T>(&self, mut what: impl FnMut(&Told) -> Option<T>) -> T {
        let began = Instant::now();
        loop {
            if let Some(found) = what(&self.told.lock().unwrap()) {
                return found;
            }
            assert!(began.elapsed() < Duration::from_secs(60), "in vain");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    async fn until_wrong(&self, part: &str) {
        let wrong = |told: &Told| {
            told.wrong
                .as_ref()
                .filter(|why| why.contains(part))
                .cloned()
        };
        self.until(wrong).await;
    }
}

fn yes(version: u64) -> Result<Decision, String> {
    let refused = None;
    Ok(Decision { version, refused })
}

/// An etcd, unless there is none here.
fn server(test: &str) -> Option<Server> {
    Server::start().map_err(|why| tools::skip(test, &why)).ok()
}

/// An etcd that has decided once, and was killed.
async fn once_decided(test: &str) -> Option<(Server, World, Node)> {
    let mut server = server(test)?;
    let mut world = World::new(vec![server.url()]);
    let node = world.start(0, first());
    assert_eq!(world.decided(&node, 2).await, yes(2));
    server.kill();
    Some((server, world, node))
}

#[tokio::test]
async fn of_two_at_once_one_wins_and_the_other_hears_why() {
    let test = "of_two_at_once_one_wins_and_the_other_hears_why";
    let Some(server) = server(test) else { return };
    // The first does not answer, and is passed over.
    let mut world = World::new(vec!["http://127.0.0.1:9".into(), server.url()]);
    let nodes = [world.start(0, first()), world.start(1, first())];
    for round in 0..10 {
        let version = round + 2;
        let outs = [2 + round as usize % 2, 4 - round as usize % 2];
        let ids = [
            world.want(&nodes[0], outs[0]),
            world.want(&nodes[1], outs[1]),
        ];
        let answers = [
            nodes[0].answered(ids[0]).await,
            nodes[1].answered(ids[1]).await,
        ];
        let won = answers.iter().filter(|answer| **answer == yes(version));
        assert_eq!(won.count(), 1, "{answers:?}");
        let heard = |answer: &Result<Decision, String>| {
            let refused = answer
                .as_ref()
                .ok()
                .and_then(|answer| answer.refused.clone());
            refused.is_some_and(|why| why.contains("by somebody else"))
        };
        assert!(answers.iter().any(heard), "{answers:?}");
        for node in &nodes {
            node.until(|told| (told.roster.version == version).then_some(()))
                .await;
        }
    }
    assert!(!world.seen.lock().unwrap().contradicted);
}

#[tokio::test]
async fn while_etcd_is_away_nothing_is_decided_and_that_is_said() {
    let test = "while_etcd_is_away_nothing_is_decided_and_that_is_said";
    let Some((mut server, mut world, node)) = once_decided(test).await else {
        return;
    };
    let away = world.decided(&node, 3).await.unwrap_err();
    assert!(away.contains("Nothing was changed"), "{away}");
    node.until_wrong("no etcd answers").await;
    server.run().expect("it starts again");
    node.until(|told| told.wrong.is_none().then_some(())).await;
    assert_eq!(world.decided(&node, 3).await, yes(3));
    // Whoever comes later learns it there, and one without ring.etcd says what it lacks.
    let other = world.start(1, first());
    other
        .until(|told| (told.roster.version == 3).then_some(()))
        .await;
    world.endpoints.clear();
    let lost = world.start(2, first());
    let refused = world.decided(&lost, 4).await.unwrap().refused;
    assert!(refused.is_some_and(|why| why.contains("ring.etcd names none")));
}

#[tokio::test]
async fn data_of_etcd_that_was_put_back_is_noticed_and_refused() {
    let test = "data_of_etcd_that_was_put_back_is_noticed_and_refused";
    let Some((mut server, mut world, node)) = once_decided(test).await else {
        return;
    };
    let before = server.copy();
    server.run().expect("it starts again");
    assert_eq!(world.decided(&node, 3).await, yes(3));
    server.kill();
    server.put_back(&before);
    server.run().expect("it starts again");
    node.until_wrong("was put back").await;
    let refused = |answer: Result<Decision, String>| {
        let why = answer.ok().and_then(|answer| answer.refused);
        assert!(
            why.as_ref().is_some_and(|why| why.contains("was put back")),
            "{why:?}"
        );
    };
    refused(world.decided(&node, 4).await);
    // After a restart, too: by its roster, or by what it has kept of etcd.
    let third = world.seen.lock().unwrap().rosters[&3].clone();
    refused(world.decided(&world.start(0, third.clone()), 4).await);
    refused(world.decided(&world.start(0, first()), 4).await);
    refused(world.decided(&world.start(1, third), 4).await);
    // All of it deleted is no new beginning.
    server.kill();
    server.empty();
    server.run().expect("it starts again");
    refused(world.decided(&node, 4).await);
    assert!(!world.seen.lock().unwrap().contradicted);
}

/// Not an etcd: it says yes to everybody.
#[tokio::test]
async fn an_etcd_that_says_yes_to_both_is_caught() {
    let header = || json!({ "cluster_id": "1", "revision": "5" });
    let nothing = move || async move { Json(json!({ "header": header() })) };
    let yes_to_all = move || async move { Json(json!({ "header": header(), "succeeded": true })) };
    let routes = axum::Router::new()
        .route("/v3/kv/range", post(nothing))
        .route("/v3/kv/txn", post(yes_to_all));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, routes).await });
    let mut world = World::new(vec![url]);
    let nodes = [world.start(0, first()), world.start(1, first())];
    let ids = [world.want(&nodes[0], 2), world.want(&nodes[1], 3)];
    assert_eq!(nodes[0].answered(ids[0]).await, yes(2));
    assert_eq!(nodes[1].answered(ids[1]).await, yes(2));
    let seen = Arc::clone(&world.seen);
    nodes[1]
        .until(|_| seen.lock().unwrap().contradicted.then_some(()))
        .await;
}
