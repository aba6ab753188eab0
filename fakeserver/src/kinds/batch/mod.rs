//! The group `batch`: jobs and cron jobs.

pub(crate) mod cron_job;
pub(crate) mod job;
