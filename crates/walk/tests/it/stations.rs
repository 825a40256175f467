//! The fewest stations: the search against every division, and against a verifier that knows
//! groups only.

use std::sync::atomic::AtomicBool;

use headway_testkit::tier::{pick, properties};
use headway_walk::Node;
use headway_walk::plan::Request;
use headway_walk::plan::conflicts::{Conflicts, Group};
use headway_walk::plan::stations::{Reason, Stations, fewest};
use proptest::prelude::*;

use crate::orders::{conflicts, some_groups};

static NEVER: AtomicBool = AtomicBool::new(false);

fn found(conflicts: &Conflicts) -> Stations {
    fewest(
        conflicts,
        Request { seed: 1, effort: 1 },
        &mut |_| {},
        &NEVER,
    )
}

/// What stations and their bound have to be.
fn verify(conflicts: &Conflicts, found: &Stations) -> Result<(), String> {
    let mut all = found.stations.concat();
    all.sort_unstable();
    if all != (0..conflicts.len() as Node).collect::<Vec<_>>() {
        return Err("some member is not in one station".to_owned());
    }
    let stations = &found.stations;
    if stations.len() < 2 || stations.len() < found.at_least || stations.contains(&Vec::new()) {
        return Err(format!("{} stations", stations.len()));
    }
    let both =
        |group: &Group, one, other| group.members.contains(&one) && group.members.contains(&other);
    let groups = conflicts.groups();
    let in_conflict = |one, other| groups.iter().any(|group| both(group, one, other));
    let torn = stations.iter().find(|station| {
        station.iter().any(|&one| {
            station
                .iter()
                .any(|&other| one != other && in_conflict(one, other))
        })
    });
    if let Some(station) = torn {
        return Err(format!("a conflict within {station:?}"));
    }
    match &found.reason {
        Reason::Ring if found.at_least != 2 => Err("a ring has two".to_owned()),
        Reason::Clique(members) => {
            let each = |one: &Node| {
                members
                    .iter()
                    .all(|other| one == other || in_conflict(*one, *other))
            };
            match members.len() == found.at_least && members.iter().all(each) {
                true => Ok(()),
                false => Err(format!("no clique: {members:?}")),
            }
        }
        _ => Ok(()),
    }
}

/// The fewest of all divisions, one by one: each next member joins a station or begins one.
fn by_brute_force(members: usize, groups: &[Vec<usize>]) -> usize {
    fn divide(
        station_of: &mut Vec<usize>,
        members: usize,
        least: &mut usize,
        fits: &dyn Fn(&[usize]) -> bool,
    ) {
        let stations = station_of.iter().max().map_or(0, |most| most + 1);
        if !fits(station_of) || stations >= *least {
            return;
        }
        if station_of.len() == members {
            *least = stations;
            return;
        }
        for station in 0..=stations {
            station_of.push(station);
            divide(station_of, members, least, fits);
            station_of.pop();
        }
    }
    let fits = |station_of: &[usize]| {
        groups.iter().all(|group| {
            let here = group.iter().filter(|&&member| member < station_of.len());
            let mut stations: Vec<usize> = here.map(|&member| station_of[member]).collect();
            let all = stations.len();
            stations.sort_unstable();
            stations.dedup();
            stations.len() == all
        })
    };
    let mut least = members + 1;
    divide(&mut Vec::new(), members, &mut least, &fits);
    least.max(2)
}

