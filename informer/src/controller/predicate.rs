//! Conditions of the notifications that wake a controller.

use std::{fmt, sync::Arc};

use kube::{Resource, core::ObjectMeta};

use crate::{handler::Notification, object::Object};

/// A condition of notifications: those for which it does not hold wake no reconcile.
///
/// Adds and deletions satisfy all ready-made predicates; they are about updates. A resync, which changes nothing, satisfies
/// [`any`](Self::any) and [`spec_changed`](Self::spec_changed) only. What is left out is in the cache all the same.
///
/// # Examples
///
/// ```
/// use informer::controller::Predicate;
/// use k8s_openapi::api::core::v1::Node;
///
/// let relabelled = Predicate::<Node>::labels_changed().or(Predicate::annotations_changed());
/// let any_but_initial = Predicate::<Node>::new(|notification| !notification.cause().is_initial());
/// # let _ = (relabelled, any_but_initial);
/// ```
#[doc(alias = "predicate.Funcs")]
pub struct Predicate<K>(Arc<Condition<K>>);

type Condition<K> = dyn Fn(&Notification<K>) -> bool + Send + Sync;

// === impl Predicate ===

impl<K: 'static> Predicate<K> {
    /// Creates a predicate of a function, which should be one of the notification alone.
    #[doc(alias = "NewPredicateFuncs")]
    pub fn new(holds: impl Fn(&Notification<K>) -> bool + Send + Sync + 'static) -> Self {
        Self(Arc::new(holds))
    }

    /// Holds for every notification.
    pub fn any() -> Self {
        Self::new(|_| true)
    }

    /// Holds if both hold. The second is not asked if the first does not.
    #[doc(alias = "predicate.And")]
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self::new(move |notification| self.holds(notification) && other.holds(notification))
    }

    /// Holds if one of both holds. The second is not asked if the first does.
    #[doc(alias = "predicate.Or")]
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self::new(move |notification| self.holds(notification) || other.holds(notification))
    }

    /// Holds if this one does not.
    #[doc(alias = "predicate.Not")]
    #[must_use]
    #[expect(
        clippy::should_implement_trait,
        reason = "it stands beside `and` and `or`, which are no operators"
    )]
    pub fn not(self) -> Self {
        Self::new(move |notification| !self.holds(notification))
    }

    /// Returns whether it holds for a notification.
    pub fn holds(&self, notification: &Notification<K>) -> bool {
        (self.0)(notification)
    }

    /// Creates a predicate of updates: of the object before and after.
    fn of_updates(holds: impl Fn(&Object<K>, &Object<K>) -> bool + Send + Sync + 'static) -> Self {
        Self::new(move |notification| match notification {
            Notification::Update { old, new, .. } => holds(old, new),
            Notification::Add { .. } | Notification::Delete { .. } => true,
        })
    }
}

impl<K: Resource + 'static> Predicate<K> {
    /// Holds if the generation differs: the server counts changes of the specification, but not of metadata and status. Objects of
    /// kinds without generations never change by this measure.
    #[doc(alias = "GenerationChangedPredicate")]
    pub fn generation_changed() -> Self {
        Self::of_meta(|old, new| old.generation != new.generation)
    }

    /// Holds if a label differs.
    #[doc(alias = "LabelChangedPredicate")]
    pub fn labels_changed() -> Self {
        Self::of_updates(|old, new| old.labels() != new.labels())
    }

    /// Holds if an annotation differs.
    #[doc(alias = "AnnotationChangedPredicate")]
    pub fn annotations_changed() -> Self {
        Self::of_meta(|old, new| old.annotations != new.annotations)
    }

    /// Holds if the version differs, which leaves out resyncs.
    #[doc(alias = "ResourceVersionChangedPredicate")]
    pub fn resource_version_changed() -> Self {
        Self::of_updates(|old, new| old.resource_version() != new.resource_version())
    }

    /// Holds if only one of both is about to be deleted, as when a deletion begins, or if the finalizers differ.
    pub fn deletion_or_finalizers_changed() -> Self {
        Self::of_meta(|old, new| {
            old.deletion_timestamp.is_some() != new.deletion_timestamp.is_some()
                || old.finalizers != new.finalizers
        })
    }

    /// Holds if anything but the status differs, and for resyncs: the predicate of a controller's own kind, so that its writes
    /// of the status do not wake it.
    ///
    /// Accepts changes of any of the generation, labels, annotations, finalizers and the beginning of the deletion. Of kinds without
    /// generations every change counts.
    pub fn spec_changed() -> Self {
        let without_generation = Self::of_meta(|old, new| {
            old.generation.is_none()
                && new.generation.is_none()
                && old.resource_version != new.resource_version
        });
        let resync = Self::new(|notification| notification.cause().is_resync());
        Self::generation_changed()
            .or(Self::labels_changed())
            .or(Self::annotations_changed())
            .or(Self::deletion_or_finalizers_changed())
            .or(without_generation)
            .or(resync)
    }

    /// Creates a predicate of updates: of the metadata before and after.
    fn of_meta(holds: impl Fn(&ObjectMeta, &ObjectMeta) -> bool + Send + Sync + 'static) -> Self {
        Self::of_updates(move |old, new| holds(old.get().meta(), new.get().meta()))
    }
}

impl<K> Clone for Predicate<K> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<K> fmt::Debug for Predicate<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Predicate").finish_non_exhaustive()
    }
}
