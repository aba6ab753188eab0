//! The log: lines of JSON, in a file or elsewhere.

use std::{
    fmt,
    fs::{File, OpenOptions},
    io::{self, Read, Write},
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use tracing::warn;

use super::{event::Event, policy::AuditPolicy};

/// The beginning of each line of an audit log.
const BEGINNING: &[u8] = br#"{"kind":"Event","apiVersion":"audit.k8s.io/"#;

/// An audit log of requests and responses, in the format of kube-apiserver.
///
/// Each event is a line of JSON, an `Event` of `audit.k8s.io/v1`, written at once. A line that cannot be written is
/// lost, and the first such loss is logged as a warning. Clones write to the same log.
///
/// There are two limits: bodies are kept if they are in a format of the API and at most 8 MiB long, and annotations
/// have the decision of the authorizer without its reason. Admission adds those of webhooks, validating policies and
/// pod security.
///
/// # Examples
///
/// ```
/// # use fakeserver_server as fakeserver;
/// use fakeserver::{AuditLog, AuditPolicy, FakeServer};
///
/// let policy = AuditPolicy::parse(
///     "{apiVersion: audit.k8s.io/v1, kind: Policy, rules: [{level: Request, verbs: [create]}]}",
/// )?;
/// let log = AuditLog::to_writer(std::io::stderr(), policy);
/// let server = FakeServer::builder().with_audit_log(log).build();
/// # drop(server);
/// # Ok::<(), fakeserver::AuditPolicyError>(())
/// ```
///
/// Source: `k8s.io/apiserver/pkg/audit`.
#[derive(Clone)]
pub struct AuditLog {
    pub(super) policy: Arc<AuditPolicy>,
    sink: Arc<Sink>,
}

/// An audit log that cannot be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AuditLogError {
    /// The file cannot be opened. A retry helps if the reason passes.
    #[error("{path}: {source}", path = path.display())]
    Unusable {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// The file exists, and is no audit log. It is left unchanged.
    #[error("{path} exists and is no audit log; it is left unchanged, name another file", path = path.display())]
    NoAuditLog {
        /// The file.
        path: PathBuf,
    },
}

struct Sink {
    writer: Mutex<Box<dyn Write + Send>>,
    has_failed: AtomicBool,
}

// === impl AuditLog ===

impl AuditLog {
    /// Creates a log that is added to a file, which is made if it is not there.
    ///
    /// # Errors
    ///
    /// The file cannot be opened, or has something else in it than an audit log.
    pub fn to_file(path: impl AsRef<Path>, policy: AuditPolicy) -> Result<Self, AuditLogError> {
        let path = path.as_ref();
        let opened = opened(path).map_err(|source| AuditLogError::Unusable {
            path: path.to_owned(),
            source,
        })?;
        let file = opened.ok_or_else(|| AuditLogError::NoAuditLog {
            path: path.to_owned(),
        })?;
        Ok(Self::to_writer(file, policy))
    }

    /// Creates a log that is written to `writer`, each event by one call. It must not block for long.
    pub fn to_writer(writer: impl Write + Send + 'static, policy: AuditPolicy) -> Self {
        Self {
            policy: Arc::new(policy),
            sink: Arc::new(Sink {
                writer: Mutex::new(Box::new(writer)),
                has_failed: AtomicBool::new(false),
            }),
        }
    }

    /// Writes an event.
    pub(super) fn write(&self, event: &Event) {
        let mut line = serde_json::to_vec(event).expect("an event is JSON");
        line.push(b'\n');
        let sink = &self.sink;
        let mut writer = sink.writer.lock().unwrap_or_else(PoisonError::into_inner);
        let written = writer.write_all(&line).and_then(|()| writer.flush());
        if let Err(error) = written
            && !sink.has_failed.swap(true, Ordering::Relaxed)
        {
            warn!(%error, "audit events are lost; further losses are not logged");
        }
    }
}

impl fmt::Debug for AuditLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AuditLog")
            .field("policy", &self.policy)
            .finish_non_exhaustive()
    }
}

/// Opens a file at its end, unless it has something else in it.
fn opened(path: &Path) -> io::Result<Option<File>> {
    let mut options = OpenOptions::new();
    let mut file = options.read(true).append(true).create(true).open(path)?;
    let mut head = Vec::new();
    let limit = BEGINNING.len() as u64;
    Read::by_ref(&mut file).take(limit).read_to_end(&mut head)?;
    Ok((head.is_empty() || head == BEGINNING).then_some(file))
}
