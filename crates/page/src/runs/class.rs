//! A class that watches a run: one presents and steers, the others follow, and guess how
//! long it will take when they are asked.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::ApiError;

/// Guesses that are kept.
const MAX_GUESSES: usize = 1_000;
/// The longest name that a guesser can have.
const MAX_NAME_BYTES: usize = 64;

/// Who presents, and what the others think.
#[derive(Default)]
pub(crate) struct Class {
    /// What only the presenter knows; `None` while nobody presents.
    key: Option<String>,
    /// Pages of the presenter that watch.
    #[cfg(any(test, feature = "watch"))]
    pages: usize,
    /// There were some, and all are closed.
    left: bool,
    open: bool,
    asked: bool,
    /// By the name that a page has given itself.
    guesses: BTreeMap<String, u64>,
}

/// A class as everyone sees it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ClassView {
    /// The presenter's page was closed.
    pub left: bool,
    /// Guesses are taken.
    pub open: bool,
    /// How many have guessed.
    pub guessed: usize,
    /// Each guess and how many had it, once no more are taken.
    pub guesses: Option<Vec<(u64, usize)>>,
}

impl Class {
    /// Somebody begins to present.
    pub(crate) fn present(&mut self, key: String) -> Result<(), ApiError> {
        if self.key.is_some() {
            let message = "somebody presents this run already";
            return Err(ApiError::forbidden("presented", message));
        }
        self.key = Some(key);
        Ok(())
    }

    /// Whether whoever shows this key may steer.
    pub(crate) fn admits(&self, shown: Option<&str>) -> Result<(), ApiError> {
        if self.key.is_none() || self.key.as_deref() == shown {
            return Ok(());
        }
        let message = "this run is presented; only the presenter steers it";
        Err(ApiError::forbidden("presented", message))
    }

    /// Whether it is the presenter's page that begins to watch.
    #[cfg(any(test, feature = "watch"))]
    pub(crate) fn come(&mut self, shown: Option<&str>) -> bool {
        let presents = self.key.is_some() && self.key.as_deref() == shown;
        if presents {
            self.pages += 1;
            self.left = false;
        }
        presents
    }

    /// A page of the presenter was closed.
    #[cfg(any(test, feature = "watch"))]
    pub(crate) fn go(&mut self) {
        self.pages -= 1;
        self.left = self.pages == 0;
    }

    /// Begins or ends to take guesses; those of the question before are forgotten.
    pub(crate) fn ask(&mut self, open: bool) {
        if open {
            self.guesses.clear();
        }
        self.open = open;
        self.asked |= open;
    }

    pub(crate) fn guess(&mut self, who: &str, rounds: u64) -> Result<(), ApiError> {
        if !self.open {
            let message = "guesses are not taken now";
            return Err(ApiError::forbidden("closed", message));
        }
        if who.is_empty() || who.len() > MAX_NAME_BYTES {
            let message = format!("who: expected 1 to {MAX_NAME_BYTES} bytes");
            return Err(ApiError::invalid("who", message));
        }
        if self.guesses.len() >= MAX_GUESSES && !self.guesses.contains_key(who) {
            let message = format!("at most {MAX_GUESSES} guesses are kept");
            return Err(ApiError::too_large("who", message));
        }
        self.guesses.insert(who.to_owned(), rounds);
        Ok(())
    }

    /// `None` while nobody presents.
    pub(crate) fn view(&self) -> Option<ClassView> {
        self.key.as_ref()?;
        let mut counted: BTreeMap<u64, usize> = BTreeMap::new();
        for &rounds in self.guesses.values() {
            *counted.entry(rounds).or_default() += 1;
        }
        Some(ClassView {
            left: self.left,
            open: self.open,
            guessed: self.guesses.len(),
            guesses: (self.asked && !self.open).then(|| counted.into_iter().collect()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_presenter_steers_and_guesses_wait_for_the_end() {
        let mut class = Class::default();
        assert!(class.admits(None).is_ok() && class.view().is_none());
        class.present("key".into()).unwrap();
        assert!(class.present("other".into()).is_err());
        assert!(class.admits(None).is_err() && class.admits(Some("other")).is_err());
        assert!(class.admits(Some("key")).is_ok());
        // A page of the presenter's own, reloaded: the new one comes before the old one goes.
        assert!(!class.come(None) && !class.come(Some("other")));
        assert!(class.come(Some("key")) && class.come(Some("key")));
        class.go();
        assert!(!class.view().unwrap().left);
        class.go();
        assert!(class.view().unwrap().left);
        assert!(class.come(Some("key")) && !class.view().unwrap().left);
        assert!(class.guess("a", 3).is_err(), "nobody has asked");
        class.ask(true);
        for (who, rounds) in [("a", 3), ("b", 5), ("a", 5)] {
            class.guess(who, rounds).unwrap();
        }
        assert!(class.guess("", 1).is_err());
        let view = class.view().unwrap();
        assert_eq!((view.guessed, view.guesses), (2, None));
        class.ask(false);
        assert_eq!(class.view().unwrap().guesses, Some(vec![(5, 2)]));
        class.ask(true);
        assert_eq!(class.view().unwrap().guessed, 0);
    }
}
