//! A view of a factory, and the informer that was requested through it.

use std::{collections::VecDeque, sync::Arc};

use futures::future::BoxFuture;
use informer::{
    LabelSelector, Object,
    factory::{
        FactoryObject, ScopedInformer, ScopedRegistration, Selectors, SharedInformerFactory,
    },
};
use k8s_openapi::api::core::v1::{ConfigMap, Node, Pod};
use kube::core::PartialObjectMeta;
use serde::de::DeserializeOwned;

use super::{FactoryEvent, ViewPlan, handler::Handler};
use crate::{
    digest::{self, Digested},
    participants::states::state,
    plan::{Resource, Selection},
    trace::{Member, Recorder},
};

/// A view of any type.
pub(super) trait AnyView: Send + Sync {
    /// Requests its informer, and returns the list of it, and true if the view has a transform.
    fn request(&mut self) -> (Arc<str>, bool);
    /// Adds a handler of this number to its informer.
    fn join(&mut self, handler: usize);
    /// Removes its oldest handler, and waits for its last call if that is to be awaited.
    fn leave(&mut self, is_awaited: bool) -> BoxFuture<'_, ()>;
    /// Drops its handle, and forgets its handlers.
    fn release(&mut self);
    /// Returns the number of its handlers, if it has an informer.
    fn handler_count(&self) -> Option<usize>;
    /// Returns the number of tasks of its informer.
    fn task_count(&self) -> usize;
    /// Returns true if its informer, if there is one, has synced and holds exactly these objects.
    fn is_equal(&self, members: &[Member]) -> bool;
    /// Records the cache of its informer, if there is one.
    fn observe(&self);
}

struct View<K> {
    place: usize,
    list: Arc<str>,
    transforms: bool,
    factory: SharedInformerFactory,
    informer: Option<ScopedInformer<K>>,
    handlers: VecDeque<(usize, ScopedRegistration)>,
    recorder: Recorder,
}

/// Creates the view at this place of the plan.
pub(super) fn view(
    place: usize,
    plan: &ViewPlan,
    factory: &SharedInformerFactory,
    recorder: &Recorder,
) -> Box<dyn AnyView> {
    match plan.selection.resource {
        Resource::Pods => View::<Pod>::boxed(place, plan, factory, recorder),
        Resource::ConfigMaps => View::<ConfigMap>::boxed(place, plan, factory, recorder),
        Resource::Nodes => View::<PartialObjectMeta<Node>>::boxed(place, plan, factory, recorder),
    }
}

// === impl View ===

impl<K> View<K>
where
    K: FactoryObject<Resource = K> + Digested + DeserializeOwned + Send + Sync + 'static,
    K: kube::Resource<DynamicType = ()>,
{
    fn boxed(
        place: usize,
        plan: &ViewPlan,
        factory: &SharedInformerFactory,
        recorder: &Recorder,
    ) -> Box<dyn AnyView> {
        let selection = &plan.selection;
        let selectors = selectors(selection);
        let mut factory = factory.clone().with_selectors(selectors.clone());
        if let Some(namespace) = &selection.namespace {
            factory = factory.with_namespace(namespace.clone());
        }
        if plan.transforms {
            factory = factory.with_transform::<K>(digest::sign);
        }
        let path = K::url_path(&(), selection.namespace.as_deref());
        let list = match selectors.labels() {
            "" => path,
            labels => format!("{path} {labels}"),
        };
        Box::new(Self {
            place,
            list: list.into(),
            transforms: plan.transforms,
            factory,
            informer: None,
            handlers: VecDeque::new(),
            recorder: recorder.clone(),
        })
    }

    fn objects(&self) -> Vec<Object<K>> {
        let everything = LabelSelector::everything();
        let informer = self.informer.iter();
        let listed = informer.filter_map(|informer| informer.lister().list(&everything).ok());
        listed.flatten().collect()
    }

    fn members(&self) -> Vec<Member> {
        let objects = self.objects().into_iter();
        let members = objects.map(|object| Member {
            key: object.key().to_string().into(),
            state: state(&object),
        });
        let mut members: Vec<Member> = members.collect();
        members.sort_by(|one, other| one.key.cmp(&other.key));
        members
    }

    fn record(&self, event: FactoryEvent) {
        self.recorder.record(event);
    }
}

impl<K> AnyView for View<K>
where
    K: FactoryObject<Resource = K> + Digested + DeserializeOwned + Send + Sync + 'static,
    K: kube::Resource<DynamicType = ()>,
{
    fn request(&mut self) -> (Arc<str>, bool) {
        self.informer = Some(self.factory.informer_for::<K>());
        (Arc::clone(&self.list), self.transforms)
    }

    fn join(&mut self, handler: usize) {
        let Some(informer) = &self.informer else {
            return;
        };
        let view = self.place;
        self.record(FactoryEvent::Joins { view, handler });
        let registration = informer.add_handler(Handler {
            handler,
            recorder: self.recorder.clone(),
        });
        self.handlers.push_back((handler, registration));
    }

    fn leave(&mut self, is_awaited: bool) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            let Some((handler, registration)) = self.handlers.pop_front() else {
                return;
            };
            if is_awaited {
                registration.remove().await;
            } else {
                drop(registration);
            }
            self.record(FactoryEvent::Leaves { handler });
        })
    }

    fn release(&mut self) {
        self.informer = None;
        for (_, registration) in self.handlers.drain(..) {
            registration.detach();
        }
    }

    fn handler_count(&self) -> Option<usize> {
        self.informer.as_ref().map(|_| self.handlers.len())
    }

    fn task_count(&self) -> usize {
        let informers = self.informer.iter().flat_map(ScopedInformer::informers);
        informers.map(|informer| informer.task_count()).sum()
    }

    fn is_equal(&self, members: &[Member]) -> bool {
        self.informer
            .as_ref()
            .is_none_or(|informer| informer.has_synced() && self.members() == members)
    }

    fn observe(&self) {
        let Some(informer) = &self.informer else {
            return;
        };
        let has_synced = informer.has_synced();
        let synced = self.handlers.iter();
        let synced = synced.filter(|(_, registration)| registration.has_synced());
        self.record(FactoryEvent::Cached {
            view: self.place,
            has_synced,
            synced_handlers: synced.map(|(handler, _)| *handler).collect(),
            members: self.members(),
        });
        let is_transformed = |object: &Object<K>| digest::unsigned(&**object.get()).is_some();
        let differs = |object: &&Object<K>| is_transformed(object) != self.transforms;
        if let Some(object) = self.objects().iter().find(differs) {
            let (view, key) = (self.place, object.key());
            let text = format!("view {view} has {key} with another transform than its own");
            self.record(FactoryEvent::Differs { text });
        }
    }
}

fn selectors(selection: &Selection) -> Selectors {
    let labels = selection.label_selector();
    let labels = labels.map_or_else(LabelSelector::everything, |text| {
        text.parse().expect("a plan's selectors can be parsed")
    });
    Selectors::everything().with_labels(&labels)
}
