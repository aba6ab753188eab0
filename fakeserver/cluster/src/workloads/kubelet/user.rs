//! The user that a container runs as, according to its spec. The users of images are unknown.

use fakeserver_value::read::text;
use serde_json::Value;

use super::life::{CONFIG_ERROR, StartBlocker, called};

/// Returns why a container may not run as its user. Each field of its own security context counts before that of its pod.
#[doc(alias = "verifyRunAsNonRoot")]
pub(super) fn forbidden(pod: &Value, container: &Value) -> Option<StartBlocker> {
    let field = |name: &str| {
        let own = &container["securityContext"][name];
        if own.is_null() {
            &pod["spec"]["securityContext"][name]
        } else {
            own
        }
    };
    if *field("runAsNonRoot") != true || *field("runAsUser") != 0 {
        return None;
    }
    let (pod, name) = (called(pod), text(&container["name"]));
    let why = "container's runAsUser breaks non-root policy";
    Some(StartBlocker {
        reason: CONFIG_ERROR,
        message: format!("{why} (pod: {pod:?}, container: {name})"),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn root_is_forbidden_by_the_container_or_its_pod() {
        let non_root = json!({"runAsNonRoot": true});
        let root = json!({"runAsUser": 0});
        let both = json!({"runAsNonRoot": true, "runAsUser": 0});
        let any = json!({"runAsNonRoot": false, "runAsUser": 0});
        for (of_pod, own, is_forbidden) in [
            (Value::Null, Value::Null, false),
            (non_root.clone(), Value::Null, false),
            (root.clone(), Value::Null, false),
            (both.clone(), Value::Null, true),
            (Value::Null, both.clone(), true),
            (non_root.clone(), root.clone(), true),
            (root, non_root, true),
            (both.clone(), json!({"runAsUser": 1000}), false),
            (both, any, false),
        ] {
            let metadata = json!({"name": "p", "namespace": "n", "uid": "u"});
            let pod = json!({"metadata": metadata, "spec": {"securityContext": of_pod}});
            let container = json!({"name": "c", "securityContext": own});
            let message = forbidden(&pod, &container).map(|blocked| blocked.message);
            let expected =
                r#"container's runAsUser breaks non-root policy (pod: "p_n(u)", container: c)"#;
            assert_eq!(
                message.as_deref(),
                is_forbidden.then_some(expected),
                "{pod} {container}"
            );
        }
    }
}
