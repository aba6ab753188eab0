//! One of the partitions of a campaign that several machines or processes share, and the items that are its own.

mod stamp;
#[cfg(test)]
mod tests;

use std::{fmt, iter::Skip, iter::StepBy, str::FromStr};

use serde::{Deserialize, Serialize};
use thiserror::Error;

pub use self::stamp::Stamp;
use crate::seed::fnv1a;

/// The variable with the number of partitions of an indexed Job.
pub const COUNT_VARIABLE: &str = "CONFORMANCE_PARTITIONS";
/// The variable by which Kubernetes tells a pod of an indexed Job its index, from 0.
pub const INDEX_VARIABLE: &str = "JOB_COMPLETION_INDEX";
/// The largest number of partitions: that of the completions of an indexed Job.
pub const COUNT_MAX: u32 = 100_000;

/// One of N partitions, numbered from 0: `2/4` is the third of four.
///
/// Every item of a campaign belongs to exactly one of N partitions, and to the same one for the same N.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Partition {
    count: u32,
    index: u32,
}

/// The reason why a text or the environment names no partition. A retry does not help.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum PartitionError {
    /// The text is not two numbers with a slash between them.
    #[error("`{0}` is no partition: write K/N, two numbers, as in 0/4 for the first of four")]
    Form(String),
    /// There are no partitions.
    #[error("{0}/0 is no partition: N, the number of partitions, is at least 1")]
    NoPartitions(u32),
    /// The number is not one of the partitions.
    #[error("{index}/{count} is no partition: K is one of 0 to {}", count - 1)]
    OutOfRange {
        /// The number.
        index: u32,
        /// The number of partitions.
        count: u32,
    },
    /// There are more partitions than the pods of a Job.
    #[error("{0} partitions are too many: N is at most {COUNT_MAX}")]
    TooMany(u32),
    /// The number of partitions is in the environment, and the index is not.
    #[error(
        "{COUNT_VARIABLE} is set, but {INDEX_VARIABLE} is not: Kubernetes sets it in the pods of a Job with `completionMode: Indexed`; elsewhere use --partition K/N"
    )]
    NoIndex,
    /// A variable is no number.
    #[error("{variable} is `{value}`: it has to be a number")]
    Variable {
        /// The variable.
        variable: &'static str,
        /// Its value.
        value: String,
    },
}

// === impl Partition ===

impl Partition {
    /// The only partition of one: a whole campaign.
    pub const WHOLE: Self = Self { count: 1, index: 0 };

    /// Creates partition `index` of `count`.
    ///
    /// # Errors
    ///
    /// There is no such partition, or there are too many.
    pub fn new(index: u32, count: u32) -> Result<Self, PartitionError> {
        match count {
            0 => Err(PartitionError::NoPartitions(index)),
            _ if count > COUNT_MAX => Err(PartitionError::TooMany(count)),
            _ if index >= count => Err(PartitionError::OutOfRange { index, count }),
            _ => Ok(Self { count, index }),
        }
    }

    /// Reads the partition of a pod of an indexed Job from variables that `read` returns; `None` if they name none.
    ///
    /// # Errors
    ///
    /// The number of partitions is there without the index, or one of them is wrong.
    pub fn of_job(read: impl Fn(&str) -> Option<String>) -> Result<Option<Self>, PartitionError> {
        let number = |variable: &'static str, value: String| {
            let number = value.trim().parse();
            number.map_err(|_| PartitionError::Variable { variable, value })
        };
        let Some(count) = read(COUNT_VARIABLE) else {
            return Ok(None);
        };
        let index = read(INDEX_VARIABLE).ok_or(PartitionError::NoIndex)?;
        let count = number(COUNT_VARIABLE, count)?;
        Self::new(number(INDEX_VARIABLE, index)?, count).map(Some)
    }

    /// Returns the number of the partition, from 0.
    pub fn index(self) -> u32 {
        self.index
    }

    /// Returns the number of partitions.
    pub fn count(self) -> u32 {
        self.count
    }

    /// Returns true if there is only one partition.
    pub fn is_whole(self) -> bool {
        self.count == 1
    }

    /// Returns the partition's own of `items`, every Nth, in their order. Partitions differ in size by one item at most.
    pub fn of<I: IntoIterator>(self, items: I) -> StepBy<Skip<I::IntoIter>> {
        let items = items.into_iter().skip(self.index as usize);
        items.step_by(self.count as usize)
    }

    /// Returns the number of the partition's own of `total` items, as [`of`](Self::of) chooses them.
    pub fn size(self, total: u64) -> u64 {
        let behind = total.saturating_sub(self.index.into());
        behind.div_ceil(self.count.into())
    }

    /// Returns whether an item with this text is the partition's own.
    ///
    /// The text alone decides, so that partitions that know different items never have one twice. Their sizes are equal on
    /// average only.
    pub fn has(self, text: &str) -> bool {
        let digest = mixed(fnv1a(text.as_bytes())) >> 32;
        (digest * u64::from(self.count)) >> 32 == u64::from(self.index)
    }
}

/// Lets each bit of a hash depend on all of its bits, as `MurmurHash3` ends. The last letters of a text change few bits of FNV-1a.
fn mixed(hash: u64) -> u64 {
    let hash = (hash ^ (hash >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    let hash = (hash ^ (hash >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    hash ^ (hash >> 33)
}

impl Default for Partition {
    fn default() -> Self {
        Self::WHOLE
    }
}

impl fmt::Display for Partition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.index, self.count)
    }
}

impl FromStr for Partition {
    type Err = PartitionError;

    fn from_str(text: &str) -> Result<Self, PartitionError> {
        let form = || PartitionError::Form(text.to_owned());
        let (index, count) = text.split_once('/').ok_or_else(form)?;
        // `parse` takes a sign.
        let number = |digits: &str| {
            let is_number = digits.bytes().all(|it| it.is_ascii_digit());
            let number = is_number.then(|| digits.parse::<u32>().ok());
            number.flatten().ok_or_else(form)
        };
        Self::new(number(index)?, number(count)?)
    }
}

impl TryFrom<String> for Partition {
    type Error = PartitionError;

    fn try_from(text: String) -> Result<Self, PartitionError> {
        text.parse()
    }
}

impl From<Partition> for String {
    fn from(partition: Partition) -> Self {
        partition.to_string()
    }
}
