//! What can be done to a ring while it runs: said by a flag, or typed.

use std::fmt;
use std::io::BufRead;
use std::str::FromStr;
use std::sync::mpsc::{Receiver, sync_channel};
use std::time::Duration;

use headway_stage::faulty::Faults;
use headway_stage::live_ring::{LiveRing, Memory, Range};
use strum::{Display, EnumString, VariantArray};

use crate::flags::duration;

/// How many typed lines wait to be read; typing more blocks.
const MAX_LINES: usize = 64;

/// An order that is carried out at a time.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Fault {
    /// After the start.
    pub(super) at: Duration,
    pub(super) order: Order,
}

/// Something to do to the ring.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Order {
    /// Nothing means all.
    Scramble(Vec<u32>),
    Crash(u32),
    Restart(u32),
    RestartEmpty(u32),
    Cut(u32, u32),
    Mend(u32, u32),
    Partition(u32, u32),
    Heal,
    Chance(Chance, f64),
    Delay(Duration),
    Help,
    Quit,
}

/// What may happen to a datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Display, EnumString, VariantArray)]
#[strum(serialize_all = "lowercase")]
pub(super) enum Chance {
    Loss,
    Duplicate,
    Reorder,
    Corrupt,
}

impl Chance {
    /// Its probability.
    pub(super) const fn of(self, faults: &mut Faults) -> &mut f64 {
        match self {
            Chance::Loss => &mut faults.loss,
            Chance::Duplicate => &mut faults.duplicate,
            Chance::Reorder => &mut faults.reorder,
            Chance::Corrupt => &mut faults.corrupt,
        }
    }
}

/// What can be typed.
pub(super) const HELP: &str = "scramble | scramble I | crash I | restart I | restart-empty I \
| cut I J | mend I J | partition I-J | heal | loss P | duplicate P | reorder P | corrupt P \
| delay TIME | quit";

impl Order {
    /// Whether the ring has the nodes that are named.
    pub(super) fn fits(&self, nodes: u32) -> Result<(), String> {
        let named = match self {
            Order::Scramble(named) => named.clone(),
            Order::Crash(node) | Order::Restart(node) | Order::RestartEmpty(node) => vec![*node],
            Order::Cut(one, other) | Order::Mend(one, other) => {
                let apart = one.abs_diff(*other);
                if *one < nodes && *other < nodes && apart != 1 && apart != nodes - 1 {
                    return Err(format!("nodes {one} and {other} are not neighbours"));
                }
                vec![*one, *other]
            }
            Order::Partition(first, last) => vec![*first, *last],
            Order::Heal | Order::Chance(..) | Order::Delay(_) | Order::Help | Order::Quit => {
                Vec::new()
            }
        };
        match named.into_iter().find(|&node| node >= nodes) {
            None => Ok(()),
            Some(node) => Err(format!("no node {node}; they are 0 to {}", nodes - 1)),
        }
    }

    /// Does it to the ring.
    pub(super) fn carry_out(&self, ring: &mut LiveRing) -> Result<(), String> {
        let nodes = ring.settings().plan.nodes();
        self.fits(nodes)?;
        let fault = self.to_string();
        let done = match *self {
            Order::Scramble(ref named) if named.is_empty() => {
                ring.scramble(&(0..nodes).collect::<Vec<_>>(), &fault)
            }
            Order::Scramble(ref named) => ring.scramble(named, &fault),
            Order::Crash(node) => ring.crash(node),
            Order::Restart(node) => ring.restart(node, Memory::Saved),
            Order::RestartEmpty(node) => ring.restart(node, Memory::Lost { fault: &fault }),
            Order::Chance(Chance::Corrupt, probability)
                if probability > 0.0 && !ring.settings().key.authenticates() =>
            {
                return Err("without a key corrupted datagrams go unnoticed".to_owned());
            }
            _ => {
                ring.faults().change(|faults| self.change(faults, nodes));
                Ok(())
            }
        };
        done.map_err(|error| error.to_string())
    }

    /// Does it to the network.
    fn change(&self, faults: &mut Faults, nodes: u32) {
        match *self {
            Order::Cut(one, other) => faults.cut(one, other),
            Order::Mend(one, other) => faults.mend(one, other),
            Order::Partition(first, last) => {
                faults.cut((first + nodes - 1) % nodes, first);
                faults.cut(last, (last + 1) % nodes);
            }
            Order::Heal => faults.cut.clear(),
            Order::Chance(chance, probability) => *chance.of(faults) = probability,
            Order::Delay(delay) => faults.delay = delay,
            _ => {}
        }
    }
}

