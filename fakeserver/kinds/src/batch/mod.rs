//! The group `batch`: jobs and cron jobs.

pub mod cron_job;
pub mod job;
