//! A streaming list in no order.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use crate::faults::{Effect, NamedRule, RequestFacts, RequestVerdict, dice::dice};

/// See [`initial_events_shuffled`].
#[derive(Debug, Clone)]
pub struct InitialEventsShuffled {
    dice: ChaCha8Rng,
}

/// The events that a watch begins with come in any order; the bookmark that ends them comes last.
pub fn initial_events_shuffled() -> NamedRule<InitialEventsShuffled> {
    NamedRule::new(InitialEventsShuffled { dice: dice(0) })
}

impl Effect for InitialEventsShuffled {
    fn name(&self) -> &'static str {
        "initial_events_shuffled"
    }

    fn on_request(&mut self, request: &RequestFacts) -> Option<RequestVerdict> {
        request
            .is_watch_list
            .then(|| RequestVerdict::ShuffleInitialEvents(self.dice.random()))
    }

    fn seed(&mut self, seed: u64) {
        self.dice = dice(seed);
    }
}
