//! Whether a datagram comes from somebody who knows the ring's key.

use alloc::sync::Arc;

use hmac::digest::KeyInit;
use hmac::{Hmac, Mac};
use sha2::Sha256;

/// How many bytes of every datagram authenticate it.
pub const MAC_BYTES: usize = 32;

/// The ring's key, or the decision to do without one.
///
/// Copies share it, and its `Debug` output does not show it.
#[derive(Clone)]
pub struct Key(Option<Arc<Hmac<Sha256>>>);

impl Key {
    /// The shortest key.
    pub const MIN_BYTES: usize = 16;

    /// A key of at least [`Key::MIN_BYTES`] bytes; `None` if it is shorter.
    pub fn new(secret: &[u8]) -> Option<Key> {
        if secret.len() < Self::MIN_BYTES {
            return None;
        }
        // HMAC takes keys of any length.
        let mac = Hmac::<Sha256>::new_from_slice(secret).ok()?;
        Some(Key(Some(Arc::new(mac))))
    }

    /// No authentication at all: for rings inside one program.
    pub const fn none() -> Key {
        Key(None)
    }

    /// Whether datagrams are authenticated.
    pub const fn authenticates(&self) -> bool {
        self.0.is_some()
    }

    /// HMAC-SHA-256 over `bytes`; zeros without a key.
    pub fn sign(&self, bytes: &[u8]) -> [u8; MAC_BYTES] {
        match &self.0 {
            Some(keyed) => {
                let mut mac = Hmac::clone(keyed);
                mac.update(bytes);
                mac.finalize().into_bytes().into()
            }
            None => [0; MAC_BYTES],
        }
    }

    /// Whether `mac` authenticates `bytes`, in a time that does not depend on
    /// where they differ. Without a key, whether it is all zeros.
    pub fn verify(&self, bytes: &[u8], mac: &[u8]) -> bool {
        match &self.0 {
            Some(keyed) => {
                let mut expected = Hmac::clone(keyed);
                expected.update(bytes);
                expected.verify_slice(mac).is_ok()
            }
            None => mac.iter().all(|&byte| byte == 0),
        }
    }
}

impl core::fmt::Debug for Key {
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let what = if self.authenticates() {
            "Key(..)"
        } else {
            "Key(none)"
        };
        formatter.write_str(what)
    }
}
