//! The subject and somebody else do not write an object in turn.

use std::collections::{BTreeMap, BTreeSet};

use fakeserver::StoredObject;
use serde_json::Value;

use super::Case;
use crate::{
    finding::{Finding, Promise},
    history::title,
};

/// The number of alternations that count as a fight.
const TURNS_MIN: usize = 6;

/// The changes of one object in turn, as far as they go on.
#[derive(Default)]
struct Turns {
    /// The contents that the subject and the other left last.
    left: [Option<Value>; 2],
    last_side: Option<usize>,
    count: usize,
    max: usize,
}

pub(super) fn check(case: &Case<'_>) -> Vec<Finding> {
    let writes = case.outcome.trace.writes.iter();
    let own: BTreeSet<u64> = writes.filter_map(|write| write.revision).collect();
    let mut objects: BTreeMap<&str, (String, Turns)> = BTreeMap::new();
    for recorded in &case.outcome.history.changes {
        let Some(after) = recorded.change.after() else {
            continue;
        };
        let side = usize::from(!own.contains(&recorded.change.revision()));
        let entry = objects
            .entry(after.uid())
            .or_insert_with(|| (title(&recorded.kind, after), Turns::default()));
        entry.1.take(side, content(after));
    }
    let objects = objects.into_values();
    objects
        .filter(|(_, turns)| turns.max >= TURNS_MIN)
        .map(|(title, turns)| {
            let text = format!(
                "the subject and another writer change {title} in turn, {} times",
                turns.max
            );
            Finding::new(Promise::Fights, text)
        })
        .collect()
}

/// Returns an object without what every write changes.
fn content(object: &StoredObject) -> Value {
    let mut value = object.to_value();
    if let Some(metadata) = value["metadata"].as_object_mut() {
        for field in ["resourceVersion", "managedFields", "generation"] {
            metadata.remove(field);
        }
    }
    value
}

// === impl Turns ===

impl Turns {
    fn take(&mut self, side: usize, content: Value) {
        let is_turn = self.last_side.is_some_and(|last| last != side);
        // Each writes again what it had written before.
        let repeats = self.left[side]
            .as_ref()
            .is_none_or(|before| *before == content);
        if is_turn && repeats {
            self.count += 1;
        } else {
            self.count = 0;
        }
        self.max = self.max.max(self.count);
        self.last_side = Some(side);
        self.left[side] = Some(content);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn longest(changes: &[(usize, u64)]) -> usize {
        let mut turns = Turns::default();
        for (side, content) in changes {
            turns.take(*side, json!(content));
        }
        turns.max
    }

    #[test]
    fn a_fight_repeats_the_same_two_states() {
        let fight: Vec<(usize, u64)> = (0..8).map(|turn| (turn % 2, turn as u64 % 2)).collect();
        assert_eq!(longest(&fight), 7);
        let progress: Vec<(usize, u64)> = (0..8).map(|turn| (turn % 2, turn as u64)).collect();
        assert!(longest(&progress) < TURNS_MIN);
        assert_eq!(longest(&[(0, 1), (0, 1), (0, 1)]), 0);
    }
}
