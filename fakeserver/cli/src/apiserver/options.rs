//! The options of the API server, from its flags and the environment.

use std::{
    env, fs,
    io::ErrorKind,
    net::{IpAddr, SocketAddr},
    path::{Path, PathBuf},
};

use fakeserver_etcd::Layout;
use fakeserver_etcd_log::EtcdOptions;
use fakeserver_kinds::core::service::range::ServiceRange;
use fakeserver_server::{
    AdmissionPlugins, AuditLog, Authorization, Certificates, Controllers, FakeServerBuilder,
    ServiceAccountKeys, edge::authentication::StaticTokens,
};
use fakeserver_value::user::UserInfo;

use super::{
    super::{
        addresses::{SERVICE_RANGE_VARIABLE, range_of_server},
        audit,
        controllers::ControllersChoice,
        etcd_state::{CompactionInterval, EtcdFlags, INTERVAL, parse_interval},
    },
    flags::Flags,
};

use crate::with_sources;

/// Names of environment variables.
const CONTROLLERS: &str = "FAKESERVER_CONTROLLERS";
const FAULTS: &str = "FAKESERVER_FAULTS";

/// The admission plugin that wants a service account for each pod.
const SERVICE_ACCOUNT: &str = "ServiceAccount";
const CERT_DIR_DEFAULT: &str = "/var/run/kubernetes";
const PORT_DEFAULT: u16 = 6443;
const READS_DEFAULT: usize = 400;
const WRITES_DEFAULT: usize = 200;

/// The options of an API server.
#[derive(Debug)]
pub(super) struct Options {
    pub(super) address: SocketAddr,
    pub(super) certificates: Certificates,
    /// The addresses of etcd. Objects are in memory alone without it.
    pub(super) etcd: Vec<String>,
    etcd_prefix: String,
    /// The files of the authorities, the certificate and its key for etcd.
    etcd_files: [Option<PathBuf>; 3],
    etcd_compaction: CompactionInterval,
    pub(super) faults: Option<PathBuf>,
    pub(super) feature_gates: Vec<String>,
    pub(super) plugins: AdmissionPlugins,
    authorization: Authorization,
    controllers: Controllers,
    serves_anonymous: bool,
    allows_privileged: bool,
    reads_max: usize,
    writes_max: usize,
    tokens: Vec<(String, UserInfo)>,
    accounts: ServiceAccountKeys,
    service_range: Option<ServiceRange>,
    audit_log: Option<AuditLog>,
}

// === impl Options ===

impl Options {
    /// Reads the flags, and the files that they name. Words for the user are added to `notes`.
    ///
    /// # Errors
    ///
    /// A flag has no value of its kind, or a file is missing or is something else.
    pub(super) fn new(flags: &Flags, notes: &mut Vec<String>) -> Result<Self, String> {
        let address = address(flags)?;
        let controllers = match env::var(CONTROLLERS) {
            Ok(names) => {
                let choice = ControllersChoice::parse(&names);
                choice
                    .map_err(|error| format!("{CONTROLLERS}: {error}"))?
                    .all()
            }
            Err(_) => Controllers::none().with_leader_election(true),
        };
        let authorization = authorization(flags, notes)?;
        Ok(Self {
            address,
            certificates: certificates(flags, address.ip())?,
            etcd: flags.list("etcd-servers").map(str::to_owned).collect(),
            etcd_prefix: flags
                .get("etcd-prefix")
                .unwrap_or(Layout::DEFAULT_PREFIX)
                .to_owned(),
            etcd_files: ["etcd-cafile", "etcd-certfile", "etcd-keyfile"]
                .map(|flag| flags.get(flag).map(PathBuf::from)),
            etcd_compaction: parse_interval(
                flags.get("etcd-compaction-interval").unwrap_or(INTERVAL),
            )
            .map_err(|error| format!("--etcd-compaction-interval: {error}"))?,
            faults: env::var_os(FAULTS).map(PathBuf::from),
            feature_gates: flags.list("feature-gates").map(str::to_owned).collect(),
            plugins: plugins(flags),
            authorization,
            controllers,
            serves_anonymous: serves_anonymous(flags, authorization, notes)?,
            allows_privileged: flags.is_set("allow-privileged", false)?,
            reads_max: flags
                .parsed("max-requests-inflight")?
                .unwrap_or(READS_DEFAULT),
            writes_max: flags
                .parsed("max-mutating-requests-inflight")?
                .unwrap_or(WRITES_DEFAULT),
            tokens: tokens(flags)?,
            accounts: account_keys(flags)?,
            service_range: service_range(flags)?,
            audit_log: audit_log(flags, notes)?,
        })
    }

    /// Reads the options of an etcd that has keys.
    ///
    /// # Errors
    ///
    /// A file cannot be read, or a certificate has no key.
    pub(super) fn etcd_options(&self) -> Result<EtcdOptions, String> {
        let [authority, certificate, key] = self.etcd_files.each_ref().map(Option::as_deref);
        let flags = EtcdFlags {
            urls: self.etcd.clone(),
            prefix: &self.etcd_prefix,
            authority,
            certificate,
            key,
            interval: self.etcd_compaction,
        };
        flags.options()
    }

