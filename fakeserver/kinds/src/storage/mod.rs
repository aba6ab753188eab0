//! The group `storage.k8s.io`.

mod class;
pub mod csi_driver;
pub mod csi_node;
pub mod csi_storage_capacity;
pub mod storage_class;
pub mod volume_attachment;
pub mod volume_attributes_class;
#[cfg(test)]
mod tests;
