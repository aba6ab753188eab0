//! The plans that reached a feature first, or a rare one most cheaply.

use std::collections::{BTreeMap, BTreeSet};

use rand::{RngExt, rngs::ChaCha8Rng};

use super::feature::{Feature, ReachedFeatures};
use crate::sim::Plan;

/// The most plans of a corpus.
pub const CORPUS_SIZE_MAX: usize = 512;
/// The number of runs up to which a feature is rare.
const RARE_MAX: u64 = 16;
/// The weight of a feature that one run has reached. Others weigh as much less as there are more runs.
const WEIGHT: u64 = 1 << 20;

/// A bounded set of plans, each of which is the example of some features.
#[derive(Debug, Default)]
pub(super) struct Corpus {
    entries: BTreeMap<u64, Entry>,
    features: BTreeMap<Feature, Record>,
    /// The number of the next entry.
    next: u64,
}

#[derive(Debug)]
struct Entry {
    plan: Plan,
    cost: u64,
    /// The features of which it is the example.
    shows: BTreeSet<Feature>,
    /// The number of times that it was chosen.
    choice_count: u64,
}

/// The record of a feature.
#[derive(Debug, Default)]
struct Record {
    /// The number of runs that reached it.
    run_count: u64,
    /// The entry that is its example, if it is still there.
    example: Option<u64>,
}

// === impl Corpus ===

impl Corpus {
    /// Adds the run of a plan. The plan is kept if it is the first to reach a feature, or reaches a rare one at a lower cost than
    /// its example.
    pub(super) fn add(&mut self, plan: &Plan, reached: ReachedFeatures) {
        let number = self.next;
        let mut shows = BTreeSet::new();
        for feature in reached.features {
            let record = self.features.entry(feature.clone()).or_default();
            record.run_count += 1;
            let example = record.example.and_then(|it| self.entries.get_mut(&it));
            let is_better = match &example {
                None => record.run_count <= RARE_MAX,
                Some(example) => {
                    // By an eighth at least, so that examples do not replace each other for little.
                    record.run_count <= RARE_MAX && reached.cost < example.cost - example.cost / 8
                }
            };
            if is_better {
                if let Some(example) = example {
                    example.shows.remove(&feature);
                }
                record.example = Some(number);
                shows.insert(feature);
            }
        }
        if shows.is_empty() {
            return;
        }
        self.next += 1;
        let entry = Entry {
            plan: plan.clone(),
            cost: reached.cost,
            shows,
            choice_count: 0,
        };
        self.entries.insert(number, entry);
        self.entries.retain(|_, entry| !entry.shows.is_empty());
        if self.entries.len() > CORPUS_SIZE_MAX {
            self.evict();
        }
    }

    /// Chooses a plan: one that shows many rare features more likely, and less so the more often it was chosen.
    pub(super) fn choose(&mut self, rng: &mut ChaCha8Rng) -> Option<&Plan> {
        let mut weights = Vec::with_capacity(self.entries.len());
        let mut sum = 0;
        for (number, entry) in &self.entries {
            sum += (self.weight(entry) / (1 + entry.choice_count / 4)).max(1);
            weights.push((*number, sum));
        }
        let chosen = rng.random_range(0..sum.max(1));
        let place = weights.partition_point(|(_, until)| *until <= chosen);
        let (number, _) = weights.get(place)?;
        let entry = self.entries.get_mut(number)?;
        entry.choice_count += 1;
        Some(&entry.plan)
    }

    /// Returns all plans, the oldest first.
    pub(super) fn plans(&self) -> impl Iterator<Item = &Plan> {
        self.entries.values().map(|entry| &entry.plan)
    }

    /// Returns all plans, the oldest first, each with its cost and the features of which it is the example.
    pub(super) fn examples(&self) -> impl Iterator<Item = (&Plan, u64, &BTreeSet<Feature>)> {
        let entries = self.entries.values();
        entries.map(|entry| (&entry.plan, entry.cost, &entry.shows))
    }

    /// Returns the features that were reached, each with the number of runs.
    pub(super) fn features(&self) -> impl Iterator<Item = (&Feature, u64)> {
        let features = self.features.iter();
        features.map(|(feature, record)| (feature, record.run_count))
    }

    fn weight(&self, entry: &Entry) -> u64 {
        let records = entry.shows.iter().filter_map(|it| self.features.get(it));
        records.map(|record| weight(record.run_count)).sum()
    }

    /// Removes the entry of the least weight, the oldest of several.
    fn evict(&mut self) {
        let weighed = self.entries.iter();
        let weighed = weighed.map(|(number, entry)| (self.weight(entry), *number));
        if let Some((_, number)) = weighed.min()
            && let Some(entry) = self.entries.remove(&number)
        {
            for feature in &entry.shows {
                if let Some(record) = self.features.get_mut(feature) {
                    record.example = None;
                }
            }
        }
    }
}

/// Returns the weight of a feature that so many runs have reached.
pub fn weight(run_count: u64) -> u64 {
    WEIGHT / run_count.max(1)
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::*;
    use crate::seed::Seed;

    fn plan(number: u64) -> Plan {
        Plan::empty(Seed::new(number))
    }

    fn reached(names: &[&'static str], cost: u64) -> ReachedFeatures {
        let features = names.iter().map(|name| Feature::Occasion(name, 0));
        ReachedFeatures {
            features: features.collect(),
            cost,
        }
    }

    fn seeds(corpus: &Corpus) -> Vec<u64> {
        corpus.plans().map(|plan| plan.seed.get()).collect()
    }

    #[test]
    fn the_first_to_reach_a_feature_is_kept_until_a_cheaper_one_comes() {
        let mut corpus = Corpus::default();
        corpus.add(&plan(1), reached(&["a"], 100));
        corpus.add(&plan(2), reached(&["a"], 95));
        assert_eq!(seeds(&corpus), [1]);
        corpus.add(&plan(3), reached(&["a", "b"], 150));
        assert_eq!(seeds(&corpus), [1, 3]);
        corpus.add(&plan(4), reached(&["a"], 50));
        assert_eq!(seeds(&corpus), [3, 4]);
        let counts: Vec<u64> = corpus.features().map(|(_, count)| count).collect();
        assert_eq!(counts, [4, 1]);
    }

    #[test]
    fn common_features_keep_their_first_plan() {
        let mut corpus = Corpus::default();
        for number in 0..=RARE_MAX {
            corpus.add(&plan(number), reached(&["a"], 100));
        }
        corpus.add(&plan(99), reached(&["a"], 1));
        assert_eq!(seeds(&corpus), [0]);
    }

    #[test]
    fn rare_features_are_chosen_more_often_and_the_number_of_plans_is_bounded() {
        let mut corpus = Corpus::default();
        corpus.add(&plan(1), reached(&["a"], 100));
        for _ in 0..100 {
            corpus.add(&plan(2), reached(&["a"], 100));
        }
        corpus.add(&plan(3), reached(&["b"], 100));
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let mut chosen = [0; 4];
        for _ in 0..20 {
            let seed = corpus.choose(&mut rng).unwrap().seed.get();
            chosen[usize::try_from(seed).unwrap()] += 1;
        }
        assert!(chosen[3] > chosen[1], "{chosen:?}");
        for number in 0..1_000 {
            let feature = Feature::Together(number.to_string(), String::new());
            let reached = ReachedFeatures {
                features: [feature].into(),
                cost: 1,
            };
            corpus.add(&plan(number), reached);
        }
        assert_eq!(corpus.plans().count(), CORPUS_SIZE_MAX);
        assert_eq!(Corpus::default().choose(&mut rng), None);
    }
}