    /// Tells the server all but its store and its feature gates.
    pub(super) fn configure(&self, builder: FakeServerBuilder) -> FakeServerBuilder {
        let mut builder = builder
            .with_certificates(&self.certificates)
            .with_authorization(self.authorization)
            .with_controllers(self.controllers.clone())
            .with_admission(self.plugins.clone())
            .with_anonymous_auth(self.serves_anonymous)
            .with_privileged_containers(self.allows_privileged)
            .with_max_requests_in_flight(self.reads_max)
            .with_max_mutating_requests_in_flight(self.writes_max)
            .with_service_account_keys(self.accounts.clone());
        if let Some(range) = &self.service_range {
            builder = builder.with_service_range(*range);
        }
        if let Some(log) = &self.audit_log {
            builder = builder.with_audit_log(log.clone());
        }
        let tokens = self.tokens.iter();
        tokens.fold(builder, |builder, (token, user)| {
            builder.with_token(token, user.clone())
        })
    }
}

fn address(flags: &Flags) -> Result<SocketAddr, String> {
    let ip: IpAddr = flags
        .parsed("bind-address")?
        .unwrap_or(IpAddr::from([0, 0, 0, 0]));
    let port = flags.parsed("secure-port")?.unwrap_or(PORT_DEFAULT);
    if port == 0 {
        return Err(
            "--secure-port 0 must be between 1 and 65535, inclusive. It cannot be turned off with 0"
                .to_owned(),
        );
    }
    Ok((ip, port).into())
}

/// Returns the plugins of kube-apiserver, and those that flags turn on and off.
fn plugins(flags: &Flags) -> AdmissionPlugins {
    let (on, off) = ("enable-admission-plugins", "disable-admission-plugins");
    // The plugin is on by default in kube-apiserver, but not in this server.
    let is_off = flags.list(off).any(|name| name == SERVICE_ACCOUNT);
    AdmissionPlugins::default()
        .with_enabled(Some(SERVICE_ACCOUNT).filter(|_| !is_off))
        .with_enabled(flags.list(on))
        .with_disabled(flags.list(off))
}

/// Returns whether requests without credentials are served. Where everything is allowed they are not, whatever is asked for.
fn serves_anonymous(
    flags: &Flags,
    authorization: Authorization,
    notes: &mut Vec<String>,
) -> Result<bool, String> {
    let is_asked = flags.is_set("anonymous-auth", true)?;
    let allows_all = authorization == Authorization::AlwaysAllow;
    if is_asked && allows_all {
        notes.push(
            "AnonymousAuth is not allowed with the AlwaysAllow authorizer: requests without credentials are 401"
                .to_owned(),
        );
    }
    Ok(is_asked && !allows_all)
}

fn authorization(flags: &Flags, notes: &mut Vec<String>) -> Result<Authorization, String> {
    let mut is_always_allowed = true;
    for mode in flags.list("authorization-mode") {
        match mode {
            "AlwaysAllow" => return Ok(Authorization::AlwaysAllow),
            "RBAC" => {}
            "Node" | "ABAC" | "Webhook" | "AlwaysDeny" => notes.push(format!(
                "--authorization-mode={mode} has no effect: it has no opinion here"
            )),
            other => {
                return Err(format!(
                    "--authorization-mode: {other:?} is not a valid mode; try `RBAC` or `AlwaysAllow`"
                ));
            }
        }
        is_always_allowed = false;
    }
    Ok(if is_always_allowed {
        Authorization::AlwaysAllow
    } else {
        Authorization::Rbac
    })
}

/// Returns the content of a file that a flag names.
fn read(flag: &str, file: &Path) -> Result<Vec<u8>, String> {
    fs::read(file).map_err(|error| format!("--{flag} {}: {error}", file.display()))
}

/// Reads the serving pair, or makes one in the folder of certificates, and the authorities of clients.
fn certificates(flags: &Flags, ip: IpAddr) -> Result<Certificates, String> {
    let authorities = flags
        .get("client-ca-file")
        .map(|file| read("client-ca-file", Path::new(file)))
        .transpose()?;
    let (certificate, key) = match (
        flags.get("tls-cert-file"),
        flags.get("tls-private-key-file"),
    ) {
        (Some(certificate), Some(key)) => (
            read("tls-cert-file", Path::new(certificate))?,
            read("tls-private-key-file", Path::new(key))?,
        ),
        (None, None) => pair_of_folder(flags, ip)?,
        _ => return Err("--tls-cert-file and --tls-private-key-file go together".to_owned()),
    };
    let made = Certificates::from_pem(
        &certificate,
        &key,
        authorities.as_deref().unwrap_or_default(),
    );
    made.map_err(|error| with_sources(&error))
}

