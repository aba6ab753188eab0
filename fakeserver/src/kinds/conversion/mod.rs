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

use crate::value::{
    managed_fields::OtherForm,
    schema::{canonical, type_of_kind, types},
};

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

    /// Returns the other form of a kind in a version, if the kind has several.
    pub(crate) fn other_of(api_version: &str, kind: &str) -> Option<OtherForm> {
        let form = Self::of(api_version, kind)?.other();
        let convert: fn(Value) -> Value = match form {
            Self::CoreEvent => |object| Self::CoreEvent.convert(object),
            Self::Event => |object| Self::Event.convert(object),
            Self::AutoscalerV1 => |object| Self::AutoscalerV1.convert(object),
            Self::AutoscalerV2 => |object| Self::AutoscalerV2.convert(object),
        };
        Some(OtherForm {
            api_version: form.api_version(),
            kind: form.kind(),
            convert,
        })
    }

    /// Returns the form in which objects of this one are stored.
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
