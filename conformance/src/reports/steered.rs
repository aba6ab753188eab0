//! The figures of a steered search, and its corpus.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::{
    sim::Plan,
    steer::{CORPUS_SIZE_MAX, Feature, Search, weight},
};

/// The figures of a steered search.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SteerFigures {
    /// The number of plans that were drawn freshly.
    pub drawn_count: u64,
    /// The number of mutated plans.
    pub mutated_count: u64,
    /// The number of plans of earlier searches.
    pub kept_count: u64,
    /// The number of features that were reached, by kind.
    pub features: BTreeMap<String, u64>,
    /// The number of plans in the corpus.
    pub corpus_size: usize,
    /// The number of the first run that failed, counted from 1.
    pub first_failure: Option<u64>,
    /// The corpus.
    pub corpus: KeptCorpus,
    /// The files of the corpus that could not be read or written.
    #[serde(skip)]
    pub problems: Vec<String>,
}

/// The plans that reached a feature first, or a rare one at the lowest cost.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct KeptCorpus {
    /// The number of runs that reached each feature, by its kind and its text.
    pub features: BTreeMap<String, u64>,
    /// The plans, the oldest first.
    pub plans: Vec<KeptPlan>,
}

/// A plan of a corpus.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct KeptPlan {
    /// The plan.
    pub plan: Plan,
    /// The number of observations of its run.
    pub cost: u64,
    /// The features of which it is the example.
    pub shows: BTreeSet<String>,
}

// === impl SteerFigures ===

impl SteerFigures {
    /// Takes the corpus of a search that has ended.
    pub(crate) fn set_corpus(&mut self, search: &Search) {
        let features = search.features();
        let plans = search.examples().map(|(plan, cost, shows)| KeptPlan {
            plan: plan.clone(),
            cost,
            shows: shows.iter().map(key).collect(),
        });
        self.corpus = KeptCorpus {
            features: features
                .map(|(feature, count)| (key(feature), count))
                .collect(),
            plans: plans.collect(),
        };
        self.count();
    }

    /// Merges the figures of partitions; `None` if there are none.
    pub(super) fn merged(parts: Vec<Self>) -> Option<Self> {
        let mut parts = parts.into_iter();
        let mut merged = parts.next()?;
        let mut corpora = vec![std::mem::take(&mut merged.corpus)];
        for other in parts {
            merged.drawn_count += other.drawn_count;
            merged.mutated_count += other.mutated_count;
            merged.kept_count += other.kept_count;
            let failures = [merged.first_failure, other.first_failure];
            merged.first_failure = failures.into_iter().flatten().min();
            corpora.push(other.corpus);
        }
        merged.corpus = KeptCorpus::merged(corpora);
        merged.count();
        Some(merged)
    }

    /// Counts the features and the plans of the corpus.
    fn count(&mut self) {
        self.corpus_size = self.corpus.plans.len();
        self.features.clear();
        for feature in self.corpus.features.keys() {
            let kind = feature.split_once(": ").map_or("", |(kind, _)| kind);
            *self.features.entry(kind.to_owned()).or_default() += 1;
        }
    }
}

// === impl KeptCorpus ===

impl KeptCorpus {
    /// Merges corpora: of each feature the example of the lowest cost stays, of equal ones the first. It has no more plans than
    /// the corpus of one search; those with the rarest features stay.
    pub fn merged(corpora: Vec<Self>) -> Self {
        let mut features: BTreeMap<String, u64> = BTreeMap::new();
        let mut plans = Vec::new();
        for corpus in corpora {
            for (feature, count) in corpus.features {
                *features.entry(feature).or_default() += count;
            }
            plans.extend(corpus.plans);
        }
        let mut examples: BTreeMap<&str, usize> = BTreeMap::new();
        for (place, plan) in plans.iter().enumerate() {
            for feature in &plan.shows {
                let example = examples.entry(feature).or_insert(place);
                if plan.cost < plans[*example].cost {
                    *example = place;
                }
            }
        }
        let mut shown = vec![BTreeSet::new(); plans.len()];
        for (feature, place) in examples {
            shown[place].insert(feature.to_owned());
        }
        for (plan, shows) in plans.iter_mut().zip(shown) {
            plan.shows = shows;
        }
        plans.retain(|plan| !plan.shows.is_empty());
        Self { features, plans }.truncated(CORPUS_SIZE_MAX)
    }

    /// Keeps the plans of the largest weights, in their order.
    fn truncated(mut self, size: usize) -> Self {
        if self.plans.len() <= size {
            return self;
        }
        let runs = |feature: &String| self.features.get(feature).copied().unwrap_or(1);
        let weights = self.plans.iter().map(|plan| -> u64 {
            let weights = plan.shows.iter().map(|feature| weight(runs(feature)));
            weights.sum()
        });
        let mut weighed: Vec<(u64, usize)> = weights.zip(0..).collect();
        weighed.sort_unstable_by_key(|(weight, place)| (std::cmp::Reverse(*weight), *place));
        let kept: BTreeSet<usize> = weighed.iter().take(size).map(|(_, place)| *place).collect();
        let mut place = 0..;
        self.plans
            .retain(|_| place.next().is_some_and(|it| kept.contains(&it)));
        self
    }
}

/// Returns the name of a feature in files, which begins with its kind.
fn key(feature: &Feature) -> String {
    format!("{}: {feature}", feature.kind())
}
