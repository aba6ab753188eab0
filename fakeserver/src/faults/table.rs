//! The rules in force, in the order in which they were installed.

use std::{
    collections::{BTreeMap, VecDeque},
    fmt,
    io::ErrorKind,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
};

use tokio::{sync::Notify, time::Instant};
use tracing::debug;

use super::{
    Door, FaultSpec, Firing, FrameFacts, FrameVerdict, InstalledFault, RequestFacts, RequestVerdict,
};

/// How many firings are remembered.
const FIRINGS_KEPT: usize = 1_000;

/// Decides what becomes of requests and frames.
///
/// It is asked under a lock, for one request or frame at a time: it decides, and does not wait.
pub trait Rule: Send + 'static {
    /// What its firings are counted under.
    fn name(&self) -> &'static str {
        "custom"
    }

    /// It is in force from `now` on.
    fn installed(&mut self, now: Instant) {
        let _ = now;
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

    /// Whether it holds back a frame that it has said is to be [held](FrameVerdict::Hold). It is asked for it again when
    /// rules come or go, and a few times a second.
    fn holds(&mut self, frame: &FrameFacts<'_>) -> bool {
        let _ = frame;
        false
    }

    /// Whether what the version of a group has is unknown, where all groups are told of together. `request` is the
    /// question about that version.
    fn hides(&mut self, request: &RequestFacts) -> bool {
        let _ = request;
        false
    }
}

/// The faults of one server. Clones are handles of the same.
#[derive(Debug, Clone, Default)]
pub struct Faults {
    table: Arc<Mutex<Table>>,
    door: Door,
    /// Told when rules come or go.
    moved: Arc<Notify>,
}

/// Hears of each firing.
type Observer = Box<dyn FnMut(&Firing) + Send>;

#[derive(Default)]
struct Table {
    next: u64,
    rules: BTreeMap<u64, Installed>,
    fired: BTreeMap<&'static str, u64>,
    firings: VecDeque<Firing>,
    observer: Option<Observer>,
}

/// A rule in force.
struct Installed {
    rule: Box<dyn Rule>,
    /// What it was made of, if it was.
    spec: Option<FaultSpec>,
    fired: u64,
    last_revision: Option<u64>,
}

/// Keeps a rule in force; dropping it removes the rule.
#[derive(Debug)]
#[must_use = "the rule is removed when its guard is dropped"]
pub struct RuleGuard {
    table: Weak<Mutex<Table>>,
    moved: Arc<Notify>,
    id: u64,
}

// === impl Faults ===

impl Faults {
    /// Puts `rule` in force, behind those that are already.
    pub fn install(&self, rule: impl Rule) -> RuleGuard {
        self.put(Box::new(rule), None)
    }

    /// Puts the rule that `spec` describes in force, behind those that are already.
    pub fn install_spec(&self, spec: &FaultSpec) -> RuleGuard {
        self.put(spec.rule(), Some(spec.clone()))
    }

