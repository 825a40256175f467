//! Whether a datagram comes from somebody who knows the ring's key.

#[cfg(feature = "hmac")]
use keyed::Keyed;

/// How many bytes of every datagram authenticate it.
pub const MAC_BYTES: usize = 32;

/// The ring's key, or the decision to do without one.
///
/// Copies share it, and its `Debug` output does not show it.
#[derive(Clone)]
pub struct Key(Option<Keyed>);

/// There are no keys.
#[cfg(not(feature = "hmac"))]
#[derive(Clone, Copy)]
enum Keyed {}

#[cfg(not(feature = "hmac"))]
impl Keyed {
    fn sign(self, _bytes: &[u8]) -> [u8; MAC_BYTES] {
        match self {}
    }

    fn verify(self, _bytes: &[u8], _mac: &[u8]) -> bool {
        match self {}
    }
}

#[cfg(feature = "hmac")]
mod keyed {
    use hmac::digest::KeyInit as _;
    use hmac::{Hmac, Mac as _};
    use sha2::Sha256;

    use super::MAC_BYTES;

    #[cfg(feature = "alloc")]
    type Shared<T> = alloc::sync::Arc<T>;
    #[cfg(not(feature = "alloc"))]
    type Shared<T> = T;

    #[derive(Clone)]
    pub(super) struct Keyed(Shared<Hmac<Sha256>>);

    impl Keyed {
        pub(super) fn new(secret: &[u8]) -> Option<Keyed> {
            // HMAC takes keys of any length.
            let mac = Hmac::<Sha256>::new_from_slice(secret).ok()?;
            #[allow(clippy::useless_conversion)]
            Some(Keyed(mac.into()))
        }

        pub(super) fn sign(&self, bytes: &[u8]) -> [u8; MAC_BYTES] {
            self.over(bytes).finalize().into_bytes().into()
        }

        pub(super) fn verify(&self, bytes: &[u8], mac: &[u8]) -> bool {
            self.over(bytes).verify_slice(mac).is_ok()
        }

        fn over(&self, bytes: &[u8]) -> Hmac<Sha256> {
            let mut mac = Hmac::clone(&self.0);
            mac.update(bytes);
            mac
        }
    }
}

impl Key {
    /// The shortest key.
    pub const MIN_BYTES: usize = 16;

    /// A key of at least [`Key::MIN_BYTES`] bytes; `None` if it is shorter.
    #[cfg(feature = "hmac")]
    pub fn new(secret: &[u8]) -> Option<Key> {
        if secret.len() < Self::MIN_BYTES {
            return None;
        }
        Keyed::new(secret).map(|keyed| Key(Some(keyed)))
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
            Some(keyed) => keyed.sign(bytes),
            None => [0; MAC_BYTES],
        }
    }

    /// Whether `mac` authenticates `bytes`, in a time that does not depend on
    /// where they differ. Without a key, whether it is all zeros.
    pub fn verify(&self, bytes: &[u8], mac: &[u8]) -> bool {
        match &self.0 {
            Some(keyed) => keyed.verify(bytes, mac),
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
