//! The stamp of a report: the campaign that it is a part of, by which `conformance merge` puts parts together.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Partition;

/// The campaign that a report is of, the partition of it, and the options on which its runs depend.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Stamp {
    /// The command, such as `sim`.
    pub command: String,
    /// The version of the program.
    pub version: String,
    /// The partition.
    pub partition: Partition,
    /// The options that are the same in all partitions, and what follows from them.
    pub options: BTreeMap<String, String>,
    /// The reason why not all of the partition was run; `None` if it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<String>,
}

// === impl Stamp ===

impl Stamp {
    /// The key of the stamp in a report.
    pub const KEY: &str = "campaign";

    /// Creates the stamp of a partition that was run to its end.
    pub fn new(command: &str, version: &str, partition: Partition) -> Self {
        Self {
            command: command.to_owned(),
            version: version.to_owned(),
            partition,
            options: BTreeMap::new(),
            ended: None,
        }
    }

    /// Adds an option on which runs depend.
    #[must_use]
    pub fn with(mut self, option: &str, value: &dyn ToString) -> Self {
        self.options.insert(option.to_owned(), value.to_string());
        self
    }

    /// Sets the reason why not all of the partition was run.
    #[must_use]
    pub fn with_ended(mut self, ended: Option<String>) -> Self {
        self.ended = ended;
        self
    }
}
