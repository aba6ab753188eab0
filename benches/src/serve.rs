//! The server under load, in a process of its own: what it runs, and the handle to it.

use std::{error::Error, net::Ipv4Addr};

use fakeserver::{ClusterOptions, Compaction, FakeServer};
use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader},
    net::TcpListener,
    process::ChildStdin,
};
use tokio_util::sync::CancellationToken;

use crate::{answer::Answer, child::Child, job::Job, recorder::Recorder};

/// The number of pods on a node.
pub(crate) const PODS_A_NODE: u32 = 30;
/// The seed of the cluster.
pub(crate) const SEED: u64 = 7;

/// The address of a server, and its contents.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Contents {
    pub(crate) url: String,
    /// The size of all pods as the server stores them, in bytes of JSON.
    pub(crate) json_bytes: u64,
    pub(crate) answer: Answer,
}

/// A server in a process of its own, which ends with this.
#[derive(Debug)]
pub(crate) struct ServerProcess {
    pub(crate) contents: Contents,
    _child: Child,
    input: ChildStdin,
}

/// Serves a cluster of `pods` running pods over loopback HTTP until standard input ends. Each line of input ends all
/// watches, and makes all clients relist.
///
/// If it `records`, every answer to a list is made once, and repeated from then on.
pub(crate) async fn run(pods: u32, records: bool) -> Result<(), Box<dyn Error>> {
    let server = FakeServer::builder()
        .with_seed(SEED)
        // What the program keeps, unless told otherwise.
        .with_compaction(Compaction::production())
        .with_cbor(true)
        .with_cluster(ClusterOptions::new(pods.div_ceil(PODS_A_NODE), pods))
        .build();
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    let pods = server.objects("", "v1", "pods");
    let contents = Contents {
        url: format!("http://{}", listener.local_addr()?),
        json_bytes: pods.iter().map(|pod| pod.json().len() as u64).sum(),
        answer: Answer::of(pods.iter().map(|pod| {
            let key = format!("{}/{}", pod.namespace().unwrap_or_default(), pod.name());
            (key, pod.revision().to_string())
        })),
    };
    drop(pods);
    println!("{}", serde_json::to_string(&contents)?);
    let stop = CancellationToken::new();
    let mut lines = BufReader::new(tokio::io::stdin()).lines();
    let readiness = async {
        while let Ok(Some(_)) = lines.next_line().await {
            // A client that has received every change could resume its watch. One more write rules that out.
            server.apply(&json!({
                "apiVersion": "v1",
                "kind": "ConfigMap",
                "metadata": {"name": "written", "namespace": "default"},
                "data": {"revision": server.revision().to_string()},
            }))?;
            server.expire();
            server.disconnect();
        }
        Ok::<_, Box<dyn Error>>(())
    };
    let serving = async {
        if records {
            Recorder::new(server.client()).serve(listener).await;
        } else {
            server.serve(listener, stop.clone()).await;
        }
    };
    tokio::select! {
        biased;
        ready = readiness => ready?,
        () = serving => return Err("the server ended early".into()),
    }
    stop.cancel();
    server.shutdown().await;
    Ok(())
}

// === impl ServerProcess ===

impl ServerProcess {
    pub(crate) async fn start(pods: u32) -> Result<Self, Box<dyn Error>> {
        Self::start_as(Job::Serve {
            pods,
            records: false,
        })
        .await
    }

    /// Starts one that makes every answer to a list once.
    pub(crate) async fn start_recorded(pods: u32) -> Result<Self, Box<dyn Error>> {
        Self::start_as(Job::Serve {
            pods,
            records: true,
        })
        .await
    }

    async fn start_as(job: Job) -> Result<Self, Box<dyn Error>> {
        let mut child = job.start()?;
        let input = child.take_input().expect("standard input is piped");
        Ok(Self {
            contents: serde_json::from_str(&child.line().await?)?,
            _child: child,
            input,
        })
    }

    /// Ends all watches, none of which can go on where it was.
    pub(crate) async fn expire(&mut self) -> Result<(), Box<dyn Error>> {
        self.input.write_all(b"expire\n").await?;
        self.input.flush().await?;
        Ok(())
    }
}
