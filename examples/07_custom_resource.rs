//! A resource of your own: defined by a Rust type, served by the API server, followed by an informer.
//!
//! ```console
//! $ cargo run -p examples --example 07_custom_resource
//! ```

use std::time::Duration;

use fakeserver::FakeServer;
use informer::{IndexFn, LabelSelector, Scope, SharedInformer, http::HttpListWatch};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::{Api, CustomResource, CustomResourceExt, api::PostParams};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

type Error = Box<dyn std::error::Error>;

const LIMIT: Duration = Duration::from_secs(10);

/// The wanted state of a `Widget`. The derive makes the type `Widget`, with metadata around this spec.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(
    group = "example.com",
    version = "v1",
    kind = "Widget",
    namespaced,
    shortname = "wd"
)]
struct WidgetSpec {
    /// One of the colours that we have.
    color: Color,
    /// The number of replicas.
    #[schemars(range(min = 1, max = 10))]
    replicas: u8,
}

#[derive(Clone, Copy, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Color {
    Red,
    Blue,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    let server = FakeServer::builder().build();
    let definitions: Api<CustomResourceDefinition> = Api::all(server.client());
    definitions
        .create(&PostParams::default(), &Widget::crd())
        .await?;

    let builder =
        SharedInformer::builder(HttpListWatch::<Widget>::new(server.client(), Scope::All));
    let widgets = builder
        .with_index("color", IndexFn::by_field(".spec.color")?)
        .build()?;
    widgets.start();
    widgets.wait_for_cache_sync(LIMIT).await?;

    let api: Api<Widget> = Api::namespaced(server.client(), "default");
    let spec = |color, replicas| WidgetSpec { color, replicas };
    api.create(
        &PostParams::default(),
        &Widget::new("small", spec(Color::Red, 1)),
    )
    .await?;
    let large = api
        .create(
            &PostParams::default(),
            &Widget::new("large", spec(Color::Blue, 9)),
        )
        .await?;

    // The server knows what a widget may be: this one is refused.
    let error = api
        .create(
            &PostParams::default(),
            &Widget::new("huge", spec(Color::Blue, 99)),
        )
        .await;
    match error {
        Ok(_) => return Err("99 is more than 10".into()),
        Err(error) => println!("refused: {error}"),
    }

    let version = large
        .metadata
        .resource_version
        .as_deref()
        .unwrap_or_default();
    widgets.wait_until(&version.into(), LIMIT).await?;
    for widget in widgets.lister().list(&LabelSelector::everything())? {
        println!("{} {:?}", widget.key(), widget.get().spec);
    }
    assert_eq!(widgets.indexer().by_index("color", "blue")?.len(), 1);
    widgets.shutdown().await;
    server.shutdown().await;
    Ok(())
}
