//! An informer ends up equal to a model of a server after any faults, and so does what each handler received.

use std::{collections::BTreeMap, time::Duration};

use informer::{
    HandlerRegistration, IndexFn, Notification, Object, ObjectKey, SharedInformer,
    reflector::ReflectorOptions,
    testing::{Recording, RecordingHandler},
};
use proptest::prelude::*;
use tokio::time::sleep;

use crate::{
    reflector_converges::{Plan, ServerEvent, plan},
    support::ModelServer,
};

/// A handler that joined at some moment, and its notifications.
struct JoinedHandler {
    registration: HandlerRegistration,
    recording: Recording<()>,
}

impl JoinedHandler {
    fn join(informer: &SharedInformer<()>) -> Self {
        let (handler, recording) = RecordingHandler::new();
        let registration = informer.add_handler(handler);
        Self {
            registration,
            recording,
        }
    }

    /// Folds the notifications; each step must be legal.
    fn state(&self) -> Result<Vec<Object<()>>, TestCaseError> {
        let mut state: BTreeMap<ObjectKey, Object<()>> = BTreeMap::new();
        for notification in self.recording.take() {
            let key = notification.key().clone();
            match notification {
                Notification::Add { object, .. } => {
                    prop_assert!(state.insert(key, object).is_none());
                }
                Notification::Update { old, new, .. } => {
                    prop_assert_eq!(old.uid(), new.uid());
                    let known = state.insert(key, new);
                    prop_assert!(known.is_some_and(|known| known.is_same(&old)));
                }
                Notification::Delete { .. } => {
                    prop_assert!(state.remove(&key).is_some());
                }
            }
        }
        Ok(state.into_values().collect())
    }
}

fn text(objects: &[Object<()>]) -> String {
    let words: Vec<_> = objects.iter().map(|object| format!("{object:?}")).collect();
    words.join(" ")
}

/// Carries out the plan, with a handler that joins at each pause, and heals the server.
async fn carry_out(plan: Plan) -> Result<(), TestCaseError> {
    let server = ModelServer::with_faults(plan.list_faults, plan.watch_faults);
    let mut options = ReflectorOptions::default();
    options.streaming_lists = plan.streaming_lists;
    options.page_size = plan.page_size;
    options.seed = Some(plan.seed);
    let informer = SharedInformer::builder(server.clone())
        .with_options(options)
        .with_index("parity", IndexFn::new(|object| [parity(object)]))
        .build()
        .unwrap();
    let mut joined = vec![JoinedHandler::join(&informer)];
    informer.start();
    for happening in plan.happenings {
        match happening {
            ServerEvent::Put(name) => server.put(name),
            ServerEvent::Delete(name) => server.delete(name),
            ServerEvent::Compact => server.compact(),
            ServerEvent::Pause(time) => {
                sleep(time).await;
                joined.push(JoinedHandler::join(&informer));
            }
        }
    }
    server.heal();
    // The longest way back: a silent stream, a list that hangs, and a delay.
    sleep(Duration::from_mins(8)).await;
    prop_assert_eq!(text(&informer.store().list()), server.objects());
    prop_assert_eq!(informer.indexer().recount(), Ok(()));
    prop_assert!(informer.has_synced());
    for joined in &joined {
        prop_assert!(joined.registration.has_synced());
        prop_assert_eq!(text(&joined.state()?), server.objects());
    }
    informer.shutdown().await;
    prop_assert_eq!(informer.task_count(), 0);
    Ok(())
}

fn parity(object: &Object<()>) -> &'static str {
    let last = object.resource_version().as_str().bytes().last();
    if last.is_some_and(|digit| digit % 2 == 0) {
        "even"
    } else {
        "odd"
    }
}

proptest! {
    #[test]
    fn an_informer_and_what_its_handlers_received_end_up_equal_to_the_server(plan in plan()) {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .unwrap();
        runtime.block_on(carry_out(plan))?;
    }
}
