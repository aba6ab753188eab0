//! The files and addresses of one replica: its kubeconfig, or what a pod finds in a cluster.

use std::{
    ffi::{OsStr, OsString},
    fs, io,
    net::{Ipv4Addr, SocketAddr},
    path::{Path, PathBuf},
    process::Stdio,
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use fakeserver::Certificates;
use serde_json::json;
use tokio::{net::TcpListener, process::Command};

use super::output::Output;

/// Puts the folder `$1` where pods have their service account, in the mount namespace of this process, and becomes the command
/// that follows.
const IN_CLUSTER: &str = "set -e
at=/var/run/secrets/kubernetes.io/serviceaccount
if [ ! -d \"$at\" ]; then
    mount -t tmpfs tmpfs \"$(readlink -f /var/run)\"
    mkdir -p \"$at\"
fi
mount --bind \"$1\" \"$at\"
shift
exec \"$@\"";

/// The variable with the working folder, by which the processes of a replica are known.
const WORKDIR: &str = "SURVIVE_WORKDIR";

/// The environment of one replica.
#[derive(Clone, Debug)]
pub(super) struct Environment {
    pub(super) server: String,
    pub(super) kubeconfig: PathBuf,
    pub(super) workdir: PathBuf,
    pub(super) output: Output,
    /// A free port, for probes and metrics.
    pub(super) port: u16,
    address: SocketAddr,
    /// The files of a pod's service account, if the server is found as in a cluster.
    account: Option<PathBuf>,
}

// === impl Environment ===

impl Environment {
    /// Makes the working folder and the kubeconfig of a replica whose server is at `address`, and the files of its service
    /// account if the server has certificates.
    pub(super) async fn make(
        folder: &Path,
        replica: usize,
        address: SocketAddr,
        certificates: Option<&Certificates>,
    ) -> io::Result<Self> {
        let own = folder.join(format!("replica-{replica}"));
        let workdir = own.join("work");
        fs::create_dir_all(&workdir)?;
        let (server, cluster, account) = match certificates {
            None => {
                let server = format!("http://{address}");
                let cluster = json!({"server": server});
                (server, cluster, None)
            }
            Some(certificates) => {
                let server = format!("https://{address}");
                let authority = certificates.authority_pem();
                let data = STANDARD.encode(&authority);
                let cluster = json!({"server": server, "certificate-authority-data": data});
                let account = own.join("serviceaccount");
                fs::create_dir(&account)?;
                fs::write(account.join("ca.crt"), authority)?;
                fs::write(account.join("namespace"), "default")?;
                fs::write(account.join("token"), "survive")?;
                (server, cluster, Some(account))
            }
        };
        let kubeconfig = own.join("kubeconfig");
        let config = json!({
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "survive",
            "clusters": [{"name": "survive", "cluster": cluster}],
            "users": [{"name": "survive", "user": {}}],
            "contexts": [{
                "name": "survive",
                "context": {"cluster": "survive", "user": "survive", "namespace": "default"},
            }],
        });
        fs::write(&kubeconfig, config.to_string())?;
        Ok(Self {
            server,
            kubeconfig,
            workdir,
            output: Output::to_file(&own.join("output.log"))?,
            port: free_port().await?,
            address,
            account,
        })
    }

    /// Returns the command that runs `program`, which finds its server.
    pub(super) fn command(&self, program: &OsStr, arguments: &[OsString]) -> Command {
        let arguments = arguments.iter().map(|argument| self.fill(argument));
        let mut command = match &self.account {
            None => {
                let mut command = Command::new(program);
                command.args(arguments);
                command.env("KUBECONFIG", &self.kubeconfig);
                command
            }
            Some(account) => {
                let mut command = unshare();
                command.args(["sh", "-c", IN_CLUSTER, "survive"]);
                command.arg(account).arg(program).args(arguments);
                command.env_remove("KUBECONFIG");
                command.env("KUBERNETES_SERVICE_HOST", self.address.ip().to_string());
                command.env("KUBERNETES_SERVICE_PORT", self.address.port().to_string());
                command
            }
        };
        command.env(WORKDIR, &self.workdir);
        command
    }

    /// Returns the variable that the processes of this replica alone have in their environment.
    pub(super) fn mark(&self) -> OsString {
        let mut mark = OsString::from(WORKDIR);
        mark.push("=");
        mark.push(&self.workdir);
        mark
    }

    fn fill(&self, argument: &OsString) -> OsString {
        let text = argument.to_str();
        text.map_or_else(|| argument.clone(), |text| self.filled(text).into())
    }

    /// Returns a text with its placeholders filled.
    pub(super) fn filled(&self, text: &str) -> String {
        let path = |path: &Path| path.display().to_string();
        text.replace("{server}", &self.server)
            .replace("{kubeconfig}", &path(&self.kubeconfig))
            .replace("{workdir}", &path(&self.workdir))
            .replace("{port}", &self.port.to_string())
    }
}

/// Fails if a process cannot have a mount namespace of its own here. The error tells what to do instead.
pub(super) async fn check_in_cluster() -> Result<(), String> {
    let tried = unshare()
        .arg("true")
        .stdin(Stdio::null())
        .output()
        .await
        .map_err(|error| error.to_string());
    let why = match tried {
        Ok(output) if output.status.success() => return Ok(()),
        Ok(output) => String::from_utf8_lossy(&output.stderr).trim().to_owned(),
        Err(error) => error,
    };
    Err(format!(
        "--in-cluster needs a private mount namespace, which is not permitted here ({why}); without it the subject gets \
         KUBECONFIG, and `{{kubeconfig}}` in its arguments is replaced by that file"
    ))
}

/// Returns the command that runs another one in a mount namespace of its own.
fn unshare() -> Command {
    let mut command = Command::new("unshare");
    command.args(["--user", "--map-root-user", "--mount", "--"]);
    command
}

async fn free_port() -> io::Result<u16> {
    let socket = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    Ok(socket.local_addr()?.port())
}
