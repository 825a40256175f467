use super::*;
use std::os::unix::fs::PermissionsExt as _;

fn identity(number: u8) -> Identity {
    Identity::new(&[number; 64])
}

fn mac(key: Option<Key>) -> Option<[u8; 32]> {
    key.map(|key| key.sign(b"something"))
}

#[test]
fn two_derive_the_same_key_and_every_third_another() {
    let [a, b, c] = [1, 2, 3].map(identity);
    let key = |own: &Identity, me: &str, name: &str, other: &Identity| {
        mac(own.key_with("web", Purpose::Hop, me, (name, &other.public())))
    };
    assert!(key(&a, "a", "b", &b).is_some());
    assert_eq!(key(&a, "a", "b", &b), key(&b, "b", "a", &a));
    assert_ne!(key(&a, "a", "b", &b), key(&c, "c", "b", &b));
    // c knows all public keys, and says that it is a: b derives from a's key, c cannot.
    assert_ne!(key(&b, "b", "a", &a), key(&c, "a", "b", &b));
    // Other names, another ring or another purpose: another key.
    assert_ne!(key(&a, "a", "b", &b), key(&a, "a", "x", &b));
    let other = |ring, purpose| mac(a.key_with(ring, purpose, "a", ("b", &b.public())));
    assert_ne!(other("web", Purpose::Hop), other("mail", Purpose::Hop));
    assert_ne!(other("web", Purpose::Hop), other("web", Purpose::Control));
}

/// A public key of small order would give everybody the same secret with it.
#[test]
fn a_key_of_small_order_shares_nothing() {
    let bad = NodeKey {
        exchange: [0; 32],
        ..identity(2).public()
    };
    let key = identity(1).key_with("web", Purpose::Hop, "a", ("b", &bad));
    assert!(key.is_none());
}

#[test]
fn keys_are_read_back_and_every_changed_letter_is_noticed() {
    let (node, operator) = (identity(7).public(), identity(8).signer().public());
    assert_eq!(node.to_string().parse(), Ok(node));
    assert_eq!(operator.to_string().parse(), Ok(operator));
    assert!(operator.to_string().parse::<NodeKey>().is_err());
    assert!(node.to_string().parse::<SignerKey>().is_err());
    let text = node.to_string();
    assert_eq!(text.len(), 3 + 88);
    for at in 0..text.len() {
        let changed = if text.as_bytes()[at] == b'A' {
            "B"
        } else {
            "A"
        };
        let mut other = text.clone();
        other.replace_range(at..=at, changed);
        assert!(other.parse::<NodeKey>().is_err(), "{other}");
        assert!(text[..at].parse::<NodeKey>().is_err());
    }
}

#[test]
fn a_signature_is_of_one_message_by_one_signer() {
    let (who, signature) = identity(1).signer().vouch(b"membership 2");
    assert!(who.verify(b"membership 2", &signature));
    assert!(!who.verify(b"membership 3", &signature));
    let other = identity(2).signer().public();
    assert!(!other.verify(b"membership 2", &signature));
}

#[test]
fn an_identity_is_made_once_and_kept_from_others() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state").join("identity");
    assert!(Identities::read(&path).is_err());
    let first = Identities::open(&path).unwrap();
    let mode = std::fs::metadata(&path).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    assert_eq!(Identities::open(&path).unwrap().public(), first.public());
    let mut two = first.clone();
    two.push(identity(9), 77);
    two.write(&path).unwrap();
    let mut again = Identities::read(&path).unwrap();
    assert_eq!((again.list().len(), again.until), (2, 77));
    assert!(
        !again.keep_only(&identity(5).public()),
        "it has no such one"
    );
    assert!(again.keep_only(&identity(9).public()));
    assert_eq!(again.public(), identity(9).public());
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
    let refused = Identities::read(&path).unwrap_err().to_string();
    assert!(refused.contains("chmod 600"), "{refused}");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
    std::fs::write(&path, "{}").unwrap();
    let refused = Identities::read(&path).unwrap_err().to_string();
    assert!(refused.contains("no identity"), "{refused}");
}
