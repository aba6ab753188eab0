//! Habits of kinds: the rules for the life cycle and the writes of their objects.

use serde_json::Value;

/// The life cycle of a kind's objects, as far as it differs from most others.
#[derive(Clone, Copy, Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a fact of its own, and no two follow from each other"
)]
pub struct Habits {
    /// Objects count the generations of their desired state.
    pub has_generation: bool,
    /// A new object has no generation: its first change makes the first one.
    pub begins_without_generation: bool,
    /// A change of `status` is a new generation.
    pub counts_status: bool,
    /// A change of annotations is a new generation.
    pub counts_annotations: bool,
    /// A change of labels is a new generation.
    pub counts_labels: bool,
    /// An empty list or map instead of an absent one is a new generation.
    pub counts_empty: bool,
    /// A field that is dropped, since its feature is off, is a new generation.
    pub counts_dropped: bool,
    /// The names of lists that have a default only if they are absent, not if they are empty.
    pub empty_lists: &'static [&'static str],
    /// The first generation remains the only one.
    pub counts_nothing: bool,
    /// An update of an object that does not exist creates it.
    #[doc(alias = "AllowCreateOnUpdate")]
    pub creates_on_update: bool,
    /// An update has to name the version on which it is based.
    #[doc(alias = "AllowUnconditionalUpdate")]
    pub requires_version: bool,
    /// A deletion answers with the object instead of a status.
    #[doc(alias = "ReturnDeletedObject")]
    pub returns_deleted: bool,
    /// A deletion can wait for dependents. Events own nothing.
    pub is_garbage_collected: bool,
    /// A deletion that does not name a propagation policy orphans dependents.
    #[doc(alias = "DefaultGarbageCollectionPolicy")]
    pub orphans_by_default: bool,
    /// The metadata that a write to `status` leaves unchanged. Most kinds let such a write change the same metadata as an update.
    pub kept_by_status: PreservedMetadata,
    /// The change without which a writer of `status` owns the metadata that such a write leaves unchanged.
    pub status_metadata_unowned: Option<&'static str>,
    /// A client may create objects with a status: kubelets register nodes with theirs.
    pub is_created_with_status: bool,
    /// Managers own the fields that they write in `spec`.
    #[doc(alias = "GetResetFields")]
    pub owns_spec: bool,
    /// The rules of the kind check the metadata of a new object, before that of all kinds is checked.
    pub checks_new_metadata: bool,
    /// The rules of the kind check the beginning of generated names, too.
    pub checks_prefix: bool,
    /// Finalizers without a domain have to be well known.
    pub checks_finalizers: bool,
    /// No webhook is asked about its objects: otherwise no client could correct a webhook that rejects everything.
    pub is_exempt_from_webhooks: bool,
    pub metadata_rechecks: MetadataRechecks,
    /// The same, in an update through a subresource.
    pub subresource_rechecks: MetadataRechecks,
    pub removal: Removal,
}

/// The way in which a deleted object without finalizers goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Removal {
    Immediate,
    /// After a grace period, or when its kubelet has ended it.
    Graceful,
    /// After the objects that it contains, when `spec.finalizers` is empty.
    AfterContent,
    /// After the custom resources that it defines.
    AfterInstances,
}

/// The fields of metadata that a write to `status` leaves as they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a field of its own, and no two follow from each other"
)]
pub struct PreservedMetadata {
    pub labels: bool,
    pub annotations: bool,
    pub finalizers: bool,
    pub owners: bool,
}

/// The checks of metadata that the rules of a kind repeat in an update.
#[derive(Clone, Copy, Debug)]
pub struct MetadataRechecks {
    /// Fields that may not change.
    pub change: bool,
    /// The number of times that everything is checked that is checked in a new object.
    pub whole: usize,
}

// === impl Habits ===

impl Habits {
    /// The habits of a kind that says nothing else.
    pub const COMMON: Self = Self {
        has_generation: false,
        begins_without_generation: false,
        counts_status: false,
        counts_annotations: false,
        counts_labels: false,
        counts_empty: false,
        counts_dropped: false,
        empty_lists: &[],
        counts_nothing: false,
        creates_on_update: false,
        requires_version: false,
        returns_deleted: false,
        is_garbage_collected: true,
        orphans_by_default: false,
        kept_by_status: PreservedMetadata::NONE,
        status_metadata_unowned: None,
        is_created_with_status: false,
        owns_spec: true,
        checks_new_metadata: true,
        checks_prefix: true,
        checks_finalizers: true,
        is_exempt_from_webhooks: false,
        metadata_rechecks: MetadataRechecks::CHANGE,
        subresource_rechecks: MetadataRechecks::CHANGE,
        removal: Removal::Immediate,
    };

    /// Returns the habits of a custom resource, with or without a subresource `status`.
    pub(super) const fn custom(has_status: bool) -> Self {
        Self {
            has_generation: true,
            counts_status: !has_status,
            requires_version: true,
            checks_finalizers: false,
            kept_by_status: PreservedMetadata::ALL,
            status_metadata_unowned: Some("CustomResourceStatusResetsMetadata"),
            ..Self::COMMON
        }
    }

    /// Tells whether the desired state of `new` differs from that of `old`.
    pub fn is_next_generation(&self, old: &Value, new: &Value) -> bool {
        let is_counted = |name: &str| match name {
            "kind" | "apiVersion" | "metadata" => false,
            "status" => self.counts_status,
            _ => true,
        };
        let members = |object| Value::as_object(object).into_iter().flatten();
        let counted = |object| members(object).filter(|(name, _)| is_counted(name));
        let changes = |field: &str| old["metadata"][field] != new["metadata"][field];
        !self.counts_nothing
            && (counted(old).ne(counted(new))
                || (self.counts_annotations && changes("annotations"))
                || (self.counts_labels && changes("labels")))
    }
}

// === impl PreservedMetadata ===

impl PreservedMetadata {
    pub const NONE: Self = Self {
        labels: false,
        annotations: false,
        finalizers: false,
        owners: false,
    };
    /// All metadata, as newer kinds preserve it.
    #[doc(alias = "ResetObjectMetaForStatus")]
    pub const ALL: Self = Self {
        labels: true,
        annotations: true,
        finalizers: true,
        owners: true,
    };

    /// The fields that it may keep.
    pub const FIELDS: [&'static str; 4] =
        ["labels", "annotations", "finalizers", "ownerReferences"];

    /// Tells whether it keeps a field of metadata.
    pub fn has(self, field: &str) -> bool {
        match field {
            "labels" => self.labels,
            "annotations" => self.annotations,
            "finalizers" => self.finalizers,
            "ownerReferences" => self.owners,
            _ => false,
        }
    }
}

// === impl MetadataRechecks ===

impl MetadataRechecks {
    pub const NONE: Self = Self::new(false, 0);
    pub const CHANGE: Self = Self::new(true, 0);
    pub const WHOLE: Self = Self::new(false, 1);
    pub const WHOLE_TWICE: Self = Self::new(false, 2);
    pub const ALL: Self = Self::new(true, 1);

    const fn new(change: bool, whole: usize) -> Self {
        Self { change, whole }
    }
}
