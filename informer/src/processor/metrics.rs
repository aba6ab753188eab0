//! Metrics of listeners, by the `metrics` facade. Their documentation is the page of [`crate::metrics`].

use std::sync::{Arc, Once};

use ::metrics::{Counter, Gauge, Unit, counter, describe_counter, describe_gauge, gauge};

/// The notifications that a handler has yet to receive, a gauge.
pub const PENDING_NOTIFICATIONS: &str = "informer_pending_notifications";
/// The notifications that a handler has received, a counter.
pub const NOTIFICATIONS_TOTAL: &str = "informer_notifications_total";
/// The notifications that were merged, since a handler was slow, a counter.
pub const COALESCED_NOTIFICATIONS_TOTAL: &str = "informer_coalesced_notifications_total";
/// Calls that a handler panicked in, a counter.
pub const HANDLER_PANICS_TOTAL: &str = "informer_handler_panics_total";

/// Whose listeners they are.
#[derive(Clone, Debug)]
pub(crate) struct Labels {
    name: Arc<str>,
    resource: Arc<str>,
}

/// The series of one listener.
#[derive(Debug)]
pub(super) struct Series {
    pending: Gauge,
    pub(super) delivered: Counter,
    pub(super) coalesced: Counter,
    pub(super) panics: Counter,
}

// === impl Labels ===

impl Labels {
    pub(crate) fn new(name: &Arc<str>, resource: &Arc<str>) -> Self {
        Self {
            name: Arc::clone(name),
            resource: Arc::clone(resource),
        }
    }
}

// === impl Series ===

impl Series {
    pub(super) fn new(informer: &Labels, handler: &Arc<str>) -> Self {
        describe();
        let labels = [
            ("name", Arc::clone(&informer.name)),
            ("resource", Arc::clone(&informer.resource)),
            ("handler", Arc::clone(handler)),
        ];
        Self {
            pending: gauge!(PENDING_NOTIFICATIONS, &labels),
            delivered: counter!(NOTIFICATIONS_TOTAL, &labels),
            coalesced: counter!(COALESCED_NOTIFICATIONS_TOTAL, &labels),
            panics: counter!(HANDLER_PANICS_TOTAL, &labels),
        }
    }

    pub(super) fn set_pending(&self, pending: u64) {
        self.pending
            .set(f64::from(u32::try_from(pending).unwrap_or(u32::MAX)));
    }
}

fn describe() {
    static DESCRIBED: Once = Once::new();
    DESCRIBED.call_once(|| {
        describe_gauge!(
            PENDING_NOTIFICATIONS,
            Unit::Count,
            "notifications that a handler has yet to hear"
        );
        describe_counter!(
            NOTIFICATIONS_TOTAL,
            Unit::Count,
            "notifications that a handler has heard"
        );
        describe_counter!(
            COALESCED_NOTIFICATIONS_TOTAL,
            Unit::Count,
            "notifications that were merged, since a handler was slow"
        );
        describe_counter!(
            HANDLER_PANICS_TOTAL,
            Unit::Count,
            "calls that a handler panicked in"
        );
    });
}
