//! One copy of a resource with many users: handlers that are notified of each change, and a lister for lookups.
//!
//! ```console
//! $ cargo run -p examples --example 02_shared_informer
//! ```

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use fakeserver::FakeServer;
use informer::{HandlerFuncs, LabelSelector, Scope, SharedInformer};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::{
    Api,
    api::{DeleteParams, Patch, PatchParams, PostParams},
};
use serde_json::json;

type Error = Box<dyn std::error::Error>;

/// Waiting longer than this for a local server means that something is wrong.
const LIMIT: Duration = Duration::from_secs(10);

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    let server = FakeServer::builder().build();
    let api: Api<ConfigMap> = Api::namespaced(server.client(), "default");
    let object = json!({"metadata": {"name": "settings", "labels": {"app": "web"}}, "data": {"color": "red"}});
    api.create(&PostParams::default(), &serde_json::from_value(object)?)
        .await?;

    let informer =
        SharedInformer::<ConfigMap>::new(server.client(), Scope::Namespace("default".to_owned()));
    let lines = Arc::new(Mutex::new(Vec::new()));
    // The handler is heard for as long as its registration is kept.
    let first = informer.add_handler(recorder(&lines));
    informer.start();
    informer.wait_for_cache_sync(LIMIT).await?;

    let app_is_web = "app=web".parse::<LabelSelector>()?;
    // An item of the cache is a handle: key, labels and version are at hand, and `get` gives the object.
    for object in informer.lister().list(&app_is_web)? {
        println!("the cache holds {}", object.key());
    }

    let change = Patch::Merge(json!({"data": {"color": "blue"}}));
    let changed = api
        .patch("settings", &PatchParams::default(), &change)
        .await?;
    // Reads of a cache are a moment late, unless you wait for what you wrote.
    informer.wait_until(&version_of(&changed), LIMIT).await?;
    let cached = informer.lister().namespaced("default").get("settings")?;
    assert_eq!(cached.get().data, changed.data);

    // A handler that joins late first receives the objects that are already held.
    let late = Arc::new(Mutex::new(Vec::new()));
    let second = informer.add_handler(recorder(&late));
    second.wait_for_sync(LIMIT).await?;
    assert_eq!(
        *late.lock().unwrap(),
        ["added default/settings (was there)"]
    );

    api.delete("settings", &DeleteParams::default()).await?;
    informer.shutdown().await; // Stops, and lets the handlers hear what waits for them.
    for line in lines.lock().unwrap().iter() {
        println!("{line}");
    }
    assert_eq!(
        lines.lock().unwrap()[..2],
        [
            "added default/settings (was there)",
            "changed default/settings"
        ]
    );
    drop((first, second));
    server.shutdown().await;
    Ok(())
}

/// A handler that records its notifications.
fn recorder(lines: &Arc<Mutex<Vec<String>>>) -> HandlerFuncs<ConfigMap> {
    let note = || {
        let lines = Arc::clone(lines);
        move |line: String| lines.lock().unwrap().push(line)
    };
    let (added, changed, deleted) = (note(), note(), note());
    HandlerFuncs::new()
        .with_add(move |object, in_initial_list| {
            let when = if in_initial_list { "was there" } else { "new" };
            added(format!("added {} ({when})", object.key()));
        })
        .with_update(move |_, object| changed(format!("changed {}", object.key())))
        .with_delete(move |object| deleted(format!("deleted {}", object.key())))
}

fn version_of(object: &ConfigMap) -> informer::ResourceVersion {
    object
        .metadata
        .resource_version
        .as_deref()
        .unwrap_or_default()
        .into()
}
