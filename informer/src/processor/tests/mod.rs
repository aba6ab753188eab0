mod coalesce;
mod delivery;
mod mailbox;
mod processor;
mod stream;

use std::time::Duration;

use tokio::time::{Instant, sleep};

use super::{HandlerOptions, HandlerRegistration, Listener, PresentObjects, Processor};
use crate::{
    fixtures::{Value, object},
    handler::{Notification, NotificationCause},
    object::{Deleted, Object},
    task::TaskSet,
    testing::{Recording, RecordingHandler},
};

const LIMIT: Duration = Duration::from_mins(1);

fn present(names: &str) -> PresentObjects<Value> {
    let objects: Vec<_> = names.split_whitespace().map(object).collect();
    Box::new(objects.into_iter())
}

/// `+a@1` an add, `~a@1` an update to that version, `-a@1` a deletion.
fn changes(text: &str) -> Vec<Notification<Value>> {
    let change = |word: &str| {
        let (kind, rest) = word.split_at(1);
        let object = object(rest);
        match kind {
            "+" => Notification::Add {
                object,
                cause: NotificationCause::Live,
            },
            "~" => Notification::Update {
                old: object_of_version_0(&object),
                new: object,
                cause: NotificationCause::Live,
            },
            _ => Notification::Delete {
                deleted: Deleted::Object(object),
                cause: NotificationCause::Live,
            },
        }
    };
    text.split_whitespace().map(change).collect()
}

fn object_of_version_0(object: &Object<Value>) -> Object<Value> {
    crate::fixtures::object(&format!("{}@0", object.key()))
}

fn recorder(options: HandlerOptions) -> (Listener<Value>, HandlerRegistration, Recording<Value>) {
    let (handler, recording) = RecordingHandler::new();
    let (listener, registration) = Listener::new(handler, options);
    (listener, registration, recording)
}

/// A started processor. The set is dropped last.
fn started() -> (Processor<Value>, TaskSet) {
    let tasks = TaskSet::new();
    let mut processor = Processor::new();
    processor.start(&tasks.spawner(), Instant::now());
    (processor, tasks)
}

/// Lets every task run until it waits.
async fn settle() {
    sleep(Duration::from_millis(1)).await;
}
