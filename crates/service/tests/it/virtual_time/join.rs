//! Machines that join by a token; and tokens that were used, have expired, were revoked, or were
//! never made.

use headway_service::join::{Member, Question, Token, Word};

use super::world::*;
use headway_service::internal::{Answer, Request};

fn member(at: usize) -> Member {
    Member {
        name: format!("n{at}"),
        address: address(at),
        key: Some(identity(at).public()),
        ..Member::default()
    }
}

impl World {
    /// A token of a node, and what it is revoked by.
    fn invite(&mut self, at: usize, lasts: u64) -> (Token, String) {
        let lasts = ms(lasts);
        match self.ask(at, Request::Invite { lasts }) {
            Ok(Answer::Invited { id, token }) => (token.parse().expect("a token"), id),
            other => panic!("seed {}: {other:?}", self.seed),
        }
    }

    /// A machine whose node does not run shows a token, once; what it hears.
    fn show(&mut self, token: &Token, member: &Member) -> Option<Word> {
        let question = Question::new(token, member, [9; 8]);
        self.deliver(0, question.datagram.clone());
        let mut answer = None;
        self.flying.retain(|waiting| {
            let heard = question.answered(&waiting.0.3);
            answer = answer.take().or(heard.clone());
            heard.is_none()
        });
        answer.map(|word| word.expect("by the member that made the token"))
    }

    /// The same until there is an answer.
    fn ask_in(&mut self, token: &Token, member: &Member) -> Word {
        (0..20)
            .find_map(|_| self.show(token, member))
            .unwrap_or_else(|| panic!("seed {}: no answer", self.seed))
    }

    fn refused(&mut self, token: &Token, at: usize, expected: &str) {
        let said = self.ask_in(token, &member(at));
        let Word::Refused(why) = said else {
            panic!("seed {}: n{at} is let in: {said:?}", self.seed);
        };
        assert!(why.contains(expected), "{why}");
    }

    /// A machine shows a token, and starts with what it hears.
    fn join(&mut self, token: &Token, at: usize) {
        let Word::Welcome { voters, .. } = self.ask_in(token, &member(at)) else {
            panic!("seed {}: n{at} is not let in", self.seed);
        };
        self.hosts[at].settings.ring.members = voters;
        self.start(at);
        self.until("it is a member, and the ring works", |world| {
            let status = (0..=at).map(|at| world.status(at));
            status
                .flatten()
                .all(|status| status.settled && status.members == at + 1)
        });
    }
}

/// One machine, then two, then all of them.
#[test]
fn machines_join_by_tokens_and_the_ring_works() {
    for seed in 0..headway_testkit::tier::pick(2, 20, 200) {
        let mut world = World::new(seed, 1);
        world.loss = seed % 20;
        let status = world.status(0).expect("it runs");
        assert!(!status.settled, "alone it has nobody to share with");
        for at in 1..4 {
            let (token, _) = world.invite(0, 60_000);
            assert_eq!(token.to_string().parse(), Ok(token.clone()));
            world.join(&token, at);
        }
        let runs = world.hosts[3].runs;
        world.until("the last one works", |world| world.hosts[3].runs > runs);
        // A member that was removed does not come back by its token.
        world.remove(0, 3);
        world.until("it has gone", |world| world.latest().members.len() == 3);
        world.run_for(ms(5_000));
        assert_eq!(world.latest().members.len(), 3, "seed {seed}");
    }
}

#[test]
fn a_token_lets_in_one_machine_also_over_a_restart() {
    let mut world = World::new(1, 1);
    let (token, id) = world.invite(0, 60_000);
    // It is noted before it is answered, and answered again.
    assert_eq!(world.show(&token, &member(1)), None);
    world.kill(0);
    world.start(0);
    assert!(matches!(
        world.show(&token, &member(1)),
        Some(Word::Welcome { .. })
    ));
    // A thief comes too late, or the machine that it was meant for hears of the thief.
    world.refused(&token, 2, "used already, by n1 at 10.0.0.2:7400");
    world.join(&token, 1);
    world.refused(&token, 2, "used already, by n1");
    let late = world.ask(0, Request::Revoke { id });
    assert!(late.is_err_and(|why| why.contains("n1 has joined by it already")));
    // Not under a name or an address that somebody else has.
    let (token, _) = world.invite(0, 60_000);
    let taken = Member {
        name: "n0".into(),
        ..member(2)
    };
    let said = world.ask_in(&token, &taken);
    assert!(matches!(said, Word::Refused(why) if why.contains("name `n0` is there twice")));
    world.join(&token, 2);
}

