//! A rule made of an effect, a filter and a trigger.

use std::{fmt::Debug, time::Duration};

use fakeserver_versions::KubernetesVersion;
use tokio::time::Instant;

use super::{
    Filter, FrameFacts, FrameVerdict, RequestFacts, RequestVerdict, Rule, Trigger, facts::DISCOVER,
    trigger::TriggerState,
};

/// A rule made of the effect of a fault, a filter and a trigger. By default it fires at each occasion.
#[derive(Debug)]
#[must_use = "a rule does nothing until it is installed"]
pub struct FaultRule {
    name: &'static str,
    is_about_discovery: bool,
    effect: Box<dyn Effect>,
    filter: Filter,
    trigger: TriggerState,
}

/// The effect of a rule on the requests and frames that it matches.
pub(super) trait Effect: Debug + Send + 'static {
    /// Returns the verdict on a request; `None` if the fault does not apply to it.
    fn on_request(&mut self, request: &RequestFacts) -> Option<RequestVerdict>;

    /// Returns the verdict on a frame; `None` if the fault does not apply to it.
    fn on_frame(&mut self, frame: &FrameFacts<'_>) -> Option<FrameVerdict> {
        let _ = frame;
        None
    }

    /// Returns whether it still holds a frame that it has held.
    fn holds(&self, frame: &FrameFacts<'_>) -> bool {
        let _ = frame;
        false
    }

    /// Returns the version of the server that answers a request, if it is not this one, which has the version `own`.
    fn served_by(
        &mut self,
        request: &RequestFacts,
        own: KubernetesVersion,
    ) -> Option<KubernetesVersion> {
        let _ = (request, own);
        None
    }

    /// Seeds its random choices.
    fn seed(&mut self, seed: u64) {
        let _ = seed;
    }
}

// === impl FaultRule ===

impl FaultRule {
    pub(super) fn new(name: &'static str, effect: Box<dyn Effect>) -> Self {
        Self {
            name,
            is_about_discovery: false,
            effect,
            filter: Filter::any(),
            trigger: TriggerState::new(Trigger::always()),
        }
    }

    /// Makes discovery requests occasions. Other rules see them only if their filter names the verb `discover`.
    pub(super) fn about_discovery(mut self) -> Self {
        self.is_about_discovery = true;
        self
    }

    /// Restricts the rule to requests that match, and to frames of such watches.
    pub fn matching(mut self, filter: Filter) -> Self {
        self.filter = filter;
        self
    }

    /// Replaces the trigger.
    pub fn when(mut self, trigger: Trigger) -> Self {
        self.effect.seed(trigger.seed);
        self.trigger = TriggerState::new(trigger);
        self
    }

    /// Fires from the `n`th occasion on, counted from 1 over all streams.
    pub fn nth(self, n: u64) -> Self {
        let trigger = self.trigger.trigger().nth(n);
        self.when(trigger)
    }

    /// Fires `times` times at most.
    pub fn times(self, times: u64) -> Self {
        let trigger = self.trigger.trigger().times(times);
        self.when(trigger)
    }

    /// Starts `after` the installation, by the server's clock.
    pub fn after(self, after: Duration) -> Self {
        let trigger = self.trigger.trigger().after(after);
        self.when(trigger)
    }

    /// Ends `lasting` after its start, by the server's clock.
    pub fn lasting(self, lasting: Duration) -> Self {
        let trigger = self.trigger.trigger().lasting(lasting);
        self.when(trigger)
    }

    /// Fires at an occasion with `probability`, by a random generator of `seed`: never for 0, always for 1.
    pub fn with_probability(self, probability: f64, seed: u64) -> Self {
        let trigger = self.trigger.trigger().with_probability(probability, seed);
        self.when(trigger)
    }
}

impl Rule for FaultRule {
    fn name(&self) -> &'static str {
        self.name
    }

    fn installed(&mut self, now: Instant) {
        self.trigger.install(now);
    }

    fn on_request(&mut self, request: &RequestFacts) -> RequestVerdict {
        let is_seen = request.verb != DISCOVER
            || self.is_about_discovery
            || self.filter.wanted_verb() == Some(DISCOVER);
        if !is_seen || !self.filter.matches(request) {
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
        self.trigger.is_permanent() && self.filter.matches_frame(frame) && self.effect.holds(frame)
    }

    fn served_by(
        &mut self,
        request: &RequestFacts,
        own: KubernetesVersion,
    ) -> Option<KubernetesVersion> {
        if !self.filter.matches(request) {
            return None;
        }
        let version = self.effect.served_by(request, own)?;
        self.trigger.fires().then_some(version)
    }

    fn hides(&mut self, request: &RequestFacts) -> bool {
        self.is_about_discovery && self.filter.matches(request) && self.trigger.fires()
    }
}
