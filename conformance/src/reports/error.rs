//! Files that are no reports, and reports that do not belong together.

use support::partition::Partition;
use thiserror::Error;

/// The reason why a file is no report. A retry does not help.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ReadError {
    /// It has another form.
    #[error("it is no report of conformance: {0}")]
    Form(serde_json::Error),
    /// It does not say of which campaign it is.
    #[error(
        "it has no field `campaign`: a report of `sim`, `bugs` or `score` by --json is wanted, or report.json of `survive`"
    )]
    NoStamp,
    /// It is of a command that has no partitions.
    #[error("it is a report of `{0}`; merged are those of `sim`, `bugs`, `score` and `survive`")]
    Command(String),
}

/// The reason why two reports are not of the same campaign. Names are those of files.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum MergeError {
    /// There is no report.
    #[error("there is no report to merge")]
    Nothing,
    /// They are of two commands.
    #[error("{other} is a report of `{others}`, {first} of `{firsts}`")]
    Command {
        /// The first file.
        first: String,
        /// Its command.
        firsts: String,
        /// The other file.
        other: String,
        /// Its command.
        others: String,
    },
    /// They are by two versions of the program.
    #[error(
        "{other} was written by version {others}, {first} by {firsts}: run both with one version"
    )]
    Version {
        /// The first file.
        first: String,
        /// Its version.
        firsts: String,
        /// The other file.
        other: String,
        /// Its version.
        others: String,
    },
    /// There are different numbers of partitions.
    #[error("{other} is partition {others}, {first} is {firsts}: both are to be of one N")]
    Count {
        /// The first file.
        first: String,
        /// Its partition.
        firsts: Partition,
        /// The other file.
        other: String,
        /// Its partition.
        others: Partition,
    },
    /// An option differs.
    #[error("{option} is {others} in {other}, and {firsts} in {first}")]
    Option {
        /// The option.
        option: String,
        /// The first file.
        first: String,
        /// Its value.
        firsts: String,
        /// The other file.
        other: String,
        /// Its value.
        others: String,
    },
    /// A partition is there twice.
    #[error("{other} is partition {partition} once more: {first} is it, too")]
    Repeated {
        /// The partition.
        partition: Partition,
        /// The first file.
        first: String,
        /// The other file.
        other: String,
    },
    /// It names something that this version does not know.
    #[error("{file}: {reason}")]
    Unknown {
        /// The file.
        file: String,
        /// The reason.
        reason: String,
    },
}
