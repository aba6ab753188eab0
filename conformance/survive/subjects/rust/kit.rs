//! The parts that the operators have in common.

use std::{
    collections::BTreeMap,
    error::Error,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use informer::{
    NamespacedLister, Object,
    controller::{Context, ControllerKind},
};
use k8s_openapi::{NamespaceResourceScope, api::core::v1::ConfigMap};
use kube::{
    Api, Client, Resource, ResourceExt as _,
    api::{DeleteParams, Patch, PatchParams, PostParams, Preconditions},
};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};
use tokio::time::Instant;

/// Defines the custom kind of a subject: its name, its plural if that is another than by the rule, and its spec.
macro_rules! subject {
    ($(#[$doc:meta])* kind $kind:tt $(($plural:tt))? $spec:ident { $($field:ident: $type:ty),* }) => {
        $(#[$doc])*
        #[derive(kube::CustomResource, Clone, Debug, serde::Deserialize, serde::Serialize)]
        #[kube(group = "subjects.example", version = "v1", kind = $kind, $(plural = $plural,)? namespaced)]
        #[kube(status = "serde_json::Value", schema = "disabled")]
        pub(crate) struct $spec { $($field: $type),* }
    };
}

pub(crate) use subject;

pub(crate) type AnyError = Box<dyn Error + Send + Sync>;

/// A kind with namespaces.
pub(crate) trait Kind:
    ControllerKind
    + Resource<DynamicType = (), Scope = NamespaceResourceScope>
    + Serialize
    + std::fmt::Debug
{
}

impl<K> Kind for K where
    K: ControllerKind
        + Resource<DynamicType = (), Scope = NamespaceResourceScope>
        + Serialize
        + std::fmt::Debug
{
}

/// The object that is reconciled, as far as its place goes.
pub(crate) trait ObjectContext {
    fn client(&self) -> &Client;
    fn namespace(&self) -> &str;
    fn name(&self) -> &str;
}

impl<K> ObjectContext for Context<K> {
    fn client(&self) -> &Client {
        self.client()
    }

    fn namespace(&self) -> &str {
        self.key().namespace()
    }

    fn name(&self) -> &str {
        self.key().name()
    }
}

/// Returns an interface to objects of the kind `T` beside the reconciled one. What it writes is not noted in the gate.
pub(crate) fn api<A: ObjectContext, T>(ctx: &A) -> Api<T>
where
    T: Resource<DynamicType = (), Scope = NamespaceResourceScope>,
{
    Api::namespaced(ctx.client().clone(), ctx.namespace())
}

/// Returns whether the owner is still there at the server, as the one that was read.
pub(crate) async fn is_current<K>(ctx: &impl ObjectContext, owner: &K) -> Result<bool, kube::Error>
where
    K: Kind + DeserializeOwned,
{
    let live = api::<_, K>(ctx).get_opt(ctx.name()).await?;
    Ok(live
        .is_some_and(|live| live.uid() == owner.uid() && live.meta().deletion_timestamp.is_none()))
}

/// Returns whether `object` is a living child of `owner`.
pub(crate) fn is_own<K: Kind, T: Resource>(object: &T, owner: &K) -> bool {
    let uid = owner.uid().unwrap_or_default();
    let mut owners = object.meta().owner_references.iter().flatten();
    object.meta().deletion_timestamp.is_none() && owners.any(|found| found.uid == uid)
}

/// Creates a child that has a name; false if it was there before.
///
/// # Errors
///
/// Those of the request. A child of another owner is in the way until the garbage collector has taken it.
pub(crate) async fn create<K, T>(
    ctx: &impl ObjectContext,
    owner: &K,
    mut child: T,
) -> Result<bool, AnyError>
where
    K: Kind + DeserializeOwned,
    T: Kind,
{
    if !is_current(ctx, owner).await? {
        return Err("the owner is another one by now".into());
    }
    child.meta_mut().owner_references = owner.controller_owner_ref(&()).map(|owner| vec![owner]);
    let children = api::<_, T>(ctx);
    let created = children.create(&PostParams::default(), &child).await;
    match created {
        Ok(_) => Ok(true),
        Err(kube::Error::Api(status)) if status.code == 409 => {
            let there = children.get_opt(&child.name_any()).await?;
            match there.filter(|there| is_own(there, owner)) {
                Some(_) => Ok(false),
                None => Err("another one's child is in the way".into()),
            }
        }
        Err(error) => Err(error.into()),
    }
}

/// Deletes an object, unless it is gone. A conflict is an error: it may be another one by now, or the server wants another attempt.
pub(crate) async fn delete<T: Kind>(api: &Api<T>, object: &T) -> Result<(), kube::Error> {
    let params = DeleteParams::default().preconditions(Preconditions {
        uid: object.uid(),
        ..Preconditions::default()
    });
    match api.delete(&object.name_any(), &params).await {
        Err(kube::Error::Api(status)) if status.code == 404 => Ok(()),
        other => other.map(|_| ()),
    }
}

/// Writes a status of the object that was read, unless it is there already.
pub(crate) async fn set_status<K>(
    ctx: &impl ObjectContext,
    owner: &K,
    status: Value,
) -> Result<(), AnyError>
where
    K: Kind + DeserializeOwned,
{
    let now = serde_json::to_value(owner)?;
    if now["status"] == status {
        return Ok(());
    }
    let metadata = json!({"resourceVersion": owner.resource_version()});
    let patch = Patch::Merge(json!({"metadata": metadata, "status": status}));
    api::<_, K>(ctx)
        .patch_status(ctx.name(), &PatchParams::default(), &patch)
        .await?;
    Ok(())
}

/// Returns a config map.
pub(crate) fn config_map(metadata: &Value, text: &str) -> Result<ConfigMap, serde_json::Error> {
    serde_json::from_value(json!({"metadata": metadata, "data": {"text": text}}))
}

/// Returns an object of a cache, if it is there.
pub(crate) fn find<T>(objects: &NamespacedLister<T>, name: &str) -> Option<Object<T>> {
    objects.get(name).ok()
}

/// The time since which something is so, for each key.
#[derive(Clone, Debug, Default)]
pub(crate) struct FirstTimes(Arc<Mutex<BTreeMap<String, Instant>>>);

impl FirstTimes {
    /// Returns the time since the first call for this key.
    pub(crate) fn elapsed(&self, key: &str) -> Duration {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.entry(key.to_owned())
            .or_insert_with(Instant::now)
            .elapsed()
    }

    /// Notes that it is not so.
    pub(crate) fn forget(&self, key: &str) {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .remove(key);
    }
}
