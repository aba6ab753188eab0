//! `informer::SharedInformer` under test: pods typed, config maps dynamic, nodes as metadata only.

use std::{
    cell::RefCell,
    collections::BTreeMap,
    future::{Future, pending},
    pin::Pin,
    sync::{Arc, Weak},
    time::Duration,
};

use informer::{
    DecodeError, Metadata, Object, ResourceVersion, Scope, SharedInformer, Snapshot, SyncPhase,
    compact::{Compact, CompactOptions},
    http::Encoding,
    reflector::Phase,
};
use k8s_openapi::api::core::v1::{ConfigMap, Node, Pod};
use kube::{
    api::{ApiResource, DynamicObject},
    core::PartialObjectMeta,
};
use serde::{Serialize, de::DeserializeOwned};

use super::{
    Extras, Subject, SubjectParts,
    assembly::{Builder, builder, list_watch, own_client},
    contents::{Contents, DigestMethod},
    copy_controller::CopyController,
    facade::Facade,
    handlers::Handlers,
    indices, own_checks,
    readers::Readers,
    reports::{self, ReportRecorder},
    status_reader::StatusReader,
    strict::Strict,
    version_waits::VersionWaits,
    waiters::Waiters,
};
use crate::{
    bugs::BuggyStore,
    digest::{self, Digested},
    participants::{
        ControllerPlan, HandlerPlan, InformerPlan, PlannedEncoding,
        controllers::run::Controllers,
        states::{key, state},
    },
    plan::Selection,
    task::TaskSet,
    trace::{CacheView, Key, Link, Member, Observation, Part, Recorder, State},
};

/// The limit of uncompressed bytes of compact informers: a few of the small objects of a plan.
const YOUNG_SIZE_MAX_BYTES: usize = 4_000;

/// Creates an informer of pods as the type of `k8s_openapi`, or of those that are not spoiled.
pub(super) fn pods(parts: SubjectParts<'_>, extras: Extras) -> Box<dyn Subject> {
    if is_strict(parts.plan) {
        boxed::<Strict<Pod>>(parts, &(), extras)
    } else {
        boxed::<Pod>(parts, &(), extras)
    }
}

fn is_strict(plan: &InformerPlan) -> bool {
    plan.selection.is_strict && plan.can_be_strict()
}

/// Creates an informer of config maps as `DynamicObject`.
pub(super) fn config_maps(parts: SubjectParts<'_>, extras: Extras) -> Box<dyn Subject> {
    let config_maps = ApiResource::erase::<ConfigMap>(&());
    boxed::<DynamicObject>(parts, &config_maps, extras)
}

/// Creates an informer of nodes as metadata only.
pub(super) fn nodes(parts: SubjectParts<'_>, extras: Extras) -> Box<dyn Subject> {
    boxed::<PartialObjectMeta<Node>>(parts, &(), extras)
}

struct InformerSubject<K> {
    place: usize,
    selection: Selection,
    informer: SharedInformer<K>,
    /// Another informer of the same program.
    companion: Option<SharedInformer<ConfigMap>>,
    copy_controller: Option<CopyController<K>>,
    waiters: Waiters,
    version_waits: VersionWaits,
    handlers: Handlers<K>,
    readers: Readers<K>,
    index_edit_period: Option<Duration>,
    index_edits: TaskSet,
    /// The snapshot that was observed last.
    observed: RefCell<Weak<Snapshot<K>>>,
    controllers: Controllers,
    contents: Contents<K>,
    reports: Arc<ReportRecorder>,
    status_reader: StatusReader,
    facade: Facade,
    recorder: Recorder,
    extras: Extras,
}

