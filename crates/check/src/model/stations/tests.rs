//! The ring of the simulation does what the model does: one rule, written into two states.

use headway_core::stations::Work;
use headway_sim::moving_block::{Action, MovingBlockRing};
use headway_sim::seed::{Purpose, Random};

use super::rules::{KINDS, Kind, Link};
use super::{Ingredient, Ring, Settings, State};

/// The first of many random steps after which the two differ, and how far a token has come.
fn differ(sizes: &[usize], tokens: usize, leave_out: Option<Ingredient>) -> (Option<u32>, usize) {
    let settings = Settings {
        stations: sizes.to_vec(),
        tokens,
        separation: Some(1),
        leave_out,
        ..Settings::default()
    };
    let ring = Ring::new(&settings).expect("a ring");
    let (n, mut state) = (ring.station_of.len(), State::default());
    let lasts: Vec<usize> = (0..n).filter(|&index| ring.place(index).last).collect();
    for &index in &lasts[..tokens] {
        state[index].held = 1;
    }
    let mut simulated = MovingBlockRing::of_stations(sizes, tokens, 1);
    simulated.place(&lasts[..tokens]);
    let mut random = Random::new(2009, Purpose::Other(0));
    for step in 0..30_000 {
        let (index, (kind, _)) = (random.index(n), KINDS[random.index(KINDS.len())]);
        let (seat, next) = (state[index], (index + 1) % n);
        let actions: &[(usize, Action)] = match (kind, seat.work) {
            (Kind::Receive, _) => &[(next, Action::Receive)],
            (Kind::TellBack, _) => &[(next, Action::Tell), (index, Action::Hear)],
            (Kind::TellOn, _) => &[(index, Action::TellOn), (next, Action::HearOn)],
            (Kind::Begin, Work::Undecided) | (Kind::End, Work::Working) => &[(index, Action::Work)],
            (Kind::Give, _) => &[(index, Action::Give)],
            _ => continue,
        };
        let after = ring.act(&state, kind, index);
        let can = actions
            .iter()
            .all(|&(process, action)| simulated.act(process, action));
        let moves = matches!(kind, Kind::Receive | Kind::Give);
        state = after.unwrap_or(state);
        if moves && can != after.is_some() || !same(&ring, &state, &simulated) {
            return (Some(step), simulated.positions()[0]);
        }
    }
    (None, simulated.positions()[0])
}

fn same(ring: &Ring, state: &State, simulated: &MovingBlockRing) -> bool {
    let n = ring.station_of.len();
    let here = |index: usize| {
        let positions = simulated.positions().iter();
        positions.filter(|&from| from % n == index).count()
    };
    // Only differences of numbers matter.
    let number = |index: usize| {
        let (one, first) = (simulated.member(index).number, simulated.member(0).number);
        one as i64 - first as i64
    };
    let seats = (0..n).all(|index| {
        let seat = state[index];
        usize::from(seat.held) + usize::from(seat.link == Link::Token) == here(index)
            && (seat.work == Work::Working) == simulated.is_working(index)
            && seat.work.is_over() == simulated.member(index).work.is_over()
            && i64::from(seat.number) - i64::from(state[0].number) == number(index)
    });
    seats
        && ring.tokens_apart(state) == (simulated.closest() >= 1)
        && ring.works_apart(state) == simulated.works_apart()
}

#[test]
fn the_simulation_follows_the_model() {
    for (sizes, tokens) in [
        (&[2, 1][..], 1),
        (&[3, 2, 2], 2),
        (&[2, 1, 1, 3], 3),
        (&[4, 4], 1),
    ] {
        let (step, far) = differ(sizes, tokens, None);
        assert_eq!(step, None, "{sizes:?}");
        assert!(far > 10 * sizes.len(), "{sizes:?}: {far}");
    }
}

/// Counter-test: a model with a part left out is another one.
#[test]
fn a_part_left_out_is_a_difference() {
    for part in [
        Ingredient::Closing,
        Ingredient::Prefix,
        Ingredient::OwnEnd,
        Ingredient::Adoption,
    ] {
        let (step, _) = differ(&[4, 4], 1, Some(part));
        // Nobody is ever behind in a clean run.
        let needed = part != Ingredient::Adoption;
        assert_eq!(step.is_some(), needed, "{part}");
    }
}
