//! The rules in force, in the order in which they were installed.

use std::{
    collections::BTreeMap,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
};

use tracing::debug;

use super::{Door, FrameFacts, FrameVerdict, RequestFacts, RequestVerdict};

/// Decides what becomes of requests and frames.
///
/// It is asked under a lock, for one request or frame at a time: it decides, and does not wait.
pub trait Rule: Send + 'static {
    /// What its firings are counted under.
    fn name(&self) -> &'static str {
        "custom"
    }

    /// What becomes of a request. The first rule that does not pass it decides, and the others are not asked.
    fn on_request(&mut self, request: &RequestFacts) -> RequestVerdict {
        let _ = request;
        RequestVerdict::Pass
    }

    /// What becomes of a frame. The first rule that does not pass it decides, and the others are not asked.
    fn on_frame(&mut self, frame: &FrameFacts<'_>) -> FrameVerdict {
        let _ = frame;
        FrameVerdict::Pass
    }
}

/// The faults of one server. Clones are handles of the same.
#[derive(Debug, Clone, Default)]
pub struct Faults {
    table: Arc<Mutex<Table>>,
    door: Door,
}

#[derive(Default)]
struct Table {
    next: u64,
    rules: BTreeMap<u64, Box<dyn Rule>>,
    fired: BTreeMap<&'static str, u64>,
}

/// Keeps a rule in force; dropping it removes the rule.
#[derive(Debug)]
#[must_use = "the rule is removed when its guard is dropped"]
pub struct RuleGuard {
    table: Weak<Mutex<Table>>,
    id: u64,
}

// === impl Faults ===

impl Faults {
    /// Puts `rule` in force, behind those that are already.
    pub fn install(&self, rule: impl Rule) -> RuleGuard {
        let mut table = lock(&self.table);
        let id = table.next;
        table.next += 1;
        table.rules.insert(id, Box::new(rule));
        RuleGuard {
            table: Arc::downgrade(&self.table),
            id,
        }
    }

    /// How often each rule has fired since the server was built, by its name. Removed rules stay counted.
    pub fn fired(&self) -> BTreeMap<&'static str, u64> {
        lock(&self.table).fired.clone()
    }

    /// Where connections over TCP come in.
    pub fn door(&self) -> Door {
        self.door.clone()
    }

    pub(crate) fn on_request(&self, request: &RequestFacts) -> RequestVerdict {
        let mut table = lock(&self.table);
        let verdict = table.rules.values_mut().find_map(|rule| {
            let verdict = rule.on_request(request);
            (verdict != RequestVerdict::Pass).then(|| (rule.name(), verdict))
        });
        let Some((rule, verdict)) = verdict else {
            return RequestVerdict::Pass;
        };
        *table.fired.entry(rule).or_default() += 1;
        debug!(
            rule,
            resource = request.resource,
            verb = request.verb,
            rv = request.resource_version,
            "request meets a fault"
        );
        verdict
    }

    pub(crate) fn on_frame(&self, frame: &FrameFacts<'_>) -> FrameVerdict {
        let mut table = lock(&self.table);
        let verdict = table.rules.values_mut().find_map(|rule| {
            let verdict = rule.on_frame(frame);
            (verdict != FrameVerdict::Pass).then(|| (rule.name(), verdict))
        });
        let Some((rule, verdict)) = verdict else {
            return FrameVerdict::Pass;
        };
        *table.fired.entry(rule).or_default() += 1;
        debug!(
            rule,
            resource = frame.watch.resource,
            rv = frame.revision,
            "frame meets a fault"
        );
        verdict
    }
}

impl fmt::Debug for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Table")
            .field("rules", &self.rules.len())
            .field("fired", &self.fired)
            .finish_non_exhaustive()
    }
}

// === impl RuleGuard ===

impl RuleGuard {
    /// Leaves the rule in force for as long as the server lives.
    pub fn detach(mut self) {
        self.table = Weak::new();
    }
}

impl Drop for RuleGuard {
    fn drop(&mut self) {
        if let Some(table) = self.table.upgrade() {
            // The rule is dropped behind the lock: its drop may be anything.
            let rule = lock(&table).rules.remove(&self.id);
            drop(rule);
        }
    }
}

/// A rule that panics is the defect of one request; the table itself is always whole.
fn lock(table: &Mutex<Table>) -> MutexGuard<'_, Table> {
    table.lock().unwrap_or_else(PoisonError::into_inner)
}