/// Creates an informer of `K` in the form that the plan says.
fn boxed<K>(
    parts: SubjectParts<'_>,
    dynamic_type: &K::DynamicType,
    extras: Extras,
) -> Box<dyn Subject>
where
    K: Digested + DeserializeOwned + Serialize + Send + Sync + 'static,
{
    let plan = parts.plan;
    let client = own_client(&parts);
    let list_watch = list_watch::<K>(client.clone(), &plan.selection.served(), dynamic_type);
    let list_watch = list_watch.with_encoding(match plan.encoding {
        PlannedEncoding::Json => Encoding::Json,
        PlannedEncoding::Protobuf => Encoding::Protobuf,
        PlannedEncoding::Cbor => Encoding::Cbor,
    });
    if plan.compact {
        let options = CompactOptions::default().with_young_size_max_bytes(YOUNG_SIZE_MAX_BYTES);
        let reading = DigestMethod {
            digest: if plan.transforms {
                |object| digest_signed(&*object.decode().ok()?, object.metadata())
            } else {
                |object: &Object<Compact<K>>| {
                    Some(digest::of_object(
                        &*object.decode().ok()?,
                        object.metadata(),
                    ))
                }
            },
            is_decoding: true,
        };
        let mut builder = builder(&parts, list_watch.compact(options), extras.bug);
        if plan.transforms {
            builder = builder.with_decode_transform(digest::sign);
        }
        InformerSubject::boxed(parts, client, builder, extras, reading)
    } else {
        let reading = DigestMethod {
            digest: if plan.transforms {
                |object| digest_signed(&**object.get(), object.metadata())
            } else {
                |object: &Object<K>| Some(digest::of_object(&**object.get(), object.metadata()))
            },
            is_decoding: false,
        };
        let mut builder = builder(&parts, list_watch, extras.bug);
        if plan.transforms {
            builder = builder.with_transform(digest::sign);
        }
        InformerSubject::boxed(parts, client, builder, extras, reading)
    }
}

// === impl InformerSubject ===

impl<K: Send + Sync + 'static> InformerSubject<K> {
    fn boxed(
        parts: SubjectParts<'_>,
        client: kube::Client,
        builder: Builder<K>,
        extras: Extras,
        reading: DigestMethod<K>,
    ) -> Box<dyn Subject> {
        let companion = extras
            .has_companion
            .then(|| SharedInformer::new(client.clone(), Scope::All));
        let reports = ReportRecorder::new(parts.informer, parts.recorder.clone());
        let facade = Facade::default();
        let consulted = Arc::clone(&reports);
        let builder = builder
            .with_observer(Arc::clone(&reports) as Arc<_>)
            .with_error_policy(move |failure| consulted.decide(failure));
        let build = || builder.build_through(|store| BuggyStore::new(store, extras.bug));
        let informer =
            metrics::with_local_recorder(&facade, build).expect("the index has a name of its own");
        let copy_controller = extras
            .is_copying
            .then(|| CopyController::new(&informer, client, extras.on_failure));
        let contents = Contents::new(parts.informer, reading, parts.recorder.clone());
        Box::new(Self {
            place: parts.informer,
            selection: Selection {
                is_strict: is_strict(parts.plan),
                ..parts.plan.selection.clone()
            },
            companion,
            copy_controller,
            waiters: Waiters::new(parts.informer, parts.recorder.clone()),
            version_waits: VersionWaits::new(parts.informer, parts.recorder.clone()),
            handlers: Handlers::new(
                parts.informer,
                contents.clone(),
                extras.bug,
                parts.recorder.clone(),
            ),
            readers: Readers::new(parts.informer, &informer, parts.recorder.clone()),
            index_edit_period: parts.plan.index_edit_ms.map(Duration::from_millis),
            index_edits: TaskSet::new(),
            observed: RefCell::default(),
            controllers: Controllers::new(parts.informer, parts.recorder.clone()),
            status_reader: StatusReader::new(&informer),
            informer,
            contents,
            reports,
            facade,
            recorder: parts.recorder,
            extras,
        })
    }
}

