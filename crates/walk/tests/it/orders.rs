//! Orders from conflicts: the search against every permutation, and against a verifier that
//! knows groups and names only.

use std::sync::atomic::AtomicBool;

use headway_testkit::tier::{pick, properties};
use headway_walk::Node;
use headway_walk::plan::conflicts::Conflicts;
use headway_walk::plan::{self, Found, Request, bound};
use proptest::prelude::*;

static NEVER: AtomicBool = AtomicBool::new(false);

fn best(conflicts: &Conflicts, seed: u64) -> Found {
    plan::best(conflicts, Request { seed, effort: 1 }, &mut |_| {}, &NEVER)
}

pub(crate) fn conflicts(members: usize, groups: &[Vec<usize>]) -> Conflicts {
    let alone = (0..members).map(|member| vec![member]);
    let groups = alone.chain(groups.iter().cloned()).map(|group| {
        let names: Vec<String> = group.iter().map(|member| format!("m{member}")).collect();
        ("a group", names)
    });
    Conflicts::new(groups).expect("conflicts")
}

fn ring<'a>(conflicts: &'a Conflicts, order: &[Node]) -> Vec<&'a str> {
    order.iter().map(|&member| conflicts.name(member)).collect()
}

/// What a found order has to be, by the verifier.
fn verify(conflicts: &Conflicts, order: &[Node], separation: u32) -> Result<(), String> {
    let mut sorted = order.to_vec();
    sorted.sort_unstable();
    if sorted != (0..conflicts.len() as Node).collect::<Vec<_>>() {
        return Err("some member is not on the ring once".to_owned());
    }
    match conflicts.widest(&ring(conflicts, order)) {
        Some(widest) if widest.hops >= separation => Err(format!(
            "{} hops between two of {}",
            widest.hops, widest.group.label
        )),
        _ => Ok(()),
    }
}

/// The least separation of all orders, one by one. The first member stays where it is.
fn by_brute_force(members: usize, groups: &[Vec<usize>]) -> u32 {
    fn permute(order: &mut Vec<usize>, from: usize, visit: &mut impl FnMut(&[usize])) {
        if from == order.len() {
            return visit(order);
        }
        for index in from..order.len() {
            order.swap(from, index);
            permute(order, from + 1, visit);
            order.swap(from, index);
        }
    }
    let mut least = u32::MAX;
    permute(&mut (0..members).collect(), 1, &mut |places| {
        let hops = groups.iter().flat_map(|group| {
            group
                .iter()
                .flat_map(|&one| group.iter().map(move |&other| (one, other)))
        });
        let hops = hops.map(|(one, other)| {
            let hops = places[one].abs_diff(places[other]);
            hops.min(members - hops) as u32
        });
        least = least.min(hops.max().unwrap_or(0) + 1);
    });
    least
}

/// Members, and groups of them.
pub(crate) fn some_groups(most: usize) -> impl Strategy<Value = (usize, Vec<Vec<usize>>)> {
    (2..=most).prop_flat_map(|members| {
        let group = prop::collection::btree_set(0..members, 1..=members.min(4))
            .prop_map(|group| group.into_iter().collect());
        (Just(members), prop::collection::vec(group, 0..=members))
    })
}

