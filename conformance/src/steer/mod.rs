//! A search for plans that reach rare features, guided by what earlier runs reached.
//!
//! A [`Search`] proposes plans in rounds: some freshly drawn, the others mutated from its corpus, the plans that reached
//! a feature first or most cheaply. A feature is a transition, an occasion to break a promise, two transitions of one
//! part in a row, or faults at the same time. The search is pure: the same seed and the same results give the same
//! proposals, on any number of threads.

mod feature;
mod corpus;
mod mutation;

use std::collections::BTreeSet;

use rand::{RngExt, rngs::ChaCha8Rng};

use self::{corpus::Corpus, mutation::Mutation};
pub use self::{
    corpus::{CORPUS_SIZE_MAX, weight},
    feature::{Feature, ReachedFeatures},
};
use crate::{partition::Partition, plan::Profile, seed::Seed, sim::Plan};

/// The number of plans of a round. Results are learned from at its end.
pub const ROUND_SIZE: usize = 32;
/// The share of freshly drawn plans, in percent, if there is a corpus.
pub const FRESH_PERCENT: u32 = 25;
/// The number of mutations that are tried for a valid plan.
const ATTEMPT_COUNT_MAX: usize = 20;

/// A search guided by coverage.
#[derive(Debug)]
pub struct Search {
    profile: Profile,
    rng: ChaCha8Rng,
    /// The seed of the next fresh plan.
    next_seed: u64,
    /// The distance to the seed after it.
    stride: u64,
    fresh_percent: u32,
    /// Plans of earlier searches that are still to be run.
    earlier: Vec<Plan>,
    corpus: Corpus,
}

/// A plan to run.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Proposal {
    /// The plan.
    pub plan: Plan,
    /// Its origin.
    pub origin: Origin,
}

/// The origin of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Origin {
    /// It is drawn from its seed.
    Drawn,
    /// It is kept from an earlier search.
    Kept,
    /// It is a mutation of a plan of the corpus.
    Mutated,
}

// === impl Search ===

impl Search {
    /// Creates a search that draws its fresh plans from `seed` and the numbers after it.
    pub fn new(seed: Seed, profile: Profile) -> Self {
        Self {
            profile,
            rng: seed.stream("steering"),
            next_seed: seed.get(),
            stride: 1,
            fresh_percent: FRESH_PERCENT,
            earlier: Vec::new(),
            corpus: Corpus::default(),
        }
    }

    /// Sets the share of freshly drawn plans in percent. With 100 nothing is steered.
    #[must_use]
    pub fn with_fresh_percent(mut self, percent: u32) -> Self {
        self.fresh_percent = percent;
        self
    }

    /// Draws the fresh plans of one partition, and mutates plans by a stream of its own.
    #[must_use]
    pub fn with_partition(mut self, partition: Partition) -> Self {
        let first = self.next_seed.wrapping_add(partition.index().into());
        self.rng = Seed::new(first).stream("steering");
        self.next_seed = first;
        self.stride = partition.count().into();
        self
    }

    /// Begins with the plans of an earlier search, in this order.
    #[must_use]
    pub fn with_earlier(mut self, mut plans: Vec<Plan>) -> Self {
        plans.reverse();
        self.earlier = plans;
        self
    }

    /// Proposes the `count` plans of a round.
    pub fn propose(&mut self, count: usize) -> Vec<Proposal> {
        (0..count).map(|_| self.next()).collect()
    }

    /// Learns from the run of a proposed plan that went well. A round's runs have to be learned in the order of its
    /// proposals.
    pub fn learn(&mut self, plan: &Plan, reached: ReachedFeatures) {
        self.corpus.add(plan, reached);
    }

    /// Returns true if plans of an earlier search are still to be run.
    pub fn has_earlier(&self) -> bool {
        !self.earlier.is_empty()
    }

    /// Returns the plans of the corpus.
    pub fn corpus(&self) -> impl Iterator<Item = &Plan> {
        self.corpus.plans()
    }

    /// Returns the plans of the corpus, each with the number of observations of its run and the features of which it is the example.
    pub fn examples(&self) -> impl Iterator<Item = (&Plan, u64, &BTreeSet<Feature>)> {
        self.corpus.examples()
    }

    /// Returns the number of features that were reached, and how often each was.
    pub fn features(&self) -> impl Iterator<Item = (&Feature, u64)> {
        self.corpus.features()
    }

    fn next(&mut self) -> Proposal {
        if let Some(plan) = self.earlier.pop() {
            let origin = Origin::Kept;
            return Proposal { plan, origin };
        }
        let is_fresh = self.rng.random_range(0..100) < self.fresh_percent;
        if !is_fresh && let Some(plan) = self.mutated() {
            let origin = Origin::Mutated;
            return Proposal { plan, origin };
        }
        let seed = Seed::new(self.next_seed);
        self.next_seed = self.next_seed.wrapping_add(self.stride);
        Proposal {
            plan: Plan::draw_sized(seed, self.profile),
            origin: Origin::Drawn,
        }
    }

    /// Mutates a plan of the corpus, if there is one. The other plan, whose parts it gets, is from the corpus as well, or drawn
    /// for that.
    fn mutated(&mut self) -> Option<Plan> {
        let chosen = self.corpus.choose(&mut self.rng)?.clone();
        for _ in 0..ATTEMPT_COUNT_MAX {
            let other = if self.rng.random_bool(0.5) {
                self.corpus.choose(&mut self.rng)?.clone()
            } else {
                Plan::draw_sized(Seed::new(self.rng.random()), self.profile)
            };
            let mutated = Mutation::new(&mut self.rng, &other).of(&chosen);
            let mutated = mutated.and_then(|plan| plan.made_valid(self.profile));
            if let Some(plan) = mutated
                && plan != chosen
                && plan.is_valid(self.profile)
            {
                return Some(plan);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests;
