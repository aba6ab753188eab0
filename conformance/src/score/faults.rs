//! A scenario for each fault of the fake server's catalogue that a client which only reads can meet: once, at every
//! occasion for a while, and from the start.

use fakeserver::faults::{CATALOGUE, CatalogueEntry};

use super::scenario::{Demand, Scenario, cluster, disconnect};
use crate::plan::{Fault, FaultKind, Incident, IncidentKind, Plan};

/// While the cluster changes.
const FROM_MS: u64 = 1_000;
const FOR_MS: u64 = 8_000;

/// Faults on the board that happen to requests and streams.
const RULES: &[&str] = &[
    "clean_end",
    "reset_mid_line",
    "silence",
    "go_away",
    "end_before_initial_events_end",
    "end_after_bookmark",
    "expired_event",
    "expired_status",
    "expired_relist",
    "gone",
    "throttle",
    "server_error",
    "connection_refused",
    "latency",
    "hang",
    "unauthorized",
    "forbidden",
    "resource_gone",
    "watch_list_ignored",
    "watch_list_rejected",
    "initial_events_end_missing",
];
/// Those that happen behind the API, at one moment.
const MOMENTS: &[&str] = &["disconnect", "compact", "expire"];
pub(super) fn scenarios() -> Vec<Scenario> {
    let mut scenarios: Vec<Scenario> = CATALOGUE.iter().filter_map(scenario).collect();
    scenarios.extend(incidents());
    scenarios
}

/// What happens to machines.
fn incidents() -> [Scenario; 3] {
    let plan = |at_ms, for_ms, kind| {
        let mut plan = cluster(&[]);
        plan.incidents = vec![Incident::new(at_ms, for_ms, kind)];
        plan
    };
    let lagging = |lag_ms| IncidentKind::Replica {
        informer: None,
        lag_ms,
    };
    [
        Scenario::new(
            "F17",
            "replica",
            "connections lead to a replica that lags behind, and back",
            vec![
                plan(3_500, 3_000, lagging(2_500)),
                plan(0, 6_000, lagging(1_500)),
            ],
        ),
        Scenario::new(
            "incident",
            "restart",
            "the server restarts with its data, and without its history",
            vec![plan(4_500, 1_000, IncidentKind::Restart)],
        ),
        Scenario::new(
            "incident",
            "suspend",
            "the client's machine sleeps",
            vec![plan(4_500, 1_500, IncidentKind::Suspend)],
        ),
    ]
}

fn scenario(entry: &CatalogueEntry) -> Option<Scenario> {
    let is_one_of = |names: &[&str]| names.contains(&entry.fault);
    let kinds = kinds(entry.fault);
    let (plans, demand) = if is_one_of(MOMENTS) {
        (kinds.into_iter().flat_map(moment).collect(), Demand::Hold)
    } else if is_one_of(RULES) {
        (kinds.into_iter().flat_map(rule).collect(), Demand::Hold)
    } else if entry.can_be_held {
        return None;
    } else {
        let once = kinds
            .into_iter()
            .map(|kind| cluster(&[Fault::new(FROM_MS, FOR_MS, kind).times(1)]));
        (once.collect(), Demand::BeCaught)
    };
    let scenario = Scenario::new(entry.number, entry.fault, entry.models, plans).demanding(demand);
    Some(match entry.fault {
        "disconnect" => scenario.without_fault(),
        _ => scenario,
    })
}

/// A fault with the parameters that it usually has, and with others where these are another thing to a client.
fn kinds(fault: &str) -> Vec<FaultKind> {
    let named = FaultKind::named(fault).expect("the catalogue has the names of faults");
    match named {
        FaultKind::ServerError { body, .. } => [500, 503, 504]
            .map(|code| FaultKind::ServerError { code, body })
            .to_vec(),
        FaultKind::ExpiredStatus { .. } => [true, false]
            .map(|replacement_token| FaultKind::ExpiredStatus { replacement_token })
            .to_vec(),
        FaultKind::Latency { .. } => vec![FaultKind::Latency {
            request_ms: 1_500,
            frame_ms: 150,
            jitter_ms: 100,
        }],
        other => vec![other],
    }
}

/// Once, always, and from the start, with watches that are cut in between so that requests meet it, too.
fn rule(kind: FaultKind) -> [Plan; 4] {
    let all = Fault::new(FROM_MS, FOR_MS, kind);
    let from_start = Fault::new(0, FROM_MS + FOR_MS, kind);
    [
        cluster(&[all.clone().times(1)]),
        cluster(&[all.clone().times(1), disconnect(3_500)]),
        cluster(&[all, disconnect(3_500), disconnect(6_500)]),
        cluster(&[from_start, disconnect(3_500)]),
    ]
}

/// At one moment, and with watches that are cut just after it.
fn moment(kind: FaultKind) -> [Plan; 2] {
    let once = Fault::new(4_500, 0, kind);
    [
        cluster(std::slice::from_ref(&once)),
        cluster(&[once, disconnect(4_600)]),
    ]
}
