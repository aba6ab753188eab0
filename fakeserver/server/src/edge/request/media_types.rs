//! The media types of a server: those of bodies, answers, streams and patches.

use fakeserver_versions::KubernetesVersion;

/// The change after which discovery speaks CBOR where objects do.
const CBOR_EVERYWHERE: &str = "CborInDiscovery";

/// The media types that a server accepts and answers with.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct MediaTypes {
    has_cbor: bool,
}

// === impl MediaTypes ===

impl MediaTypes {
    /// Creates those that every server has, with CBOR or without it.
    pub(crate) fn new(has_cbor: bool) -> Self {
        Self { has_cbor }
    }

    /// Returns those of discovery, and of failures outside of resources, in a version of Kubernetes.
    pub(crate) fn outside_of_resources(self, kubernetes: KubernetesVersion) -> Self {
        Self::new(self.has_cbor && kubernetes.gates().is_on(CBOR_EVERYWHERE))
    }

    pub(crate) fn has_cbor(self) -> bool {
        self.has_cbor
    }

    /// Lists those of objects.
    pub(crate) fn of_objects(self) -> Vec<&'static str> {
        let mut types = vec![
            "application/json",
            "application/yaml",
            "application/vnd.kubernetes.protobuf",
        ];
        if self.has_cbor() {
            types.push("application/cbor");
        }
        types
    }

    /// Lists those of streams of events.
    pub(crate) fn of_streams(self) -> Vec<&'static str> {
        let mut types = vec![
            "application/json;stream=watch",
            "application/vnd.kubernetes.protobuf;stream=watch",
        ];
        if self.has_cbor() {
            types.push("application/cbor-seq");
        }
        types
    }

    /// Lists those of patches of custom resources. Built-in kinds have one more.
    pub(crate) fn of_custom_patches(self) -> Vec<&'static str> {
        let mut types = vec![
            "application/json-patch+json",
            "application/merge-patch+json",
            "application/apply-patch+yaml",
        ];
        if self.has_cbor() {
            types.push("application/apply-patch+cbor");
        }
        types
    }
}
