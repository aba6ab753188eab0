//! The group `events.k8s.io`.

pub(crate) mod event;
