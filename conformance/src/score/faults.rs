//! A scenario for each fault of the fake server's catalogue that a client which only reads can meet: once, at every
//! occasion for a while, and from the start.

use fakeserver::faults::{CATALOGUE, CatalogueEntry};

use super::{
    scenario::{Demand, Scenario, cluster, disconnect, pods},
    writers,
};
use crate::plan::{Action, Fault, FaultKind, Incident, IncidentKind, Plan, Tier};

/// While the cluster changes.
const FROM_MS: u64 = 1_000;
const FOR_MS: u64 = 8_000;

/// Faults that happen behind the API, at one moment.
const MOMENTS: &[&str] = &["disconnect", "compact", "expire"];
pub(super) fn scenarios() -> Vec<Scenario> {
    let mut scenarios = vec![
        Scenario::new(
            "baseline",
            "nothing",
            "nothing goes wrong",
            vec![cluster(&[])],
        )
        .without_fault(),
    ];
    scenarios.extend(CATALOGUE.iter().filter_map(scenario));
    scenarios.push(behind_in_all());
    scenarios.extend(incidents());
    scenarios
}

/// Replicas that answer everything from what they have.
fn behind_in_all() -> Scenario {
    let (lag_ms, behind_revisions, quorum) = (1_500, 3, true);
    let kinds = [
        FaultKind::StaleView {
            behind_revisions,
            quorum,
        },
        FaultKind::LaggingReplica { lag_ms, quorum },
        FaultKind::TimeTravel {
            behind_revisions,
            quorum,
        },
    ];
    Scenario::new(
        "F16",
        "stale-latest",
        "even what has to be the most recent state is behind, as at aggregated servers that answer all from their caches",
        kinds.into_iter().flat_map(rule).collect(),
    )
    .demanding(Demand::HoldCache)
    .excusing("never to go back: whoever asks for the most recent state has to believe the answer")
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
    if is_one_of(writers::FAULTS) {
        return None;
    }
    let kinds = kinds(entry.fault).into_iter();
    let (plans, demand): (Vec<Plan>, _) = if entry.fault == "rollback" {
        (kinds.flat_map(restored).collect(), Demand::HoldCache)
    } else if is_one_of(MOMENTS) {
        (kinds.flat_map(moment).collect(), Demand::Hold)
    } else if entry.can_be_held {
        (kinds.flat_map(rule).collect(), Demand::Hold)
    } else {
        let once = kinds.map(|kind| cluster(&[Fault::new(FROM_MS, FOR_MS, kind).times(1)]));
        (once.collect(), Demand::BeCaught)
    };
    let scenario = Scenario::new(entry.number, entry.fault, entry.models, plans).demanding(demand);
    Some(match entry.fault {
        "disconnect" => scenario.without_fault(),
        "rollback" => scenario.demanding(Demand::HoldCache).excusing(
            "what was told before is not in the log any more, by which it would be judged",
        ),
        "coalesce" => scenario.demanding(Demand::HoldCache).excusing(
            "that a cache is the state at its version: other changes go by while one waits to be merged",
        ),
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
        FaultKind::Trickle { .. } => vec![FaultKind::Trickle {
            bytes: 200,
            every_ms: 100,
        }],
        // Larger ones show nothing more, and cost time.
        FaultKind::HugeObjects { .. } => vec![FaultKind::HugeObjects { bytes: 20_000 }],
        other => vec![other],
    }
}

/// Once, always, and from the start, with watches that are cut in between so that requests meet it, too; and while watches
/// are refused, so that lists name a version.
fn rule(kind: FaultKind) -> Vec<Plan> {
    let all = Fault::new(FROM_MS, FOR_MS, kind);
    let from_start = Fault::new(0, FROM_MS + FOR_MS, kind);
    let mut plans = vec![
        cluster(&[all.clone().times(1)]),
        cluster(&[all.clone().times(1), disconnect(3_500)]),
        cluster(&[all.clone(), disconnect(3_500), disconnect(6_500)]),
        cluster(&[from_start, disconnect(3_500)]),
    ];
    if matches!(kind, FaultKind::VersionTooLarge { .. }) {
        let refused = FaultKind::ServerError {
            code: 503,
            body: None,
        };
        let refused = Fault::new(3_400, 1_000, refused).times(2);
        plans.push(cluster(&[all, refused, disconnect(3_500)]));
    }
    plans
}

/// Back at one moment, after which the server stands still for a while; and the same with watches that are cut just before.
fn restored(kind: FaultKind) -> [Plan; 2] {
    let changes = [
        (1_000, 6, Action::Create(Tier::Web)),
        (2_000, 0, Action::Update),
        (3_000, 1, Action::Recreate(Tier::Db)),
        (3_500, 2, Action::Delete),
        (4_000, 6, Action::Delete),
        // When everybody has had time to notice.
        (500_000, 7, Action::Create(Tier::Web)),
        (505_000, 3, Action::Update),
        (510_000, 7, Action::Delete),
    ];
    let once = Fault::new(4_500, 0, kind);
    [vec![once.clone()], vec![disconnect(4_400), once]].map(|faults| {
        let mut plan = pods(520_000, &changes);
        plan.faults = faults;
        plan
    })
}

/// At one moment, and with watches that are cut just after it.
fn moment(kind: FaultKind) -> [Plan; 2] {
    let once = Fault::new(4_500, 0, kind);
    [
        cluster(std::slice::from_ref(&once)),
        cluster(&[once, disconnect(4_600)]),
    ]
}
