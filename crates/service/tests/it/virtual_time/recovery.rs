//! Rosters on somebody's word, when too few voters are left.

use headway_service::identity::Signer;
use headway_service::internal::{Phase, Request, Word};
use headway_service::operator;

use super::schedules;
use super::world::*;

/// Three of five voters are gone for good: nothing is decided, the ring waits, and the others go on
/// on somebody's word. One that was not gone after all stays outside.
#[test]
fn a_lost_majority_of_voters_is_recovered_on_somebodys_word() {
    for seed in schedules(1660, 1, 6) {
        let mut world = World::new(seed, 5);
        world.run_for(ms(2000));
        let early = world.recover(0, &[2, 3], Word::Here).unwrap_err();
        assert!(early.contains("3 of 5 voters"), "{early}");
        for at in [2, 3, 4] {
            world.kill(at);
        }
        let refused = world.remove_member(0, "n2", false).unwrap_err();
        assert!(refused.contains("too few voters"), "{refused}");
        assert_eq!(world.status(0).expect("it runs").membership, 1);
        let gone = [2, 3, 4];
        let there = world.recover(0, &gone, Word::Here).unwrap();
        assert_eq!(there["version"], 1001);
        // n0's word is not n1's: without a recovery key, somebody says it there, too.
        world.until("n1 hears of it and does not believe it", |world| {
            world.alarmed(
                1,
                "n0 offers membership 1001, which too few voters have signed",
            )
        });
        assert_eq!(world.status(1).expect("it runs").membership, 1);
        let there = world.recover(1, &gone, Word::Here).unwrap();
        assert_eq!(there["version"], 1001);
        world.until("two are left", |world| world.is_ring(&[0, 1], 1001));
        // The two decide: a third member comes, and it is one that was not gone after all.
        world.start(2);
        world.until("n2 hears of it", |world| {
            world.alarmed(2, "membership 1001")
        });
        assert_eq!(world.status(2).expect("it runs").permits, 0);
        world.recover(2, &gone, Word::Here).unwrap();
        world.until("n2 is outside", |world| {
            world.status(2).expect("it runs").phase == Phase::Outside
        });
        let member = world.member(2);
        world.add_member(1, member, true).unwrap();
        world.until("three", |world| world.is_ring(&[0, 1, 2], 1002));
        world.works(&[0, 1, 2]);
    }
}

/// An operator's word counts for everybody; somebody else's does not.
#[test]
fn an_operators_word_counts_everywhere() {
    let [first, other, next] = [1, 2, 3].map(|number| Signer::new(&[number; 32]));
    let mut world = World::new(1680, 5);
    for at in 0..5 {
        world.start_with(at, |host| {
            host.settings.ring.recovery_key = Some(first.public());
        });
    }
    let roster = world.hosts[0].settings.first_roster().expect("members");
    world.rosters.insert(1, roster);
    world.run_for(ms(1000));
    // Another key for the operator, which the voters decide upon.
    let rotate = |world: &mut World, by: &Signer| {
        let signature = operator::sign_key("virtual", next.public(), by);
        let key = next.public();
        world.change(0, Request::RotateOperator { key, signature })
    };
    assert!(
        rotate(&mut world, &other)
            .unwrap_err()
            .contains("not signed")
    );
    assert_eq!(rotate(&mut world, &first).unwrap()["version"], 2);
    world.until("all know", |world| world.is_ring(&[0, 1, 2, 3, 4], 2));
    assert_eq!(world.stops, 0, "nobody was stopped for it");
    for at in [2, 3, 4] {
        world.kill(at);
    }
    let gone = [2, 3, 4];
    let names = gone.map(|at| format!("n{at}"));
    let unsigned = world.unsigned(0, &names);
    let sign = |by| {
        let signature = operator::sign_membership(&unsigned, "virtual", &names, by).unwrap();
        let bytes: Vec<u8> = (0..signature.len() / 2)
            .map(|at| u8::from_str_radix(&signature[2 * at..2 * at + 2], 16).unwrap())
            .collect();
        Word::Operator(Box::new(bytes.try_into().unwrap()))
    };
    for by in [&other, &first] {
        let refused = world.recover(0, &gone, sign(by)).unwrap_err();
        assert!(refused.contains("not signed"), "{refused}");
    }
    let more = ["n1".to_owned()];
    let wrong = operator::sign_membership(&unsigned, "virtual", &more, &next);
    assert_eq!(wrong, None, "somebody is in it who should not be");
    let there = world.recover(0, &gone, sign(&next)).unwrap();
    assert_eq!(there["version"], 1002);
    world.until("n1 believes it, too", |world| world.is_ring(&[0, 1], 1002));
}
