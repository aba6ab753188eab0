//! The media types of a server: those of bodies, answers, streams and patches.

/// The media types that a server accepts and answers with.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct MediaTypes {
    has_cbor: bool,
    /// True if answers that are no objects of a resource can be CBOR as well.
    is_cbor_everywhere: bool,
}

// === impl MediaTypes ===

impl MediaTypes {
    /// Creates those that every server has, with CBOR or without it.
    pub(crate) fn new(has_cbor: bool) -> Self {
        Self {
            has_cbor,
            is_cbor_everywhere: false,
        }
    }

    /// Sets whether discovery, and failures outside of resources, can be CBOR as well.
    pub(crate) fn with_cbor_everywhere(self, is_cbor_everywhere: bool) -> Self {
        Self {
            is_cbor_everywhere,
            ..self
        }
    }

    /// Returns those of discovery, and of failures outside of resources.
    pub(crate) fn outside_of_resources(self) -> Self {
        Self {
            has_cbor: self.has_cbor && self.is_cbor_everywhere,
            ..self
        }
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
