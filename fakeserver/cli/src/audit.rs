//! The audit log of a server.

use std::path::{Path, PathBuf};

use clap::Args;
use fakeserver_server::{AuditLog, AuditPolicy, FakeServerBuilder};

#[derive(Debug, Args)]
pub(super) struct AuditOptions {
    /// Log requests as API servers do, an event of `audit.k8s.io/v1` a line, at the end of this file; `-` is stdout. A file that
    /// is there and is no audit log is refused.
    #[arg(long, value_name = "FILE")]
    audit_log: Option<PathBuf>,

    /// Log what this `Policy` of `audit.k8s.io/v1` says, instead of the metadata of all requests.
    #[arg(long, value_name = "FILE", requires = "audit_log")]
    audit_policy: Option<PathBuf>,
}

// === impl AuditOptions ===

impl AuditOptions {
    pub(super) fn configure(
        &self,
        builder: FakeServerBuilder,
    ) -> Result<FakeServerBuilder, String> {
        let Some(file) = &self.audit_log else {
            return Ok(builder);
        };
        let policy = match &self.audit_policy {
            Some(file) => policy("audit-policy", file)?,
            None => AuditPolicy::metadata(),
        };
        Ok(builder.with_audit_log(log("audit-log", file, policy)?))
    }
}

/// Reads the policy that a flag names.
pub(super) fn policy(flag: &str, file: &Path) -> Result<AuditPolicy, String> {
    let text = std::fs::read_to_string(file);
    let text = text.map_err(|error| format!("--{flag} {}: {error}", file.display()))?;
    AuditPolicy::parse(&text).map_err(|error| format!("--{flag} {}: {error}", file.display()))
}

/// Opens the log that a flag names.
pub(super) fn log(flag: &str, file: &Path, policy: AuditPolicy) -> Result<AuditLog, String> {
    if file == Path::new("-") {
        return Ok(AuditLog::to_writer(std::io::stdout(), policy));
    }
    AuditLog::to_file(file, policy).map_err(|error| format!("--{flag} {error}"))
}
