//! Types that are served in several forms and stored in one: each form becomes the other, and back.
//!
//! Two kinds have them. Events are one storage in two groups, with other names for the fields; autoscalers are one in two
//! versions, of which the older keeps what it has no fields for in annotations. Everything here is a function of values.

mod autoscaler;
mod event;
mod metrics;
mod ordered;
#[cfg(test)]
mod tests;

use serde_json::Value;

use crate::schema::{canonical, type_of_kind, types};

const EVENTS: &str = "events.k8s.io";
const AUTOSCALING: &str = "autoscaling";

/// One of the forms of a kind that has two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// `v1`, the stored form of events.
    CoreEvent,
    /// `events.k8s.io/v1`.
    Event,
    /// `autoscaling/v1`.
    AutoscalerV1,
    /// `autoscaling/v2`, the stored form of autoscalers.
    AutoscalerV2,
}

/// The group and the plural under which the objects of a resource are stored.
pub(crate) fn stored_under<'a>(group: &'a str, plural: &'a str) -> (&'a str, &'a str) {
    match (group, plural) {
        (EVENTS, "events") => ("", "events"),
        other => other,
    }
}

/// The name under which a field of a form is selected in what is stored.
pub(crate) fn stored_field<'a>(group: &str, plural: &str, field: &'a str) -> &'a str {
    const OF_PODS: &[(&str, &str)] = &[
        ("spec.host", "spec.nodeName"),
        ("status.podIPs", "status.podIP"),
    ];
    const OF_EVENTS: &[(&str, &str)] = &[
        ("regarding.kind", "involvedObject.kind"),
        ("regarding.namespace", "involvedObject.namespace"),
        ("regarding.name", "involvedObject.name"),
        ("regarding.uid", "involvedObject.uid"),
        ("regarding.apiVersion", "involvedObject.apiVersion"),
        (
            "regarding.resourceVersion",
            "involvedObject.resourceVersion",
        ),
        ("regarding.fieldPath", "involvedObject.fieldPath"),
        ("reportingController", "reportingComponent"),
    ];
    let renamed = match (group, plural) {
        ("", "pods") => OF_PODS,
        (EVENTS, "events") => OF_EVENTS,
        _ => &[],
    };
    let renamed = renamed.iter().find(|(own, _)| *own == field);
    renamed.map_or(field, |(_, stored)| stored)
}

/// `object` in the form in which its kind is stored. An object that does not say what it is is there already.
pub(crate) fn to_stored(object: Value) -> Value {
    let form = Form::of(
        object["apiVersion"].as_str().unwrap_or_default(),
        object["kind"].as_str().unwrap_or_default(),
    );
    match form {
        // They would be read as a part of the older form.
        Some(Form::AutoscalerV2) => autoscaler::without_annotations(object),
        Some(form) if !form.is_stored() => form.other().convert(object),
        _ => object,
    }
}

// === impl Form ===

impl Form {
    /// The form of a kind in a version, written as objects write it, if the kind has several.
    pub(crate) fn of(api_version: &str, kind: &str) -> Option<Self> {
        Some(match (api_version, kind) {
            ("v1", "Event") => Self::CoreEvent,
            ("events.k8s.io/v1", "Event") => Self::Event,
            ("autoscaling/v1", "HorizontalPodAutoscaler") => Self::AutoscalerV1,
            ("autoscaling/v2", "HorizontalPodAutoscaler") => Self::AutoscalerV2,
            _ => return None,
        })
    }

    /// The form in which objects of this one are stored.
    fn stored(self) -> Self {
        match self {
            Self::CoreEvent | Self::Event => Self::CoreEvent,
            Self::AutoscalerV1 | Self::AutoscalerV2 => Self::AutoscalerV2,
        }
    }

    pub(crate) fn is_stored(self) -> bool {
        self == self.stored()
    }

    /// The other form of the same kind.
    pub(crate) fn other(self) -> Self {
        match self {
            Self::CoreEvent => Self::Event,
            Self::Event => Self::CoreEvent,
            Self::AutoscalerV1 => Self::AutoscalerV2,
            Self::AutoscalerV2 => Self::AutoscalerV1,
        }
    }

    pub(crate) fn api_version(self) -> &'static str {
        match self {
            Self::CoreEvent => "v1",
            Self::Event => "events.k8s.io/v1",
            Self::AutoscalerV1 => "autoscaling/v1",
            Self::AutoscalerV2 => "autoscaling/v2",
        }
    }

    pub(crate) fn kind(self) -> &'static str {
        match self {
            Self::CoreEvent | Self::Event => "Event",
            Self::AutoscalerV1 | Self::AutoscalerV2 => "HorizontalPodAutoscaler",
        }
    }

    /// An object of the [other](Self::other) form in this one, as a real server would print it.
    pub(crate) fn convert(self, object: Value) -> Value {
        let mut object = match self {
            Self::CoreEvent => event::to_core(object),
            Self::Event => event::from_core(object),
            Self::AutoscalerV1 => autoscaler::to_v1(object),
            Self::AutoscalerV2 => autoscaler::to_v2(object),
        };
        object["kind"] = self.kind().into();
        object["apiVersion"] = self.api_version().into();
        let (group, version) = match self {
            Self::CoreEvent => ("", "v1"),
            Self::Event => (EVENTS, "v1"),
            Self::AutoscalerV1 => (AUTOSCALING, "v1"),
            Self::AutoscalerV2 => (AUTOSCALING, "v2"),
        };
        let id = type_of_kind(group, version, self.kind()).expect("both forms are built in");
        canonical(types(), id, object)
    }
}
