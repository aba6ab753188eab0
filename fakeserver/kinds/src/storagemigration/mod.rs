//! The group `storagemigration.k8s.io`.

pub mod storage_version_migration;
