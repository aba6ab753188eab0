//! The waits for the sync of all informers.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use super::{FactoryEvent, Informer, Run};

/// The waits, each after a start.
#[derive(Default)]
pub(super) struct Waits {
    start_count: usize,
    /// The start with which the present generation began.
    generation: usize,
    /// The number of starts before an informer ended for the last time.
    ended_after: usize,
    /// The waits that have not ended.
    open: BTreeMap<usize, Wait>,
    /// The generation and the list of each request.
    open_lists: BTreeMap<usize, (usize, Arc<str>)>,
    /// The last generation in which each list was answered.
    answered: BTreeMap<Arc<str>, usize>,
}

struct Wait {
    generation: usize,
    lists: BTreeSet<Arc<str>>,
}

// === impl Waits ===

impl Waits {
    /// Takes an observation, and describes the violation that it shows. The factory is in the state `run` before it.
    pub(super) fn observe(
        &mut self,
        event: &FactoryEvent,
        run: Run,
        kept: &BTreeMap<Informer, BTreeSet<usize>>,
    ) -> Option<String> {
        match event {
            FactoryEvent::Starts => {
                self.start_count += 1;
                if run != Run::Running {
                    self.generation = self.start_count;
                }
                let wait = Wait {
                    generation: self.generation,
                    lists: kept.keys().map(|(list, _)| Arc::clone(list)).collect(),
                };
                self.open.insert(self.start_count, wait);
            }
            FactoryEvent::Made | FactoryEvent::Stops | FactoryEvent::Releases { .. } => {
                self.ended_after = self.start_count;
            }
            FactoryEvent::Asks { request, list, .. } => {
                let open_lists = (self.generation, Arc::clone(list));
                self.open_lists.insert(*request, open_lists);
            }
            FactoryEvent::Answers {
                request,
                status: 200,
            } => {
                if let Some((generation, list)) = self.open_lists.get(request) {
                    self.answered.insert(Arc::clone(list), *generation);
                }
            }
            FactoryEvent::SyncWaitEnds { start, has_synced } => {
                return self.end(*start, *has_synced);
            }
            _ => {}
        }
        None
    }

    fn end(&mut self, start: usize, has_synced: bool) -> Option<String> {
        let wait = self.open.remove(&start)?;
        if start <= self.ended_after {
            return None;
        }
        if !has_synced {
            return Some(format!(
                "the wait after start {start} fails, but nothing has ended"
            ));
        }
        let answered = |list: &Arc<str>| self.answered.get(list).copied().unwrap_or_default();
        let early = wait
            .lists
            .iter()
            .find(|list| answered(list) < wait.generation);
        early.map(|list| format!("the wait after start {start} ends before {list} is answered"))
    }

    /// Describes the last wait, if it should have ended.
    pub(super) fn unended(&self, run: Run) -> Vec<String> {
        let start = self.start_count;
        let is_due = run == Run::Running && self.open.contains_key(&start);
        is_due
            .then(|| format!("the wait after start {start} does not end"))
            .into_iter()
            .collect()
    }
}
