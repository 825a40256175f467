//! A change of members together with permits, as the fleet service does it: a log of rosters,
//! members that hear of them at any time or never, and one token on each roster's ring.
//!
//! Time is left out but for the one assumption that the service makes. A permit, counted from
//! the question that its holder has asked its neighbours, is over before somebody who left the
//! ring later has waited for as long as a permit lasts; a question that is as old as that is
//! not acted upon. Everything else may take any time: a member that does nothing for a while
//! is paused, cut off or dead; one that has forgotten its question was restarted.
//!
//! The log is a sequence: what keeps it is somebody else's work.

use headway_check::reach::Reachable;

const MAX_MEMBERS: usize = 6;

/// A ring and how often it changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Settings {
    /// Members of the first roster, 3 to 6.
    pub(super) members: usize,
    /// Rosters that follow it at most, up to 4; each leaves out or takes back any members.
    pub(super) changes: usize,
    /// What is left out.
    pub(super) variant: Variant,
}

/// The rules, or the rules without one of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Variant {
    /// All rules.
    #[default]
    Sound,
    /// A permit is used as soon as the token is there, as in version 0.1.
    NobodyIsAsked,
    /// Only the predecessor is asked.
    OneIsAsked,
    /// Answers count however old the question is.
    OldAnswers,
    /// A roster may leave out any members. By the rules each has to have kept a neighbour on
    /// the last ring on which everybody was.
    AnySegment,
    /// Who was beside somebody who has left does not wait for it.
    NobodyWaits,
    /// Who hears of a new roster begins on it although it uses a permit.
    NoDrain,
    /// Each side of a cut decides for itself, upon the first roster, as in version 0.1, where a
    /// member that answered both sides was counted by both.
    TwoLogs,
    /// Who starts again takes the first roster, as in version 0.1 after a change of the key.
    Forgets,
}

/// Members as bits.
type Set = u8;

const fn bit(member: usize) -> Set {
    1 << member
}

/// What a member does with the token of its ring.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
enum Use {
    #[default]
    Nothing,
    /// It asks its neighbours: these have answered.
    Asks { answered: Set, old: bool },
    /// It uses a permit.
    Works,
}

/// What a member knows and does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
struct Member {
    /// Its roster.
    version: u8,
    /// It takes part in that roster's ring.
    begun: bool,
    /// Who has left beside it and may still work.
    waits: Set,
    does: Use,
    /// Who was on the ring when it asked its neighbours; counts while it asks or works.
    asked: Set,
}

/// Where the token of a ring is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Token {
    /// The ring has never settled.
    None,
    At(u8),
    /// Sent, and perhaps in the socket of a member that is paused.
    FlyingTo(u8),
}

/// All members, all rosters so far, and the token of each one's ring.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct State {
    rosters: Vec<Set>,
    tokens: Vec<Token>,
    members: [Member; MAX_MEMBERS],
}

pub(super) struct Membership(pub(super) Settings);

impl Membership {
    /// The nearest that a roster has, in a direction.
    fn beside(&self, roster: Set, member: usize, forward: bool) -> usize {
        let n = self.0.members;
        let step = if forward { 1 } else { n - 1 };
        let mut at = (member + step) % n;
        while roster & bit(at) == 0 {
            at = (at + step) % n;
        }
        at
    }

    fn neighbours(&self, roster: Set, member: usize) -> Set {
        bit(self.beside(roster, member, true)) | bit(self.beside(roster, member, false))
    }

    /// Who is gone between a member of the old roster and the nearest on either side who stay.
    fn left_beside(&self, old: Set, new: Set, member: usize) -> Set {
        let mut left = 0;
        for forward in [true, false] {
            let mut at = self.beside(old, member, forward);
            while new & bit(at) == 0 {
                left |= bit(at);
                at = self.beside(old, at, forward);
            }
        }
        left
    }

