//! The options of a state in etcd.

use std::{fmt, sync::Arc, time::Duration};

use fakeserver_server::store::{CommitLog, LogError, LogSource};

use fakeserver_etcd::Layout;

use crate::{client::TlsFiles, log::EtcdLog};

/// The interval of compactions, as kube-apiserver has it by default.
const COMPACTION_INTERVAL: Duration = Duration::from_mins(5);

/// An etcd in which servers keep their state: its addresses, the prefix of all keys, and how clients and servers prove themselves.
///
/// etcd 3.4 and later will do. It is used as by kube-apiserver, so that both can serve the same state.
#[derive(Clone)]
#[must_use = "options do nothing until a server is built with them"]
pub struct EtcdOptions {
    pub(crate) urls: Vec<String>,
    pub(crate) layout: Layout,
    pub(crate) tls: TlsFiles,
    /// `None` never compacts.
    pub(crate) compaction_interval: Option<Duration>,
}

// === impl EtcdOptions ===

impl EtcdOptions {
    /// An etcd whose members serve clients at `urls`, such as `http://127.0.0.1:2379`.
    pub fn new<T: Into<String>>(urls: impl IntoIterator<Item = T>) -> Self {
        Self {
            urls: urls.into_iter().map(Into::into).collect(),
            layout: Layout::default(),
            tls: TlsFiles::default(),
            compaction_interval: Some(COMPACTION_INTERVAL),
        }
    }

    /// Sets the prefix of all keys. The default is `/registry`.
    pub fn with_prefix(mut self, prefix: &str) -> Self {
        self.layout = Layout::new(prefix);
        self
    }

    /// Trusts servers whose certificates are signed by the authorities in `pem`. They are needed for `https`.
    pub fn with_authority(mut self, pem: impl Into<Vec<u8>>) -> Self {
        self.tls.authority = Some(pem.into());
        self
    }

    /// Proves the client by a certificate and its key, both as PEM.
    pub fn with_identity(
        mut self,
        certificate: impl Into<Vec<u8>>,
        key: impl Into<Vec<u8>>,
    ) -> Self {
        self.tls.identity = Some((certificate.into(), key.into()));
        self
    }

    /// Sets the interval at which the history before the last interval is compacted, by one of the servers. The default is 5 min;
    /// `None` leaves compaction to others.
    pub fn with_compaction_interval(mut self, interval: Option<Duration>) -> Self {
        self.compaction_interval = interval;
        self
    }
}

impl LogSource for EtcdOptions {
    fn open(&self) -> Result<Arc<dyn CommitLog>, LogError> {
        Ok(Arc::new(EtcdLog::open(self)?))
    }
}

impl fmt::Debug for EtcdOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Without the key.
        f.debug_struct("EtcdOptions")
            .field("urls", &self.urls)
            .field("prefix", &self.layout.prefix())
            .finish_non_exhaustive()
    }
}
