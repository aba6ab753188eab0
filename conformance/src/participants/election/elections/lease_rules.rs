//! The rules for the content of the lease.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use super::{
    Candidacy, ElectionEvent, LeaseState, ObservedLease, StopKind, TICK, Trace, is_held_by,
};
use crate::trace::seconds;

/// The lease on the server, and the knowledge of candidates about it.
pub(super) struct LeaseRules {
    /// The revisions that others wrote.
    meddled: BTreeSet<u64>,
    lease: Option<LeaseState>,
    /// The last content of the lease, even if it was deleted since.
    last: Option<LeaseState>,
    candidacies: BTreeMap<Candidacy, CandidateState>,
    /// The renew deadline, from the sending of a write on.
    renew: Duration,
}

/// The knowledge and the state of a candidacy.
#[derive(Default)]
struct CandidateState {
    seen: Option<ObservedLease>,
    /// The reads under way.
    reads: BTreeSet<usize>,
    /// The writes under way, and the times at which they were sent.
    writes: BTreeMap<usize, Duration>,
    /// The time at which the last write was sent that succeeded.
    renewed: Option<Duration>,
    /// The end of the last request.
    ended: Option<Duration>,
    /// The time at which the last write was sent.
    last_write: Option<Duration>,
    /// True from the beginning of its last leadership until it lost it.
    leads: bool,
    /// True if it has released or dropped a leadership.
    has_given_up: bool,
    /// The time at which it released or dropped its leadership, until it is clear that the lease is not its own any more.
    returns_since: Option<Duration>,
}

// === impl LeaseRules ===

impl LeaseRules {
    /// Creates the rules of a trace from its beginning on.
    pub(super) fn of(trace: &Trace) -> Self {
        let meddled = trace.observations().filter_map(|seen| match seen.event() {
            Some(ElectionEvent::Meddled { revision, .. }) => *revision,
            _ => None,
        });
        Self {
            meddled: meddled.collect(),
            lease: None,
            last: None,
            candidacies: BTreeMap::new(),
            renew: Duration::ZERO,
        }
    }

    /// Describes leases that are still held by those who had to return them before `at`.
    pub(super) fn unreturned(&mut self, at: Duration) -> Vec<String> {
        let mut texts = Vec::new();
        for (candidacy, state) in &mut self.candidacies {
            let is_idle = state.writes.is_empty() && state.reads.is_empty();
            let is_idle = is_idle && state.ended.is_none_or(|ended| ended < at);
            if is_idle && let Some(since) = state.returns_since.take_if(|since| *since < at) {
                let lease = self.lease.as_ref();
                let holds = lease.is_some_and(|lease| is_held_by(lease, *candidacy));
                texts.extend(holds.then(|| {
                    let since = seconds(since);
                    format!("{candidacy} gave up at {since} s, and still holds the lease")
                }));
            }
        }
        texts
    }

    /// Takes an event, and describes a change against the rules.
    pub(super) fn observe(
        &mut self,
        at: Duration,
        event: &ElectionEvent,
        is_waking: bool,
    ) -> Option<String> {
        match event {
            ElectionEvent::Begins { renew, .. } => self.renew = *renew,
            ElectionEvent::LeaseChanged {
                revision,
                before,
                after,
            } => {
                let text = self.changed(before.as_ref(), after.as_ref());
                let text = text.filter(|_| !self.meddled.contains(revision))?;
                return Some(format!("{event}, {text}"));
            }
            ElectionEvent::Stands { candidacy } => {
                // Another candidacy of the same name may hold the lease now.
                for (other, state) in &mut self.candidacies {
                    if other.candidate == candidacy.candidate {
                        state.returns_since = None;
                    }
                }
                let state = self.known_to(*candidacy);
                (state.seen, state.leads) = (None, false);
            }
            ElectionEvent::Leads { candidacy, .. } => self.known_to(*candidacy).leads = true,
            ElectionEvent::Lost { candidacy } => self.known_to(*candidacy).leads = false,
            ElectionEvent::Stops { candidacy, kind } => {
                let renew = self.renew;
                let state = self.known_to(*candidacy);
                if state.leads && *kind != StopKind::Crash {
                    state.give_up(at, renew, is_waking);
                }
                state.leads = false;
            }
            ElectionEvent::Asks {
                candidacy,
                request,
                method,
            } => {
                let state = self.known_to(*candidacy);
                if method == "GET" {
                    state.reads.insert(*request);
                } else {
                    state.writes.insert(*request, at);
                    state.last_write = Some(at);
                }
            }
            ElectionEvent::Answered {
                candidacy,
                request,
                status,
                lease,
            } => {
                // While the lease is there, 404 is a fault as any other.
                let is_absent = *status == Some(404) && self.lease.is_none();
                let state = self.known_to(*candidacy);
                state.answered(at, *request, *status, lease.as_ref(), is_absent);
            }
            _ => {}
        }
        None
    }

