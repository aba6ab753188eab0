//! At which of its occasions a rule fires.

use std::time::Duration;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};
use tokio::time::Instant;

/// At which occasions a rule fires: those requests and frames that it matches and has something to do to, counted from 1
/// over all streams while its time is on. Unless told otherwise, at each.
///
/// As JSON it is the `when` of a [`FaultSpec`](super::FaultSpec). Times are of the server's clock, in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[non_exhaustive]
pub struct When {
    /// The first occasion to fire at.
    #[serde(skip_serializing_if = "is_first")]
    pub nth: u64,
    /// How often it fires at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub times: Option<u64>,
    /// How long after it was installed its time begins.
    #[serde(skip_serializing_if = "is_zero")]
    pub after_ms: u64,
    /// How long its time lasts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub for_ms: Option<u64>,
    /// How likely it fires at an occasion that it may fire at, from 0 to 1.
    #[serde(skip_serializing_if = "is_certain")]
    pub probability: f64,
    /// Where its dice, and all else that it does at random, come from.
    #[serde(skip_serializing_if = "is_zero")]
    pub seed: u64,
}

/// Counts occasions, and says at which to fire.
#[derive(Debug, Clone)]
pub(super) struct Trigger {
    when: When,
    /// How many occasions are let pass first.
    skip: u64,
    /// How often it fires after that.
    left: Option<u64>,
    dice: ChaCha8Rng,
    installed: Option<Instant>,
}

// === impl When ===

impl When {
    /// At each occasion.
    pub fn always() -> Self {
        Self::default()
    }

    /// From the `n`th occasion on, counted from 1.
    #[must_use]
    pub fn nth(mut self, n: u64) -> Self {
        self.nth = n;
        self
    }

    /// At so many occasions at most.
    #[must_use]
    pub fn times(mut self, times: u64) -> Self {
        self.times = Some(times);
        self
    }

    /// From so long after it was installed. Parts of milliseconds do not count.
    #[must_use]
    pub fn after(mut self, after: Duration) -> Self {
        self.after_ms = milliseconds(after);
        self
    }

    /// For so long. Parts of milliseconds do not count.
    #[must_use]
    pub fn lasting(mut self, lasting: Duration) -> Self {
        self.for_ms = Some(milliseconds(lasting));
        self
    }

    /// As often as dice say that follow from `seed`: at no occasion for 0, at each for 1.
    #[must_use]
    pub fn with_probability(mut self, probability: f64, seed: u64) -> Self {
        self.probability = probability;
        self.seed = seed;
        self
    }

    /// With what is random following from `seed`.
    #[must_use]
    pub fn with_seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// What of it makes no sense, by field, with why.
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

impl Default for When {
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

// === impl Trigger ===

impl Trigger {
    pub(super) fn new(when: When) -> Self {
        Self {
            when,
            skip: when.nth.saturating_sub(1),
            left: when.times,
            dice: ChaCha8Rng::seed_from_u64(when.seed),
            installed: None,
        }
    }

    pub(super) fn when(&self) -> When {
        self.when
    }

    /// Times count from `now` on.
    pub(super) fn install(&mut self, now: Instant) {
        self.installed = Some(now);
    }

    /// Counts an occasion. Whether it is one to fire at.
    pub(super) fn fires(&mut self) -> bool {
        if !self.is_time() {
            return false;
        }
        if self.skip > 0 {
            self.skip -= 1;
            return false;
        }
        if self.left == Some(0) || !self.dice_say_so() {
            return false;
        }
        if let Some(left) = &mut self.left {
            *left -= 1;
        }
        true
    }

    /// Whether it fires as long as its time is on, and that is so.
    pub(super) fn goes_on(&self) -> bool {
        self.left.is_none() && self.is_time()
    }

    fn is_time(&self) -> bool {
        let is_limited = self.when.after_ms > 0 || self.when.for_ms.is_some();
        let Some(installed) = self.installed.filter(|_| is_limited) else {
            return true;
        };
        let passed = milliseconds(installed.elapsed());
        let end = self
            .when
            .for_ms
            .map(|lasting| self.when.after_ms.saturating_add(lasting));
        passed >= self.when.after_ms && end.is_none_or(|end| passed < end)
    }

    fn dice_say_so(&mut self) -> bool {
        // What is certain rolls no dice, so that they fall the same whether or not it once was.
        self.when.probability >= 1.0 || self.dice.random_bool(self.when.probability.max(0.0))
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
