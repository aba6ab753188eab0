//! Each ticket has a config map, whose name the server completes and the status tells.
//!
//! The bug: a create whose answer is lost is sent again at once, without a look at what it has made.

use std::time::Duration;

use informer::{
    Object,
    controller::{Context, Controller, Runnable},
    workqueue::Action,
};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::{
    Resource as _, ResourceExt as _,
    api::{ListParams, PostParams},
};
use serde_json::json;

use crate::kit::{self, AnyError};

kit::subject! {
    /// The desired state: that there is one.
    kind "Ticket" TicketSpec {}
}

pub(crate) fn controller(is_buggy: bool) -> Runnable {
    Controller::<Ticket>::new("tickets")
        .owns::<ConfigMap>()
        .reconcile(move |ctx, _| async move { reconcile(&ctx, is_buggy).await })
}

async fn reconcile(ctx: &Context<Ticket>, is_buggy: bool) -> Result<Action, AnyError> {
    let Some(ticket) = ctx.object().map(Object::get) else {
        return Ok(Action::AwaitChange);
    };
    let labels = format!("ticket={}", ticket.name_any());
    let children = kit::api::<_, ConfigMap>(ctx)
        .list(&ListParams::default().labels(&labels))
        .await?;
    let child = children
        .items
        .into_iter()
        .find(|child| kit::is_own(child, &**ticket));
    let child = match child {
        Some(child) => child,
        None if !kit::is_current(ctx, &**ticket).await? => return Ok(Action::AwaitChange),
        None => create(ctx, ticket, is_buggy).await?,
    };
    kit::set_status(ctx, &**ticket, json!({"child": child.name_any()})).await?;
    Ok(Action::AwaitChange)
}

async fn create(
    ctx: &Context<Ticket>,
    ticket: &Ticket,
    is_buggy: bool,
) -> Result<ConfigMap, AnyError> {
    let name = ticket.name_any();
    let child = kit::config_map(
        &json!({
            "generateName": format!("{name}-"),
            "labels": {"ticket": name},
            "ownerReferences": [ticket.controller_owner_ref(&())],
        }),
        "ticket",
    )?;
    let children = kit::api::<_, ConfigMap>(ctx);
    let created = children.create(&PostParams::default(), &child).await;
    if is_buggy
        && matches!(
            created,
            Err(kube::Error::HyperError(_) | kube::Error::Service(_))
        )
    {
        tokio::time::sleep(Duration::from_millis(100)).await;
        return Ok(children.create(&PostParams::default(), &child).await?);
    }
    Ok(created?)
}
