//! A run on a walk: how far apart the tokens are in the network, over time.

use std::io::{self, Write};
use std::path::Path;

use headway_answer::json::{NetworkJson, NetworkRound};
use headway_sim::Settings;
use headway_sim::run::Frame;
use headway_walk::network::distance::Reach;
use headway_walk::walk::file::{self, WalkFile};
use headway_walk::walk::kept::{self, Offsets};

use crate::failure::{Failure, read_text};
use crate::flags::{Instance, RingFlags};
use crate::report::style::{BAD, DIM, GOOD};

/// Reads a walk file.
pub(super) fn read(path: &Path) -> Result<WalkFile, Failure> {
    let text = read_text(path)?;
    file::read(&text).map_err(|error| {
        Failure::new(format!("{}: {error}", path.display()))
            .help("make a walk file with: headway walk NETWORK --tokens M -o walk.json")
    })
}

/// The flags of a ring on a walk: as many processes as it has positions, and the
/// walk's own tokens and separation unless told otherwise.
pub(super) fn flags(file: &WalkFile, path: &Path, given: &RingFlags) -> Result<RingFlags, Failure> {
    let settings = &given.settings;
    if settings.processes.is_some() {
        return Err(Failure::new(format!(
            "--processes contradicts --walk {}: the ring has one process for each of its {} positions",
            path.display(),
            file.walk.len()
        ))
        .help("drop --processes"));
    }
    let tokens = settings.tokens.unwrap_or(file.tokens as u64);
    // Other tokens than the walk was made for, as far apart as can be.
    let own = if tokens == file.tokens as u64 {
        file.separation as u64
    } else {
        (file.walk.len() as u64 / tokens.max(1)).max(1)
    };
    let measures = settings.program().measures();
    let settings = Settings {
        processes: Some(file.walk.len() as u64),
        tokens: Some(tokens),
        separation: settings.separation.or((!measures).then_some(own)),
        ..settings.clone()
    };
    Ok(RingFlags {
        settings,
        ..given.clone()
    })
}

/// What was seen of the distances in the network.
pub(super) struct OverNetwork {
    file: WalkFile,
    reach: Reach,
    /// The distance that tokens at the ring's separation keep forever; `None` for one
    /// token.
    promised: Option<u32>,
    /// The token count at each node, zero between frames.
    here: Vec<u32>,
    /// After every round.
    seen: Vec<NetworkRound>,
}

impl OverNetwork {
    pub(super) fn new(file: WalkFile, instance: &Instance) -> OverNetwork {
        let offsets = Offsets::of_tokens(
            file.walk.len(),
            instance.tokens() as usize,
            instance.separation() as usize,
        );
        let promised = (instance.tokens() > 1 && instance.feasible())
            .then(|| kept::nearest(&file.network, &file.walk, &offsets))
            .flatten()
            .map(|nearest| nearest.distance);
        OverNetwork {
            reach: Reach::new(file.network.len()),
            here: vec![0; file.network.len()],
            promised,
            seen: Vec::new(),
            file,
        }
    }

    /// The name of the node that hosts a process.
    pub(super) fn node(&self, process: usize) -> &str {
        self.file.network.name(self.file.walk.at(process))
    }

    /// Looks at a state; the least distance between two tokens in the network.
    pub(super) fn observe(&mut self, frame: &Frame<'_>) -> Option<u32> {
        let nodes: Vec<u32> = frame
            .tokens
            .places()
            .iter()
            .map(|place| self.file.walk.at(place.process()))
            .collect();
        for &node in &nodes {
            self.here[node as usize] += 1;
        }
        let mut least: Option<u32> = nodes
            .iter()
            .any(|&node| self.here[node as usize] > 1)
            .then_some(0);
        for &from in &nodes {
            if least == Some(0) {
                break;
            }
            let limit = least.map_or(u32::MAX, |least| least - 1);
            let here = &self.here;
            self.reach
                .search(&self.file.network, from, limit, |node, distance| {
                    let met = distance > 0 && here[node as usize] > 0;
                    if met {
                        least = Some(distance);
                    }
                    met
                });
        }
        for &node in &nodes {
            self.here[node as usize] = 0;
        }
        self.seen.push(NetworkRound {
            round: frame.round,
            distance: least,
            legitimate: frame.legitimate,
        });
        least
    }

    /// The least distance at the start, while not legitimate, and while legitimate.
    fn phases(&self) -> [Option<u32>; 3] {
        let least = |wanted: fn(&NetworkRound) -> bool| {
            self.seen
                .iter()
                .filter(|seen| wanted(seen))
                .filter_map(|seen| seen.distance)
                .min()
        };
        [
            self.seen.first().and_then(|seen| seen.distance),
            least(|seen| !seen.legitimate),
            least(|seen| seen.legitimate),
        ]
    }

    /// Lines for people, below the ring's own.
    pub(super) fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let [start, during, after] = self.phases();
        let hops = |distance: Option<u32>| distance.map_or("-".to_owned(), |hops| hops.to_string());
        let holds = match (after, self.promised) {
            (Some(after), Some(promised)) => after >= promised,
            _ => true,
        };
        let colour = if holds { GOOD } else { BAD };
        writeln!(
            out,
            "\nIn the network of {} nodes: {} apart at the start, at least {} while stabilizing, \
             {colour}{}{colour:#} once legitimate; the walk keeps {}.",
            self.file.network.len(),
            hops(start),
            hops(during),
            hops(after),
            hops(self.promised)
        )?;
        if let Some(line) = self.sparkline() {
            writeln!(
                out,
                "  {line} {DIM}least distance, from the first round to the last{DIM:#}"
            )?;
        }
        Ok(())
    }

    /// The least distance over time, in at most 60 steps.
    fn sparkline(&self) -> Option<String> {
        const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
        let most = self
            .seen
            .iter()
            .filter_map(|seen| seen.distance)
            .max()?
            .max(1);
        let bucket = self.seen.len().div_ceil(60);
        Some(
            self.seen
                .chunks(bucket)
                .filter_map(|chunk| chunk.iter().filter_map(|seen| seen.distance).min())
                .map(|least| BARS[(least * 7 / most) as usize])
                .collect(),
        )
    }

    /// The field `over_network` of a run's JSON.
    pub(super) fn json(&self) -> NetworkJson {
        let [start, during, after] = self.phases();
        NetworkJson {
            nodes: self.file.network.len(),
            distance_promised: self.promised,
            distance_at_start: start,
            least_distance_while_stabilizing: during,
            least_distance_once_legitimate: after,
            least_distance_by_round: self.seen.clone(),
        }
    }
}
