//! From a name that a user typed to a running informer, shared by all callers that request the same.
//!
//! ```console
//! $ cargo run -p examples --example 05_factory
//! $ cargo run -p examples --example 05_factory -- deploy ns
//! ```

use std::time::Duration;

use fakeserver::FakeServer;
use informer::{LabelSelector, factory::SharedInformerFactory};
use k8s_openapi::api::core::v1::Namespace;

type Error = Box<dyn std::error::Error>;

const LIMIT: Duration = Duration::from_secs(10);

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    let server = FakeServer::builder().build();
    let factory = SharedInformerFactory::new(server.client());
    // A type of the program, known when it was written.
    let namespaces = factory.informer_for::<Namespace>();
    factory.start();

    // Names as kubectl takes them: plural, singular, short, with a group, with a version.
    let typed: Vec<String> = std::env::args().skip(1).collect();
    let names = if typed.is_empty() {
        ["po", "pod", "deployments.apps", "svc"]
            .map(str::to_owned)
            .to_vec()
    } else {
        typed
    };
    for name in &names {
        let informer = factory.for_resource_name(name).await?;
        informer.wait_for_cache_sync(LIMIT).await?;
        let count = informer.lister().list(&LabelSelector::everything())?.len();
        println!("{name} is {}, {count} of them", informer.resource());
    }
    // "po" and "pod" are one informer: one list, one watch.
    if std::env::args().len() == 1 {
        assert_eq!(factory.informer_count(), 4);
    }
    println!(
        "informers: {}, names: {}",
        factory.informer_count(),
        names.len() + 1
    );

    factory.wait_for_cache_sync(LIMIT).await?;
    println!("{}", namespaces.lister().get("default")?.key());
    match factory.for_resource_name("no-such-thing").await {
        Ok(_) => return Err("no server serves this".into()),
        Err(error) => println!("no-such-thing: {error}"),
    }
    factory.shutdown().await;
    server.shutdown().await;
    Ok(())
}
