//! The failure of a campaign.

use std::{io, path::PathBuf};

use thiserror::Error;

use super::execute::RunError;

/// The failure of a campaign. A retry helps only if its cause is gone.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum CampaignError {
    /// A run cannot begin.
    #[error(transparent)]
    Run(#[from] RunError),
    /// A step or a rule is wrong.
    #[error("{0}")]
    Workload(String),
    /// There is no field that can be changed.
    #[error(
        "nothing can be changed: the workload applies no object of a definition whose `spec` has a schema"
    )]
    NoChange,
    /// The subject cannot be made to believe that it is in a cluster.
    #[error("{0}")]
    InCluster(String),
    /// A folder cannot be made.
    #[error("cannot make {}", path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
        /// The failure.
        #[source]
        source: io::Error,
    },
    /// The server refuses a step of the user, as a real one does.
    #[error(
        "{place}: the server refuses it without any perturbation: {reason}\ncorrect the step; what the subject has to make \
         first, a step before it can `wait` for"
    )]
    Refused {
        /// The step, and its file if it is from one.
        place: String,
        /// The answer of the server.
        reason: String,
    },
    /// The subject did not get through the steps without perturbation.
    #[error("without any perturbation the subject does not get through the workload: {reason}")]
    NoReference {
        /// The reason.
        reason: String,
        /// The file with its output.
        output: PathBuf,
        /// The events of the run.
        timeline: String,
    },
}
