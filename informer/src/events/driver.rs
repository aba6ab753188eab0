//! The task of a recorder: takes events out of the queue, one after the other, and writes them as the correlator decides.

use std::{sync::Arc, time::Duration};

use k8s_openapi::{
    api::core::v1::{Event, EventSource},
    apimachinery::pkg::apis::meta::v1::Time,
};
use kube::{
    Api,
    api::{ObjectMeta, Patch, PatchParams, PostParams},
};
use serde_json::json;
use tokio::{
    select,
    sync::{mpsc, oneshot},
    time::{sleep, timeout},
};
use tokio_util::sync::CancellationToken;
use tracing::{debug, warn};

use super::{
    EventRecorderOptions,
    correlator::{Correlator, Decision, Occurrence, Record},
    metrics::{DropReason, Metrics},
};
use crate::{backoff::Jitter, entropy};

/// The cause in the server's answer to an event in a namespace that is being deleted.
const NAMESPACE_TERMINATING: &str = "NamespaceTerminating";

/// An item of the queue.
#[derive(Debug)]
pub(super) enum QueuedItem {
    Event(Box<Occurrence>),
    /// A mark that all events before it are written or given up.
    Flush(oneshot::Sender<()>),
}

/// The only writer of a recorder's events.
pub(super) struct Driver {
    client: kube::Client,
    component: Arc<str>,
    options: EventRecorderOptions,
    queue: mpsc::Receiver<QueuedItem>,
    correlator: Correlator,
    metrics: Metrics,
    jitter: Jitter,
    /// True while an event is out of the queue and neither written nor given up.
    is_writing: bool,
}

/// The request of the next attempt.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Write {
    Create,
    Patch,
}

/// The reason why an attempt failed.
#[derive(Debug, thiserror::Error)]
enum WriteError {
    #[error(transparent)]
    Server(#[from] kube::Error),
    #[error("no answer in time")]
    NoAnswer,
}

// === impl Driver ===

impl Driver {
    pub(super) fn new(
        client: kube::Client,
        component: Arc<str>,
        options: EventRecorderOptions,
        queue: mpsc::Receiver<QueuedItem>,
        metrics: Metrics,
    ) -> Self {
        Self {
            client,
            component,
            correlator: Correlator::new(&options),
            jitter: Jitter::new(options.seed.unwrap_or_else(entropy::seed)),
            options,
            queue,
            metrics,
            is_writing: false,
        }
    }

    /// Writes what is queued until `stop`, and then what is left, with one attempt each and for as long as the options allow.
    pub(super) async fn run(mut self, stop: CancellationToken) {
        let limit = self.options.shutdown_timeout;
        let out_of_time = async {
            stop.cancelled().await;
            sleep(limit).await;
        };
        select! {
            biased;
            () = self.write_all(&stop) => {}
            () = out_of_time => warn!(component = %self.component, ?limit, "events are left at the shutdown"),
        }
        self.queue.close();
        if self.is_writing {
            self.metrics.dropped(DropReason::Shutdown);
        }
        while let Ok(queued) = self.queue.try_recv() {
            if matches!(queued, QueuedItem::Event(_)) {
                self.metrics.dropped(DropReason::Shutdown);
            }
        }
    }

    /// Writes events until the queue is closed and empty. `stop` closes it.
    async fn write_all(&mut self, stop: &CancellationToken) {
        loop {
            let queued = select! {
                biased;
                () = stop.cancelled(), if !self.queue.is_closed() => {
                    self.queue.close();
                    continue;
                }
                queued = self.queue.recv() => queued,
            };
            match queued {
                None => return,
                Some(QueuedItem::Flush(done)) => {
                    // The receiver is gone if the wait was given up.
                    let _ = done.send(());
                }
                Some(QueuedItem::Event(event)) => {
                    let (record, write) = match self.correlator.correlate(*event) {
                        Decision::Create(record) => (record, Write::Create),
                        Decision::Patch(record) => (record, Write::Patch),
                        Decision::Drop => {
                            self.metrics.dropped(DropReason::Limited);
                            continue;
                        }
                    };
                    self.is_writing = true;
                    self.write(&record, write, stop).await;
                    self.is_writing = false;
                }
            }
        }
    }

