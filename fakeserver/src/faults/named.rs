//! What the rules of this crate have in common: which requests and frames, and at which of them they fire.

use std::time::Duration;

use tokio::time::Instant;

use super::{
    Filter, FrameFacts, FrameVerdict, RequestFacts, RequestVerdict, Rule, When, facts::DISCOVER,
    when::Trigger,
};

/// What a named rule does where it applies.
pub trait Effect: Send + 'static {
    /// What its firings are counted under.
    fn name(&self) -> &'static str;

    /// What it does to a request, if it is about requests like this.
    fn on_request(&mut self, request: &RequestFacts) -> Option<RequestVerdict> {
        let _ = request;
        None
    }

    /// What it does to a frame, if it is about frames like this.
    fn on_frame(&mut self, frame: &FrameFacts<'_>) -> Option<FrameVerdict> {
        let _ = frame;
        None
    }

    /// Whether it still holds back a frame that it has held.
    fn holds(&self, frame: &FrameFacts<'_>) -> bool {
        let _ = frame;
        false
    }

    /// What it does at random follows from `seed` from now on.
    fn seed(&mut self, seed: u64) {
        let _ = seed;
    }

    /// Whether it is about questions of what the server has; else it meets them only where its filter names their verb,
    /// `discover`.
    fn is_about_discovery(&self) -> bool {
        false
    }
}

/// An effect with a filter and a trigger. Unless told otherwise it fires at each occasion.
#[derive(Debug, Clone)]
#[must_use = "a rule does nothing until it is installed"]
pub struct NamedRule<E> {
    effect: E,
    filter: Filter,
    trigger: Trigger,
}

// === impl NamedRule ===

impl<E: Effect> NamedRule<E> {
    pub(super) fn new(effect: E) -> Self {
        Self {
            effect,
            filter: Filter::any(),
            trigger: Trigger::new(When::always()),
        }
    }

    /// Only requests that match, and frames of watches that do, are occasions.
    pub fn matching(mut self, filter: Filter) -> Self {
        self.filter = filter;
        self
    }

    /// It fires as `when` says, whatever was said before.
    pub fn when(mut self, when: When) -> Self {
        self.effect.seed(when.seed);
        self.trigger = Trigger::new(when);
        self
    }

    /// It fires at the `n`th occasion first, counted from 1 over all streams, and then at each until `times`.
    pub fn nth(self, n: u64) -> Self {
        let when = self.trigger.when().nth(n);
        self.when(when)
    }

    /// It fires so often, and never again.
    pub fn times(self, times: u64) -> Self {
        let when = self.trigger.when().times(times);
        self.when(when)
    }

    /// It fires from so long after it was installed, by the server's clock.
    pub fn after(self, after: Duration) -> Self {
        let when = self.trigger.when().after(after);
        self.when(when)
    }

    /// It fires for so long, by the server's clock.
    pub fn lasting(self, lasting: Duration) -> Self {
        let when = self.trigger.when().lasting(lasting);
        self.when(when)
    }

    /// It fires as often as dice say that follow from `seed`: never for 0, always for 1.
    pub fn with_probability(self, probability: f64, seed: u64) -> Self {
        let when = self.trigger.when().with_probability(probability, seed);
        self.when(when)
    }

    pub(super) fn boxed(self) -> NamedRule<Box<dyn Effect>> {
        NamedRule {
            effect: Box::new(self.effect),
            filter: self.filter,
            trigger: self.trigger,
        }
    }

    pub(super) fn effect_mut(&mut self) -> &mut E {
        &mut self.effect
    }
}

impl<E: Effect> Rule for NamedRule<E> {
    fn name(&self) -> &'static str {
        self.effect.name()
    }

    fn installed(&mut self, now: Instant) {
        self.trigger.install(now);
    }

    fn on_request(&mut self, request: &RequestFacts) -> RequestVerdict {
        let is_asked = request.verb != DISCOVER
            || self.effect.is_about_discovery()
            || self.filter.wanted_verb() == Some(DISCOVER);
        if !is_asked || !self.filter.matches(request) {
            return RequestVerdict::Pass;
        }
        match self.effect.on_request(request) {
            Some(verdict) if self.trigger.fires() => verdict,
            _ => RequestVerdict::Pass,
        }
    }

    fn on_frame(&mut self, frame: &FrameFacts<'_>) -> FrameVerdict {
        if !self.filter.matches_frame(frame) {
            return FrameVerdict::Pass;
        }
        match self.effect.on_frame(frame) {
            Some(verdict) if self.trigger.fires() => verdict,
            _ => FrameVerdict::Pass,
        }
    }

    fn holds(&mut self, frame: &FrameFacts<'_>) -> bool {
        self.trigger.goes_on() && self.filter.matches_frame(frame) && self.effect.holds(frame)
    }

    fn hides(&mut self, request: &RequestFacts) -> bool {
        self.effect.is_about_discovery() && self.filter.matches(request) && self.trigger.fires()
    }
}

impl Effect for Box<dyn Effect> {
    fn name(&self) -> &'static str {
        (**self).name()
    }

    fn on_request(&mut self, request: &RequestFacts) -> Option<RequestVerdict> {
        (**self).on_request(request)
    }

    fn on_frame(&mut self, frame: &FrameFacts<'_>) -> Option<FrameVerdict> {
        (**self).on_frame(frame)
    }

    fn holds(&self, frame: &FrameFacts<'_>) -> bool {
        (**self).holds(frame)
    }

    fn seed(&mut self, seed: u64) {
        (**self).seed(seed);
    }

    fn is_about_discovery(&self) -> bool {
        (**self).is_about_discovery()
    }
}
