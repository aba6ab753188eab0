//! Known failures of clients, each with the letter that identifies it.

use std::time::Duration;

use fakeserver::faults::{Fault, ServerError};

use super::{
    scenario::{Demand, Scenario, cluster, disconnect, pods},
    server_variants,
};
use crate::{
    plan::{Action, Operation, PlannedFault, Resource, Tier},
    sim::Plan,
};

/// The time to notice silence: the server sends a bookmark a minute, and three missing ones prove that the stream is
/// dead.
const SILENCE_NOTICED_WITHIN: Duration = Duration::from_mins(4);
/// The maximum delay of a change on an undisturbed watch while other watches are disturbed.
const TOLD_AT_ONCE: Duration = Duration::from_secs(1);

pub(super) fn scenarios() -> Vec<Scenario> {
    let mut all = a_to_g();
    all.extend(h_to_m());
    all.extend(of_streaming_lists());
    all.extend(of_users());
    all
}

/// Returns what is reported of streaming lists, which Kubernetes 1.38 has no way around: a client that cannot list otherwise
/// is never ready.
fn of_streaming_lists() -> Vec<Scenario> {
    vec![
        Scenario::new(
            "kubernetes#140890",
            "streaming-without-end",
            "an aggregated server never ends the initial events of streaming lists, and closes them after five seconds",
            vec![cluster(&[])],
        )
        .with_server_variant(server_variants::streaming_lists_without_end),
        Scenario::new(
            "kubernetes#138557",
            "streaming-cut-off",
            "streaming lists break off after two objects, as at a server under load",
            vec![cluster(&[])],
        )
        .with_server_variant(server_variants::streaming_lists_cut_off),
    ]
}

fn a_to_g() -> Vec<Scenario> {
    vec![
        Scenario::new(
            "A",
            "list-fails",
            "lists fail for ten minutes",
            vec![list_fails()],
        ),
        Scenario::new(
            "B",
            "watch-ends-at-once",
            "watches open and end at once, without an error",
            vec![cluster(&[])],
        )
        .with_server_variant(server_variants::watches_end_at_once),
        Scenario::new(
            "C",
            "gone-as-status",
            "an expired version is reported by HTTP status 410",
            vec![gone_as_status()],
        )
        .with_server_variant(server_variants::short_history),
        Scenario::new(
            "D",
            "undecodable",
            "a change arrives that cannot be decoded",
            vec![undecodable()],
        )
        .with_server_variant(server_variants::undecodable_change)
        .demanding(Demand::HoldCache)
        .excusing("notifications of an object that cannot be decoded")
        .with_undecodable(server_variants::SPOILED),
        Scenario::new(
            "E",
            "gone-before-read",
            "an object is gone before a subscriber reads it",
            vec![gone_before_read()],
        )
        .without_fault(),
        Scenario::new(
            "F",
            "silent-watch",
            "a watch falls silent, without bookmarks",
            vec![silent_watch()],
        )
        .notified_within(SILENCE_NOTICED_WITHIN),
        Scenario::new(
            "G",
            "continue-expired",
            "a list can never be continued",
            vec![many_pages()],
        )
        .with_server_variant(server_variants::no_second_page),
    ]
}

fn h_to_m() -> Vec<Scenario> {
    vec![
        Scenario::new(
            "H",
            "deleted-while-streaming",
            "a streaming list has a deletion",
            vec![cluster(&[])],
        )
        .with_server_variant(server_variants::deleted_while_streaming),
        Scenario::new(
            "I",
            "half-a-line",
            "a stream ends within a line, in good order",
            vec![cluster(&[])],
        )
        .with_server_variant(server_variants::half_a_line),
        Scenario::new(
            "J",
            "streaming-ends-early",
            "streaming lists end before they are complete, for ten minutes",
            vec![streaming_ends_early()],
        ),
        Scenario::new(
            "K",
            "streaming-unknown",
            "the server does not know streaming lists",
            vec![cluster(&[])],
        )
        .with_server_variant(server_variants::no_streaming_lists),
        Scenario::new(
            "M",
            "deleted-while-away",
            "an object is deleted while there is no watch, and the history with it",
            vec![deleted_while_away()],
        ),
    ]
}

