//! The option for one of the partitions of a campaign.

use std::env;

use clap::Args;

use super::say_error;
use crate::partition::{COUNT_VARIABLE, INDEX_VARIABLE, Partition};

/// The partition of a campaign that several machines or processes share.
#[derive(Clone, Copy, Debug, Default, Args)]
pub struct PartitionArgs {
    /// Run partition K of N only, K from 0 to N-1; `conformance merge` makes one report of those of all N. In the pods of an
    /// indexed Job the variable `CONFORMANCE_PARTITIONS` is enough: it is N, and `JOB_COMPLETION_INDEX` is K.
    #[arg(long, value_name = "K/N")]
    partition: Option<Partition>,
}

// === impl PartitionArgs ===

impl PartitionArgs {
    /// Returns the partition that is chosen by the option, or else by the environment; a whole campaign by default.
    ///
    /// # Errors
    ///
    /// The environment names no partition.
    pub fn partition(self) -> Result<Partition, String> {
        if let Some(partition) = self.partition {
            return Ok(partition);
        }
        let read = |variable: &str| {
            let value = env::var_os(variable)?;
            Some(value.to_string_lossy().into_owned())
        };
        let of_job = Partition::of_job(read).map_err(|error| error.to_string())?;
        if of_job.is_none() && read(INDEX_VARIABLE).is_some() {
            say_error(&format!(
                "WARNING: this is a pod of an indexed Job, and runs everything, as the others do: set {COUNT_VARIABLE} to the Job's \
                 `completions` to share it"
            ));
        }
        Ok(of_job.unwrap_or_default())
    }
}