impl FromStr for Order {
    type Err = String;

    fn from_str(text: &str) -> Result<Order, String> {
        let text = text.trim();
        // A flag has a colon or, as it was once, an equals sign; a person types a space.
        let (word, rest) = match text.split_once([':', '=', ' ']) {
            Some((word, rest)) => (word, rest.trim()),
            None => (text, ""),
        };
        let one = || node(rest);
        let two = |apart: &[char]| -> Result<(u32, u32), String> {
            let parts: Vec<&str> = rest.split(apart).filter(|part| !part.is_empty()).collect();
            match parts[..] {
                [one, other] => Ok((node(one)?, node(other)?)),
                _ => Err(format!("'{rest}': expected two nodes")),
            }
        };
        if let Ok(chance) = word.parse() {
            return Ok(Order::Chance(chance, probability(rest)?));
        }
        match word {
            "scramble" => Ok(Order::Scramble(several(rest)?)),
            "crash" => Ok(Order::Crash(one()?)),
            "restart" => Ok(Order::Restart(one()?)),
            "restart-empty" => Ok(Order::RestartEmpty(one()?)),
            "cut" => two(&[',', ' ']).map(|(one, other)| Order::Cut(one, other)),
            "mend" => two(&[',', ' ']).map(|(one, other)| Order::Mend(one, other)),
            "partition" => two(&['-', ',', ' ']).map(|(first, last)| Order::Partition(first, last)),
            "heal" => Ok(Order::Heal),
            "delay" => Ok(Order::Delay(duration(rest)?)),
            "help" | "?" => Ok(Order::Help),
            "quit" | "exit" | "q" => Ok(Order::Quit),
            _ => Err(format!("'{word}' is not one of: {HELP}")),
        }
    }
}

impl fmt::Display for Order {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Order::Scramble(nodes) if nodes.is_empty() => f.write_str("scramble"),
            Order::Scramble(nodes) => {
                let nodes: Vec<String> = nodes.iter().map(u32::to_string).collect();
                write!(f, "scramble:{}", nodes.join(","))
            }
            Order::Crash(node) => write!(f, "crash:{node}"),
            Order::Restart(node) => write!(f, "restart:{node}"),
            Order::RestartEmpty(node) => write!(f, "restart-empty:{node}"),
            Order::Cut(one, other) => write!(f, "cut:{one},{other}"),
            Order::Mend(one, other) => write!(f, "mend:{one},{other}"),
            Order::Partition(first, last) => write!(f, "partition:{first}-{last}"),
            Order::Heal => f.write_str("heal"),
            Order::Chance(chance, probability) => write!(f, "{chance}:{probability}"),
            Order::Delay(delay) => write!(f, "delay:{}", span(*delay)),
            Order::Help => f.write_str("help"),
            Order::Quit => f.write_str("quit"),
        }
    }
}

impl FromStr for Fault {
    type Err = String;

    fn from_str(text: &str) -> Result<Fault, String> {
        let (order, at) = match text.rsplit_once('@') {
            Some(parts) => parts,
            // As it was once: the time first.
            None => match text.split_once(':') {
                Some((at, order)) if duration(at).is_ok() => (order, at),
                _ => return Err("when? add @TIME, such as scramble@5s".to_owned()),
            },
        };
        let order: Order = order
            .parse()
            .map_err(|error: String| match error.contains(HELP) {
                // A flag is written with a colon and a time.
                true => format!(
                    "expected scramble, scramble:I, crash:I, restart:I, restart-empty:I, cut:I,J, \
                 mend:I,J, partition:I-J, heal, loss:P, duplicate:P, reorder:P, corrupt:P or \
                 delay:TIME before the @, not '{order}'"
                ),
                false => error,
            })?;
        if matches!(order, Order::Help | Order::Quit) {
            return Err("help and quit can only be typed".to_owned());
        }
        Ok(Fault {
            at: duration(at).map_err(|error| format!("'@{at}': {error}"))?,
            order,
        })
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{}", self.order, span(self.at))
    }
}

/// A time, or anything between two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Span(pub(super) Range);

impl FromStr for Span {
    type Err = String;

