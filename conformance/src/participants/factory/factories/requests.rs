//! The requests of a factory's informers.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use super::{super::FactoryRequest, FactoryEvent, Informer, Run};
use crate::trace::Ending;

/// The requests that have not ended.
#[derive(Default)]
pub(super) struct Requests {
    open: BTreeMap<usize, Open>,
    /// True while a start takes effect, if the factory was running before.
    is_started_again: bool,
}

struct Open {
    list: Arc<str>,
    kind: FactoryRequest,
}

// === impl Requests ===

impl Requests {
    /// Takes an observation, and describes the violations that it shows. The factory is in the state `run` before it, and
    /// the machine may have just woken: silent watches are given up in that moment.
    pub(super) fn observe(
        &mut self,
        event: &FactoryEvent,
        run: Run,
        kept: &BTreeMap<Informer, BTreeSet<usize>>,
        is_waking: bool,
    ) -> Vec<String> {
        match event {
            FactoryEvent::Asks {
                request,
                list,
                kind,
            } => return self.ask(*request, list, *kind, run, kept),
            FactoryEvent::Ends { request, ending } => {
                let ended = self.open.remove(request);
                let is_cut = self.is_started_again && *ending == Ending::Dropped;
                if is_cut && ended.is_some_and(|ended| ended.kind == FactoryRequest::Watch) {
                    return vec![format!("a start ends watch {request}, which was running")];
                }
            }
            FactoryEvent::Starts => {
                self.is_started_again = run == Run::Running && !is_waking;
            }
            FactoryEvent::Started => self.is_started_again = false,
            FactoryEvent::Stopped { .. } => return self.left_open(|_| true),
            FactoryEvent::Released { .. } => {
                let is_kept = |list: &str| {
                    let mut kept = kept.iter();
                    kept.any(|((own, _), holders)| **own == *list && !holders.is_empty())
                };
                return self.left_open(|open| !is_kept(&open.list));
            }
            _ => {}
        }
        Vec::new()
    }

    fn ask(
        &mut self,
        request: usize,
        list: &Arc<str>,
        kind: FactoryRequest,
        run: Run,
        kept: &BTreeMap<Informer, BTreeSet<usize>>,
    ) -> Vec<String> {
        let mut texts = Vec::new();
        if !matches!(run, Run::Running | Run::Stopping) {
            texts.push(format!("request {request} of {list} while nothing runs"));
        }
        let limit = kept.keys().filter(|(own, _)| own == list).count();
        let list = Arc::clone(list);
        self.open.insert(
            request,
            Open {
                list: Arc::clone(&list),
                kind,
            },
        );
        let is_counted = |open: &&Open| open.list == list && open.kind != FactoryRequest::Page;
        let count = self.open.values().filter(is_counted).count();
        if count > limit {
            texts.push(format!(
                "{count} open requests of {list}, for {limit} informers"
            ));
        }
        texts
    }

    fn left_open(&self, is_over: impl Fn(&Open) -> bool) -> Vec<String> {
        let left = self.open.iter().filter(|(_, open)| is_over(open));
        left.map(|(request, open)| {
            let list = &open.list;
            format!("request {request} of {list} outlives its informer")
        })
        .collect()
    }
}