proptest! {
    #![proptest_config(properties(200))]

    #[test]
    fn the_search_finds_what_all_divisions_give((members, groups) in some_groups(8)) {
        let conflicts = conflicts(members, &groups);
        let found = found(&conflicts);
        prop_assert_eq!(found.stations.len(), by_brute_force(members, &groups));
        prop_assert!(found.are_fewest());
        prop_assert_eq!(verify(&conflicts, &found), Ok(()));
    }

    /// Counter-test: a member in another station, a clique with another member, and a bound
    /// of one more are refused.
    #[test]
    fn the_verifier_refuses_broken_stations((members, groups) in some_groups(12), at in 0..12_usize) {
        let conflicts = conflicts(members, &groups);
        let found = found(&conflicts);
        prop_assert_eq!(verify(&conflicts, &found), Ok(()));
        let more = Stations { at_least: found.at_least + 1, ..found.clone() };
        prop_assert!(verify(&conflicts, &more).is_err());
        let one = (at % members) as Node;
        let own = found.stations.iter().position(|station| station.contains(&one)).expect("one");
        for (index, station) in found.stations.iter().enumerate() {
            let mut broken = found.clone();
            broken.stations[own].retain(|&member| member != one);
            broken.stations[index].push(one);
            let torn = station.iter().any(|other| conflicts.neighbours(one).contains(other));
            let empty = index != own && found.stations[own].len() == 1;
            prop_assert_eq!(verify(&conflicts, &broken).is_err(), torn || empty);
        }
        if let Reason::Clique(members) = &found.reason {
            let fits = |other: &Node| {
                let rest = members[1..].iter();
                rest.clone().all(|one| conflicts.neighbours(*one).contains(other))
            };
            let mut others = 0..conflicts.len() as Node;
            let wrong = others.find(|other| !members.contains(other) && !fits(other));
            if let Some(wrong) = wrong {
                let members = [&members[1..], &[wrong]].concat();
                let broken = Stations { reason: Reason::Clique(members), ..found.clone() };
                prop_assert!(verify(&conflicts, &broken).is_err());
            }
        }
    }
}

/// Members of racks of which every partition has its replicas in three, by turns.
fn racks(members: usize, racks: usize, partitions: usize) -> Conflicts {
    // Far from even, and always the same.
    let mut state = 1_u64;
    let mut below = |bound: usize| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % bound
    };
    let groups: Vec<Vec<usize>> = (0..partitions)
        .map(|partition| {
            let rack = |offset| (partition + offset) % racks;
            (0..3)
                .map(|offset| below(members / racks) * racks + rack(offset))
                .collect()
        })
        .collect();
    conflicts(members, &groups)
}

#[test]
fn replicas_in_three_racks_need_three_stations() {
    let conflicts = racks(300, 3, 3000);
    let found = found(&conflicts);
    assert_eq!((found.stations.len(), found.are_fewest()), (3, true));
    assert_eq!(verify(&conflicts, &found), Ok(()));
}

/// Where nothing exact is in reach, racks are found nevertheless.
#[test]
fn replicas_in_three_of_five_racks_need_no_more_than_five() {
    let members = pick(200, 1000, 1000);
    let conflicts = racks(members, 5, 10 * members);
    let found = found(&conflicts);
    assert!(found.stations.len() <= 5, "{}", found.stations.len());
    assert_eq!(verify(&conflicts, &found), Ok(()));
}

/// No three of them are in conflict each with each, and yet it takes four: Grötzsch's graph.
#[test]
fn more_than_a_clique_is_proved() {
    let outer = (0..5).flat_map(|at| {
        let (left, right) = ((at + 4) % 5, (at + 1) % 5);
        [
            vec![at, right],
            vec![5 + at, left],
            vec![5 + at, right],
            vec![5 + at, 10],
        ]
    });
    let found = found(&conflicts(11, &outer.collect::<Vec<_>>()));
    assert_eq!((found.stations.len(), found.at_least), (4, 4));
    assert_eq!(found.reason, Reason::Exhausted);
}

#[test]
fn a_search_that_is_stopped_has_stations() {
    let conflicts = racks(200, 5, 2000);
    let request = Request {
        seed: 1,
        effort: 1000,
    };
    let stopped = fewest(&conflicts, request, &mut |_| {}, &true.into());
    assert_eq!(verify(&conflicts, &stopped), Ok(()));
}
