//! The sizes of plans.

use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};

/// The size of a drawn plan. The same seed gives another plan in each profile.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Serialize,
    Deserialize,
    clap::ValueEnum,
)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Profile {
    /// Up to half a second, for runs in real time: two or three informers, up to 60 operations on up to 40 objects and in
    /// half of the plans on a list of many more, up to 2 faults.
    Brief,
    /// Two informers, 16 operations on 5 objects, 3 faults, and seldom an election: many seeds in little time.
    Small,
    /// Three to five informers, up to 90 operations on up to 40 objects, up to 8 faults.
    #[default]
    Medium,
    /// Six to twelve informers, up to 600 operations on up to 120 objects, up to 20 faults.
    Large,
}

/// The numbers of a plan's parts.
#[derive(Clone, Debug)]
pub(crate) struct Size {
    pub(crate) informers: RangeInclusive<usize>,
    pub(crate) handlers_max: usize,
    pub(crate) operations: RangeInclusive<usize>,
    /// Objects of all resources together.
    pub(crate) objects: RangeInclusive<usize>,
    pub(crate) faults: RangeInclusive<usize>,
}

// === impl Profile ===

impl Profile {
    /// All profiles, the smallest first.
    pub const ALL: [Self; 4] = [Self::Brief, Self::Small, Self::Medium, Self::Large];

    /// Returns the name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Brief => "brief",
            Self::Small => "small",
            Self::Medium => "medium",
            Self::Large => "large",
        }
    }

    pub(crate) fn size(self) -> Size {
        match self {
            Self::Brief => Size {
                informers: 2..=3,
                handlers_max: 4,
                operations: 20..=60,
                objects: 2..=40,
                faults: 0..=2,
            },
            Self::Small => Size {
                informers: 2..=2,
                handlers_max: 2,
                operations: 16..=16,
                objects: 5..=5,
                faults: 3..=3,
            },
            Self::Medium => Size {
                informers: 3..=5,
                handlers_max: 3,
                operations: 5..=90,
                objects: 2..=40,
                faults: 1..=8,
            },
            Self::Large => Size {
                informers: 6..=12,
                handlers_max: 4,
                operations: 100..=600,
                objects: 20..=120,
                faults: 5..=20,
            },
        }
    }
}