impl<K: Send + Sync + 'static> InformerSubject<K> {
    fn observe_status(&self) {
        let status = self.informer.status();
        let link = match status.phase {
            SyncPhase::Reflecting(Phase::Watching) => Link::Watching,
            SyncPhase::Reflecting(Phase::Paused { cause: None, .. }) if status.is_paused() => {
                Link::Paused
            }
            _ => Link::Other,
        };
        self.recorder.record(Observation::Status {
            informer: self.place,
            link,
            task_count: self.informer.task_count(),
            handler_count: self.informer.metrics().listeners.len(),
            held_handler_count: self.handlers.held_count(),
        });
    }

    fn observe_counts(&self, snapshot: &Snapshot<K>) {
        let counts = Box::new(reports::counts(&self.informer));
        let reported = self.reports.reported();
        let version = snapshot.resource_version();
        for (name, text) in self.facade.differences(&counts, version, &reported) {
            self.differ(name, text);
        }
        if let Some(text) = self.reports.difference(&self.informer.metrics()) {
            self.differ("numbers", text);
        }
        if let Some(text) = self.status_reader.difference(&self.informer) {
            self.differ("stream of the status", text);
        }
        self.recorder.record(Observation::Counted {
            informer: self.place,
            counts,
        });
    }

    fn differ(&self, name: &str, text: String) {
        self.recorder.record(Observation::Differs {
            informer: self.place,
            part: Part::Report,
            name: name.to_owned(),
            text,
        });
    }

    fn observe_undecodable(&self, snapshot: &Snapshot<K>) {
        let version = |error: &DecodeError| error.resource_version.as_str().parse().unwrap_or(0);
        self.recorder.record(Observation::Undecodable {
            informer: self.place,
            revision: revision_of(snapshot),
            members: snapshot
                .undecodable()
                .map(|error| (error.key.to_string().into(), version(error)))
                .collect(),
        });
    }

    /// Records the content of the cache, and returns it.
    fn observe_cache(&self) -> Arc<Snapshot<K>> {
        // Asked first: a cache that has synced by now is complete.
        let has_synced = self.informer.has_synced();
        let mut taken = None;
        self.recorder.record_with(|| {
            let snapshot = taken.insert(self.informer.indexer().snapshot());
            Observation::Cached {
                informer: self.place,
                revision: revision_of(snapshot),
                has_synced,
                members: members(snapshot),
            }
        });
        // Nothing was recorded if the run has ended.
        taken.unwrap_or_else(|| self.informer.indexer().snapshot())
    }
}

