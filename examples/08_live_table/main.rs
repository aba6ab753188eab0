//! A page that refreshes itself: informer to server-sent events to a table in the browser.
//!
//! ```console
//! $ cargo run -p examples --example 08_live_table            # then open the address that it prints
//! $ cargo run -p examples --example 08_live_table -- --check # a client reads some rows, and it ends
//! ```

mod page;

use std::{net::SocketAddr, time::Duration};

use fakeserver::FakeServer;
use informer::{Scope, SharedInformer};
use k8s_openapi::api::core::v1::Pod;
use kube::{
    Api,
    api::{DeleteParams, Patch, PatchParams, PostParams},
};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader},
    net::{TcpListener, TcpStream},
};

type Error = Box<dyn std::error::Error + Send + Sync>;

const LIMIT: Duration = Duration::from_secs(10);
/// The pause of the cluster between two changes.
const PACE: Duration = Duration::from_millis(400);
/// The largest number of pods.
const PODS: usize = 12;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    let is_check = std::env::args().any(|argument| argument == "--check");
    let server = FakeServer::builder().build();
    let pods = SharedInformer::<Pod>::new(server.client(), Scope::All);
    pods.start();
    pods.wait_for_cache_sync(LIMIT).await?;

    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    println!("http://{address}/");
    let page = axum::serve(listener, page::router(pods.clone()));
    let cluster = live(Api::namespaced(server.client(), "default"));
    let visitor = async {
        if is_check {
            tokio::time::timeout(LIMIT, check(address)).await?
        } else {
            Ok(tokio::signal::ctrl_c().await?)
        }
    };
    // Whichever ends first ends the others: the visitor in good order, the others by an error.
    tokio::select! {
        biased;
        left = visitor => left?,
        failed = page => failed?,
        failed = cluster => failed?,
    }
    pods.shutdown().await;
    server.shutdown().await;
    Ok(())
}

/// Pods come, run and go.
async fn live(api: Api<Pod>) -> Result<(), Error> {
    for number in 0_usize.. {
        let name = format!("web-{:02}", number % PODS);
        let pod = json!({
            "metadata": {"name": name},
            "spec": {
                "nodeName": format!("node-{}", number % 3),
                "terminationGracePeriodSeconds": 0,
                "containers": [{"name": "main", "image": "example.com/web:1"}],
            },
        });
        api.create(&PostParams::default(), &serde_json::from_value(pod)?)
            .await?;
        tokio::time::sleep(PACE).await;
        let running = Patch::Merge(json!({"status": {"phase": "Running"}}));
        api.patch_status(&name, &PatchParams::default(), &running)
            .await?;
        tokio::time::sleep(PACE).await;
        if number + 1 >= PODS / 2 {
            let oldest = format!("web-{:02}", (number + 1 - PODS / 2) % PODS);
            api.delete(&oldest, &DeleteParams::default()).await?;
        }
    }
    Ok(())
}

/// Reads the table as a browser would, until a pod was seen to come and to run.
async fn check(address: SocketAddr) -> Result<(), Error> {
    let mut stream = TcpStream::connect(address).await?;
    stream.write_all(b"GET /rows HTTP/1.0\r\n\r\n").await?;
    let mut lines = BufReader::new(stream).lines();
    let mut phases = Vec::new();
    while !phases.contains(&json!("Running")) {
        let line = lines.next_line().await?.ok_or("the page hung up")?;
        if let Some(data) = line.strip_prefix("data: ") {
            println!("{data}");
            let message: Value = serde_json::from_str(data)?;
            phases.push(message["row"]["phase"].clone());
        }
    }
    Ok(())
}
