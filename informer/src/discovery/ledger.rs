//! The ledger of reads: what was read when, and how many more requests are allowed.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use tokio::time::Instant;

use super::{error::DiscoveryError, options::CacheOptions};

/// The scope of one refresh.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    /// Every group.
    Whole,
    /// One group; empty for the core group.
    Group(String),
}

/// Leave to read a scope: it separates what was declared out of date before the reading began from what was declared so
/// since.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub(super) struct Ticket {
    invalidation_count: u64,
}

/// The core of [`CachedDiscovery`](super::CachedDiscovery): no clock, no requests.
#[derive(Debug)]
pub(super) struct Ledger {
    options: CacheOptions,
    whole: Record,
    /// The groups read since the whole. Bounded: entries older than any limit are dropped as new ones come, and the
    /// allowance bounds how many come in that time.
    groups: BTreeMap<String, Record>,
    /// The groups that were declared out of date and not read since, by the number of that declaration.
    outdated: BTreeMap<String, u64>,
    invalidation_count: u64,
    /// The number of the last declaration that everything is out of date.
    whole_invalidation: u64,
    allowance: u32,
    /// From when on the allowance grows again.
    counted_at: Option<Instant>,
    last_failure: Option<Arc<DiscoveryError>>,
}

/// The time of the last read, and whether reading has failed since.
#[derive(Debug, Default)]
struct Record {
    read_at: Option<Instant>,
    failed: Option<(Instant, DiscoveryError)>,
}

// === impl Ledger ===

impl Ledger {
    pub(super) fn new(options: CacheOptions) -> Self {
        Self {
            allowance: options.refresh_burst.max(1),
            options,
            whole: Record::default(),
            groups: BTreeMap::new(),
            outdated: BTreeMap::new(),
            invalidation_count: 0,
            whole_invalidation: 0,
            counted_at: None,
            last_failure: None,
        }
    }

    /// Returns the scope that has to be read first: everything for the first time or because it is old, or a group that
    /// was declared out of date.
    pub(super) fn wanted(&self, now: Instant) -> Option<Scope> {
        let is_read = self.whole.is_read_within(self.options.max_age, now);
        match (is_read, self.outdated.len()) {
            (true, 0) => None,
            (true, 1) => self.outdated.keys().next().cloned().map(Scope::Group),
            _ => Some(Scope::Whole),
        }
    }

    /// Returns the failure of reading `scope`, if it is so recent that it need not be tried again for a caller that has
    /// been waiting since `asked_at`.
    pub(super) fn recent_failure(
        &self,
        scope: &Scope,
        asked_at: Instant,
        now: Instant,
    ) -> Option<DiscoveryError> {
        let (at, error) = self.record(scope)?.failed.as_ref()?;
        let is_recent = *at >= asked_at || now.duration_since(*at) < self.options.failure_ttl;
        is_recent.then(|| error.clone())
    }

    /// Returns whether `scope` was read so recently that a resource missing in it is known not to be served.
    ///
    /// If the scope `has_failures`, the answer is valid for a shorter time.
    pub(super) fn is_recently_read(
        &self,
        scope: &Scope,
        has_failures: bool,
        asked_at: Instant,
        now: Instant,
    ) -> bool {
        let ttl = if has_failures {
            self.options.failure_ttl
        } else {
            self.options.miss_ttl
        };
        let alone = self.record(scope);
        // A caller that waited for another caller's request takes its answer, however short the limits are.
        [Some(&self.whole), alone]
            .into_iter()
            .flatten()
            .any(|record| {
                record.is_read_within(ttl, now) || record.read_at.is_some_and(|at| at >= asked_at)
            })
    }

    /// Takes one refresh from the allowance.
    pub(super) fn take(&mut self, now: Instant) -> Result<Ticket, DiscoveryError> {
        let interval = self.options.refresh_interval.max(Duration::from_millis(1));
        let burst = self.options.refresh_burst.max(1);
        let counted_at = self.counted_at.unwrap_or(now);
        let grown = now.duration_since(counted_at).as_nanos() / interval.as_nanos();
        let grown = u32::try_from(grown).unwrap_or(u32::MAX);
        self.allowance = self.allowance.saturating_add(grown).min(burst);
        // A full allowance does not grow: the pause after a burst counts from the burst.
        let counted_at = if self.allowance == burst {
            now
        } else {
            counted_at + interval * grown
        };
        self.counted_at = Some(counted_at);
        if self.allowance == 0 {
            return Err(DiscoveryError::Throttled {
                retry_after: interval.saturating_sub(now.duration_since(counted_at)),
                last: self.last_failure.clone(),
            });
        }
        self.allowance -= 1;
        Ok(Ticket {
            invalidation_count: self.invalidation_count,
        })
    }

    /// Records that `scope` was read, and says whether that still counts: not if it was declared out of date since the
    /// reading began.
    pub(super) fn on_read(&mut self, scope: &Scope, ticket: Ticket, now: Instant) -> bool {
        if ticket.invalidation_count < self.whole_invalidation {
            return false;
        }
        self.last_failure = None;
        let record = Record {
            read_at: Some(now),
            failed: None,
        };
        let is_older = |invalidation: u64| invalidation <= ticket.invalidation_count;
        match scope {
            Scope::Whole => {
                self.whole = record;
                self.groups.clear();
                self.outdated
                    .retain(|_, invalidation| !is_older(*invalidation));
                true
            }
            Scope::Group(group) => {
                if self.outdated.get(group).is_some_and(|it| !is_older(*it)) {
                    return false;
                }
                self.outdated.remove(group);
                self.forget_old_groups(now);
                self.groups.insert(group.clone(), record);
                true
            }
        }
    }

    /// Records that `scope` could not be read.
    pub(super) fn on_failure(&mut self, scope: &Scope, error: &DiscoveryError, now: Instant) {
        self.last_failure = Some(Arc::new(error.clone()));
        let failed = Some((now, error.clone()));
        match scope {
            Scope::Whole => self.whole.failed = failed,
            Scope::Group(group) => {
                self.forget_old_groups(now);
                self.groups.entry(group.clone()).or_default().failed = failed;
            }
        }
    }

    /// Declares everything out of date.
    pub(super) fn invalidate(&mut self) {
        self.invalidation_count += 1;
        self.whole_invalidation = self.invalidation_count;
        self.whole = Record::default();
        self.groups.clear();
        self.outdated.clear();
    }

    /// Declares one group out of date.
    pub(super) fn invalidate_group(&mut self, group: &str) {
        self.invalidation_count += 1;
        self.groups.remove(group);
        self.outdated
            .insert(group.to_owned(), self.invalidation_count);
    }

    /// Returns whether a group was declared out of date and has not been read since.
    pub(super) fn is_outdated(&self, group: &str) -> bool {
        self.outdated.contains_key(group)
    }

    fn record(&self, scope: &Scope) -> Option<&Record> {
        match scope {
            Scope::Whole => Some(&self.whole),
            Scope::Group(group) => self.groups.get(group),
        }
    }

    fn forget_old_groups(&mut self, now: Instant) {
        let oldest = self.options.miss_ttl.max(self.options.failure_ttl);
        let is_recent = |at: Instant| now.duration_since(at) < oldest;
        self.groups.retain(|_, record| {
            record.read_at.is_some_and(is_recent)
                || record.failed.as_ref().is_some_and(|(at, _)| is_recent(*at))
        });
    }
}

// === impl Record ===

impl Record {
    fn is_read_within(&self, ttl: Duration, now: Instant) -> bool {
        self.read_at.is_some_and(|at| now.duration_since(at) < ttl)
    }
}
