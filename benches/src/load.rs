//! The load of many clients at once.

use std::{
    error::Error,
    time::{Duration, Instant},
};

use bytes::Bytes;
use futures::future::try_join_all;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{
    job::Job,
    program::Program,
    serve::ServerProcess,
    task::on_one_thread,
    wire::{Connection, JSON},
};

const PODS: &str = "/api/v1/namespaces/default/pods";
/// The approximate size of the created objects.
const BODY_BYTES: usize = 3_900;
/// The number of starts of the server, of which the median is reported.
const STARTS: usize = 5;

/// The time that a number of creates took.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct CreateTime {
    elapsed: Duration,
}

/// Creates a second over `connections` connections, on a server with `arguments`.
pub(crate) async fn creates_per_second(
    connections: u32,
    count: u32,
    arguments: &[String],
) -> Result<f64, Box<dyn Error>> {
    let server = Program::serve(arguments).await?;
    let job = Job::Create {
        url: server.url.clone(),
        connections,
        count,
    };
    let created: CreateTime = job.outcome().await?;
    let mut connection = Connection::open(&server.url).await?;
    let one = connection
        .ask("GET", &format!("{PODS}?limit=1"), Bytes::new())
        .await?;
    let one: Value = serde_json::from_slice(&one)?;
    let remaining = &one["metadata"]["remainingItemCount"];
    if *remaining != json!(count - 1) {
        return Err(format!("{count} pods were created, and {remaining} and one are there").into());
    }
    Ok(f64::from(count) / created.elapsed.as_secs_f64())
}

/// Creates `count` pods in this process, on one thread, so that most of the cores is the server's.
pub(crate) async fn create(
    url: String,
    connections: u32,
    count: u32,
) -> Result<CreateTime, Box<dyn Error>> {
    on_one_thread(move || async move { create_all(&url, connections, count).await }).await
}

#[expect(clippy::disallowed_methods, reason = "a benchmark measures real time")]
async fn create_all(url: &str, connections: u32, count: u32) -> Result<CreateTime, Box<dyn Error>> {
    let body = Bytes::from(serde_json::to_vec(&pod())?);
    let connected = (0..connections).map(|_| Connection::open(url));
    let connected = try_join_all(connected).await?;
    let start = Instant::now();
    let writers = connected.into_iter().zip(0..);
    try_join_all(writers.map(|(mut connection, number)| {
        let body = body.clone();
        async move {
            let own = count / connections + u32::from(number < count % connections);
            for _ in 0..own {
                connection.ask("POST", PODS, body.clone()).await?;
            }
            Ok::<_, Box<dyn Error>>(())
        }
    }))
    .await?;
    Ok(CreateTime {
        elapsed: start.elapsed(),
    })
}

/// Measures the time that the list of all pods takes, and the length of its body.
#[expect(clippy::disallowed_methods, reason = "a benchmark measures real time")]
pub(crate) async fn list(server: &ServerProcess) -> Result<(Duration, u64), Box<dyn Error>> {
    let mut connection = Connection::open(&server.contents.url).await?;
    let start = Instant::now();
    let length = connection.skim("/api/v1/pods", JSON).await?;
    if length < server.contents.json_bytes {
        return Err("the list is shorter than its items".into());
    }
    Ok((start.elapsed(), length))
}

/// From the start of the server's process to its first answer, the median of some. The first one of all also reads the program
/// from the disk.
#[expect(clippy::disallowed_methods, reason = "a benchmark measures real time")]
pub(crate) async fn first_answer() -> Result<Duration, Box<dyn Error>> {
    let mut taken = [Duration::ZERO; STARTS];
    for taken in &mut taken {
        let start = Instant::now();
        let server = Program::serve(&[]).await?;
        ask_something(&server.url).await?;
        *taken = start.elapsed();
    }
    taken.sort_unstable();
    Ok(taken[STARTS / 2])
}

/// Asks the server at `url` for something small.
pub(crate) async fn ask_something(url: &str) -> Result<(), Box<dyn Error>> {
    let mut connection = Connection::open(url).await?;
    let path = "/api/v1/namespaces/default";
    connection.ask("GET", path, Bytes::new()).await?;
    Ok(())
}

/// Returns a pod of two containers, without defaults, as in a manifest.
fn pod() -> Value {
    let mut pod = json!({
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"generateName": "api-7d9f8b6c5d-", "labels": {"app": "api", "tier": "backend"}},
        "spec": {"containers": [container("api", 8080), container("sidecar", 9102)]},
    });
    let length = pod.to_string().len();
    pod["metadata"]["annotations"] =
        json!({"padding": "x".repeat(BODY_BYTES.saturating_sub(length))});
    pod
}

fn container(name: &str, port: u32) -> Value {
    let probe = json!({"httpGet": {"path": "/healthz", "port": port}, "periodSeconds": 10});
    let variables = (0..10).map(
        |number| json!({"name": format!("SETTING_{number}"), "value": format!("value-{number}")}),
    );
    json!({
        "name": name,
        "image": format!("registry.example.com/team/{name}:v1.2.3"),
        "ports": [{"containerPort": port, "protocol": "TCP"}],
        "env": variables.collect::<Vec<_>>(),
        "resources": {"requests": {"cpu": "100m", "memory": "128Mi"}, "limits": {"memory": "256Mi"}},
        "livenessProbe": probe,
        "readinessProbe": probe,
    })
}
