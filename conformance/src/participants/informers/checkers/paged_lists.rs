//! Assembles lists from their pages: a page may arrive before the end of the one before it.

use std::collections::BTreeMap;

use crate::trace::{Observation, RequestKind};

/// The requested lists and the pages that have arrived.
#[derive(Default)]
pub(super) struct PagedLists {
    /// The lists, by the request for their first pages.
    by_first: BTreeMap<usize, PagedList>,
    /// The list of each page that has not ended.
    open_pages: BTreeMap<usize, usize>,
    /// The last list of each informer.
    latest: BTreeMap<usize, usize>,
}

/// A list with all its pages.
pub(super) struct CompleteList {
    pub(super) informer: usize,
    /// The version in the request, as text.
    pub(super) requested: String,
    /// The version of the first page.
    pub(super) version: u64,
    pub(super) has_one_page: bool,
}

struct PagedList {
    informer: usize,
    requested: String,
    version: Option<u64>,
    open_count: usize,
    page_count: usize,
    has_last_page: bool,
}

// === impl PagedLists ===

impl PagedLists {
    /// Takes an observation, and returns the list that it completes.
    pub(super) fn observe(&mut self, observation: &Observation) -> Option<CompleteList> {
        match observation {
            Observation::Request {
                informer,
                request,
                kind:
                    RequestKind::List {
                        revision,
                        is_continued,
                    },
            } => {
                self.ask(*informer, *request, revision, *is_continued);
                None
            }
            Observation::Page {
                request,
                revision,
                has_more,
                ..
            } => {
                let first = self.open_pages.remove(request)?;
                let list = self.by_first.get_mut(&first)?;
                if first == *request {
                    list.version = Some(*revision);
                }
                list.open_count -= 1;
                list.has_last_page |= !has_more;
                let is_whole = list.has_last_page && list.open_count == 0;
                is_whole.then(|| list.whole(*revision))
            }
            Observation::Ended { request, .. } => {
                // A page without an answer is requested again, or the list is abandoned.
                let first = self.open_pages.remove(request)?;
                let list = self.by_first.get_mut(&first)?;
                list.open_count -= 1;
                list.has_last_page = false;
                None
            }
            _ => None,
        }
    }

    fn ask(&mut self, informer: usize, request: usize, revision: &str, is_continued: bool) {
        let latest = self.latest.get(&informer).filter(|_| is_continued);
        let first = latest.copied().unwrap_or(request);
        let list = self.by_first.entry(first).or_insert_with(|| PagedList {
            informer,
            requested: revision.to_owned(),
            version: None,
            open_count: 0,
            page_count: 0,
            has_last_page: false,
        });
        list.open_count += 1;
        list.page_count += 1;
        self.open_pages.insert(request, first);
        self.latest.insert(informer, first);
    }
}

// === impl PagedList ===

impl PagedList {
    /// Returns the list, of which a page of `version` was the last to arrive.
    fn whole(&self, version: u64) -> CompleteList {
        CompleteList {
            informer: self.informer,
            requested: self.requested.clone(),
            version: self.version.unwrap_or(version),
            has_one_page: self.page_count == 1,
        }
    }
}