    fn from_str(text: &str) -> Result<Span, String> {
        let (min, max) = text.split_once("..").unwrap_or((text, text));
        let (min, max) = (duration(min)?, duration(max)?);
        if min > max {
            return Err("the range ends before it begins".to_owned());
        }
        Ok(Span(Range { min, max }))
    }
}

/// The opposite of [`duration`], to the microsecond.
pub(super) fn span(duration: Duration) -> String {
    let micros = duration.as_micros();
    if micros.is_multiple_of(1_000_000) {
        format!("{}s", micros / 1_000_000)
    } else if micros.is_multiple_of(1000) {
        format!("{}ms", micros / 1000)
    } else {
        format!("{micros}us")
    }
}

/// Lines from standard input, as they come.
pub(super) fn typed() -> Receiver<String> {
    let (sender, receiver) = sync_channel(MAX_LINES);
    std::thread::spawn(move || {
        for line in std::io::stdin().lock().lines() {
            // The end of the input, or of the ring.
            let Ok(line) = line else { return };
            if sender.send(line).is_err() {
                return;
            }
        }
    });
    receiver
}

fn node(text: &str) -> Result<u32, String> {
    text.trim()
        .parse()
        .map_err(|_| format!("'{text}': expected the number of a node"))
}

/// `all`, `3`, `3,5-8`.
fn several(text: &str) -> Result<Vec<u32>, String> {
    if text.is_empty() || text == "all" {
        return Ok(Vec::new());
    }
    let mut nodes = Vec::new();
    for part in text.split([',', ' ']).filter(|part| !part.is_empty()) {
        let (first, last) = match part.split_once('-') {
            Some((first, last)) => (node(first)?, node(last)?),
            None => (node(part)?, node(part)?),
        };
        if first > last || last - first > 1_000_000 {
            return Err(format!("'{part}' is no range of nodes"));
        }
        nodes.extend(first..=last);
    }
    nodes.sort_unstable();
    nodes.dedup();
    if nodes.is_empty() {
        return Err("which nodes? all, or numbers such as 3,5-8".to_owned());
    }
    Ok(nodes)
}

fn probability(text: &str) -> Result<f64, String> {
    let expected = || format!("'{text}': expected a probability, from 0 to 1");
    let given: f64 = text.trim().parse().map_err(|_| expected())?;
    if (0.0..=1.0).contains(&given) {
        Ok(given)
    } else {
        Err(expected())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_are_read_as_they_are_written() {
        for text in [
            "scramble",
            "scramble:3,5,6",
            "crash:4",
            "restart:4",
            "restart-empty:4",
            "cut:2,3",
            "mend:2,3",
            "partition:2-7",
            "heal",
            "loss:0.5",
            "delay:1500us",
            "quit",
        ] {
            let order: Order = text.parse().expect(text);
            assert_eq!(order.to_string(), text);
            for apart in [" ", "="] {
                let other: Order = text.replace(':', apart).parse().expect(text);
                assert_eq!(other, order);
            }
        }
        let range: Order = "scramble:5-6,3".parse().expect("a range");
        assert_eq!(range.to_string(), "scramble:3,5,6");
        assert_eq!("scramble all".parse(), Ok(Order::Scramble(Vec::new())));
    }

    #[test]
    fn faults_come_at_a_time() {
        for text in ["crash:4@2s", "delay:5ms@1500ms", "heal@250us"] {
            let fault: Fault = text.parse().expect(text);
            assert_eq!(fault.to_string(), text);
        }
        let once: Fault = "2s:crash=4".parse().expect("as it was");
        assert_eq!(once.to_string(), "crash:4@2s");
        for wrong in ["crash:4", "crash:4@soon", "crash:4@", "@2s", "quit@2s"] {
            assert!(wrong.parse::<Fault>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn times_are_read_and_written() {
        for (text, micros) in [("2s", 2_000_000), ("1500ms", 1_500_000), ("250us", 250)] {
            let read = duration(text).expect(text);
            assert_eq!(read, Duration::from_micros(micros));
            assert_eq!(span(read), text);
        }
        assert_eq!(duration("1.5m"), Ok(Duration::from_secs(90)));
        for wrong in [
            "",
            "5",
            "s",
            "5 parsecs",
            "-1s",
            "1e99s",
            "9999999999999s",
            ".s",
        ] {
            assert!(duration(wrong).is_err(), "{wrong}");
        }
    }
}
