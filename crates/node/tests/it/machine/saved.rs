//! A state that is saved and restored.

use headway_node::{Config, Event, Held, Key, Machine, Plan, RestoreError, RingId, Role};

use super::harness::{Nodes, events};

#[test]
fn a_saved_state_is_the_state() {
    let plan = Plan::new(5, 2, 1).unwrap();
    let mut nodes = Nodes::new(plan, |config| {
        config.payload = 3;
        config.role = Role::usual(config.index, 5);
    });
    nodes.settle();
    nodes.busy = false;
    nodes.run(40);
    for node in &nodes.all {
        let mut bytes = b"before".to_vec();
        node.save(&mut bytes);
        let saved = &bytes[6..];
        let config = *node.config();
        let restore =
            |config, saved: &[u8]| Machine::restore(config, Key::none(), 9, nodes.now, saved);
        let again = restore(config, saved).unwrap();
        assert_eq!(again.local(), node.local());
        assert_eq!((again.rounds(), again.hops()), (node.rounds(), node.hops()));
        assert_eq!((again.settled(), again.joined()), (node.settled(), true));
        assert_eq!(
            again.held().collect::<Vec<_>>(),
            node.held().collect::<Vec<_>>()
        );
        assert!((0..2).all(|token| again.payload(token) == node.payload(token)));
        let mut twice = Vec::new();
        again.save(&mut twice);
        assert_eq!(twice, saved, "saved again it is the same");
        // A permit that was being used is granted again, under its number.
        let granted = events(&mut again.clone());
        let permits = node.held().filter(|held| held.permit);
        for Held { token, fence, .. } in permits {
            assert!(granted.contains(&Event::Granted { token, fence }));
        }
        for at in 0..saved.len() {
            let mut damaged = saved.to_vec();
            damaged[at] ^= 4;
            assert_eq!(
                restore(config, &damaged).unwrap_err(),
                RestoreError::Damaged
            );
        }
        assert_eq!(
            restore(config, &saved[1..]).unwrap_err(),
            RestoreError::Damaged
        );
        assert_eq!(
            restore(config, &saved[..20]).unwrap_err(),
            RestoreError::Damaged
        );
        let other = Config {
            index: (config.index + 1) % 5,
            ..config
        };
        assert_eq!(restore(other, saved).unwrap_err(), RestoreError::Foreign);
        let other = Config {
            ring: RingId([8; 16]),
            ..config
        };
        assert_eq!(restore(other, saved).unwrap_err(), RestoreError::Foreign);
        let other = Config {
            payload: 4,
            ..config
        };
        assert_eq!(restore(other, saved).unwrap_err(), RestoreError::Foreign);
        let other = Config { index: 5, ..config };
        assert!(matches!(
            restore(other, saved),
            Err(RestoreError::Config(_))
        ));
    }
}