proptest! {
    #![proptest_config(properties(200))]

    #[test]
    fn the_search_finds_what_all_permutations_give((members, groups) in some_groups(8)) {
        let conflicts = conflicts(members, &groups);
        let least = by_brute_force(members, &groups);
        prop_assert!(bound::lower(&conflicts, &NEVER).separation <= least);
        let found = best(&conflicts, 1);
        prop_assert_eq!(found.separation, least);
        prop_assert!(found.is_optimal());
        prop_assert_eq!(verify(&conflicts, &found.order, found.separation), Ok(()));
    }

    /// Counter-test: an order in which two of a group were moved apart is refused.
    #[test]
    fn the_verifier_refuses_a_broken_order((members, groups) in some_groups(12), at in 0..12_usize) {
        let conflicts = conflicts(members, &groups);
        let found = best(&conflicts, 1);
        let mut broken = found.order.clone();
        broken.swap(at % members, (at + members / 2) % members);
        let places = |order: &[Node], member| order.iter().position(|&other| other == member);
        let wide = groups.iter().any(|group| group.iter().any(|&one| group.iter().any(|&other| {
            let names = [one, other].map(|member| format!("m{member}"));
            let nodes = names.map(|name| conflicts.names().iter().position(|other| *other == name));
            let places = nodes.map(|node| places(&broken, node.expect("a member") as Node));
            let hops = places[0].expect("on it").abs_diff(places[1].expect("on it"));
            hops.min(members - hops) as u32 >= found.separation
        })));
        prop_assert_eq!(verify(&conflicts, &broken, found.separation).is_err(), wide);
        prop_assert!(verify(&conflicts, &broken[1..], found.separation).is_err());
    }
}

proptest! {
    // Beyond what is exact, each takes a while.
    #![proptest_config(properties(pick(4, 12, 12)))]

    #[test]
    fn orders_keep_what_they_promise((members, groups) in some_groups(40), seed in 0..3_u64) {
        let conflicts = conflicts(members, &groups);
        let found = best(&conflicts, seed);
        prop_assert!(found.bound.separation <= found.separation);
        prop_assert_eq!(verify(&conflicts, &found.order, found.separation), Ok(()));
        prop_assert_eq!(&found, &best(&conflicts, seed), "the same seed gives the same order");
    }
}

/// Replicas on members that follow one another, under names that do not say so.
fn ring_like(members: usize, factor: usize) -> Conflicts {
    // 7919 is a prime, and so goes through all of them.
    let name = |place: usize| format!("m{}", place % members * 7919 % members);
    let groups = (0..members).map(|first| {
        // Named from the middle of nowhere.
        let first = first * 31 % members;
        (
            format!("range {first}"),
            (first..first + factor).map(name).collect::<Vec<_>>(),
        )
    });
    Conflicts::new(groups).expect("conflicts")
}

#[test]
fn a_thousand_members_with_ring_like_replicas() {
    for factor in [2, 3, 5] {
        let conflicts = ring_like(1000, factor);
        let found = best(&conflicts, 1);
        assert_eq!(
            (found.separation, found.is_optimal()),
            (factor as u32, true)
        );
        assert_eq!(verify(&conflicts, &found.order, factor as u32), Ok(()));
    }
}

#[test]
fn racks_are_kept_whole() {
    let groups: Vec<Vec<usize>> = (0..50)
        .map(|rack| (0..6).map(|at| rack + 50 * at).collect())
        .collect();
    let found = best(&conflicts(300, &groups), 1);
    assert_eq!((found.separation, found.is_optimal()), (6, true));
}

#[test]
fn everybody_with_everybody_is_one_at_a_time() {
    let groups = [(0..9).collect()];
    let found = best(&conflicts(9, &groups), 1);
    assert_eq!((found.separation, found.is_optimal()), (5, true));
    let said = found.bound.reason.to_string();
    assert!(
        said.contains("m0 may not be down together with 8 others"),
        "{said}"
    );
}

#[test]
fn a_search_that_is_stopped_has_an_order() {
    let groups: Vec<Vec<usize>> = (0..400)
        .map(|at| vec![at % 97, (at * at + 1) % 89 + 100])
        .collect();
    let conflicts = conflicts(200, &groups);
    let stopped = plan::best(
        &conflicts,
        Request {
            seed: 1,
            effort: 1000,
        },
        &mut |_| {},
        &true.into(),
    );
    assert_eq!(
        verify(&conflicts, &stopped.order, stopped.separation),
        Ok(())
    );
    assert!(stopped.bound.separation <= stopped.separation);
}
