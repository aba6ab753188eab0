//! Handlers that queue what is to be reconciled.

use std::{collections::BTreeSet, fmt, sync::Arc};

use super::{AddOptions, Priority, WorkQueue};
use crate::{
    handler::{EventHandler, Notification},
    object::{Object, ObjectKey, OwnerReference},
};

/// Queues what a notification is about, each item once: by its own key ([`for_object`](Enqueue::for_object)), by its owner
/// ([`for_owner`](Enqueue::for_owner)), or by what a function makes of the object ([`with`](Enqueue::with)).
///
/// An update queues the keys of the old object and those of the new one, so that both owners of an object that changes its
/// owner are queued. A deletion, tombstones included, is about the last state that is known.
///
/// An initial or unchanged object has a [low priority](Priority::LOW), so that real changes overtake a start-up or a
/// resync.
///
/// # Examples
///
/// ```
/// use informer::{ObjectKey, SharedInformer, workqueue::{Enqueue, OwnerKind, WorkQueue}};
/// use k8s_openapi::api::apps::v1::{Deployment, ReplicaSet};
///
/// fn feed(
///     deployments: &SharedInformer<Deployment>,
///     replica_sets: &SharedInformer<ReplicaSet>,
///     queue: &WorkQueue<ObjectKey>,
/// ) {
///     deployments.add_handler(Enqueue::for_object(queue)).detach();
///     let owner = OwnerKind::new("apps", "Deployment");
///     replica_sets.add_handler(Enqueue::for_owner(queue, owner)).detach();
/// }
/// ```
#[doc(alias = "EnqueueRequestForObject")]
#[doc(alias = "EnqueueRequestForOwner")]
#[doc(alias = "EnqueueRequestsFromMapFunc")]
pub struct Enqueue<K, T: Ord + Clone> {
    queue: WorkQueue<T>,
    leads_to: LeadsTo<K, T>,
    add_options: AddOptionsOf<K>,
}

/// The owners that [`Enqueue::for_owner`] looks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnerKind {
    group: Arc<str>,
    kind: Arc<str>,
    is_cluster_scoped: bool,
    is_any_owner: bool,
}

type Map<K, T> = Box<dyn FnMut(&Object<K>, &mut BTreeSet<T>) + Send>;
type AddOptionsOf<K> = Box<dyn FnMut(&Notification<K>) -> AddOptions + Send>;

enum LeadsTo<K, T> {
    /// A function of the key alone, which also serves deletions without an object.
    Key(fn(&ObjectKey) -> T),
    Object(Map<K, T>),
}

// === impl Enqueue ===

impl<K: 'static> Enqueue<K, ObjectKey> {
    /// Queues the key of each object.
    pub fn for_object(queue: &WorkQueue<ObjectKey>) -> Self {
        Self::new(queue, LeadsTo::Key(ObjectKey::clone))
    }

    /// Queues the key of each object's owners of a kind: of the one that controls it, unless [`OwnerKind`] says otherwise.
    ///
    /// Nothing is decoded for it.
    pub fn for_owner(queue: &WorkQueue<ObjectKey>, owner: OwnerKind) -> Self {
        Self::with(queue, move |object| owner.keys(object))
    }
}

impl<K: 'static, T: Ord + Clone> Enqueue<K, T> {
    /// Queues what `leads_to` makes of each object, each item once.
    pub fn with<I>(
        queue: &WorkQueue<T>,
        mut leads_to: impl FnMut(&Object<K>) -> I + Send + 'static,
    ) -> Self
    where
        I: IntoIterator<Item = T>,
    {
        let map = move |object: &Object<K>, items: &mut BTreeSet<T>| items.extend(leads_to(object));
        Self::new(queue, LeadsTo::Object(Box::new(map)))
    }

    /// Adds as `options` says of each notification: with another priority, a delay, a rate limit.
    #[must_use]
    pub fn with_add_options(
        mut self,
        options: impl FnMut(&Notification<K>) -> AddOptions + Send + 'static,
    ) -> Self {
        self.add_options = Box::new(options);
        self
    }

    fn new(queue: &WorkQueue<T>, leads_to: LeadsTo<K, T>) -> Self {
        let by_cause = |notification: &Notification<K>| {
            AddOptions::new().with_priority(Priority::of(notification))
        };
        Self {
            queue: queue.clone(),
            leads_to,
            add_options: Box::new(by_cause),
        }
    }

    fn items(&mut self, notification: &Notification<K>) -> BTreeSet<T> {
        let mut items = BTreeSet::new();
        match &mut self.leads_to {
            LeadsTo::Key(item) => {
                items.insert(item(notification.key()));
            }
            LeadsTo::Object(map) => {
                if let Notification::Update { old, new, .. } = notification
                    && !old.is_same(new)
                {
                    map(old, &mut items);
                }
                if let Some(object) = notification.object() {
                    map(object, &mut items);
                }
            }
        }
        items
    }
}

impl<K, T> EventHandler<K> for Enqueue<K, T>
where
    K: 'static,
    T: Ord + Clone + Send + 'static,
{
    fn on_notification(&mut self, notification: &Notification<K>) {
        let options = (self.add_options)(notification);
        for item in self.items(notification) {
            self.queue.add_with(item, options);
        }
    }
}

impl<K, T: Ord + Clone> fmt::Debug for Enqueue<K, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Enqueue").finish_non_exhaustive()
    }
}

// === impl OwnerKind ===

impl OwnerKind {
    /// Creates the kind of a controlling owner in a group, of any version, in the same namespace as the objects it
    /// owns. The group of the core kinds is empty.
    pub fn new(group: impl Into<Arc<str>>, kind: impl Into<Arc<str>>) -> Self {
        Self {
            group: group.into(),
            kind: kind.into(),
            is_cluster_scoped: false,
            is_any_owner: false,
        }
    }

    /// The owner is cluster-scoped, so that its key has no namespace.
    #[must_use]
    pub fn with_cluster_scope(mut self) -> Self {
        self.is_cluster_scoped = true;
        self
    }

    /// All owners of the kind, not only the one that controls the object.
    #[doc(alias = "OnlyControllerOwner")]
    #[must_use]
    pub fn with_any_owner(mut self) -> Self {
        self.is_any_owner = true;
        self
    }

    /// The keys of those owners of `object`.
    fn keys<K>(&self, object: &Object<K>) -> Vec<ObjectKey> {
        let namespace = if self.is_cluster_scoped {
            ""
        } else {
            object.key().namespace()
        };
        let owners = object.owners().iter().filter(|owner| self.is_for(owner));
        owners
            .map(|owner| ObjectKey::new(namespace, Arc::clone(&owner.name)))
            .collect()
    }

    fn is_for(&self, owner: &OwnerReference) -> bool {
        let group = owner
            .api_version
            .split_once('/')
            .map_or("", |(group, _)| group);
        (self.is_any_owner || owner.is_controller)
            && *owner.kind == *self.kind
            && *group == *self.group
    }
}
