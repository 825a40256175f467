//! What a net does from a marking, as far as a circuit's tokens are concerned.

use crate::circuit::Circuit;
use crate::net::{Marking, Net};
use crate::play::{NotPlayable, Timed};

/// Seen by playing until a state recurs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Behaviour {
    /// The fewest places between successive tokens of the circuit, over the
    /// recurring states; `None` without tokens, or when nothing recurred in the
    /// rounds allowed.
    pub separation: Option<u64>,
    /// From this round on tokens are D apart forever; `None` when they never
    /// are, or when that is not known.
    pub separated_from: Option<u64>,
    /// Nothing ever fires after this round.
    pub dead_from: Option<u64>,
    /// Firings of the circuit's transitions in one period of the recurring part;
    /// 0 when its tokens stand still forever.
    pub circuit_firings: u64,
    /// The first state that recurs is that of this round, and the period.
    pub recurs: Option<(u64, u64)>,
    /// Rounds played.
    pub rounds: u64,
}

/// Plays a net until a state recurs, for at most `allowed` rounds, and watches
/// a circuit's tokens with D = `separation`.
///
/// # Errors
///
/// [`NotPlayable`] when a transition has no input or a circuit takes no time.
pub fn observe(
    net: &Net,
    marking: &Marking,
    circuit: &Circuit,
    separation: u32,
    allowed: u64,
) -> Result<Behaviour, NotPlayable> {
    let adjacency = net.adjacency();
    let holding: Vec<u64> = (0..net.places()).map(|place| net.holding(place)).collect();
    let mut play = Timed::new(&adjacency, &holding, marking)?;
    let mut on_circuit = vec![false; net.transitions()];
    for &transition in &circuit.transitions {
        on_circuit[transition] = true;
    }
    let mut watch = Watch {
        circuit,
        required: u64::from(separation),
        last_bad: None,
        fewest: None,
        firings: 0,
    };
    watch.see(&play, 0);
    // Brent's search for a recurring state: the saved one moves at powers of two.
    let mut saved = play.state(0);
    let (mut saved_at, mut steps, mut power) = (0, 0_u64, 1_u64);
    let (mut now, mut last_fired) = (0, 0);
    watch.restart();
    loop {
        let Some(next) = play.next_time().filter(|&time| time <= allowed) else {
            let dead = play.next_time().is_none();
            let kept = circuit.separation(&play.marking());
            let separated = kept.is_none_or(|kept| kept >= watch.required);
            return Ok(Behaviour {
                separation: kept.filter(|_| dead),
                separated_from: (dead && separated).then(|| watch.good_from()),
                dead_from: dead.then_some(last_fired),
                circuit_firings: 0,
                recurs: dead.then_some((now, 1)),
                rounds: now,
            });
        };
        now = next;
        if let Some(instant) = play.step()? {
            let counted = instant
                .fired
                .iter()
                .filter(|(t, _)| on_circuit[*t as usize]);
            watch.firings += counted.map(|&(_, times)| times).sum::<u64>();
            if !instant.fired.is_empty() {
                last_fired = now;
            }
        }
        watch.see(&play, now);
        let state = play.state(now);
        if state == saved {
            let period = now - saved_at;
            let separated = watch.fewest.is_none_or(|fewest| fewest >= watch.required);
            return Ok(Behaviour {
                separation: watch.fewest,
                separated_from: separated.then(|| watch.good_from()),
                dead_from: None,
                circuit_firings: watch.firings,
                recurs: Some((
                    first_recurrent(net, marking, &adjacency, &holding, period)?,
                    period,
                )),
                rounds: now,
            });
        }
        steps += 1;
        if steps == power {
            saved = state;
            saved_at = now;
            steps = 0;
            power = power.saturating_mul(2);
            watch.restart();
        }
    }
}

/// The first round whose state recurs, given the period.
fn first_recurrent(
    net: &Net,
    marking: &Marking,
    adjacency: &crate::net::Adjacency,
    holding: &[u64],
    period: u64,
) -> Result<u64, NotPlayable> {
    debug_assert_eq!(net.places(), holding.len());
    let mut behind = Timed::new(adjacency, holding, marking)?;
    let mut ahead = behind.clone();
    let advance = |play: &mut Timed<'_>, until: u64| -> Result<(), NotPlayable> {
        while play.next_time().is_some_and(|time| time <= until) {
            play.step()?;
        }
        Ok(())
    };
    advance(&mut ahead, period)?;
    let mut now = 0;
    while behind.state(now) != ahead.state(now + period) {
        now += 1;
        advance(&mut behind, now)?;
        advance(&mut ahead, now + period)?;
    }
    Ok(now)
}

struct Watch<'a> {
    circuit: &'a Circuit,
    required: u64,
    last_bad: Option<u64>,
    fewest: Option<u64>,
    firings: u64,
}

impl Watch<'_> {
    fn see(&mut self, play: &Timed<'_>, now: u64) {
        let kept = self.circuit.separation_by(|place| play.tokens(place));
        if kept.is_some_and(|kept| kept < self.required) {
            self.last_bad = Some(now);
        }
        self.fewest = match (self.fewest, kept) {
            (Some(fewest), Some(kept)) => Some(fewest.min(kept)),
            (one, other) => one.or(other),
        };
    }

    /// Counts from here on belong to a period that may be the recurring one.
    fn restart(&mut self) {
        self.fewest = None;
        self.firings = 0;
    }

    fn good_from(&self) -> u64 {
        self.last_bad.map_or(0, |round| round + 1)
    }
}
