//! The log on a disk in memory that fails and crashes.

mod disk;
mod logs;
mod model;