fn pair_of_folder(flags: &Flags, ip: IpAddr) -> Result<(Vec<u8>, Vec<u8>), String> {
    let folder = Path::new(flags.get("cert-dir").unwrap_or(CERT_DIR_DEFAULT));
    let files = [folder.join("apiserver.crt"), folder.join("apiserver.key")];
    match files.each_ref().map(|file| file.exists()) {
        [true, true] => {}
        [false, false] => make_pair(folder, &files, ip)?,
        _ => {
            return Err(format!(
                "--cert-dir {}: of apiserver.crt and apiserver.key one is missing; a certificate needs its own key",
                folder.display()
            ));
        }
    }
    let [certificate, key] = files;
    Ok((read("cert-dir", &certificate)?, read("cert-dir", &key)?))
}

/// Writes a certificate that is its own authority, and its key, where nothing is.
fn make_pair(folder: &Path, files: &[PathBuf; 2], ip: IpAddr) -> Result<(), String> {
    use std::{io::Write as _, os::unix::fs::OpenOptionsExt as _};

    let why = |error: std::io::Error| format!("--cert-dir {}: {error}", folder.display());
    let names = Some(ip).filter(|ip| !ip.is_unspecified());
    let (certificate, key) = Certificates::self_signed(names.map(|ip| ip.to_string()))
        .map_err(|error| with_sources(&error))?;
    fs::create_dir_all(folder).map_err(why)?;
    for (file, (text, mode)) in files.iter().zip([(certificate, 0o644), (key, 0o600)]) {
        let mut options = fs::File::options();
        let options = options.write(true).create_new(true).mode(mode);
        let written = options
            .open(file)
            .and_then(|mut file| file.write_all(text.as_bytes()));
        match written {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            other => other.map_err(why)?,
        }
    }
    Ok(())
}

fn service_range(flags: &Flags) -> Result<Option<ServiceRange>, String> {
    let chosen = env::var(SERVICE_RANGE_VARIABLE).ok();
    range_of_server(flags.get("service-cluster-ip-range"), chosen.as_deref())
}

fn tokens(flags: &Flags) -> Result<Vec<(String, UserInfo)>, String> {
    let Some(file) = flags.get("token-auth-file") else {
        return Ok(Vec::new());
    };
    let text = read("token-auth-file", Path::new(file))?;
    StaticTokens::parse(&String::from_utf8_lossy(&text))
        .map_err(|error| format!("--token-auth-file {file}: {error}"))
}

fn audit_log(flags: &Flags, notes: &mut Vec<String>) -> Result<Option<AuditLog>, String> {
    let (log, policy) = ("audit-log-path", "audit-policy-file");
    match (flags.get(log), flags.get(policy)) {
        (Some(file), Some(rules)) => {
            let rules = audit::policy(policy, Path::new(rules))?;
            audit::log(log, Path::new(file), rules).map(Some)
        }
        (Some(_), None) => {
            notes.push(format!(
                "--{log} has no effect: no --{policy} says what to log"
            ));
            Ok(None)
        }
        (None, Some(_)) => {
            notes.push(format!(
                "--{policy} has no effect: no --{log} says where to log"
            ));
            Ok(None)
        }
        (None, None) => Ok(None),
    }
}

fn account_keys(flags: &Flags) -> Result<ServiceAccountKeys, String> {
    let mut keys = ServiceAccountKeys::default();
    if let Some(file) = flags.get("service-account-signing-key-file") {
        let pem = read("service-account-signing-key-file", Path::new(file))?;
        keys = keys.with_signing_key_pem(&pem).map_err(|error| {
            format!(
                "--service-account-signing-key-file {file}: {}",
                with_sources(&error)
            )
        })?;
    }
    for file in flags.list("service-account-key-file") {
        let pem = read("service-account-key-file", Path::new(file))?;
        keys = keys.with_key_pem(&pem).map_err(|error| {
            format!(
                "--service-account-key-file {file}: {}",
                with_sources(&error)
            )
        })?;
    }
    for issuer in flags.list("service-account-issuer") {
        keys = keys.with_issuer(issuer);
    }
    Ok(keys.with_audiences(flags.list("api-audiences")))
}

#[cfg(test)]
mod tests {
    use fakeserver_versions::KubernetesVersion;

    use super::*;

    #[test]
    fn where_everything_is_allowed_nobody_is_anonymous() {
        for (line, is_served, notes_count) in [
            ("--authorization-mode=RBAC", true, 0),
            (
                "--authorization-mode=Node,RBAC --anonymous-auth=false",
                false,
                0,
            ),
            ("--authorization-mode=AlwaysAllow", false, 1),
            (
                "--authorization-mode=RBAC,AlwaysAllow --anonymous-auth",
                false,
                1,
            ),
            (
                "--authorization-mode=AlwaysAllow --anonymous-auth=false",
                false,
                0,
            ),
            // The default mode.
            ("--secure-port=1", false, 1),
        ] {
            let flags = Flags::parse(
                KubernetesVersion::DEFAULT,
                line.split_whitespace().map(str::to_owned),
            )
            .unwrap();
            let mut notes = Vec::new();
            // Of the modes themselves there are notes, too.
            let authorization = authorization(&flags, &mut Vec::new()).unwrap();
            assert_eq!(
                serves_anonymous(&flags, authorization, &mut notes),
                Ok(is_served),
                "{line}"
            );
            assert_eq!(notes.len(), notes_count, "{line}");
        }
    }
}