#[test]
fn a_token_that_has_expired_or_is_revoked_or_was_never_made_lets_nobody_in() {
    let mut world = World::new(1, 1);
    let (short, _) = world.invite(0, 1_000);
    world.run_for(ms(1_000));
    world.refused(&short, 1, "the token is expired");
    let (token, id) = world.invite(0, 60_000);
    world.ask(0, Request::Revoke { id }).expect("revoked");
    world.refused(&token, 1, "the token is revoked");
    // Also one that was used, by a machine that has not started yet.
    let (token, id) = world.invite(0, 60_000);
    let welcome = world.ask_in(&token, &member(1));
    let Word::Welcome { voters, .. } = welcome else {
        panic!("{welcome:?}");
    };
    world.ask(0, Request::Revoke { id }).expect("revoked");
    world.hosts[1].settings.ring.members = voters;
    world.start(1);
    world.run_for(ms(5_000));
    assert_eq!(world.latest().members.len(), 1);
    // One that is made up has no secret that counts; a mistyped one is none.
    let mut elsewhere = World::new(2, 1);
    for _ in 0..100_000 {
        random();
    }
    let (forged, _) = elsewhere.invite(0, 60_000);
    world.refused(&forged, 2, "has made no such token");
    let text = token.to_string();
    for wrong in [&text[..40], &text[1..], &text.replace('1', "2"), "hw1", ""] {
        assert!(wrong.parse::<Token>().is_err(), "{wrong}");
    }
    // Many that are made up are not all answered.
    let mut answers = 0;
    for _ in 0..200 {
        answers += u64::from(world.show(&forged, &member(2)).is_some());
    }
    assert!((1..40).contains(&answers), "{answers}");
}

/// The counter-test: somebody who stands between cannot answer, though it has seen the token.
#[test]
fn nobody_else_answers_for_the_member_that_made_the_token() {
    let mut world = World::new(1, 2);
    world.run_for(ms(2_000));
    let (token, _) = world.invite(0, 60_000);
    let question = Question::new(&token, &member(2), [9; 8]);
    let mut other = Member::clone(&token.by);
    other.key = Some(identity(1).public());
    let mut answers = Vec::new();
    for _ in 0..2 {
        world.deliver(0, question.datagram.clone());
        answers.extend(world.flying.iter().map(|waiting| waiting.0.3.clone()));
    }
    let answer = answers
        .iter()
        .find(|bytes| question.answered(bytes).is_some());
    let mut answer = answer.expect("an answer").clone();
    assert!(matches!(question.answered(&answer), Some(Some(_))));
    // Signed with another key, or changed, or to another question.
    let mut by_another = token.clone();
    by_another.by = other;
    let asks_another = Question::new(&by_another, &member(2), [9; 8]);
    assert_eq!(asks_another.answered(&answer), Some(None));
    let later = Question::new(&token, &member(2), [8; 8]);
    assert_eq!(later.answered(&answer), None);
    let place = answer
        .windows(2)
        .position(|two| two == b"n0")
        .expect("a voter");
    answer[place + 1] = b'7';
    assert_eq!(question.answered(&answer), Some(None));
}

/// Who has used it could not be remembered.
#[test]
fn nobody_is_let_in_while_the_disk_is_full() {
    let mut world = World::new(1, 1);
    let (token, _) = world.invite(0, 60_000);
    let writes = world.hosts[0].writes;
    world.hosts[0].full = writes..u64::MAX;
    world.show(&token, &member(1));
    world.refused(&token, 1, "cannot write down");
    world.hosts[0].full = 0..0;
    world.run_for(ms(2_000));
    world.join(&token, 1);
}
