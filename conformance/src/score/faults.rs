//! A scenario for each fault of the fake server's catalogue that a client which only reads can meet: once, at every
//! occasion for a while, and from the start.

use fakeserver::faults::{
    ExpiredStatus, Fault, HugeObjects, LaggingReplica, Latency, ServerError, StaleView, TimeTravel,
    Trickle,
};

use super::{
    scenario::{Demand, Scenario, cluster, disconnect, pods},
    write_faults,
};
use crate::{
    faults::action,
    plan::{Action, Incident, IncidentKind, PlannedFault, Tier},
    sim::Plan,
};

/// While the cluster changes.
const FROM_MS: u64 = 1_000;
const FOR_MS: u64 = 8_000;

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
    let faults = Fault::all().filter(|fault| !write_faults::shows(*fault));
    scenarios.extend(faults.map(scenario));
    scenarios.push(behind_in_all());
    scenarios.extend(incidents());
    scenarios
}

/// Replicas that answer everything from what they have.
fn behind_in_all() -> Scenario {
    let (lag_ms, behind_revisions, quorum) = (1_500, 3, true);
    let kinds = [
        Fault::StaleView(StaleView {
            behind_revisions,
            quorum,
        }),
        Fault::LaggingReplica(LaggingReplica { lag_ms, quorum }),
        Fault::TimeTravel(TimeTravel {
            behind_revisions,
            quorum,
        }),
    ];
    Scenario::new(
        "F16",
        "stale-latest",
        "even what has to be the most recent state is behind, as at aggregated servers that answer all from their caches",
        kinds.into_iter().flat_map(rule).collect(),
    )
    .demanding(Demand::HoldCache)
    .excusing("never to go back: a request for the most recent state has to trust the answer")
}

/// Returns the incidents of machines.
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

fn scenario(fault: Fault) -> Scenario {
    let entry = fault.entry();
    let kinds = kinds(fault).into_iter();
    let (plans, demand): (Vec<Plan>, _) = match fault {
        Fault::Rollback(_) => (kinds.flat_map(restored).collect(), Demand::HoldCache),
        _ if action(fault).is_some() => (kinds.flat_map(moment).collect(), Demand::Hold),
        _ if entry.can_be_held() => (kinds.flat_map(rule).collect(), Demand::Hold),
        _ => {
            let once = |kind| cluster(&[PlannedFault::new(FROM_MS, FOR_MS, kind).times(1)]);
            (kinds.map(once).collect(), Demand::BeCaught)
        }
    };
    let scenario = Scenario::new(entry.number, entry.fault, entry.models, plans).demanding(demand);
    match fault {
        Fault::Disconnect => scenario.without_fault(),
        Fault::Rollback(_) => scenario.demanding(Demand::HoldCache).excusing(
            "earlier notifications are not in the server's log any more, by which they would be judged",
        ),
        Fault::Coalesce(_) => scenario.demanding(Demand::HoldCache).excusing(
            "that a cache is the state at its version: other changes go by while one waits to be merged",
        ),
        _ => scenario,
    }
}

/// Returns a fault with its usual parameters, and with others that differ for a client.
fn kinds(fault: Fault) -> Vec<Fault> {
    match fault {
        Fault::ServerError(ServerError { body, .. }) => [500, 503, 504]
            .map(|code| Fault::ServerError(ServerError { code, body }))
            .to_vec(),
        Fault::ExpiredStatus(_) => [true, false]
            .map(|replacement_token| Fault::ExpiredStatus(ExpiredStatus { replacement_token }))
            .to_vec(),
        Fault::Latency(_) => vec![Fault::Latency(Latency {
            request_ms: 1_500,
            frame_ms: 150,
            jitter_ms: 100,
        })],
        Fault::Trickle(_) => vec![Fault::Trickle(Trickle {
            bytes: 200,
            every_ms: 100,
        })],
        // Larger ones show nothing more, and cost time.
        Fault::HugeObjects(_) => vec![Fault::HugeObjects(HugeObjects { bytes: 20_000 })],
        other => vec![other],
    }
}

/// Once, always, and from the start, with watches that are cut in between so that requests meet it, too; and while watches
/// are refused, so that lists name a version.
fn rule(kind: Fault) -> Vec<Plan> {
    let all = PlannedFault::new(FROM_MS, FOR_MS, kind);
    let from_start = PlannedFault::new(0, FROM_MS + FOR_MS, kind);
    let mut plans = vec![
        cluster(&[all.clone().times(1)]),
        cluster(&[all.clone().times(1), disconnect(3_500)]),
        cluster(&[all.clone(), disconnect(3_500), disconnect(6_500)]),
        cluster(&[from_start, disconnect(3_500)]),
    ];
    if matches!(kind, Fault::VersionTooLarge(_)) {
        let refused = Fault::ServerError(ServerError {
            code: 503,
            body: None,
        });
        let refused = PlannedFault::new(3_400, 1_000, refused).times(2);
        plans.push(cluster(&[all, refused, disconnect(3_500)]));
    }
    plans
}

/// Back at one moment, after which the server stands still for a while; and the same with watches that are cut just before.
fn restored(kind: Fault) -> [Plan; 2] {
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
    let once = PlannedFault::new(4_500, 0, kind);
    [vec![once.clone()], vec![disconnect(4_400), once]].map(|faults| {
        let mut plan = pods(520_000, &changes);
        plan.faults = faults;
        plan
    })
}

/// At one moment, and with watches that are cut just after it.
fn moment(kind: Fault) -> [Plan; 2] {
    let once = PlannedFault::new(4_500, 0, kind);
    [
        cluster(std::slice::from_ref(&once)),
        cluster(&[once, disconnect(4_600)]),
    ]
}
