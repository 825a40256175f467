//! Lists whose lengths are known when a node is made: on the heap, or, without one, within
//! the node itself.
//!
//! Without a heap a node has no pointers, so that nothing in its memory is worse than any
//! other value.

pub(crate) use kind::{Bytes, Pair, PerBlockToken, PerToken, pair, repeated};

/// The most tokens of a node.
pub(crate) const MAX_TOKENS: usize = kind::MAX_TOKENS;

/// The most bytes that a token of it carries.
pub(crate) const MAX_PAYLOAD: usize = kind::MAX_PAYLOAD;

/// A variable of a ring of moving blocks, which takes no room where there is none: without a
/// heap all rings are in lock-step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OfBlocks<T>([T; BLOCKS]);

const BLOCKS: usize = cfg!(feature = "alloc") as usize;

impl<T: Default> Default for OfBlocks<T> {
    fn default() -> OfBlocks<T> {
        OfBlocks(core::array::from_fn(|_| T::default()))
    }
}

impl<T> core::ops::Deref for OfBlocks<T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.0.first().expect("a heap, and so moving blocks")
    }
}

impl<T> core::ops::DerefMut for OfBlocks<T> {
    fn deref_mut(&mut self) -> &mut T {
        self.0.first_mut().expect("a heap, and so moving blocks")
    }
}

#[cfg(feature = "alloc")]
mod kind {
    use alloc::boxed::Box;
    use alloc::vec::Vec;

    pub(crate) const MAX_TOKENS: usize = usize::MAX;
    pub(crate) const MAX_PAYLOAD: usize = usize::MAX;

    pub(crate) type PerToken<T> = Box<[T]>;
    pub(crate) type PerBlockToken<T> = Box<[T]>;
    pub(crate) type Bytes = Box<[u8]>;
    pub(crate) type Pair<T> = Box<[T]>;

    pub(crate) fn repeated<T: Clone>(value: T, count: usize) -> Box<[T]> {
        alloc::vec![value; count].into()
    }

    pub(crate) fn pair<T>(items: [T; 2], count: usize) -> Pair<T> {
        let mut items = Vec::from(items);
        items.truncate(count);
        items.into()
    }
}

#[cfg(not(feature = "alloc"))]
mod kind {
    use core::ops::{Deref, DerefMut};

    pub(crate) const MAX_TOKENS: usize = number(option_env!("HEADWAY_MAX_TOKENS"), 4);
    pub(crate) const MAX_PAYLOAD: usize = number(option_env!("HEADWAY_MAX_PAYLOAD"), 0);
    const PAYLOAD_BYTES: usize = match MAX_PAYLOAD {
        0 => 0,
        each => MAX_TOKENS * (1 + each),
    };

    pub(crate) type PerToken<T> = Slots<T, MAX_TOKENS>;
    pub(crate) type PerBlockToken<T> = Slots<T, 0>;
    pub(crate) type Bytes = Slots<u8, PAYLOAD_BYTES>;
    pub(crate) type Pair<T> = Slots<T, 2>;

    /// The first `used` of `MAX` items; a corrupted `used` counts for no more than there are.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Slots<T, const MAX: usize> {
        items: [T; MAX],
        used: usize,
    }

    pub(crate) fn repeated<T: Clone, const MAX: usize>(value: T, used: usize) -> Slots<T, MAX> {
        let items = core::array::from_fn(|_| value.clone());
        Slots { items, used }
    }

    pub(crate) fn pair<T>(items: [T; 2], used: usize) -> Pair<T> {
        Slots { items, used }
    }

    impl<T, const MAX: usize> Deref for Slots<T, MAX> {
        type Target = [T];

        fn deref(&self) -> &[T] {
            &self.items[..self.used.min(MAX)]
        }
    }

    impl<T, const MAX: usize> DerefMut for Slots<T, MAX> {
        fn deref_mut(&mut self) -> &mut [T] {
            &mut self.items[..self.used.min(MAX)]
        }
    }

    const fn number(text: Option<&str>, default: usize) -> usize {
        let Some(text) = text else { return default };
        match usize::from_str_radix(text, 10) {
            Ok(number) if number < 256 => number,
            _ => panic!("HEADWAY_MAX_TOKENS and HEADWAY_MAX_PAYLOAD are numbers from 0 to 255"),
        }
    }
}