    fn put(&self, mut rule: Box<dyn Rule>, spec: Option<FaultSpec>) -> RuleGuard {
        rule.installed(Instant::now());
        let mut table = lock(&self.table);
        let id = table.next;
        table.next += 1;
        let installed = Installed {
            rule,
            spec,
            fired: 0,
            last_revision: None,
        };
        table.rules.insert(id, installed);
        drop(table);
        self.moved.notify_waiters();
        RuleGuard {
            table: Arc::downgrade(&self.table),
            moved: Arc::clone(&self.moved),
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

    /// Tells `observer` of each firing from now on, in their order, instead of who was told before.
    ///
    /// It is told under the lock of the rules: it takes note, and asks nothing of these faults.
    pub fn observe(&self, observer: impl FnMut(&Firing) + Send + 'static) {
        lock(&self.table).observer = Some(Box::new(observer));
    }

    /// The last 1,000 firings, oldest first.
    pub fn firings(&self) -> Vec<Firing> {
        lock(&self.table).firings.iter().cloned().collect()
    }

    /// The rules in force that were made of a [`FaultSpec`], in the order in which they were installed.
    pub fn installed(&self) -> Vec<InstalledFault> {
        let table = lock(&self.table);
        let rules = table.rules.iter();
        rules.filter_map(|(id, rule)| rule.shown(*id)).collect()
    }

    /// Removes the rule with this [id](RuleGuard::id), if it was made of a [`FaultSpec`] and is in force. Whether it was.
    pub fn remove(&self, id: u64) -> bool {
        let mut table = lock(&self.table);
        let is_there = table.rules.get(&id).is_some_and(|rule| rule.spec.is_some());
        let removed = is_there.then(|| table.rules.remove(&id));
        drop(table);
        self.moved.notify_waiters();
        removed.is_some()
    }

    /// Waits until rules come or go, from now on. Cancel safe.
    pub(crate) fn moved(&self) -> impl Future<Output = ()> + use<> {
        Arc::clone(&self.moved).notified_owned()
    }

    /// Whether a rule still holds back a frame.
    pub(crate) fn holds(&self, frame: &FrameFacts<'_>) -> bool {
        let mut table = lock(&self.table);
        table
            .rules
            .values_mut()
            .any(|installed| installed.rule.holds(frame))
    }

    /// Whether what a version of a group has is unknown, which `request` asks.
    pub(crate) fn hides(&self, request: &RequestFacts) -> bool {
        let mut table = lock(&self.table);
        let mut rules = table.rules.iter_mut();
        let hiding = rules.find_map(|(id, installed)| installed.rule.hides(request).then_some(*id));
        if let Some(id) = hiding {
            table.count(id, request, request.revision);
        }
        hiding.is_some()
    }

    /// What becomes of `request`: what the first rule says that does not pass it. A server asks this of itself; it is for
    /// those who do to another server's answers what this one does to its own.
    pub fn on_request(&self, request: &RequestFacts) -> RequestVerdict {
        let mut table = lock(&self.table);
        let verdict = table.rules.iter_mut().find_map(|(id, installed)| {
            let verdict = installed.rule.on_request(request);
            (verdict != RequestVerdict::Pass).then_some((*id, verdict))
        });
        let Some((id, verdict)) = verdict else {
            return RequestVerdict::Pass;
        };
        let rule = table.count(id, request, request.revision);
        drop(table);
        debug!(
            rule,
            resource = request.resource,
            verb = request.verb,
            rv = request.resource_version,
            "request meets a fault"
        );
        if let RequestVerdict::Refuse(time) = verdict {
            self.door.close_for(time);
            return RequestVerdict::Sever(ErrorKind::ConnectionRefused);
        }
        verdict
    }

    /// What becomes of `frame`: what the first rule says that does not pass it. A server asks this of itself, in the order
    /// in which it sends.
    pub fn on_frame(&self, frame: &FrameFacts<'_>) -> FrameVerdict {
        let mut table = lock(&self.table);
        let verdict = table.rules.iter_mut().find_map(|(id, installed)| {
            let verdict = installed.rule.on_frame(frame);
            (verdict != FrameVerdict::Pass).then_some((*id, verdict))
        });
        let Some((id, verdict)) = verdict else {
            return FrameVerdict::Pass;
        };
        let rule = table.count(id, frame.watch, frame.revision);
        drop(table);
        debug!(
            rule,
            resource = frame.watch.resource,
            rv = frame.revision,
            "frame meets a fault"
        );
        verdict
    }
}

// === impl Table ===

impl Table {
    /// Counts a firing of the rule `id`, and gives the rule's name.
    fn count(&mut self, id: u64, request: &RequestFacts, revision: u64) -> &'static str {
        let installed = self
            .rules
            .get_mut(&id)
            .expect("the rule that fired is in force");
        installed.fired += 1;
        installed.last_revision = Some(revision);
        let rule = installed.rule.name();
        *self.fired.entry(rule).or_default() += 1;
        if self.firings.len() == FIRINGS_KEPT {
            self.firings.pop_front();
        }
        let firing = Firing {
            id,
            rule,
            client: request.client.clone(),
            verb: request.verb,
            resource: request.resource.clone(),
            revision,
        };
        if let Some(observer) = &mut self.observer {
            observer(&firing);
        }
        self.firings.push_back(firing);
        rule
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

// === impl Installed ===

impl Installed {
    fn shown(&self, id: u64) -> Option<InstalledFault> {
        Some(InstalledFault {
            id,
            spec: self.spec.clone()?,
            fired: self.fired,
            last_revision: self.last_revision,
        })
    }
}

// === impl RuleGuard ===

impl RuleGuard {
    /// What the rule is called among those in force. No other rule of this server ever is.
    pub fn id(&self) -> u64 {
        self.id
    }

    /// Leaves the rule in force for as long as the server lives, or until it is [removed](Faults::remove).
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
            self.moved.notify_waiters();
        }
    }
}

impl Rule for Box<dyn Rule> {
    fn name(&self) -> &'static str {
        (**self).name()
    }

    fn installed(&mut self, now: Instant) {
        (**self).installed(now);
    }

    fn on_request(&mut self, request: &RequestFacts) -> RequestVerdict {
        (**self).on_request(request)
    }

    fn on_frame(&mut self, frame: &FrameFacts<'_>) -> FrameVerdict {
        (**self).on_frame(frame)
    }

    fn holds(&mut self, frame: &FrameFacts<'_>) -> bool {
        (**self).holds(frame)
    }

    fn hides(&mut self, request: &RequestFacts) -> bool {
        (**self).hides(request)
    }
}

/// A rule that panics is the defect of one request; the table itself is always whole.
fn lock(table: &Mutex<Table>) -> MutexGuard<'_, Table> {
    table.lock().unwrap_or_else(PoisonError::into_inner)
}
