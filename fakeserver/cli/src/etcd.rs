//! The program under the name `etcd`: what test environments start beside an API server.
//!
//! This etcd holds no keys. It answers health checks, and names the folder in which an API server keeps its objects, so that they
//! are there for the next API server with the same `--etcd-servers`.

use std::{
    fs, io,
    net::SocketAddr,
    path::{Path, PathBuf},
    process::ExitCode,
};

use axum::{Json, Router, routing::get};
use fakeserver_server::Listener;
use http::Uri;
use serde_json::json;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use super::{parent::Parent, say, signals::Signals};

/// The path at which an API server asks for the folder.
pub(super) const STORE_PATH: &str = "/fakeserver/store";

const CLIENT_URLS_DEFAULT: &str = "http://localhost:2379";
const DATA_DIR_DEFAULT: &str = "default.etcd";
/// The folder that etcd makes in its data directory.
const MEMBER: &str = "member";

const HELP: &str = "etcd of fakeserver: names the folder in which its kube-apiserver keeps objects; holds no keys.

Usage:
  etcd [flags]

Example:
  etcd --data-dir=/tmp/store --listen-client-urls=http://127.0.0.1:2379

Flags:
  --data-dir DIR                 folder of the objects [default: default.etcd]
  --listen-client-urls URLS      addresses to listen on, without TLS [default: http://localhost:2379]
  --advertise-client-urls, --listen-peer-urls, --unsafe-no-fsync and the others of etcd are accepted, without effect
";

const VERSION: &str = concat!(
    "etcd Version: 3.6.0 (fakeserver ",
    env!("CARGO_PKG_VERSION"),
    ")\n"
);

/// The command line.
#[derive(Debug, PartialEq, Eq)]
struct Options {
    data_dir: PathBuf,
    client_urls: Vec<String>,
    wants_help: bool,
    wants_version: bool,
}

/// Runs until a signal, or until the process that started it has ended.
pub(super) async fn run(arguments: impl IntoIterator<Item = String>) -> Result<ExitCode, String> {
    let parent = Parent::current();
    let options = Options::parse(arguments)?;
    if options.wants_help {
        return say(HELP);
    }
    if options.wants_version {
        return say(VERSION);
    }
    let mut signals = Signals::listen()?;
    let folder = open_folder(&options.data_dir)?;
    let mut listeners = Vec::new();
    for url in &options.client_urls {
        listeners.push(listen(url).await?);
    }
    let stop = CancellationToken::new();
    let serving = listeners
        .into_iter()
        .map(|listener| Listener::new(listener).serve(router(&folder), stop.clone()));
    let serving = futures::future::join_all(serving);
    let stopping = async {
        tokio::select! {
            biased;
            _ = signals.recv() => {}
            () = parent.ended() => {}
        }
        stop.cancel();
    };
    tokio::join!(serving, stopping);
    Ok(ExitCode::SUCCESS)
}

fn router(folder: &Path) -> Router {
    let health = || async { Json(json!({"health": "true", "reason": ""})) };
    let store = json!({"directory": folder});
    Router::new()
        .route("/health", get(health))
        .route("/livez", get(|| async { "ok" }))
        .route("/readyz", get(|| async { "ok" }))
        .route(
            "/version",
            get(|| async { Json(json!({"etcdserver": "3.6.0", "etcdcluster": "3.6.0"})) }),
        )
        .route(STORE_PATH, get(|| async { Json(store) }))
}

/// Returns the absolute path of the data directory, which is made if it is not there.
fn open_folder(folder: &Path) -> Result<PathBuf, String> {
    let why = |error: io::Error| format!("--data-dir {}: {error}", folder.display());
    fs::create_dir_all(folder).map_err(why)?;
    let folder = fs::canonicalize(folder).map_err(why)?;
    if folder.join(MEMBER).exists() {
        return Err(format!(
            "--data-dir {}: it holds the data of a real etcd, which are left alone; name another folder",
            folder.display()
        ));
    }
    Ok(folder)
}

async fn listen(url: &str) -> Result<TcpListener, String> {
    let why = |error: &dyn std::fmt::Display| format!("--listen-client-urls {url}: {error}");
    let parsed: Uri = url.parse().map_err(|error| why(&error))?;
    if parsed.scheme_str() != Some("http") {
        return Err(why(&"http:// is needed, since there is no TLS here"));
    }
    let host = parsed.host().unwrap_or_default();
    let host = host.trim_matches(['[', ']']);
    let port = parsed.port_u16().unwrap_or(2379);
    let found = tokio::net::lookup_host((host, port)).await;
    let found: Vec<SocketAddr> = found.map_err(|error| why(&error))?.collect();
    let listener = TcpListener::bind(&*found).await;
    listener.map_err(|error| format!("{}; is another etcd running?", why(&error)))
}

// === impl Options ===

impl Options {
    /// Reads `--name=value`, `--name value` and `--name`, with one dash as well. What has no meaning here is passed over.
    fn parse(arguments: impl IntoIterator<Item = String>) -> Result<Self, String> {
        let mut options = Self {
            data_dir: DATA_DIR_DEFAULT.into(),
            client_urls: vec![CLIENT_URLS_DEFAULT.to_owned()],
            wants_help: false,
            wants_version: false,
        };
        let mut arguments = arguments.into_iter().peekable();
        while let Some(argument) = arguments.next() {
            let flag = argument
                .strip_prefix("--")
                .or_else(|| argument.strip_prefix('-'));
            let flag = flag
                .filter(|flag| !flag.is_empty())
                .ok_or_else(|| format!("etcd takes flags only, not {argument:?}; see --help"))?;
            let (name, value) = match flag.split_once('=') {
                Some((name, value)) => (name, Some(value.to_owned())),
                None => (flag, arguments.next_if(|next| !next.starts_with('-'))),
            };
            let needed = || {
                value
                    .clone()
                    .ok_or_else(|| format!("flag needs an argument: --{name}"))
            };
            match name {
                "help" | "h" => options.wants_help = true,
                "version" => options.wants_version = true,
                "data-dir" => options.data_dir = needed()?.into(),
                "listen-client-urls" => {
                    options.client_urls = needed()?.split(',').map(str::to_owned).collect();
                }
                _ => {}
            }
        }
        Ok(options)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Result<Options, String> {
        Options::parse(line.split_whitespace().map(str::to_owned))
    }

    #[test]
    fn the_flags_of_envtest_are_understood() {
        let options = parsed(
            "--advertise-client-urls=http://127.0.0.1:1 --data-dir=/d --listen-client-urls=http://127.0.0.1:1 \
             --listen-peer-urls=http://127.0.0.1:2 --unsafe-no-fsync=true",
        )
        .unwrap();
        assert_eq!(options.data_dir, Path::new("/d"));
        assert_eq!(options.client_urls, ["http://127.0.0.1:1"]);
        assert!(parsed("--help").unwrap().wants_help);
        assert!(HELP.contains("--unsafe-no-fsync"), "envtest looks for it");
        let options = parsed("-data-dir /e --listen-client-urls http://a:1,http://b:2").unwrap();
        assert_eq!(options.data_dir, Path::new("/e"));
        assert_eq!(options.client_urls.len(), 2);
        assert!(parsed("member list").unwrap_err().contains("\"member\""));
        assert!(parsed("--data-dir").unwrap_err().contains("--data-dir"));
    }

    #[tokio::test]
    async fn the_data_of_a_real_etcd_are_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("new/data");
        assert!(open_folder(&data).unwrap().is_absolute());
        fs::create_dir(data.join(MEMBER)).unwrap();
        let error = open_folder(&data).unwrap_err();
        assert!(error.contains("real etcd"), "{error}");
        let error = listen("https://127.0.0.1:0").await.unwrap_err();
        assert!(error.contains("no TLS"), "{error}");
    }
}