    /// Takes a change of the lease, and describes why it is against the rules for candidates.
    fn changed(
        &mut self,
        before: Option<&LeaseState>,
        after: Option<&LeaseState>,
    ) -> Option<String> {
        let last = before.or(self.last.as_ref());
        let text = self.against_rules(last, after);
        self.lease = after.cloned();
        // The last content outlives a deletion: transitions are counted on from it.
        self.last = after.cloned().or(self.last.take());
        text
    }

    fn known_to(&mut self, candidacy: Candidacy) -> &mut CandidateState {
        self.candidacies.entry(candidacy).or_default()
    }

    /// Describes why `after` may not follow the last content of the lease.
    fn against_rules(
        &self,
        last: Option<&LeaseState>,
        after: Option<&LeaseState>,
    ) -> Option<String> {
        let Some(after) = after else {
            return Some("and nobody but candidates was there".to_owned());
        };
        let is_new = self.lease.is_none() && after.transitions == 0;
        // An update, such as a renewal, makes a lease that was deleted.
        let Some(before) = last.filter(|_| !is_new) else {
            let text = || format!("made with {} transitions", after.transitions);
            return (!is_new).then(text);
        };
        if self.lease.is_none() {
            // It may be a slow one, of what its sender read before the last change and the deletion.
            let most = before.transitions + u64::from(before.holder != after.holder);
            let text = || format!("made after {} transitions", before.transitions);
            return (after.transitions > most).then(text);
        }
        let is_renewal = before.holder == after.holder;
        if is_renewal && before.acquired != after.acquired && !after.holder.is_empty() {
            return Some(format!(
                "a renewal of what was acquired at {}",
                before.acquired
            ));
        }
        let is_taken = !is_renewal && !after.holder.is_empty();
        let transitions = before.transitions + u64::from(is_taken);
        if after.transitions != transitions {
            return Some(format!("after {} transitions", before.transitions));
        }
        if after.holder.is_empty() {
            let holders = self.candidacies.iter();
            let holders = holders.filter(|(candidacy, _)| is_held_by(before, **candidacy));
            let holders: Vec<&CandidateState> = holders.map(|(_, state)| state).collect();
            let has_given_up = holders.iter().any(|state| state.has_given_up)
                && !holders.iter().any(|state| state.leads);
            let text = || format!("and {} has not given it up", before.holder);
            return (!is_renewal && !has_given_up).then(text);
        }
        let is_from_another = is_taken && !before.holder.is_empty();
        is_from_another
            .then(|| self.taken_too_early(before, after))
            .flatten()
    }

    /// Describes why a candidate could not take a lease from its holder yet.
    fn taken_too_early(&self, before: &LeaseState, after: &LeaseState) -> Option<String> {
        let takers = self.candidacies.iter();
        let takers = takers.filter(|(candidacy, _)| is_held_by(after, **candidacy));
        // A write that was given up may take effect late.
        let was_free = |state: &CandidateState| {
            let seen = state.seen.as_ref();
            let seen = seen.filter(|seen| seen.lease.says_the_same(before));
            let free = seen.map(|seen| seen.since + before.duration);
            let written = state.last_write.map(|written| written + TICK);
            free.is_some_and(|free| Some(free) <= written)
        };
        let mut takers = takers.peekable();
        takers.peek()?;
        let is_early = !takers.any(|(_, state)| was_free(state));
        is_early.then(|| {
            let seconds = before.duration.as_secs();
            format!(
                "and \"{}\" was not seen for {seconds} s without a change",
                before.holder
            )
        })
    }
}

// === impl CandidateState ===

impl CandidateState {
    /// Takes an order to release or to drop its leadership.
    fn give_up(&mut self, at: Duration, renew: Duration, is_waking: bool) {
        // Those under way are given up, too.
        self.reads.clear();
        self.writes.clear();
        // It may have lost at its deadline before, and then it writes nothing more: in this moment, or while the machine was
        // asleep.
        let has_expired = self.renewed.is_some_and(|renewed| renewed + renew <= at);
        self.returns_since = (!is_waking && !has_expired).then_some(at);
        self.has_given_up = true;
    }

    fn answered(
        &mut self,
        at: Duration,
        request: usize,
        status: Option<u16>,
        lease: Option<&LeaseState>,
        is_absent: bool,
    ) {
        self.ended = Some(at);
        let is_success = matches!(status, Some(200 | 201));
        let is_read = self.reads.remove(&request);
        if is_read {
            if let Some(lease) = lease.filter(|_| is_success) {
                ObservedLease::update(&mut self.seen, lease, at);
            }
            // There may be no lease to return.
            if !is_absent && !is_success {
                self.returns_since = None;
            }
        } else if let Some(sent) = self.writes.remove(&request) {
            if is_success {
                // Since it was sent: the renew deadline is counted from there, and not from the answer.
                self.renewed = Some(sent);
            } else {
                self.returns_since = None;
            }
        }
    }
}
