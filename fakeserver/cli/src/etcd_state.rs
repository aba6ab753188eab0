//! The state in etcd: the flags of kube-apiserver for it.

use std::{
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use clap::{ArgAction, Args};
use fakeserver_etcd::Layout;
use fakeserver_etcd_log::EtcdOptions;
use fakeserver_server::FakeServerBuilder;
use jiff::SignedDuration;

/// The interval of compactions of a real kube-apiserver.
pub(super) const INTERVAL: &str = "5m";

#[derive(Debug, Args)]
pub(super) struct EtcdArguments {
    /// Keep the state in etcd, with any number of other servers, as kube-apiserver does: the URLs of its members.
    ///
    /// Uids and names are random then, whatever `--seed`.
    #[arg(
        long,
        value_name = "URL",
        value_delimiter = ',',
        conflicts_with_all = ["data", "etcd_snapshot", "nodes"]
    )]
    etcd_servers: Vec<String>,

    /// The prefix of the cluster's keys, in etcd or in `--etcd-snapshot`
    #[arg(long, value_name = "PREFIX", default_value = Layout::DEFAULT_PREFIX)]
    etcd_prefix: String,

    /// Authorities of the certificates of etcd, as PEM.
    #[arg(long, value_name = "FILE", requires = "etcd_servers")]
    etcd_cafile: Option<PathBuf>,

    /// The certificate with which the server proves itself to etcd, as PEM.
    #[arg(long, value_name = "FILE", requires = "etcd_keyfile")]
    etcd_certfile: Option<PathBuf>,

    /// The key of that certificate, as PEM.
    #[arg(long, value_name = "FILE", requires = "etcd_certfile")]
    etcd_keyfile: Option<PathBuf>,

    /// Interval at which one of the servers compacts etcd; 0 leaves it to others
    #[arg(
        long,
        value_name = "DURATION",
        requires = "etcd_servers",
        default_value = INTERVAL,
        value_parser = parse_interval
    )]
    etcd_compaction_interval: CompactionInterval,

    /// Run the controllers in only one of the servers of an etcd, the holder of the lease `fakeserver-controllers` in
    /// `kube-system`
    #[arg(
        long,
        value_name = "BOOL",
        requires = "etcd_servers",
        default_value_t = true,
        action = ArgAction::Set
    )]
    leader_elect: bool,
}

/// The interval of compactions, if there are any.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CompactionInterval(Option<Duration>);

/// The flags of kube-apiserver that etcd has to be asked with.
pub(super) struct EtcdFlags<'a> {
    pub(super) urls: Vec<String>,
    pub(super) prefix: &'a str,
    pub(super) authority: Option<&'a Path>,
    pub(super) certificate: Option<&'a Path>,
    pub(super) key: Option<&'a Path>,
    pub(super) interval: CompactionInterval,
}

// === impl EtcdArguments ===

impl EtcdArguments {
    /// Returns the prefix of the cluster's keys.
    pub(super) fn prefix(&self) -> &str {
        &self.etcd_prefix
    }

    /// Tells the server of its etcd, if there is one.
    pub(super) fn configure(
        &self,
        builder: FakeServerBuilder,
    ) -> Result<FakeServerBuilder, String> {
        if self.etcd_servers.is_empty() {
            return Ok(builder);
        }
        let flags = EtcdFlags {
            urls: self.etcd_servers.clone(),
            prefix: &self.etcd_prefix,
            authority: self.etcd_cafile.as_deref(),
            certificate: self.etcd_certfile.as_deref(),
            key: self.etcd_keyfile.as_deref(),
            interval: self.etcd_compaction_interval,
        };
        let builder = builder.with_elected_controllers(self.leader_elect);
        Ok(builder.with_etcd(flags.options()?))
    }
}

// === impl EtcdFlags ===

impl EtcdFlags<'_> {
    /// Reads the files that the flags name.
    ///
    /// # Errors
    ///
    /// A file cannot be read, or a certificate has no key.
    pub(super) fn options(self) -> Result<EtcdOptions, String> {
        let mut options = EtcdOptions::new(self.urls)
            .with_prefix(self.prefix)
            .with_compaction_interval(self.interval.0);
        if let Some(file) = self.authority {
            options = options.with_authority(read("etcd-cafile", file)?);
        }
        match (self.certificate, self.key) {
            (None, None) => {}
            (Some(certificate), Some(key)) => {
                let key = read("etcd-keyfile", key)?;
                options = options.with_identity(read("etcd-certfile", certificate)?, key);
            }
            _ => return Err("--etcd-certfile and --etcd-keyfile go together".to_owned()),
        }
        Ok(options)
    }
}

fn read(flag: &str, file: &Path) -> Result<Vec<u8>, String> {
    fs::read(file).map_err(|error| format!("--{flag} {}: {error}", file.display()))
}

/// Reads an interval in Go's form; 0 is none.
pub(super) fn parse_interval(text: &str) -> Result<CompactionInterval, String> {
    let parsed = match text {
        "0" => Ok(SignedDuration::ZERO),
        text => text.parse::<SignedDuration>(),
    };
    let parsed = parsed.map_err(|error| format!("{error}; try `5m`, or 0"))?;
    let interval = Duration::try_from(parsed);
    let interval =
        interval.map_err(|_| "an interval is not negative; try `5m`, or 0".to_owned())?;
    Ok(CompactionInterval(
        Some(interval).filter(|interval| !interval.is_zero()),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_are_durations_of_go() {
        let minutes = |minutes| CompactionInterval(Some(Duration::from_mins(minutes)));
        assert_eq!(parse_interval("5m0s"), Ok(minutes(5)));
        assert_eq!(parse_interval("1m"), Ok(minutes(1)));
        assert_eq!(parse_interval("0"), Ok(CompactionInterval(None)));
        assert_eq!(parse_interval("0s"), Ok(CompactionInterval(None)));
        assert!(parse_interval("-1m").unwrap_err().contains("not negative"));
        parse_interval("soon").unwrap_err();
    }

    #[test]
    fn a_certificate_needs_its_key() {
        let flags = EtcdFlags {
            urls: vec!["http://127.0.0.1:2379".to_owned()],
            prefix: "/registry",
            authority: None,
            certificate: Some(Path::new("client.crt")),
            key: None,
            interval: CompactionInterval(None),
        };
        let error = flags.options().unwrap_err();
        assert!(error.contains("--etcd-keyfile"), "{error}");
    }
}
