//! Each session has a config map.
//!
//! The bug: the controller remembers by name which sessions it has started, and does not see that a name is another session's by
//! now, where it does not see the one before it end.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use informer::{
    Object,
    controller::{Context, Controller, Runnable},
    workqueue::Action,
};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::ResourceExt as _;
use serde_json::json;

use crate::kit::{self, AnyError};

/// The sessions that were started, by their names.
type StartedSessions = Arc<Mutex<BTreeSet<String>>>;

kit::subject! {
    /// The desired state: that there is one.
    kind "Session" SessionSpec {}
}

pub(crate) fn controller(is_buggy: bool) -> Runnable {
    let started = StartedSessions::default();
    Controller::<Session>::new("sessions")
        .owns::<ConfigMap>()
        .reconcile(move |ctx, key| {
            let started = Arc::clone(&started);
            async move { reconcile(&ctx, key.name(), &started, is_buggy).await }
        })
}

async fn reconcile(
    ctx: &Context<Session>,
    name: &str,
    started: &StartedSessions,
    is_buggy: bool,
) -> Result<Action, AnyError> {
    let lock = || started.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(session) = ctx.object().map(Object::get) else {
        lock().remove(name);
        return Ok(Action::AwaitChange);
    };
    if is_buggy && lock().contains(name) {
        return Ok(Action::AwaitChange);
    }
    let state = kit::config_map(&json!({"name": format!("{name}-state")}), "state")?;
    if kit::create(ctx, &**session, state).await.is_err() {
        // That of the session before it is about to be collected.
        return Ok(Action::RequeueAfter(Duration::from_millis(200)));
    }
    kit::set_status(ctx, &**session, json!({"started": session.uid()})).await?;
    lock().insert(name.to_owned());
    Ok(Action::AwaitChange)
}
