//! A page that refreshes itself: informer to server-sent events to a table in the browser, through faults of the server.
//!
//! ```console
//! $ cargo run -p examples --example 08_live_table            # then open the address that it prints
//! $ cargo run -p examples --example 08_live_table -- --check # a client reads until a fault came and went, and it ends
//! ```

mod page;

use std::{net::SocketAddr, time::Duration};

use fakeserver::{Churn, Clock, ClusterOptions, FakeServer, faults::ServerError};
use informer::{Scope, SharedInformer};
use k8s_openapi::api::core::v1::Pod;
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader},
    net::{TcpListener, TcpStream},
};

type Error = Box<dyn std::error::Error + Send + Sync>;

const LIMIT: Duration = Duration::from_secs(30);

#[tokio::main]
async fn main() -> Result<(), Error> {
    let is_check = std::env::args().any(|argument| argument == "--check");
    if std::env::args().len() > 1 && !is_check {
        println!("08_live_table [--check]: serves a page until SIGINT, or reads it once and ends");
        return Ok(());
    }
    let churn = Churn::new(200).with_crashes(5).with_scalings(3);
    let cluster = ClusterOptions::new(50, 3_000).with_churn(churn);
    let server = FakeServer::builder()
        .with_clock(Clock::wall())
        .with_cluster(cluster)
        .build();
    let pods = SharedInformer::<Pod>::new(server.client(), Scope::All);
    pods.start();
    pods.wait_for_cache_sync(LIMIT).await?;

    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    println!("http://{address}/");
    let page = axum::serve(listener, page::router(pods.clone()));
    let visitor = async {
        if is_check {
            return tokio::time::timeout(LIMIT, check(address)).await?;
        }
        Ok(tokio::signal::ctrl_c().await?)
    };
    tokio::select! {
        left = visitor => left?,
        failed = page => failed?,
        () = break_now_and_then(&server, if is_check { 1 } else { 10 }) => {}
    }
    tokio::join!(pods.shutdown(), server.shutdown());
    Ok(())
}

/// Ends all watches now and then, and answers with errors for two seconds after that.
async fn break_now_and_then(server: &FakeServer, seconds: u64) {
    loop {
        tokio::time::sleep(Duration::from_secs(seconds)).await;
        let fault = ServerError::default()
            .rule()
            .lasting(Duration::from_secs(2));
        let _away = server.faults().install(fault);
        server.disconnect();
        tokio::time::sleep(Duration::from_secs(5)).await;
    }
}

/// Reads what a browser would, until the informer has lost the server and found it again.
async fn check(address: SocketAddr) -> Result<(), Error> {
    let mut stream = TcpStream::connect(address).await?;
    stream.write_all(b"GET /rows HTTP/1.0\r\n\r\n").await?;
    let mut lines = BufReader::new(stream).lines();
    let mut was_lost = false;
    while let Some(line) = lines.next_line().await? {
        if line.starts_with(r#"data: {"state""#) {
            println!("{line}");
            let is_live = line.contains("watching");
            if was_lost && is_live {
                return Ok(());
            }
            was_lost |= !is_live;
        }
    }
    Err("the page hung up".into())
}
