//! A reflector ends up equal to a model of a server after any faults, with few requests.

use std::time::Duration;

use informer::reflector::ReflectorOptions;
use proptest::prelude::*;
use tokio::time::{Instant, sleep};

use crate::support::{ListFault, ModelServer, WatchFault, reflect};

/// An event on the server.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ServerEvent {
    Put(u8),
    Delete(u8),
    Compact,
    Pause(Duration),
}

#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) happenings: Vec<ServerEvent>,
    pub(crate) list_faults: Vec<Option<ListFault>>,
    pub(crate) watch_faults: Vec<Option<WatchFault>>,
    pub(crate) streaming_lists: bool,
    pub(crate) page_size: Option<u32>,
    pub(crate) seed: u64,
}

pub(crate) fn plan() -> impl Strategy<Value = Plan> {
    let happening = prop_oneof![
        6 => (0..8_u8).prop_map(ServerEvent::Put),
        3 => (0..8_u8).prop_map(ServerEvent::Delete),
        1 => Just(ServerEvent::Compact),
        3 => (1..3000_u64).prop_map(|ms| ServerEvent::Pause(Duration::from_millis(ms))),
        1 => (1..400_u64).prop_map(|seconds| ServerEvent::Pause(Duration::from_secs(seconds))),
    ];
    let code = prop::sample::select(vec![400_u16, 401, 403, 404, 410, 429, 500, 503, 504]);
    let list_fault = prop_oneof![
        code.clone().prop_map(ListFault::Fails),
        Just(ListFault::Hangs),
        (1..10_u64).prop_map(ListFault::Lags),
        (1..10_u64).prop_map(ListFault::LagsInSilence),
    ];
    let watch_fault = prop_oneof![
        code.prop_map(WatchFault::Fails),
        Just(WatchFault::Refuses),
        Just(WatchFault::Hangs),
        (0..6_usize).prop_map(WatchFault::EndsAfter),
        (0..6_usize).prop_map(WatchFault::BreaksAfter),
        (0..6_usize).prop_map(WatchFault::SilentAfter),
        (0..6_usize).prop_map(WatchFault::GarbageAfter),
        (0..6_usize).prop_map(WatchFault::ExpiresAfter),
        Just(WatchFault::IgnoresStreaming),
        Just(WatchFault::RejectsStreaming),
    ];
    (
        prop::collection::vec(happening, 0..80),
        prop::collection::vec(prop::option::of(list_fault), 0..30),
        prop::collection::vec(prop::option::weighted(0.8, watch_fault), 0..60),
        any::<bool>(),
        prop::option::of(1..4_u32),
        any::<u64>(),
    )
        .prop_map(
            |(happenings, list_faults, watch_faults, streaming_lists, page_size, seed)| Plan {
                happenings,
                list_faults,
                watch_faults,
                streaming_lists,
                page_size,
                seed,
            },
        )
}

/// Carries out the plan, heals the server, and gives the time after which the copy was equal.
async fn carry_out(plan: Plan) -> Result<(), TestCaseError> {
    let server = ModelServer::with_faults(plan.list_faults, plan.watch_faults);
    let mut options = ReflectorOptions::default();
    options.streaming_lists = plan.streaming_lists;
    options.page_size = plan.page_size;
    options.seed = Some(plan.seed);
    let running = reflect(server.clone(), options);
    let began = Instant::now();
    for happening in plan.happenings {
        match happening {
            ServerEvent::Put(name) => server.put(name),
            ServerEvent::Delete(name) => server.delete(name),
            ServerEvent::Compact => server.compact(),
            ServerEvent::Pause(time) => sleep(time).await,
        }
    }
    server.heal();
    // The longest way back: a silent stream, a list that hangs, and a delay.
    sleep(Duration::from_mins(8)).await;
    prop_assert_eq!(running.mirror.objects(), server.objects());
    // Delays are at least 0.8 s, and a few requests may come without one; pages are requests too.
    let requests_max = 20 + 6 * usize::try_from(began.elapsed().as_secs()).unwrap();
    prop_assert!(
        server.request_count() <= requests_max,
        "{}",
        server.request_count()
    );
    // What happens from here on is seen at once.
    server.put(9);
    server.delete(1);
    sleep(Duration::from_millis(1)).await;
    prop_assert_eq!(running.mirror.objects(), server.objects());
    running.tasks.shutdown().await;
    prop_assert!(running.tasks.is_empty());
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_copy_equals_the_server_once_nothing_is_wrong(plan in plan()) {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .unwrap();
        runtime.block_on(carry_out(plan))?;
    }
}