    /// Whether a roster may follow: on the last ring that has settled, everybody whom it
    /// leaves out was beside somebody who stays.
    fn may_follow(&self, state: &State, next: Set) -> bool {
        let decided_upon = match self.0.variant {
            Variant::TwoLogs => 1,
            _ => state.rosters.len(),
        };
        let (rosters, tokens) = (
            &state.rosters[..decided_upon],
            &state.tokens[..decided_upon],
        );
        let settled = tokens.iter().rposition(|&token| token != Token::None);
        let Some(base) = settled.map(|version| rosters[version]) else {
            return false;
        };
        // Also of everybody who was left out and taken back in between.
        let since = rosters.iter().skip(settled.unwrap_or(0));
        let stay = since.fold(next, |stay, roster| stay & roster);
        let all = self.0.variant == Variant::AnySegment;
        all || (0..self.0.members)
            .filter(|&member| base & bit(member) != 0 && stay & bit(member) == 0)
            .all(|member| self.neighbours(base, member) & stay != 0)
    }

    /// Who is on the ring of a roster.
    fn on_ring(&self, state: &State, version: u8) -> Set {
        let members = state.members[..self.0.members].iter().enumerate();
        let on = members.filter(|(_, member)| member.begun && member.version == version);
        on.fold(0, |set, (at, _)| set | bit(at))
    }

    fn commits(&self, state: &State, next: &mut Vec<State>) {
        let last = state.rosters[state.rosters.len() - 1];
        if state.rosters.len() > self.0.changes {
            return;
        }
        for roster in (0..bit(self.0.members)).filter(|&roster| roster != last) {
            // Two sides of a cut are halves.
            let half = 2 * roster.count_ones() as usize == self.0.members;
            let fits = half || self.0.variant != Variant::TwoLogs;
            if fits && roster.count_ones() >= 2 && self.may_follow(state, roster) {
                let mut state = state.clone();
                state.rosters.push(roster);
                state.tokens.push(Token::None);
                next.push(state);
            }
        }
    }

    /// A member hears of a later roster, and leaves the ring of its own.
    fn adopts(&self, state: &State, at: usize, next: &mut Vec<State>) {
        let own = state.members[at];
        for version in own.version + 1..state.rosters.len() as u8 {
            let [old, new] = [own.version, version].map(|at| state.rosters[usize::from(at)]);
            let mut state = state.clone();
            let member = &mut state.members[at];
            let left = match old & new & bit(at) != 0 {
                true => self.left_beside(old, new, at),
                false => 0,
            };
            member.version = version;
            member.begun = false;
            member.waits = (member.waits | left) & !new;
            if self.0.variant == Variant::NobodyWaits {
                member.waits = 0;
            }
            if let Use::Asks { .. } = member.does {
                (member.does, member.asked) = (Use::Nothing, 0);
            }
            next.push(state);
        }
    }

    /// A member starts again and has forgotten its roster. Its command has ended.
    fn forgets(&self, state: &State, at: usize, next: &mut Vec<State>) {
        if self.0.variant == Variant::Forgets && state.members[at].version > 0 {
            let mut state = state.clone();
            state.members[at] = Member::default();
            next.push(state);
        }
    }

    /// A member begins on the ring of its roster; the last one makes it settle.
    fn begins(&self, state: &State, at: usize, next: &mut Vec<State>) {
        let own = state.members[at];
        let roster = state.rosters[usize::from(own.version)];
        let drained = own.does != Use::Works || self.0.variant == Variant::NoDrain;
        if own.begun || roster & bit(at) == 0 || own.waits != 0 || !drained {
            return;
        }
        let mut state = state.clone();
        state.members[at].begun = true;
        let version = usize::from(own.version);
        if self.on_ring(&state, own.version) != roster || state.tokens[version] != Token::None {
            return next.push(state);
        }
        for holder in (0..self.0.members).filter(|&holder| roster & bit(holder) != 0) {
            let mut state = state.clone();
            state.tokens[version] = Token::At(holder as u8);
            next.push(state);
        }
    }

