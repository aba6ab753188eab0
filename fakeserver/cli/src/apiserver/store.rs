//! The store that `--etcd-servers` names: an etcd, or the folder of the etcd of this program.

use std::{path::PathBuf, time::Duration};

use bytes::Bytes;
use http::{Request, StatusCode, Uri, header};
use http_body_util::{BodyExt as _, Empty, Limited};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use serde::Deserialize;
use tokio::{
    net::TcpStream,
    time::{self, Instant},
};
use tracing::debug;

use crate::etcd::STORE_PATH;

/// The file of the objects, in the folder.
const FILE: &str = "fakeserver.state";
/// The time in which an etcd has to answer.
const LIMIT: Duration = Duration::from_secs(10);
/// The time until etcd is asked again.
const PAUSE: Duration = Duration::from_millis(50);
const ANSWER_MAX_BYTES: usize = 64 * 1024;

#[derive(Deserialize)]
struct Store {
    directory: PathBuf,
}

/// The place of the objects.
pub(super) enum StateLocation {
    /// The file that the etcd of this program names, which has no keys.
    File(PathBuf),
    /// Another etcd, in which they are.
    Etcd,
}

/// A failure to find the folder.
enum Failure {
    /// No server answers yet.
    Unreachable(String),
    /// The server is no etcd of this program.
    Foreign(String),
}

/// Asks the etcd at `url` for the file of the objects, and retries for some seconds if no server answers.
///
/// # Errors
///
/// No server answers.
///
/// # Cancel safety
///
/// If dropped, nothing has happened.
pub(super) async fn locate(url: &str) -> Result<StateLocation, String> {
    let until = Instant::now() + LIMIT;
    loop {
        let answer = time::timeout_at(until, ask(url)).await;
        let answer =
            answer.unwrap_or_else(|_| Err(Failure::Unreachable("no answer in time".to_owned())));
        match answer {
            Ok(store) => return Ok(StateLocation::File(store.directory.join(FILE))),
            Err(Failure::Unreachable(_)) if Instant::now() + PAUSE < until => {
                time::sleep(PAUSE).await;
            }
            Err(Failure::Unreachable(why)) => {
                return Err(format!(
                    "--etcd-servers {url}: {why}; start an etcd there, or leave the flag out to keep objects in memory"
                ));
            }
            Err(Failure::Foreign(why)) => {
                debug!(reason = why, "this is not the etcd of fakeserver");
                return Ok(StateLocation::Etcd);
            }
        }
    }
}

async fn ask(url: &str) -> Result<Store, Failure> {
    let parsed: Uri = url
        .parse()
        .map_err(|error: http::uri::InvalidUri| Failure::Foreign(error.to_string()))?;
    if parsed.scheme_str() != Some("http") {
        return Err(Failure::Foreign(
            "its address does not begin with http://".to_owned(),
        ));
    }
    let unreachable = |error: &dyn std::fmt::Display| Failure::Unreachable(error.to_string());
    let host = parsed.host().unwrap_or_default().trim_matches(['[', ']']);
    let stream = TcpStream::connect((host, parsed.port_u16().unwrap_or(2379))).await;
    let stream = stream.map_err(|error| unreachable(&error))?;
    let request = Request::get(STORE_PATH)
        .header(
            header::HOST,
            parsed.authority().map_or(host, |it| it.as_str()),
        )
        .body(Empty::<Bytes>::new())
        .map_err(|error| Failure::Foreign(error.to_string()))?;
    let handshake = http1::handshake(TokioIo::new(stream)).await;
    let (mut sender, connection) = handshake.map_err(|error| unreachable(&error))?;
    let answering = async {
        let response = sender.send_request(request).await?;
        let (parts, body) = response.into_parts();
        let body = Limited::new(body, ANSWER_MAX_BYTES).collect().await;
        Ok::<_, hyper::Error>((parts.status, body.map(http_body_util::Collected::to_bytes)))
    };
    tokio::pin!(answering, connection);
    let answer = tokio::select! {
        biased;
        answer = &mut answering => answer,
        ended = &mut connection => match ended {
            Ok(()) => answering.await,
            Err(error) => Err(error),
        },
    };
    match answer.map_err(|error| unreachable(&error))? {
        (StatusCode::OK, Ok(body)) => {
            serde_json::from_slice(&body).map_err(|error| Failure::Foreign(error.to_string()))
        }
        (code, _) => Err(Failure::Foreign(format!("it answers {code}"))),
    }
}
