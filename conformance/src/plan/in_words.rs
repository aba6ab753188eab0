//! Faults and incidents in words, as traces tell them.

use serde::Serialize;
use serde_json::Value;

/// Returns the name of a kind and its parameters, as in `replica (informer 2, lag_ms 5000)`.
///
/// # Panics
///
/// If it cannot be written as JSON.
pub(crate) fn in_words(kind: &impl Serialize) -> String {
    let value = serde_json::to_value(kind).expect("kinds are plain values");
    let spaced = |name: &str| name.replace(['_', '-'], " ");
    let Value::Object(named) = &value else {
        return spaced(value.as_str().unwrap_or_default());
    };
    let parts = named.iter().map(|(name, parameters)| {
        let words = match parameters {
            Value::Object(all) => all.iter().map(parameter).collect::<Vec<_>>().join(", "),
            Value::Null => String::new(),
            one => plain(one),
        };
        if words.is_empty() {
            spaced(name)
        } else {
            format!("{} ({words})", spaced(name))
        }
    });
    parts.collect::<Vec<_>>().join(", ")
}

fn parameter((name, value): (&String, &Value)) -> String {
    format!("{name} {}", plain(value))
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use fakeserver::{
        KubernetesVersion,
        faults::{Fault, Throttle},
    };

    use super::*;
    use crate::plan::IncidentKind;

    #[test]
    fn kinds_are_reported_with_their_parameters() {
        let replica = IncidentKind::Replica {
            informer: Some(2),
            lag_ms: 5_000,
        };
        assert_eq!(in_words(&replica), "replica (informer 2, lag_ms 5000)");
        assert_eq!(in_words(&IncidentKind::DataLoss), "data loss");
        let upgrade = IncidentKind::Upgrade {
            version: KubernetesVersion::LATEST,
            is_rolling: true,
        };
        let version = KubernetesVersion::LATEST.name();
        assert_eq!(
            in_words(&upgrade),
            format!("upgrade (is_rolling true, version {version})")
        );
        let throttle = Fault::Throttle(Throttle::default());
        assert!(
            in_words(&throttle).starts_with("throttle"),
            "{}",
            in_words(&throttle)
        );
    }
}
