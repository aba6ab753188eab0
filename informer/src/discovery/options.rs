//! Options of discovery: its requests, and the lifetime of its answers.

use std::time::Duration;

/// Options of a [`DiscoveryClient`](super::DiscoveryClient).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct DiscoveryOptions {
    /// The time limit of one request, to the end of its body. Default: 32 s.
    pub request_timeout: Duration,
    /// The number of concurrent requests. Default: 10.
    pub concurrent_requests_max: usize,
    /// The number of requests for a group version until its failure is reported. Default: 2.
    pub attempts_max: usize,
    /// The size limit of one answer, in bytes. Default: 64 MiB.
    pub body_size_bytes_max: usize,
    /// True to request aggregated discovery, which takes two requests instead of one a group version. Servers without
    /// it answer in the plain form either way. Default: true.
    #[doc(alias = "UseLegacyDiscovery")]
    pub is_aggregated: bool,
}

/// Options of a [`CachedDiscovery`](super::CachedDiscovery).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CacheOptions {
    /// The lifetime of an answer, after which the next use requests it again. Default: 10 min.
    pub max_age: Duration,
    /// The lifetime of a miss: a group or everything is requested again only if something is missing in it and it is
    /// older than this. Default: 10 s.
    pub miss_ttl: Duration,
    /// The lifetime of a failure: a failed group is requested again only if something is missing and the failure is
    /// older than this. Default: 2 s.
    pub failure_ttl: Duration,
    /// The number of refreshes that may follow each other without a pause. Default: 10.
    pub refresh_burst: u32,
    /// The time until one more refresh is allowed after a burst. Default: 1 s.
    pub refresh_interval: Duration,
}

// === impl DiscoveryOptions ===

impl Default for DiscoveryOptions {
    fn default() -> Self {
        Self {
            request_timeout: Duration::from_secs(32),
            concurrent_requests_max: 10,
            attempts_max: 2,
            body_size_bytes_max: 64 << 20,
            is_aggregated: true,
        }
    }
}

impl DiscoveryOptions {
    /// Sets [`request_timeout`](Self::request_timeout).
    #[must_use]
    pub fn with_request_timeout(mut self, request_timeout: Duration) -> Self {
        self.request_timeout = request_timeout;
        self
    }

    /// Sets [`concurrent_requests_max`](Self::concurrent_requests_max); 0 counts as 1.
    #[must_use]
    pub fn with_concurrent_requests_max(mut self, concurrent_requests_max: usize) -> Self {
        self.concurrent_requests_max = concurrent_requests_max;
        self
    }

    /// Sets [`attempts_max`](Self::attempts_max); 0 counts as 1.
    #[must_use]
    pub fn with_attempts_max(mut self, attempts_max: usize) -> Self {
        self.attempts_max = attempts_max;
        self
    }

    /// Sets [`body_size_bytes_max`](Self::body_size_bytes_max).
    #[must_use]
    pub fn with_body_size_bytes_max(mut self, body_size_bytes_max: usize) -> Self {
        self.body_size_bytes_max = body_size_bytes_max;
        self
    }

    /// Asks in the plain form only.
    #[must_use]
    pub fn with_plain_discovery(mut self) -> Self {
        self.is_aggregated = false;
        self
    }
}

// === impl CacheOptions ===

impl Default for CacheOptions {
    fn default() -> Self {
        Self {
            max_age: Duration::from_mins(10),
            miss_ttl: Duration::from_secs(10),
            failure_ttl: Duration::from_secs(2),
            refresh_burst: 10,
            refresh_interval: Duration::from_secs(1),
        }
    }
}

impl CacheOptions {
    /// Sets [`max_age`](Self::max_age).
    #[must_use]
    pub fn with_max_age(mut self, max_age: Duration) -> Self {
        self.max_age = max_age;
        self
    }

    /// Sets [`miss_ttl`](Self::miss_ttl).
    #[must_use]
    pub fn with_miss_ttl(mut self, miss_ttl: Duration) -> Self {
        self.miss_ttl = miss_ttl;
        self
    }

    /// Sets [`failure_ttl`](Self::failure_ttl).
    #[must_use]
    pub fn with_failure_ttl(mut self, failure_ttl: Duration) -> Self {
        self.failure_ttl = failure_ttl;
        self
    }

    /// Sets [`refresh_burst`](Self::refresh_burst), 0 counting as 1, and [`refresh_interval`](Self::refresh_interval).
    #[must_use]
    pub fn with_refresh_rate(mut self, refresh_burst: u32, refresh_interval: Duration) -> Self {
        self.refresh_burst = refresh_burst;
        self.refresh_interval = refresh_interval;
        self
    }
}
