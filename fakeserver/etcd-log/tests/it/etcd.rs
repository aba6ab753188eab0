//! A real etcd, of the program on the path.

use std::{
    env,
    net::{SocketAddr, TcpListener, TcpStream},
    path::Path,
    process::{Child, Command, Stdio},
};

use tempfile::TempDir;
use tokio::{task::yield_now, time::timeout};

use super::PATIENCE;

/// The folder in memory, where etcd does not wait for a disk.
const MEMORY: &str = "/dev/shm";

/// An etcd with its data, which ends when it is dropped.
pub(crate) struct Etcd {
    folder: TempDir,
    clients: SocketAddr,
    peers: SocketAddr,
    child: Option<Child>,
}

// === impl Etcd ===

impl Etcd {
    /// Starts an etcd of its own. Without the program returns nothing, after a word about it, unless `REQUIRE_ETCD` is set.
    pub(crate) async fn start() -> Option<Self> {
        let is_there = Command::new("etcd")
            .arg("--version")
            .stdout(Stdio::null())
            .status()
            .is_ok();
        if !is_there {
            assert!(
                env::var_os("REQUIRE_ETCD").is_none(),
                "there is no program `etcd`"
            );
            eprintln!(
                "SKIPPED: there is no program `etcd`; on Debian, `apt-get install etcd-server` brings it"
            );
            return None;
        }
        let memory = Path::new(MEMORY);
        let folder = if memory.is_dir() {
            tempfile::tempdir_in(memory)
        } else {
            tempfile::tempdir()
        };
        let mut etcd = Self {
            folder: folder.unwrap(),
            clients: free_address(),
            peers: free_address(),
            child: None,
        };
        etcd.restart().await;
        Some(etcd)
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.clients)
    }

    /// Starts it again with its data.
    pub(crate) async fn restart(&mut self) {
        let child = Command::new("etcd")
            .arg("--data-dir")
            .arg(self.folder.path().join("data"))
            .args(["--listen-client-urls", &self.url()])
            .args(["--advertise-client-urls", &self.url()])
            .args(["--listen-peer-urls", &format!("http://{}", self.peers)])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        self.child = Some(child.unwrap());
        let listening = async {
            while TcpStream::connect(self.clients).is_err() {
                yield_now().await;
            }
        };
        timeout(PATIENCE, listening).await.unwrap();
    }

    /// Kills it, as a machine that fails.
    pub(crate) fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }
}

impl Drop for Etcd {
    fn drop(&mut self) {
        self.kill();
    }
}

fn free_address() -> SocketAddr {
    let reserved = TcpListener::bind("127.0.0.1:0").unwrap();
    reserved.local_addr().unwrap()
}
