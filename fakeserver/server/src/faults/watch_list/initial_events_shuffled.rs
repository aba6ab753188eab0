//! A streaming list in random order.

use rand::{RngExt, rngs::ChaCha8Rng};

use crate::faults::{
    CatalogueEntry, Definition, Recovery, RequestFacts, RequestVerdict, Target,
    catalogue::REORDERS_INITIAL_EVENTS, fault_rule::Effect, rng::seeded_rng,
};

#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct InitialEventsShuffled;

#[derive(Debug)]
struct Shuffle {
    rng: ChaCha8Rng,
}

impl Definition for InitialEventsShuffled {
    const ENTRY: CatalogueEntry = CatalogueEntry {
        number: "F38",
        fault: "initial_events_shuffled",
        parameters: &[],
        effect: "Sends the initial events of a watch in random order, and the bookmark that ends them last.",
        models: "the initial events come in no order",
        suffered: "clients that merge them as if they were sorted",
        target: Target::StreamingLists,
        recovery: Recovery::Retry,
        properties: &[REORDERS_INITIAL_EVENTS],
    };

    fn effect(self) -> Box<dyn Effect> {
        let rng = seeded_rng(0);
        Box::new(Shuffle { rng })
    }
}

impl Effect for Shuffle {
    fn on_request(&mut self, request: &RequestFacts) -> Option<RequestVerdict> {
        request
            .is_watch_list
            .then(|| RequestVerdict::ShuffleInitialEvents(self.rng.random()))
    }

    fn seed(&mut self, seed: u64) {
        self.rng = seeded_rng(seed);
    }
}
