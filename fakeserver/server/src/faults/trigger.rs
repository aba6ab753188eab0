//! The occasions at which a rule fires.

use std::time::Duration;

use rand::{RngExt, SeedableRng, rngs::ChaCha8Rng};
use serde::{Deserialize, Serialize};
use tokio::time::Instant;

/// The occasions at which a rule fires; all of them by default.
///
/// An occasion is a request or frame that the rule matches and affects, counted from 1 over all streams while the rule's
/// time lasts. As JSON it is the `when` of a [`FaultSpec`](super::FaultSpec). Times are of the server's clock, in
/// milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[non_exhaustive]
pub struct Trigger {
    /// The first occasion at which the rule fires, from 1.
    #[serde(skip_serializing_if = "is_first")]
    pub nth: u64,
    /// The most firings; unlimited if `None`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub times: Option<u64>,
    /// Milliseconds from the installation to the start of the rule's time.
    #[serde(skip_serializing_if = "is_zero")]
    pub after_ms: u64,
    /// Milliseconds that the rule's time lasts; unlimited if `None`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub for_ms: Option<u64>,
    /// The probability of a firing at an occasion, from 0 to 1.
    #[serde(skip_serializing_if = "is_certain")]
    pub probability: f64,
    /// The seed of the random choices of the rule: its probability, and those of its effect.
    #[serde(skip_serializing_if = "is_zero")]
    pub seed: u64,
}

/// Counts the occasions of one rule, and decides at which it fires.
#[derive(Debug)]
pub(super) struct TriggerState {
    trigger: Trigger,
    /// Occasions left before the first firing.
    skip: u64,
    /// Firings left after that.
    left: Option<u64>,
    rng: ChaCha8Rng,
    installed: Option<Instant>,
}

// === impl Trigger ===

impl Trigger {
    /// Returns the trigger that fires at each occasion.
    pub fn always() -> Self {
        Self::default()
    }

    /// Fires from the `n`th occasion on, counted from 1.
    #[must_use]
    pub fn nth(mut self, n: u64) -> Self {
        self.nth = n;
        self
    }

    /// Fires `times` times at most.
    #[must_use]
    pub fn times(mut self, times: u64) -> Self {
        self.times = Some(times);
        self
    }

    /// Starts `after` the installation, in whole milliseconds.
    #[must_use]
    pub fn after(mut self, after: Duration) -> Self {
        self.after_ms = milliseconds(after);
        self
    }

    /// Ends `lasting` after its start, in whole milliseconds.
    #[must_use]
    pub fn lasting(mut self, lasting: Duration) -> Self {
        self.for_ms = Some(milliseconds(lasting));
        self
    }

    /// Fires at an occasion with `probability`, by a random generator of `seed`: never for 0, always for 1.
    #[must_use]
    pub fn with_probability(mut self, probability: f64, seed: u64) -> Self {
        self.probability = probability;
        self.seed = seed;
        self
    }

    /// Seeds the random choices of the rule.
    #[must_use]
    pub fn with_seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Returns an invalid field, with the reason.
    pub(super) fn problem(&self) -> Option<(&'static str, String)> {
        if self.nth == 0 {
            return Some(("nth", "occasions are counted from 1".to_owned()));
        }
        (!(0.0..=1.0).contains(&self.probability)).then(|| {
            let found = self.probability;
            ("probability", format!("{found} is not between 0 and 1"))
        })
    }
}

impl Default for Trigger {
    fn default() -> Self {
        Self {
            nth: 1,
            times: None,
            after_ms: 0,
            for_ms: None,
            probability: 1.0,
            seed: 0,
        }
    }
}

// === impl TriggerState ===

impl TriggerState {
    pub(super) fn new(trigger: Trigger) -> Self {
        Self {
            trigger,
            skip: trigger.nth.saturating_sub(1),
            left: trigger.times,
            rng: ChaCha8Rng::seed_from_u64(trigger.seed),
            installed: None,
        }
    }

    pub(super) fn trigger(&self) -> Trigger {
        self.trigger
    }

    /// Starts to count time at `now`.
    pub(super) fn install(&mut self, now: Instant) {
        self.installed = Some(now);
    }

    /// Counts an occasion, and returns whether the rule fires at it.
    pub(super) fn fires(&mut self) -> bool {
        // Before counting: requests outside of the rule's time are no occasions.
        if !self.is_time() {
            return false;
        }
        if self.skip > 0 {
            self.skip -= 1;
            return false;
        }
        // Nothing is drawn once the firings are used up, so that the generator depends on occasions only.
        if self.left == Some(0) || !self.draws_firing() {
            return false;
        }
        if let Some(left) = &mut self.left {
            *left -= 1;
        }
        true
    }

    /// Returns whether the rule's time lasts and its firings are unlimited.
    pub(super) fn is_permanent(&self) -> bool {
        self.left.is_none() && self.is_time()
    }

    fn is_time(&self) -> bool {
        let is_limited = self.trigger.after_ms > 0 || self.trigger.for_ms.is_some();
        let Some(installed) = self.installed.filter(|_| is_limited) else {
            return true;
        };
        let passed = milliseconds(installed.elapsed());
        let start = self.trigger.after_ms;
        let lasting = self.trigger.for_ms;
        let end = lasting.map(|lasting| start.saturating_add(lasting));
        passed >= start && end.is_none_or(|end| passed < end)
    }

    /// Draws nothing for a probability of 1, so that later draws do not depend on it.
    fn draws_firing(&mut self) -> bool {
        let probability = self.trigger.probability;
        probability >= 1.0 || self.rng.random_bool(probability.max(0.0))
    }
}

fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
fn is_zero(value: &u64) -> bool {
    *value == 0
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
fn is_first(value: &u64) -> bool {
    *value == 1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
fn is_certain(value: &f64) -> bool {
    *value >= 1.0
}