impl<K> Subject for InformerSubject<K>
where
    K: Send + Sync + 'static,
{
    fn selection(&self) -> &Selection {
        &self.selection
    }

    fn start(&mut self) {
        for _ in 0..self.extras.waiter_count {
            let informer = self.informer.clone();
            self.waiters.add(async move {
                // A wait without success did not see a complete cache.
                if informer.wait_for_cache_sync(Duration::MAX).await.is_err() {
                    pending::<()>().await;
                }
            });
        }
        if let Some(companion) = &self.companion {
            companion.start();
        }
        if let Some(copy_controller) = &mut self.copy_controller {
            copy_controller.start();
        }
        self.informer.start();
        let informer = self.informer.clone();
        self.version_waits.add(0, async move {
            let waited = informer.wait_for_cache_sync(Duration::MAX).await;
            waited
                .ok()
                .and_then(|()| revision_of(&informer.indexer().snapshot()))
        });
        if let Some(period) = self.index_edit_period {
            let (informer, recorder) = (self.informer.clone(), self.recorder.clone());
            self.index_edits = indices::edit(self.place, informer, period, recorder);
        }
    }

    fn join(&mut self, handler: usize, plan: &HandlerPlan) {
        self.handlers.join(&self.informer, handler, plan);
    }

    fn leave(&mut self, handler: usize) {
        self.handlers.leave(handler);
    }

    fn start_controller(&mut self, controller: usize, plan: &ControllerPlan) {
        let resource = self.selection.resource;
        self.controllers
            .start(&self.informer, controller, plan, resource);
    }

    fn pause(&mut self) -> bool {
        self.informer.pause();
        true
    }

    fn resume(&mut self) {
        self.informer.resume();
    }

    fn await_version(&mut self, revision: u64) {
        let informer = self.informer.clone();
        let version = ResourceVersion::new(revision.to_string());
        self.version_waits.add(revision, async move {
            let waited = informer.wait_until(&version, Duration::MAX).await;
            waited
                .ok()
                .and_then(|()| revision_of(&informer.indexer().snapshot()))
        });
    }

    fn has_synced(&self) -> bool {
        self.informer.has_synced()
    }

    fn holds(&self) -> BTreeMap<Key, State> {
        states(&self.informer.indexer().snapshot())
    }

    fn view(&self) -> Option<CacheView> {
        let informer = self.informer.clone();
        Some(Box::new(move || {
            let snapshot = informer.indexer().snapshot();
            (revision_of(&snapshot), states(&snapshot))
        }))
    }

    fn has_settled(&self) -> bool {
        let cached_revision = revision_of(&self.informer.indexer().snapshot());
        self.handlers.have_heard(&self.holds())
            && !self.version_waits.is_any_due(cached_revision)
            && self.controllers.are_idle()
    }

    fn observe(&self) {
        let snapshot = self.observe_cache();
        self.handlers.observe(&self.informer);
        self.controllers.observe();
        if self.selection.is_strict {
            self.observe_undecodable(&snapshot);
        }
        for object in snapshot.iter() {
            self.contents.see_again(object);
        }
        self.observe_status();
        self.observe_counts(&snapshot);
        // A snapshot never changes: each is recounted once.
        let before = self.observed.replace(Arc::downgrade(&snapshot));
        let is_new = before.as_ptr() != Arc::as_ptr(&snapshot);
        self.readers.observe(&self.informer, &snapshot, is_new);
        if is_new {
            for difference in indices::recount(self.place, &snapshot) {
                self.recorder.record(difference);
            }
        }
    }

    fn examine(&self, is_equal: bool) -> Pin<Box<dyn Future<Output = ()> + '_>> {
        Box::pin(async move {
            let compared = own_checks::compare(self.place, &self.informer, is_equal);
            if let Some(difference) = compared.await {
                self.recorder.record(difference);
            }
            let (name, resource) = (self.informer.name(), self.informer.resource());
            let plural = self.selection.resource.plural();
            if name != plural || resource != plural {
                self.differ("name", format!("is {name}, of {resource}"));
            }
            if !self.reports.is_asked_about_objects() {
                let text = "not asked about each object that does not decode, once";
                self.differ("policy about failures", text.to_owned());
            }
        })
    }

    fn stop(mut self: Box<Self>) -> Pin<Box<dyn Future<Output = ()>>> {
        Box::pin(async move {
            self.waiters.stop();
            self.version_waits.stop();
            self.index_edits.abort();
            self.controllers.stop().await;
            if let Some(copy_controller) = &mut self.copy_controller {
                copy_controller.stop().await;
            }
            if let Some(companion) = &self.companion {
                companion.shutdown().await;
            }
            self.informer.shutdown().await;
            self.handlers.ended().await;
            self.recorder.record(Observation::InformerStopped {
                informer: self.place,
                task_count: self.informer.task_count(),
            });
        })
    }
}

/// Returns the version of a cache, if it has one.
fn revision_of<K>(snapshot: &Snapshot<K>) -> Option<u64> {
    snapshot.resource_version().as_str().parse().ok()
}

/// Returns the content of a cache by keys.
fn states<K>(snapshot: &Snapshot<K>) -> BTreeMap<Key, State> {
    let members = members(snapshot).into_iter();
    members.map(|member| (member.key, member.state)).collect()
}

/// Returns the content of a cache, in order of keys.
fn members<K>(snapshot: &Snapshot<K>) -> Vec<Member> {
    let mut members: Vec<Member> = snapshot
        .iter()
        .map(|object| Member {
            key: key(object),
            state: state(object),
        })
        .collect();
    members.sort_by(|one, other| one.key.cmp(&other.key));
    members
}

/// Digests what a transform has signed; `None` if it is not signed, or not exactly once.
fn digest_signed<K: Digested>(object: &K, metadata: &Metadata) -> Option<u64> {
    Some(digest::of_object(&digest::unsigned(object)?, metadata))
}
