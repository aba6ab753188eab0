//! Writes: admission, preparation, validation and storage of objects.
//!
//! A verb creates a [`Draft`], which describes the write; [`run()`] does everything else. Admission is a list of
//! plugins (`chain`). Each reads the store through the [`Attempt`], the transaction of the write.

mod target;
pub mod data_text;
mod object_size;
mod reading;
mod author;
mod options;
mod run;
mod create;
mod update;
mod attempt;
mod conversion;
mod manager_versions;
mod question;
mod backend;
mod chain;
mod plugins;
mod steps;
mod allocation;
mod admin_access;
mod escalation;
mod recovery;
mod write_result;
mod log_follower;
pub mod definitions;
pub mod admission;
pub mod deletion;
pub mod webhook;
mod policies;

pub use self::plugins::{AdmissionPlugins, AdmissionPluginsError};
pub use self::steps::{
    admit_created, complete_by_ranges, complete_priority, complete_protection,
    default_storage_class::complete as complete_class,
    service_account::complete as complete_account,
};
pub use self::{allocation::allocate_created, backend::ClaimsSigner};
pub use self::{
    attempt::{Attempt, AttemptError},
    author::{Author, manager},
    backend::{Backend, log_failure},
    chain::EnabledSteps,
    conversion::Converter,
    log_follower::BackendFollower,
    options::{DeleteOptions, FieldValidation, Preconditions, Propagation, WriteOptions},
    reading::ReceivedObject,
    recovery::{restore, roll_back},
    run::{Draft, Outcome, Source, Write, admit, run},
    steps::{
        complete as complete_new, namespace_lifecycle::key as namespace_key,
        resource_quota::TransactionView,
    },
    target::Target,
    update::{ExistingObject, Part},
    write_result::WriteResult,
};
