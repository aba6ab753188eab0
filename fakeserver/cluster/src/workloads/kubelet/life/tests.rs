//! Lifecycles under a clock that tests move.

use std::{cell::RefCell, collections::BTreeSet};

use serde_json::json;

use super::*;
use crate::workloads::stages::Exit;

const SECOND: Duration = Duration::from_secs(1);
/// More steps than any life here takes: one that takes them all does not come to rest.
const STEPS_MAX: usize = 50;

/// A lifecycle and its present time.
struct SimulatedLife {
    life: PodLifecycle,
    begin: Instant,
    at: Instant,
    /// The starts: seconds from the beginning, and the container.
    starts: Vec<(u64, String)>,
}

// === impl SimulatedLife ===

impl SimulatedLife {
    fn of(pod: &Value) -> Self {
        let at = Instant::now();
        let life = PodLifecycle::of(pod, 10 * SECOND, CurrentTime { at, text: "" });
        Self {
            life,
            begin: at,
            at,
            starts: Vec::new(),
        }
    }

    /// Goes on until nothing is due within that time from the beginning, by the scripts that `direct` returns.
    fn until(&mut self, seconds: u64, direct: impl Fn(&Container) -> Script) {
        for _ in 0..STEPS_MAX {
            let now = CurrentTime {
                at: self.at,
                text: "",
            };
            let events = self.life.advance(now, &mut |it| Ok(direct(it)));
            let seconds_in = (self.at - self.begin).as_secs();
            for ContainerEvent {
                container, what, ..
            } in events
            {
                if what == ContainerEventKind::Started {
                    self.starts.push((seconds_in, container));
                }
            }
            match self.life.next() {
                Some(next) if next <= self.begin + Duration::from_secs(seconds) => {
                    assert!(next >= self.at, "time goes back");
                    self.at = next;
                }
                _ => return,
            }
        }
        panic!("does not come to rest: {:#?}", self.life.containers);
    }
}

fn pod() -> Value {
    json!({"spec": {
        "initContainers": [{"name": "proxy", "restartPolicy": "Always"}, {"name": "migrate"}],
        "containers": [{"name": "web"}],
        "restartPolicy": "Always",
    }})
}

/// Ends that long after the start with this code, or never.
fn script(exit: Option<(u64, i64)>) -> Script {
    Script {
        exit: exit.map(|(seconds, code)| Exit {
            after: Duration::from_secs(seconds),
            code,
            reason: None,
        }),
        ..Script::starting(Duration::ZERO)
    }
}

#[test]
fn a_crashing_sidecar_delays_no_container() {
    let mut run = SimulatedLife::of(&pod());
    run.until(20, |container| match &*container.name {
        "proxy" => script(Some((1, 1))),
        "migrate" => script(Some((4, 0))),
        _ => script(None),
    });
    let starts = |name| {
        let all = run.starts.iter().filter(move |it| it.1 == name);
        all.map(|it| it.0).collect::<Vec<_>>()
    };
    assert_eq!(starts("proxy"), [0, 1, 12]);
    assert_eq!(starts("migrate"), [0]);
    assert_eq!(starts("web"), [4]);
}

#[test]
fn each_try_is_counted_once() {
    let tries = RefCell::new(BTreeSet::new());
    let mut run = SimulatedLife::of(&json!({"spec": {"containers": [{"name": "web"}]}}));
    run.until(100, |container| {
        tries.borrow_mut().insert(container.tries);
        match container.tries {
            0 | 1 => Script {
                pull_error: Some("no such image".to_owned()),
                ..script(None)
            },
            2 => script(Some((1, 1))),
            _ => script(None),
        }
    });
    assert_eq!(Vec::from_iter(tries.into_inner()), [0, 1, 2, 3]);
    assert_eq!(run.starts.len(), 2);
}

#[test]
fn a_restored_container_continues_its_restart_count() {
    let tries_of = |status: Value| {
        let pod = json!({
            "spec": {"containers": [{"name": "web"}]},
            "status": {"containerStatuses": [status]},
        });
        SimulatedLife::of(&pod).life.containers[0].tries
    };
    let ended = json!({"terminated": {"exitCode": 1}});
    let status =
        |state, last| json!({"name": "web", "restartCount": 2, "state": state, "lastState": last});
    assert_eq!(tries_of(status(json!({"running": {}}), ended.clone())), 2);
    assert_eq!(tries_of(status(json!({"waiting": {}}), ended.clone())), 3);
    assert_eq!(tries_of(status(ended, json!({}))), 3);
}

#[test]
fn a_foreign_status_reaches_a_steady_state() {
    let mut pod = pod();
    pod["status"] = json!({
        "initContainerStatuses": [{"name": "proxy", "state": {"waiting": {}}}],
        "containerStatuses": [{"name": "web", "state": {"terminated": {"exitCode": 1}}}],
    });
    let mut run = SimulatedLife::of(&pod);
    run.until(60, |container| match &*container.name {
        "migrate" => script(Some((30, 0))),
        _ => script(None),
    });
    assert!(
        run.starts.contains(&(30, "web".to_owned())),
        "{:?}",
        run.starts
    );
}
