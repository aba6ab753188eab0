//! When an informer has got the whole of a list: a page may be there before the one that it follows has ended.

use std::collections::BTreeMap;

use crate::trace::{Observation, RequestKind};

/// The lists that informers asked for, and which of their pages are there.
#[derive(Default)]
pub(super) struct Lists {
    /// Each list, by the request for its first page.
    by_first: BTreeMap<usize, List>,
    /// Of the pages that have not ended: the list.
    open_pages: BTreeMap<usize, usize>,
    /// Of each informer: the list that it asked for last.
    latest: BTreeMap<usize, usize>,
}

/// A list of which every page is there.
pub(super) struct WholeList {
    pub(super) informer: usize,
    /// The version asked for, as it was written.
    pub(super) asked: String,
    /// That of the first page.
    pub(super) version: u64,
    pub(super) has_one_page: bool,
}

struct List {
    informer: usize,
    asked: String,
    version: Option<u64>,
    open_count: usize,
    page_count: usize,
    has_last_page: bool,
}

// === impl Lists ===

impl Lists {
    /// Takes in what was observed. Gives the list that is whole with it.
    pub(super) fn observe(&mut self, observation: &Observation) -> Option<WholeList> {
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
                // A page that was not brought is asked for anew, or the list is given up.
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
        let list = self.by_first.entry(first).or_insert_with(|| List {
            informer,
            asked: revision.to_owned(),
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

// === impl List ===

impl List {
    /// The list as it is when a page of some version is the last to come.
    fn whole(&self, version: u64) -> WholeList {
        WholeList {
            informer: self.informer,
            asked: self.asked.clone(),
            version: self.version.unwrap_or(version),
            has_one_page: self.page_count == 1,
        }
    }
}