    /// Tries to write an event until it is written, refused or given up.
    async fn write(&mut self, record: &Record, mut write: Write, stop: &CancellationToken) {
        let mut try_count = 0;
        let mut may_exist = false;
        loop {
            try_count += 1;
            let is_last = stop.is_cancelled() || try_count >= self.options.tries_max;
            let event = &record.name;
            match self.attempt(record, &mut write).await {
                Ok(()) => return self.metrics.written(),
                Err(error) if may_exist && write == Write::Create && error.code() == Some(409) => {
                    debug!(event, "an earlier attempt has created the event");
                    return self.metrics.written();
                }
                Err(error) if error.is_refusal(write) => {
                    self.metrics.failed();
                    if error.is_expected() {
                        debug!(event, %error, "the server does not take the event");
                    } else {
                        warn!(event, %error, "the server does not take the event");
                    }
                    return self.metrics.dropped(DropReason::Refused);
                }
                Err(error) if is_last => {
                    self.metrics.failed();
                    warn!(event, %error, try_count, "gave up writing the event");
                    return self.metrics.dropped(DropReason::Failed);
                }
                Err(error) => {
                    self.metrics.failed();
                    may_exist |= write == Write::Create && error.is_outcome_unknown();
                    debug!(event, %error, try_count, "cannot write the event");
                }
            }
            let delay = self.delay(try_count);
            // A recorder that is shut down tries once more, at once.
            stop.run_until_cancelled(sleep(delay)).await;
        }
    }

    /// Sends the request, and a create if there is nothing to patch.
    async fn attempt(&self, record: &Record, write: &mut Write) -> Result<(), WriteError> {
        if *write == Write::Patch {
            match self.send(record, *write).await {
                // It has expired, or an earlier event was not written.
                Err(error) if error.code() == Some(404) => *write = Write::Create,
                outcome => return outcome,
            }
        }
        self.send(record, *write).await
    }

    async fn send(&self, record: &Record, write: Write) -> Result<(), WriteError> {
        let api: Api<Event> = Api::namespaced(self.client.clone(), &record.namespace);
        let sent = async {
            match write {
                Write::Create => {
                    let event = self.event_of(record);
                    api.create(&PostParams::default(), &event).await
                }
                Write::Patch => {
                    let patch = patch_of(record);
                    api.patch(&record.name, &PatchParams::default(), &patch)
                        .await
                }
            }
        };
        match timeout(self.options.request_timeout, sent).await {
            Ok(outcome) => Ok(outcome.map(drop)?),
            Err(_) => Err(WriteError::NoAnswer),
        }
    }

    /// Returns the pause after the given number of attempts. The first one is a part, so that the clients of a server that comes back do
    /// not all come at once.
    fn delay(&mut self, try_count: u32) -> Duration {
        let delay = self.options.retry_delay;
        if try_count == 1 {
            delay.mul_f64(self.jitter.share())
        } else {
            delay
        }
    }

    fn event_of(&self, record: &Record) -> Event {
        let instance = &self.options.instance;
        Event {
            metadata: ObjectMeta {
                name: Some(record.name.clone()),
                namespace: Some(record.namespace.clone()),
                ..ObjectMeta::default()
            },
            involved_object: record.object.clone(),
            type_: Some(record.type_.as_str().to_owned()),
            reason: Some(record.reason.clone()),
            message: Some(record.message.clone()),
            count: Some(record.count),
            first_timestamp: Some(Time(record.first)),
            last_timestamp: Some(Time(record.last)),
            source: Some(EventSource {
                component: Some(self.component.as_ref().to_owned()),
                host: (!instance.is_empty()).then(|| instance.clone()),
            }),
            reporting_component: Some(self.component.as_ref().to_owned()),
            reporting_instance: Some(instance.clone()),
            ..Event::default()
        }
    }
}

/// Returns what changes in an event that occurred again.
fn patch_of(record: &Record) -> Patch<serde_json::Value> {
    Patch::Strategic(json!({
        "count": record.count,
        "lastTimestamp": Time(record.last),
        "message": record.message,
    }))
}

// === impl WriteError ===

impl WriteError {
    /// Returns the status code of the server's answer.
    fn code(&self) -> Option<u16> {
        match self {
            Self::Server(kube::Error::Api(status)) => Some(status.code),
            _ => None,
        }
    }

    /// Returns whether another attempt would be refused, too.
    fn is_refusal(&self, write: Write) -> bool {
        match self.code() {
            // Patches are tried again by the server, but not for ever.
            Some(409) => write == Write::Create,
            Some(408 | 429) => false,
            Some(code) => (400..500).contains(&code),
            None => matches!(self, Self::Server(kube::Error::BuildRequest(_))),
        }
    }

    /// Returns whether the refusal says nothing about the program.
    fn is_expected(&self) -> bool {
        let Self::Server(kube::Error::Api(status)) = self else {
            return false;
        };
        let details = status.details.iter();
        let mut causes = details.flat_map(|details| &details.causes);
        status.code == 409 || causes.any(|cause| cause.reason == NAMESPACE_TERMINATING)
    }

    /// Returns whether the write may have taken effect.
    fn is_outcome_unknown(&self) -> bool {
        self.code().is_none_or(|code| code == 408 || code >= 500)
    }
}
