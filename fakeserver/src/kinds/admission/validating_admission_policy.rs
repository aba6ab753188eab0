//! Validating admission policies.

use crate::kinds::{Habits, Kind, MetadataRechecks};

/// Validating admission policies.
pub(crate) static KIND: Kind = Kind::new(
    "admissionregistration.k8s.io",
    "validatingadmissionpolicies",
)
.habits(Habits {
    has_generation: true,
    requires_version: true,
    is_exempt_from_webhooks: true,
    metadata_rechecks: MetadataRechecks::WHOLE,
    ..Habits::COMMON
});
