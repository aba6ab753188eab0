//! Resource versions: the one to ask for, and the trust in the one that was answered.

use crate::{
    list_watch::{ListRequest, VersionMatch},
    object::ResourceVersion,
};

/// The page size of lists for which none was chosen.
const PAGE_SIZE: u32 = 500;

/// The known state of the server's versions.
#[derive(Clone, Debug, Default)]
pub(super) struct Resume {
    /// The latest version that the store stands at. Never goes back but by authority.
    last: ResourceVersion,
    /// The server could not serve `last`: the next state is asked for without a version.
    is_unavailable: bool,
    /// The server pages even what it could serve from memory, so that it seems to have no watch cache.
    is_paged: bool,
    /// Every list asks for the most recent state.
    is_consistent: bool,
    page_size: Option<u32>,
}

/// The trust in an answered version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Belief {
    /// The state is not older than what was seen, or the two cannot be compared.
    Accept,
    /// The state is older, but the most recent one was asked for: the server was restored, or lost its data.
    AcceptBack,
    /// The state is older: a server that lags behind answered.
    Refuse,
}

// === impl Resume ===

impl Resume {
    pub(super) fn new(page_size: Option<u32>, is_consistent: bool) -> Self {
        Self {
            is_consistent,
            page_size,
            ..Self::default()
        }
    }

    /// The state `version` was committed to the store.
    pub(super) fn commit(&mut self, version: &ResourceVersion) {
        self.last = version.clone();
        self.is_unavailable = false;
    }

    /// A change or a bookmark at `version` was seen. False, and nothing changes, if it is not later than the last.
    pub(super) fn advance(&mut self, version: &ResourceVersion) -> bool {
        if *version == self.last || version.is_before(&self.last) {
            return false;
        }
        self.last = version.clone();
        true
    }

    /// The server cannot serve the last version: the next state is asked for without one.
    pub(super) fn give_up_version(&mut self) {
        self.is_unavailable = true;
    }

    /// A list at any version came in several pages.
    pub(super) fn note_paged(&mut self) {
        self.is_paged = true;
    }

    pub(super) fn last(&self) -> &ResourceVersion {
        &self.last
    }

    /// Returns the request for the first page of a list: consistent if the last version is unavailable, at any cached
    /// version the very first time, and otherwise not older than what was seen.
    pub(super) fn list_request(&self) -> ListRequest {
        let resource_version = if self.is_unavailable || self.is_consistent {
            ResourceVersion::unknown()
        } else if self.last.is_unknown() {
            "0".into()
        } else {
            self.last.clone()
        };
        // Lists that the server answers from memory are asked for whole; pages may cost it reads of the storage.
        let is_from_memory = resource_version.is_resumable();
        let limit = match self.page_size {
            None if is_from_memory && !self.is_paged => None,
            None => Some(PAGE_SIZE),
            chosen => chosen,
        };
        ListRequest {
            // With a limit and no match the server would give exactly this version, which may have expired.
            version_match: (is_from_memory && limit.is_some())
                .then_some(VersionMatch::NotOlderThan),
            resource_version,
            limit,
            continue_token: None,
        }
    }

    /// As little as can be of a state that is not older than the last version.
    pub(super) fn check_request(&self) -> ListRequest {
        ListRequest {
            resource_version: self.last.clone(),
            version_match: Some(VersionMatch::NotOlderThan),
            limit: Some(1),
            continue_token: None,
        }
    }

    /// The version for a streaming list: at least the last one seen, consistent if there is none.
    pub(super) fn streaming_version(&self) -> ResourceVersion {
        if self.is_unavailable {
            ResourceVersion::unknown()
        } else {
            self.last.clone()
        }
    }

    /// Decides whether a state at `answered` may replace the store's, if `asked` was asked for.
    pub(super) fn judge(&self, requested: &ResourceVersion, answered: &ResourceVersion) -> Belief {
        if !answered.is_before(&self.last) {
            Belief::Accept
        } else if requested.is_unknown() {
            Belief::AcceptBack
        } else {
            Belief::Refuse
        }
    }
}

#[cfg(test)]
mod tests;
