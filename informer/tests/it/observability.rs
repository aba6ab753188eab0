//! Observability of an informer: metrics by the facade, spans, and no object contents anywhere.

use std::{
    io::Write,
    sync::{Arc, LazyLock, Mutex},
    time::Duration,
};

use fakeserver::FakeServer;
use informer::{
    HandlerFuncs, HandlerOptions, Scope, SharedInformer, http::HttpListWatch, metrics as listeners,
    metrics as names, reflector::ReflectorOptions,
};
use k8s_openapi::{api::core::v1::ConfigMap, apimachinery::pkg::apis::meta::v1::ObjectMeta};
use kube::{
    Api,
    api::{DeleteParams, PostParams},
};
use tokio::time::sleep;
use tracing::{
    Dispatch,
    subscriber::{DefaultGuard, NoSubscriber},
};

use crate::support::{Answer, RecordedMetrics, Server, added, config_map, list, status};

const LIMIT: Duration = Duration::from_mins(1);
/// In the data of every object, and nowhere else.
const MARKER: &str = "VERY-SECRET";

/// All that is logged by this thread while it lives.
struct Log {
    text: Arc<Mutex<Vec<u8>>>,
    _guard: DefaultGuard,
}

/// A second subscriber, of nothing. With a single one, a place that logs for the first time on a thread that has none is
/// silent from then on, on all threads.
static SECOND: LazyLock<Dispatch> = LazyLock::new(|| Dispatch::new(NoSubscriber::new()));

#[derive(Clone)]
struct Sink(Arc<Mutex<Vec<u8>>>);

// === impl Log ===

impl Log {
    fn new() -> Self {
        LazyLock::force(&SECOND);
        let text = Arc::new(Mutex::new(Vec::new()));
        let sink = Sink(Arc::clone(&text));
        let subscriber = tracing_subscriber::fmt()
            .with_max_level(tracing::Level::TRACE)
            .with_ansi(false)
            .without_time()
            .with_writer(move || sink.clone())
            .finish();
        Self {
            text,
            _guard: tracing::subscriber::set_default(subscriber),
        }
    }