/// Returns scenarios about controllers and waiting tasks.
fn of_users() -> Vec<Scenario> {
    vec![
        Scenario::new(
            "joint",
            "owned-forbidden",
            "a controller may not watch one of its kinds",
            vec![owned_forbidden()],
        )
        .with_server_variant(server_variants::config_maps_forbidden)
        .with_companion()
        .demanding(Demand::HoldCache)
        .excusing("notifications: a controller may skip states")
        .notified_within(TOLD_AT_ONCE),
        Scenario::new(
            "ready",
            "many-wait",
            "four tasks wait for one cache",
            vec![cluster(&[])],
        )
        .with_waiters(4)
        .without_fault(),
    ]
}

fn server_error(code: u16) -> Fault {
    Fault::ServerError(ServerError { code, body: None })
}

fn list_fails() -> Plan {
    let mut plan = cluster(&[PlannedFault::new(0, 600_000, server_error(500))]);
    plan.safety_ms = 610_000;
    plan
}

/// Changes elsewhere make the version old while the watch is idle; then it is cut.
fn gone_as_status() -> Plan {
    let mut plan = pods(
        10_000,
        &[(2_000, 0, Action::Update), (5_000, 1, Action::Update)],
    );
    plan.workload.extend(elsewhere(3_000, 12));
    plan.workload.sort_by_key(|operation| operation.at_ms);
    plan.faults = vec![disconnect(3_500)];
    plan
}

fn undecodable() -> Plan {
    pods(
        10_000,
        &[
            (4_000, 0, Action::Update),
            (5_000, 7, Action::Create(Tier::Web)),
        ],
    )
}

fn gone_before_read() -> Plan {
    let short_lived = [
        (2_000, 7, Action::Create(Tier::Web)),
        (2_000, 7, Action::Delete),
    ];
    let later = (8..30).map(|slot| {
        (
            2_500 + u64::from(slot) * 100,
            slot,
            Action::Create(Tier::Web),
        )
    });
    let operations: Vec<_> = short_lived.into_iter().chain(later).collect();
    pods(10_000, &operations)
}

fn silent_watch() -> Plan {
    let mut plan = pods(
        900_000,
        &[
            (4_000, 0, Action::Update),
            (5_000, 1, Action::Delete),
            (6_000, 6, Action::Create(Tier::Web)),
        ],
    );
    plan.faults = vec![PlannedFault::new(1_000, 890_000, Fault::Silence).times(1)];
    plan
}

/// The second list, after an expired version, is served in pages.
fn many_pages() -> Plan {
    let mut plan = pods(
        600_000,
        &[(150_000, 0, Action::Update), (300_000, 1, Action::Update)],
    );
    plan.faults = vec![PlannedFault::new(100_000, 100_000, Fault::ExpiredEvent).times(1)];
    for informer in &mut plan.informers {
        informer.page_size = 2;
    }
    plan
}

fn streaming_ends_early() -> Plan {
    let mut plan = cluster(&[PlannedFault::new(
        0,
        600_000,
        Fault::EndBeforeInitialEventsEnd,
    )]);
    plan.safety_ms = 610_000;
    plan
}

/// Watches are rejected for a second, in which a pod is deleted and its history compacted.
fn deleted_while_away() -> Plan {
    let mut plan = pods(10_000, &[(3_700, 1, Action::Delete)]);
    plan.workload.extend(elsewhere(3_800, 3));
    plan.faults = vec![
        PlannedFault::new(3_500, 1_000, server_error(503)),
        disconnect(3_600),
        PlannedFault::new(3_900, 0, Fault::Expire),
    ];
    plan
}

/// Changes are far apart, so that a backoff that all kinds share has time to grow.
fn owned_forbidden() -> Plan {
    let updates: Vec<_> = (1..20).map(|n| (n * 20_000, 0, Action::Update)).collect();
    pods(400_000, &updates)
}

/// Returns changes of another resource at one moment.
fn elsewhere(at_ms: u64, count: u8) -> impl Iterator<Item = Operation> {
    (0..count)
        .map(move |slot| Operation::new(at_ms, Resource::Nodes, slot, Action::Create(Tier::Web)))
}
