//! Watching what objects are called and who owns them, without ever holding what is in them.
//!
//! The server sends `PartialObjectMetadata`: of a large secret some hundred bytes cross the network and stay in memory.
//!
//! ```console
//! $ cargo run -p examples --example 06_metadata_only
//! ```

use std::time::Duration;

use fakeserver::FakeServer;
use informer::{IndexFn, LabelSelector, factory::SharedInformerFactory};
use k8s_openapi::api::core::v1::Secret;
use kube::{Api, api::PostParams};
use serde_json::json;

type Error = Box<dyn std::error::Error>;

const LIMIT: Duration = Duration::from_secs(10);

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    let server = FakeServer::builder().build();
    let api: Api<Secret> = Api::namespaced(server.client(), "default");
    for number in 0..3 {
        let secret = json!({
            "metadata": {
                "name": format!("secret-{number}"),
                "labels": {"rotate": (number < 2).to_string()},
            },
            "stringData": {"password": "x".repeat(100_000)},
        });
        api.create(&PostParams::default(), &serde_json::from_value(secret)?)
            .await?;
    }

    let factory = SharedInformerFactory::new(server.client());
    let secrets = factory.metadata_for::<Secret>();
    secrets
        .add_index("rotate", IndexFn::by_label("rotate"))
        .await?;
    factory.start();
    factory.wait_for_cache_sync(LIMIT).await?;

    for secret in secrets.lister().list(&"rotate=true".parse()?)? {
        let metadata = &secret.get().metadata;
        println!(
            "{} of {:?}",
            secret.key(),
            metadata.creation_timestamp.as_ref().map(|time| time.0)
        );
    }
    assert_eq!(secrets.lister().by_index("rotate", "true")?.len(), 2);
    let held = &secrets.lister().list(&LabelSelector::everything())?[0];
    let held = serde_json::to_string(held.get())?;
    println!("{} bytes of a secret of 100,000", held.len());
    assert!(held.len() < 2_000 && !held.contains("xxx"));
    factory.shutdown().await;
    server.shutdown().await;
    Ok(())
}
