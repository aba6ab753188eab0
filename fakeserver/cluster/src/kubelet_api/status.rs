//! The state of a container, as the status of its pod tells it.

use fakeserver_value::read::text;
use serde_json::Value;

/// Returns the status of a container, if its kubelet has set one.
fn status_of<'a>(pod: &'a Value, container: &str) -> Option<&'a Value> {
    let status = &pod["status"];
    let lists = [
        &status["containerStatuses"],
        &status["initContainerStatuses"],
        &status["ephemeralContainerStatuses"],
    ];
    let mut all = lists.into_iter().filter_map(Value::as_array).flatten();
    all.find(|status| status["name"] == container)
}

/// Returns whether a container runs.
pub(super) fn is_running(pod: &Value, container: &str) -> bool {
    let status = status_of(pod, container);
    status.is_some_and(|status| !status["state"]["running"].is_null())
}

/// Returns whether a container waits for its next run: its log is that of its last run, which is also the previous one.
pub(super) fn is_between_runs(pod: &Value, container: &str) -> bool {
    let status = status_of(pod, container);
    status.is_some_and(|status| {
        status["state"]["waiting"].is_object() && !status["lastState"]["terminated"].is_null()
    })
}

/// Returns the reason why a container has no log, in the words of a kubelet.
pub(super) fn log_problem(pod: &Value, container: &str, is_previous: bool) -> Option<String> {
    let name = text(&pod["metadata"]["name"]);
    let Some(status) = status_of(pod, container) else {
        return Some(format!(
            "container {container:?} in pod {name:?} is not available"
        ));
    };
    let (state, last) = (&status["state"], &status["lastState"]);
    let has_id = |terminated: &Value| {
        let id = terminated["containerID"].as_str();
        id.is_some_and(|id| !id.is_empty())
    };
    if is_previous {
        let is_there = has_id(&last["terminated"]);
        let problem =
            || format!("previous terminated container {container:?} in pod {name:?} not found");
        return (!is_there).then(problem);
    }
    let is_started = !state["running"].is_null()
        || has_id(&state["terminated"])
        // One that waits for its next run shows the last one.
        || has_id(&last["terminated"]);
    if is_started {
        return None;
    }
    let why = match state["waiting"]["reason"].as_str() {
        Some("ErrImagePull") => "image can't be pulled",
        Some("ImagePullBackOff") => "trying and failing to pull image",
        Some(reason) => reason,
        None => {
            return Some(format!(
                "container {container:?} in pod {name:?} is waiting to start - no logs yet"
            ));
        }
    };
    Some(format!(
        "container {container:?} in pod {name:?} is waiting to start: {why}"
    ))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn problem(statuses: &Value, is_previous: bool) -> Option<String> {
        let pod = json!({"metadata": {"name": "p"}, "status": {"containerStatuses": statuses}});
        log_problem(&pod, "c", is_previous)
    }

    #[test]
    fn a_container_has_a_log_when_it_has_run() {
        let message_of = |statuses: Value| problem(&statuses, false).unwrap_or_default();
        assert_eq!(
            message_of(json!([{"name": "other"}])),
            "container \"c\" in pod \"p\" is not available"
        );
        let state = |state: Value| json!([{"name": "c", "state": state}]);
        assert_eq!(
            message_of(state(json!({}))),
            "container \"c\" in pod \"p\" is waiting to start - no logs yet"
        );
        for (reason, words) in [
            ("ContainerCreating", "ContainerCreating"),
            ("ErrImagePull", "image can't be pulled"),
            ("ImagePullBackOff", "trying and failing to pull image"),
        ] {
            let waiting = state(json!({"waiting": {"reason": reason}}));
            let wanted = format!("container \"c\" in pod \"p\" is waiting to start: {words}");
            assert_eq!(message_of(waiting), wanted);
        }
        let running = state(json!({"running": {}}));
        assert_eq!(problem(&running, false), None);
        let ended = state(json!({"terminated": {"containerID": "x"}}));
        assert_eq!(problem(&ended, false), None);
        let last = json!({"terminated": {"containerID": "x"}});
        let waiting = json!({"waiting": {"reason": "CrashLoopBackOff"}});
        let crashed = json!([{"name": "c", "state": waiting, "lastState": last}]);
        assert_eq!(problem(&crashed, false), None);
    }

    #[test]
    fn a_previous_log_needs_a_container_that_has_ended() {
        let first = json!([{"name": "c", "state": {"running": {}}, "lastState": {}}]);
        assert_eq!(
            problem(&first, true).unwrap(),
            "previous terminated container \"c\" in pod \"p\" not found"
        );
        let last = json!({"terminated": {"containerID": "x"}});
        let second = json!([{"name": "c", "state": {"running": {}}, "lastState": last}]);
        assert_eq!(problem(&second, true), None);
    }
}
