//! What the rules of this crate have in common: which requests, from which one on, how often.

use super::{Filter, FrameFacts, FrameVerdict, RequestFacts, RequestVerdict, Rule};

/// What a named rule does where it applies.
pub trait Effect: Send + 'static {
    /// What its firings are counted under.
    const NAME: &'static str;

    /// What it does to a request, if it is about requests like this.
    fn on_request(&self, request: &RequestFacts) -> Option<RequestVerdict> {
        let _ = request;
        None
    }

    /// What it does to a frame, if it is about frames like this.
    fn on_frame(&self, frame: &FrameFacts<'_>) -> Option<FrameVerdict> {
        let _ = frame;
        None
    }
}

/// An effect with a filter and a trigger. Unless told otherwise it fires at each occasion.
#[derive(Debug, Clone)]
#[must_use = "a rule does nothing until it is installed"]
pub struct NamedRule<E> {
    effect: E,
    filter: Filter,
    /// How many occasions are let pass first.
    skip: u64,
    /// How often it fires after that.
    left: Option<u64>,
}

// === impl NamedRule ===

impl<E: Effect> NamedRule<E> {
    pub(super) fn new(effect: E) -> Self {
        Self {
            effect,
            filter: Filter::any(),
            skip: 0,
            left: None,
        }
    }

    /// Only requests that match, and frames of watches that do, are occasions.
    pub fn matching(mut self, filter: Filter) -> Self {
        self.filter = filter;
        self
    }

    /// It fires at the `n`th occasion first, counted from 1 over all streams, and then at each until `times`.
    pub fn nth(mut self, n: u64) -> Self {
        self.skip = n.saturating_sub(1);
        self
    }

    /// It fires so often, and never again.
    pub fn times(mut self, times: u64) -> Self {
        self.left = Some(times);
        self
    }

    pub(super) fn effect_mut(&mut self) -> &mut E {
        &mut self.effect
    }

    /// Counts an occasion. Whether it is one to fire at.
    fn fires(&mut self) -> bool {
        if self.skip > 0 {
            self.skip -= 1;
            return false;
        }
        match &mut self.left {
            None => true,
            Some(0) => false,
            Some(left) => {
                *left -= 1;
                true
            }
        }
    }
}

impl<E: Effect> Rule for NamedRule<E> {
    fn name(&self) -> &'static str {
        E::NAME
    }

    fn on_request(&mut self, request: &RequestFacts) -> RequestVerdict {
        let verdict = if self.filter.matches(request) {
            self.effect.on_request(request)
        } else {
            None
        };
        match verdict {
            Some(verdict) if self.fires() => verdict,
            _ => RequestVerdict::Pass,
        }
    }

    fn on_frame(&mut self, frame: &FrameFacts<'_>) -> FrameVerdict {
        let verdict = if self.filter.matches(frame.watch) {
            self.effect.on_frame(frame)
        } else {
            None
        };
        match verdict {
            Some(verdict) if self.fires() => verdict,
            _ => FrameVerdict::Pass,
        }
    }
}
