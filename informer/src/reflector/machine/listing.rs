//! Getting a whole state by pages of a list.

use super::{Belief, Effect, Failing, Input, Machine, Mode, Moment, Plan, State};
use crate::{list_watch::ListRequest, object::ResourceVersion, reflector::FailureCause};

/// The number of retries of one page before the list restarts.
const PAGE_RETRIES_MAX: u32 = 3;

/// A list on its way.
pub(super) struct Listing {
    /// The page that is asked for.
    request: ListRequest,
    /// The version that the first page asked for.
    requested: ResourceVersion,
    /// The version of the first page, which is that of the list.
    version: Option<ResourceVersion>,
    /// The number of transient failures of this page.
    failure_count: u32,
    /// True if it was asked for in one page, because the token of an earlier attempt expired.
    is_full: bool,
}

// === impl Listing ===

impl Listing {
    pub(super) fn first(request: ListRequest) -> Self {
        Self {
            requested: request.resource_version.clone(),
            request,
            version: None,
            failure_count: 0,
            is_full: false,
        }
    }

    pub(super) fn request(&self) -> &ListRequest {
        &self.request
    }

    /// All in one page, at the version that was asked for at first.
    fn full(&self) -> Self {
        Self {
            is_full: true,
            ..Self::first(ListRequest {
                resource_version: self.requested.clone(),
                ..ListRequest::default()
            })
        }
    }

    /// Returns the list with the page that begins at `token`.
    fn next(self, token: &str) -> Self {
        Self {
            request: self.request.next_page(token),
            failure_count: 0,
            ..self
        }
    }

    fn is_later_page(&self) -> bool {
        self.request.continue_token.is_some()
    }
}

// === impl Machine ===

impl Machine {
    pub(super) fn on_list_input(
        &mut self,
        now: Moment,
        listing: Listing,
        input: Input<'_>,
        effects: &mut Vec<Effect>,
    ) -> State {
        match input {
            Input::Page {
                version,
                continue_token,
            } => self.on_page(now, listing, version, continue_token, effects),
            Input::Failed { cause, retry_after } => {
                self.on_list_failed(now, listing, Failing { cause, retry_after }, effects)
            }
            input => {
                debug_assert!(false, "{input:?} is not what a list can give");
                State::Listing(listing)
            }
        }
    }

    fn on_page(
        &mut self,
        now: Moment,
        mut listing: Listing,
        version: &ResourceVersion,
        continue_token: Option<&str>,
        effects: &mut Vec<Effect>,
    ) -> State {
        if self.mode == Mode::Wait && !version.is_resumable() {
            // Changes after this state could be missed.
            effects.push(Effect::Discard);
            let failing = FailureCause::Protocol.into();
            return self.back_off(now, Plan::Acquire, failing, effects);
        }
        if listing.version.is_none() {
            let belief = self.resume.judge(&listing.requested, version);
            if belief != Belief::Accept {
                self.report_went_back(version, belief == Belief::AcceptBack, effects);
            }
            if belief == Belief::Refuse {
                self.resume.give_up_version();
                return self.list();
            }
            listing.version = Some(version.clone());
        }
        let Some(token) = continue_token else {
            effects.push(Effect::Stage);
            let version = listing.version.take().unwrap_or_else(|| version.clone());
            self.commit(now, &listing.requested, &version, effects);
            return self.open_watch();
        };
        if listing.request.continue_token.as_deref() == Some(token) {
            // The same page for ever.
            effects.push(Effect::Discard);
            let failing = FailureCause::Protocol.into();
            return self.back_off(now, Plan::Acquire, failing, effects);
        }
        // A server with a watch cache answers such a list from memory, and ignores the limit.
        if listing.requested.as_str() == "0" {
            self.resume.note_paged();
        }
        effects.push(Effect::Stage);
        State::Listing(listing.next(token))
    }

    fn on_list_failed(
        &mut self,
        now: Moment,
        mut listing: Listing,
        failing: Failing,
        effects: &mut Vec<Effect>,
    ) -> State {
        let is_version_gone = matches!(
            failing.cause,
            FailureCause::Expired | FailureCause::TooLargeVersion
        );
        if listing.is_later_page() {
            // In one page: reading the pages took longer than the server keeps a version, and would again.
            if failing.cause == FailureCause::Expired && !listing.is_full {
                effects.push(Effect::Discard);
                self.report(failing.cause, std::time::Duration::ZERO, effects);
                return State::Listing(listing.full());
            }
            // Nothing is discarded: the pages before this one stay staged.
            if failing.cause.is_transient() && listing.failure_count < PAGE_RETRIES_MAX {
                listing.failure_count += 1;
                return self.back_off(now, Plan::Page(listing), failing, effects);
            }
        } else if is_version_gone && !listing.requested.is_unknown() {
            self.resume.give_up_version();
            self.report(failing.cause, std::time::Duration::ZERO, effects);
            return self.list();
        }
        effects.push(Effect::Discard);
        self.back_off(now, Plan::Acquire, failing, effects)
    }
}
