//! The traits of a participant: its part of plans, and its part in a run.

use std::{ops::Range, time::Duration};

use fakeserver::FakeServerBuilder;

use crate::{
    bugs::Bug,
    checkers::Checker,
    interleave::Yields,
    plan::{Interleaving, Profile, Resource, Selection},
    seed::Seed,
    trace::{Concern, Member, Recorder},
    transport::{Leader, Route},
};

/// A section of a plan, whose acts are performed in a run.
pub(crate) trait PlanSection: Sized + 'static {
    /// An act; those of one moment are performed in this order.
    type Act: Copy + Ord;

    /// The parts of it that can be removed, in the order of proposals.
    const PARTS: &'static [Part<Self>];
    /// The options of the remaining parts, likewise.
    const OPTIONS: &'static [Part<Self>];

    /// Restores the invariants of drawn plans; returns `None` if too little is left.
    fn made_valid(self, profile: Profile, safety_ms: u64) -> Option<Self>;

    /// Returns true if nothing would happen.
    fn is_void(&self) -> bool;

    /// Replaces every moment by the result of `new`.
    fn map_moments(&mut self, new: &mut dyn FnMut(u64) -> u64);

    /// Returns its acts and their moments.
    fn acts(&self) -> Vec<(u64, Self::Act)>;
}

/// A participant of runs beside the informers, as its section of a plan describes it.
///
/// It takes part on simulated servers and the paused clock only.
pub(crate) trait Participant: PlanSection {
    /// The participant in a run.
    type Run: Run<Self>;

    /// Its promises.
    const CHECKERS: &'static [Checker];

    /// Draws its section of a plan, if it has one, by a stream of its own: the rest of the plan does not change.
    fn draw(draft: &Draft<'_>) -> Option<Self>;

    /// Returns the names of its clients, which faults of all informers hit, too.
    fn clients(&self) -> Vec<String>;

    /// Creates it before the run.
    fn enter(&self, host: &mut Host<'_>) -> Self::Run;

    /// Configures the server.
    fn configure(&self, server: FakeServerBuilder) -> FakeServerBuilder {
        server
    }

    /// Returns the time for which a task of it may last after the end of the run, in milliseconds.
    fn lingering_ms(&self) -> u64 {
        0
    }

    /// Returns the parts of such a participant that a finding is about, if it is about one.
    fn concern(_finding: &str) -> Option<Concern> {
        None
    }
}

/// A participant in a run. The functions are called in this order, the acts and the observations in between.
pub(crate) trait Run<S: PlanSection>: Sized {
    /// Begins with the phase of safety.
    fn begin(&mut self) {}

    /// Reads the server before each act of any participant, which may remove history.
    fn note(&mut self) {}

    /// Performs an act.
    async fn act(&mut self, act: S::Act);

    /// Records its state.
    fn observe(&self) {}

    /// Ends all faults of its own.
    fn end_faults(&mut self) {}

    /// Prepares for recovery, in which it has to converge.
    async fn recover(&mut self) {}

    /// Waits until it has converged, and records its state.
    async fn settle(&mut self, _end: &End<'_>) {}

    /// Returns the number of watches that it may have open.
    fn watch_count(&self) -> usize;

    /// Shuts it down.
    async fn shut_down(&mut self);
}

/// The run that a participant takes part in.
pub(crate) struct Host<'a> {
    pub(crate) seed: Seed,
    pub(crate) interleaving: Interleaving,
    pub(crate) recorder: Recorder,
    pub(crate) leader: Leader,
    /// The seeded bug of clients, if there is one.
    pub(crate) bug: Option<Bug>,
    /// Opens the route of a client.
    pub(crate) open_route: &'a mut dyn FnMut() -> Route,
}

/// The end of a run.
pub(crate) struct End<'a> {
    /// The time for caches to become equal to the server.
    pub(crate) limit: Duration,
    /// Returns the present objects of a selection.
    pub(crate) members: &'a dyn Fn(&Selection) -> Vec<Member>,
}

/// The parts of a plan that are drawn before its participants.
pub(crate) struct Draft<'a> {
    pub(crate) seed: Seed,
    pub(crate) profile: Profile,
    pub(crate) safety_ms: u64,
    pub(crate) objects: &'a [(Resource, u8)],
}

/// A part with elements that can be removed or simplified.
pub(crate) struct Part<P> {
    /// Returns the number of elements.
    pub(crate) len: fn(&P) -> usize,
    /// Removes, or simplifies, the elements of a range.
    pub(crate) take: fn(&mut P, Range<usize>),
}

// === impl Host ===

impl Host<'_> {
    /// Draws the yields of an actor.
    pub(crate) fn yields(&self, actor: &str) -> Yields {
        Yields::of(self.interleaving, self.seed, actor)
    }
}

/// Counts the options of all items, and simplifies those in a range.
pub(crate) fn simplify<'a, T: 'a>(
    items: impl IntoIterator<Item = &'a mut T>,
    options: &[fn(&mut T)],
    range: &Range<usize>,
) {
    for (place, item) in items.into_iter().enumerate() {
        for (option, simpler) in options.iter().enumerate() {
            if range.contains(&(place * options.len() + option)) {
                simpler(item);
            }
        }
    }
}

/// Renumbers an element of a list by its place in the list without a range. Returns false if the element is in the range.
pub(crate) fn renumber(place: &mut usize, gone: &Range<usize>) -> bool {
    if gone.contains(place) {
        return false;
    }
    if *place >= gone.end {
        *place -= gone.len();
    }
    true
}

/// Returns a moment that is not after the end of the run.
pub(crate) fn within(at_ms: u64, safety_ms: u64) -> u64 {
    if at_ms > safety_ms {
        at_ms % (safety_ms + 1)
    } else {
        at_ms
    }
}
