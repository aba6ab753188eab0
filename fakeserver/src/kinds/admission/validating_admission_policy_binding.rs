//! Bindings of validating admission policies.

use crate::kinds::{Habits, Kind, MetadataRechecks};

/// Bindings of validating admission policies.
pub(crate) static KIND: Kind = Kind::new(
    "admissionregistration.k8s.io",
    "validatingadmissionpolicybindings",
)
.habits(Habits {
    has_generation: true,
    requires_version: true,
    is_exempt_from_webhooks: true,
    metadata_rechecks: MetadataRechecks::WHOLE,
    ..Habits::COMMON
});
