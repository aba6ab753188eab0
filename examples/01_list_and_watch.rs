//! The two requests that every informer is made of: list the present objects, then watch the changes from there on.
//!
//! ```console
//! $ cargo run -p examples --example 01_list_and_watch
//! ```
//!
//! The server of this example is the fake one, in this process; `informer::http::client(kube::Config::infer().await?)?`
//! is a client of the cluster that your kubeconfig names.

use std::{sync::Arc, time::Duration};

use fakeserver::FakeServer;
use futures::StreamExt;
use informer::{
    Scope,
    http::HttpListWatch,
    list_watch::{HeldObjects, ListRequest, ListWatch, NoHeldObjects, WatchEvent, WatchRequest},
};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::{
    Api,
    api::{DeleteParams, PostParams},
};
use serde_json::json;

type Error = Box<dyn std::error::Error>;

/// No event should take longer.
const LIMIT: Duration = Duration::from_secs(10);

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    let server = FakeServer::builder().build();
    let api: Api<ConfigMap> = Api::namespaced(server.client(), "default");
    create(&api, "first").await?;

    let scope = Scope::Namespace("default".to_owned());
    let config_maps = HttpListWatch::<ConfigMap>::new(server.client(), scope);
    // What is known already is not decoded again; here nothing is.
    let held: Arc<dyn HeldObjects<ConfigMap>> = Arc::new(NoHeldObjects);

    let page = config_maps.list(&ListRequest::default(), &held).await?;
    println!("list at version {}", page.resource_version);
    for item in page.items {
        println!("  {}", item?.key());
    }

    // The version of the list is where the watch begins: nothing is missed, and nothing comes twice.
    let mut request = WatchRequest::default();
    request.resource_version = page.resource_version;
    let mut events = config_maps.watch(&request, &held).await?;
    create(&api, "second").await?;
    api.delete("first", &DeleteParams::default()).await?;

    let mut lines = Vec::new();
    while lines.len() < 2 {
        let event = tokio::time::timeout(LIMIT, events.next()).await?;
        let line = match event.ok_or("the watch has ended")?? {
            WatchEvent::Added(object) => format!("added {}", object?.key()),
            WatchEvent::Modified(object) => format!("modified {}", object?.key()),
            WatchEvent::Deleted(object) => format!("deleted {}", object?.key()),
            other => format!("{other:?}"),
        };
        println!("{line}");
        lines.push(line);
    }
    assert_eq!(lines, ["added default/second", "deleted default/first"]);

    // A stream like this one ends now and then, and fails in a dozen ways. An informer resumes: see the next example.
    server.shutdown().await;
    Ok(())
}

async fn create(api: &Api<ConfigMap>, name: &str) -> Result<(), Error> {
    let object = serde_json::from_value(json!({"metadata": {"name": name}}))?;
    api.create(&PostParams::default(), &object).await?;
    Ok(())
}
