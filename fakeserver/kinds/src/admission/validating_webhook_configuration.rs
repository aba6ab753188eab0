//! Configurations of validating webhooks.

use crate::{
    Habits, Kind, MetadataRechecks,
    admission::{cells, webhook_configuration},
};

/// Configurations of validating webhooks.
pub static KIND: Kind = Kind::new(
    "admissionregistration.k8s.io",
    "validatingwebhookconfigurations",
)
.habits(Habits {
    has_generation: true,
    counts_empty: true,
    requires_version: true,
    is_exempt_from_webhooks: true,
    metadata_rechecks: MetadataRechecks::WHOLE,
    checks_finalizers: false,
    ..Habits::COMMON
})
.validation(webhook_configuration::VALIDATION)
.cells(cells::webhooks)
.defaults(webhook_configuration::set_defaults);