    /// Somebody who has left is not waited for any more: it has said that it uses nothing, or
    /// its time is over.
    fn waits_no_longer(&self, state: &State, at: usize, next: &mut Vec<State>) {
        let own = state.members[at];
        for other in (0..self.0.members).filter(|&other| own.waits & bit(other) != 0) {
            let them = state.members[other];
            let mut state = state.clone();
            state.members[at].waits &= !bit(other);
            match them.does {
                // Asked when this one was still on the ring: its time is not over.
                Use::Works if them.asked & bit(at) != 0 => {}
                Use::Asks { answered, .. } if them.asked & bit(at) != 0 => {
                    let old = true;
                    state.members[other].does = Use::Asks { answered, old };
                    next.push(state);
                }
                _ => next.push(state),
            }
        }
    }

    /// What a member does with the token of its ring.
    fn uses(&self, state: &State, at: usize, next: &mut Vec<State>) {
        let own = state.members[at];
        let version = usize::from(own.version);
        let roster = state.rosters[version];
        let mut push = |change: &dyn Fn(&mut State)| {
            let mut state = state.clone();
            change(&mut state);
            next.push(state);
        };
        if own.does == Use::Works {
            push(&|state| (state.members[at].does, state.members[at].asked) = (Use::Nothing, 0));
        }
        if !own.begun {
            return;
        }
        match (state.tokens[version], own.does) {
            (Token::FlyingTo(to), _) if usize::from(to) == at => {
                push(&|state| state.tokens[version] = Token::At(to));
            }
            (Token::At(holder), Use::Nothing) if usize::from(holder) == at => {
                let to = self.beside(roster, at, true) as u8;
                push(&|state| state.tokens[version] = Token::FlyingTo(to));
                let asked = self.on_ring(state, own.version);
                let (answered, old) = (0, false);
                push(&|state| {
                    state.members[at].does = Use::Asks { answered, old };
                    state.members[at].asked = asked;
                });
            }
            (Token::At(holder), Use::Asks { answered, old }) if usize::from(holder) == at => {
                let asked = match self.0.variant {
                    Variant::NobodyIsAsked => 0,
                    Variant::OneIsAsked => bit(self.beside(roster, at, false)),
                    _ => self.neighbours(roster, at),
                };
                let on = self.on_ring(state, own.version);
                for other in (0..self.0.members).filter(|&other| asked & on & bit(other) != 0) {
                    let answered = answered | bit(other);
                    push(&|state| state.members[at].does = Use::Asks { answered, old });
                }
                if answered == asked && (!old || self.0.variant == Variant::OldAnswers) {
                    push(&|state| state.members[at].does = Use::Works);
                }
                // It is asked back, or restarted.
                push(&|state| {
                    (state.members[at].does, state.members[at].asked) = (Use::Nothing, 0);
                });
            }
            _ => {}
        }
    }
}

impl Reachable for Membership {
    type State = State;

    fn starts(&self) -> impl Iterator<Item = Option<State>> {
        let mut members = [Member::default(); MAX_MEMBERS];
        for member in &mut members[..self.0.members] {
            member.begun = true;
        }
        std::iter::once(Some(State {
            rosters: vec![bit(self.0.members) - 1],
            tokens: vec![Token::At(0)],
            members,
        }))
    }

    fn successors(&self, state: &State, successors: &mut Vec<State>) {
        self.commits(state, successors);
        for at in 0..self.0.members {
            self.adopts(state, at, successors);
            self.forgets(state, at, successors);
            self.begins(state, at, successors);
            self.waits_no_longer(state, at, successors);
            self.uses(state, at, successors);
        }
    }

    fn violates(&self, state: &State) -> Option<&'static str> {
        let working = state
            .members
            .iter()
            .filter(|member| member.does == Use::Works);
        (working.count() > 1).then_some("two permits at a time")
    }
}