    /// The lines of the informer's own.
    fn lines(&self) -> Vec<String> {
        let text = String::from_utf8(self.text.lock().unwrap().clone()).unwrap();
        let lines = text.lines().filter(|line| line.contains("informer"));
        lines.map(str::to_owned).collect()
    }
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

fn object(name: &str) -> ConfigMap {
    ConfigMap {
        metadata: ObjectMeta {
            name: Some(name.into()),
            ..ObjectMeta::default()
        },
        data: Some([("key".to_owned(), MARKER.to_owned())].into()),
        ..ConfigMap::default()
    }
}

fn streaming() -> ReflectorOptions {
    ReflectorOptions::default().with_seed(0)
}

/// Starts an informer of config maps with a handler, and adds, updates and deletes one.
async fn healthy_life(server: &FakeServer) -> SharedInformer<ConfigMap> {
    let api: Api<ConfigMap> = Api::namespaced(server.client(), "default");
    let informer = SharedInformer::builder(HttpListWatch::new(server.client(), Scope::All))
        .with_options(streaming())
        .build()
        .unwrap();
    let options = HandlerOptions::default().with_name("counting");
    let registration = informer.add_handler_with(HandlerFuncs::new(), options);
    informer.start();
    informer.wait_for_cache_sync(LIMIT).await.unwrap();
    let mut created = api
        .create(&PostParams::default(), &object("a"))
        .await
        .unwrap();
    created.immutable = Some(false);
    api.replace("a", &PostParams::default(), &created)
        .await
        .unwrap();
    api.delete("a", &DeleteParams::default()).await.unwrap();
    sleep(Duration::from_mins(30)).await;
    assert!(registration.has_synced());
    informer
}

#[tokio::test(start_paused = true)]
async fn a_healthy_life_warns_of_nothing_and_names_resource_and_handler() {
    let server = FakeServer::builder().build();
    let log = Log::new();
    let informer = healthy_life(&server).await;
    informer.shutdown().await;
    let lines = log.lines();
    let bad: Vec<_> = lines
        .iter()
        .filter(|line| line.contains("WARN ") || line.contains("ERROR "))
        .collect();
    assert!(bad.is_empty(), "{bad:#?}");
    let all = lines.join("\n");
    assert!(all.contains("informer{resource=configmaps"), "{all}");
    assert!(all.contains("informer synced"), "{all}");
    assert!(!all.contains(MARKER), "{all}");
}

#[tokio::test(start_paused = true)]
async fn a_handler_that_falls_behind_is_warned_of_once_until_it_has_half_caught_up() {
    let server = FakeServer::builder().build();
    let log = Log::new();
    let api: Api<ConfigMap> = Api::namespaced(server.client(), "default");
    let informer: SharedInformer<ConfigMap> = SharedInformer::builder(HttpListWatch::new(
        server.client(),
        Scope::Namespace("default".into()),
    ))
    .with_options(streaming())
    .build()
    .unwrap();
    let options = HandlerOptions::default()
        .with_name("slow")
        .with_warning_at(2);
    let minute = Duration::from_mins(1);
    let registration = informer.add_async_handler_with(move |_| sleep(minute), options);
    informer.start();
    informer.wait_for_cache_sync(LIMIT).await.unwrap();
    let create = async |names: &str| {
        for name in names.split(' ') {
            let created = object(name);
            api.create(&PostParams::default(), &created).await.unwrap();
        }
        sleep(Duration::from_secs(1)).await;
    };
    // Four wait, one of them in the handler: the third is one too many.
    create("a b c d").await;
    // One has been handled, and four wait again.
    sleep(minute).await;
    create("e").await;
    // One waits, half of what may, and then three.
    sleep(minute * 3).await;
    create("f g").await;
    let metrics = registration.metrics();
    informer.shutdown().await;
    assert_eq!((metrics.delivered, metrics.pending), (4, 3));
    let lines = log.lines();
    let warned: Vec<_> = (lines.iter())
        .filter(|line| line.contains("handler falls behind"))
        .collect();
    assert_eq!(warned.len(), 2, "{warned:#?}");
    assert!(
        (warned.iter()).all(|line| line.contains("pending=3") && line.contains("slow")),
        "{warned:#?}"
    );
}

/// A config map whose data is a string.
fn undecodable(name: &str, version: u64) -> String {
    config_map(name, version).replacen('{', &format!(r#"{{"data":"{MARKER}","#), 1)
}

#[tokio::test(start_paused = true)]
async fn nothing_of_an_object_is_ever_logged_or_shown() {
    let log = Log::new();
    let server = Server::new(|request, number| {
        let a = config_map("a", 3).replacen('{', &format!(r#"{{"data":{{"k":"{MARKER}"}},"#), 1);
        match number {
            // A body that is broken in the middle of an object, and one of another kind.
            0 => Answer::Whole(200, format!(r#"{{"items":[{{"data":"{MARKER}"#)),
            1 => Answer::Whole(200, format!(r#"{{"kind":"{MARKER}","items":"{MARKER}"}}"#)),
            2 => status(500, "InternalError"),
            3 => list(7, &[a, undecodable("bad", 4)], ""),
            4 => Answer::Ends(vec![
                added(&undecodable("worse", 8)),
                format!(r#"{{"type":"ADDED","object":"{MARKER}"}}"#),
            ]),
            5 => Answer::Ends(vec![format!(
                r#"{{"type":"ODD","object":{{"k":"{MARKER}"}}}}"#
            )]),
            6 => Answer::Ends(vec![format!(r#"{{"type":"ADDED","object":{{"{MARKER}"#)]),
            _ if request.is_watch() => Answer::Stays(vec![]),
            _ => list(9, &[], ""),
        }
    });
    let list_watch = HttpListWatch::<ConfigMap>::new(server.client(), Scope::All);
    let informer = SharedInformer::builder(list_watch)
        .with_options(streaming().with_streaming_lists(false))
        .build()
        .unwrap();
    let panicking =
        HandlerFuncs::new().with_add(|_, _| std::panic::resume_unwind(Box::new(MARKER.to_owned())));
    let options = HandlerOptions::default().with_name("panicking");
    let _registration = informer.add_handler_with(panicking, options);
    let mut output = vec![format!("{informer:?}")];
    informer.start();
    for _ in 0..60 {
        sleep(Duration::from_secs(1)).await;
        output.push(format!("{informer:?} {}", informer.status()));
    }
    output.push(format!(
        "{:?} {:?}",
        informer.store().list(),
        informer.undecodable()
    ));
    let output = output.join("\n");
    informer.shutdown().await;
    assert!(server.seen().len() > 6, "{:?}", server.seen_in_short());
    let all = log.lines().join("\n");
    for expected in [
        "trying again",
        "cannot decode an object",
        "handler panicked",
    ] {
        assert!(all.contains(expected), "{expected}: {all}");
    }
    assert!(all.contains("listener{handler=panicking}"), "{all}");
    assert!(!all.contains(MARKER), "{all}");
    assert!(!output.contains(MARKER), "{output}");
}

#[tokio::test(start_paused = true)]
async fn metrics_report_of_lists_watches_and_the_store_by_name_and_resource() {
    let recorded = RecordedMetrics::default();
    let server = Server::new(|request, number| match number {
        0 => status(500, "InternalError"),
        1 => list(7, &[config_map("a", 3), config_map("b", 5)], ""),
        2 => Answer::Ends(vec![]),
        3 => Answer::Stays(vec![added(&config_map("c", 8))]),
        _ if request.is_watch() => Answer::Stays(vec![]),
        _ => list(9, &[], ""),
    });
    let (informer, registration) = metrics::with_local_recorder(&recorded, || {
        let list_watch = HttpListWatch::<ConfigMap>::new(server.client(), Scope::All);
        let informer = SharedInformer::builder(list_watch)
            .with_options(streaming().with_streaming_lists(false))
            .with_name("mine")
            .build()
            .unwrap();
        let options = HandlerOptions::default().with_name("ours");
        let registration = informer.add_handler_with(HandlerFuncs::new(), options);
        (informer, registration)
    });
    informer.start();
    sleep(Duration::from_mins(1)).await;
    let values = |name: &str| recorded.values(&format!("{name}{{name=mine,resource=configmaps}}"));
    assert_eq!(values(names::LISTS_TOTAL), [1.0, 1.0]);
    assert_eq!(values(names::ITEMS_PER_LIST), [2.0]);
    assert_eq!(values(names::LIST_DURATION_SECONDS), [0.0]);
    assert_eq!(values(names::WATCHES_TOTAL), [1.0, 1.0]);
    assert_eq!(values(names::SHORT_WATCHES_TOTAL), [1.0]);
    assert_eq!(values(names::ITEMS_PER_WATCH), [0.0]);
    assert_eq!(values(names::LAST_RESOURCE_VERSION), [7.0]);
    assert_eq!(values(names::FAILURES_TOTAL), [1.0, 1.0]);
    assert_eq!(values(names::STORE_RESOURCE_VERSION), [8.0]);
    assert_eq!(values(names::STORE_OBJECTS), [3.0]);
    assert_eq!(values(names::QUEUED_ITEMS), [0.0]);
    assert_eq!(values(names::PROCESSING_LATENCY_SECONDS), [0.0, 0.0]);
    let of_handler = |name: &str| {
        recorded.values(&format!(
            "{name}{{name=mine,resource=configmaps,handler=ours}}"
        ))
    };
    assert_eq!(of_handler(listeners::NOTIFICATIONS_TOTAL), [1.0; 3]);
    assert_eq!(of_handler(listeners::PENDING_NOTIFICATIONS), [0.0]);
    assert_eq!(
        of_handler(listeners::HANDLER_PANICS_TOTAL),
        Vec::<f64>::new()
    );
    drop(registration);

    informer.shutdown().await;
    drop(informer);
    for gauge in [
        names::LAST_RESOURCE_VERSION,
        names::STORE_RESOURCE_VERSION,
        names::STORE_OBJECTS,
    ] {
        assert_eq!(values(gauge), [0.0], "{gauge}");
    }
}
