//! The rules in force, in the order in which they were installed.

use std::{
    collections::{BTreeMap, VecDeque},
    fmt,
    io::ErrorKind,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
};

use fakeserver_versions::KubernetesVersion;
use tokio::{sync::Notify, time::Instant};
use tracing::debug;

use super::{
    FaultSpec, Firing, FrameFacts, FrameVerdict, InstalledFault, ListenGate, RequestFacts,
    RequestVerdict,
};

/// The number of firings that are kept.
const FIRINGS_KEPT: usize = 1_000;

/// Decides about requests and frames.
///
/// A rule is called under a lock, for one request or frame at a time: it must not wait.
pub trait Rule: Send + 'static {
    /// Returns the name under which its firings are counted.
    fn name(&self) -> &'static str {
        "custom"
    }

    /// Puts the rule in force at `now`.
    fn installed(&mut self, now: Instant) {
        let _ = now;
    }

    /// Decides about a request. The first rule that does not pass it decides, and later ones are not called.
    fn on_request(&mut self, request: &RequestFacts) -> RequestVerdict {
        let _ = request;
        RequestVerdict::Pass
    }

    /// Decides about a frame. The first rule that does not pass it decides, and later ones are not called.
    fn on_frame(&mut self, frame: &FrameFacts<'_>) -> FrameVerdict {
        let _ = frame;
        FrameVerdict::Pass
    }

    /// Returns whether the rule still holds a frame for which it returned [`Hold`](FrameVerdict::Hold). It is called when
    /// rules are installed or removed, and a few times a second.
    fn holds(&mut self, frame: &FrameFacts<'_>) -> bool {
        let _ = frame;
        false
    }

    /// Returns the version of Kubernetes of the server that answers a request instead of this one, which has the version
    /// `own`. A discovery request has the verb `discover`.
    fn served_by(
        &mut self,
        request: &RequestFacts,
        own: KubernetesVersion,
    ) -> Option<KubernetesVersion> {
        let _ = (request, own);
        None
    }

    /// Returns whether aggregated discovery reports a group version as stale. `request` is the discovery request for that
    /// version alone.
    fn hides(&mut self, request: &RequestFacts) -> bool {
        let _ = request;
        false
    }
}

/// The rules in force on one server, and their firings. Clones are handles of the same rules.
#[derive(Debug, Clone, Default)]
pub struct Faults {
    rules: Arc<Mutex<Rules>>,
    gate: ListenGate,
    /// Notified when rules are installed or removed.
    changed: Arc<Notify>,
}

/// Called at each firing.
type Observer = Box<dyn FnMut(&Firing) + Send>;

#[derive(Default)]
struct Rules {
    next: u64,
    installed: BTreeMap<u64, InstalledRule>,
    fired: BTreeMap<&'static str, u64>,
    firings: VecDeque<Firing>,
    observer: Option<Observer>,
}

/// A rule in force.
struct InstalledRule {
    rule: Box<dyn Rule>,
    /// The spec from which it was made, if any.
    spec: Option<FaultSpec>,
    fired: u64,
    last_revision: Option<u64>,
}

/// Keeps a rule in force; dropping it removes the rule.
#[derive(Debug)]
#[must_use = "the rule is removed when its guard is dropped"]
pub struct RuleGuard {
    rules: Weak<Mutex<Rules>>,
    changed: Arc<Notify>,
    id: u64,
}

// === impl Faults ===

impl Faults {
    /// Puts `rule` in force, after the rules that already are.
    pub fn install(&self, rule: impl Rule) -> RuleGuard {
        self.put(Box::new(rule), None)
    }

    /// Puts the rule of `spec` in force, after the rules that already are.
    pub fn install_spec(&self, spec: &FaultSpec) -> RuleGuard {
        self.put(spec.rule(), Some(spec.clone()))
    }

    fn put(&self, mut rule: Box<dyn Rule>, spec: Option<FaultSpec>) -> RuleGuard {
        // Before the lock: a rule is foreign code, and may use the faults itself.
        rule.installed(Instant::now());
        let mut rules = lock(&self.rules);
        let id = rules.next;
        rules.next += 1;
        let installed = InstalledRule {
            rule,
            spec,
            fired: 0,
            last_revision: None,
        };
        rules.installed.insert(id, installed);
        drop(rules);
        self.changed.notify_waiters();
        RuleGuard {
            rules: Arc::downgrade(&self.rules),
            changed: Arc::clone(&self.changed),
            id,
        }
    }

    /// Returns the number of firings by the name of the rule, since the server was built. Removed rules stay counted.
    pub fn fired(&self) -> BTreeMap<&'static str, u64> {
        lock(&self.rules).fired.clone()
    }

    /// Returns the gate of the server's listeners.
    pub fn listen_gate(&self) -> ListenGate {
        self.gate.clone()
    }

    /// Calls `observer` at each later firing, in their order. It replaces the previous observer.
    ///
    /// The observer is called under the lock of the rules: it must neither wait nor use these faults.
    pub fn observe(&self, observer: impl FnMut(&Firing) + Send + 'static) {
        lock(&self.rules).observer = Some(Box::new(observer));
    }

    /// Returns the last 1,000 firings, oldest first.
    pub fn firings(&self) -> Vec<Firing> {
        lock(&self.rules).firings.iter().cloned().collect()
    }

    /// Returns the rules in force that were made from a [`FaultSpec`], in the order of their installation.
    pub fn installed(&self) -> Vec<InstalledFault> {
        let rules = lock(&self.rules);
        let installed = rules.installed.iter();
        installed
            .filter_map(|(id, rule)| rule.report(*id))
            .collect()
    }

    /// Removes the rule with this [id](RuleGuard::id), if it was made from a [`FaultSpec`]. Returns whether it was in force.
    pub fn remove(&self, id: u64) -> bool {
        let mut rules = lock(&self.rules);
        let found = rules.installed.get(&id);
        let is_removable = found.is_some_and(|rule| rule.spec.is_some());
        let removed = is_removable.then(|| rules.installed.remove(&id));
        drop(rules);
        self.changed.notify_waiters();
        removed.is_some()
    }

    /// Waits until rules are installed or removed, from now on. Cancel safe.
    pub(crate) fn changed(&self) -> impl Future<Output = ()> + use<> {
        Arc::clone(&self.changed).notified_owned()
    }

    /// Returns whether a rule still holds a frame.
    pub(crate) fn holds(&self, frame: &FrameFacts<'_>) -> bool {
        let mut rules = lock(&self.rules);
        rules
            .installed
            .values_mut()
            .any(|installed| installed.rule.holds(frame))
    }

    /// Returns whether a rule hides a group version, for which `request` asks, from aggregated discovery.
    pub(crate) fn hides(&self, request: &RequestFacts) -> bool {
        let mut rules = lock(&self.rules);
        let mut installed = rules.installed.iter_mut();
        let hiding =
            installed.find_map(|(id, installed)| installed.rule.hides(request).then_some(*id));
        if let Some(id) = hiding {
            rules.count(id, request, request.revision);
        }
        hiding.is_some()
    }

    /// Returns the version of the server that answers a request instead of this one, which has the version `own`.
    pub(crate) fn served_by(
        &self,
        own: KubernetesVersion,
        request: impl FnOnce() -> RequestFacts,
    ) -> Option<KubernetesVersion> {
        let mut rules = lock(&self.rules);
        if rules.installed.is_empty() {
            return None;
        }
        let request = request();
        let (id, version) = rules.installed.iter_mut().find_map(|(id, installed)| {
            let version = installed.rule.served_by(&request, own)?;
            Some((*id, version))
        })?;
        rules.count(id, &request, request.revision);
        Some(version)
    }

    /// Returns the verdict on `request` of the first rule that does not pass it.
    ///
    /// A server calls this itself; a proxy calls it to apply faults to the answers of another server.
    pub fn on_request(&self, request: &RequestFacts) -> RequestVerdict {
        let mut rules = lock(&self.rules);
        let verdict = rules.installed.iter_mut().find_map(|(id, installed)| {
            let verdict = installed.rule.on_request(request);
            (verdict != RequestVerdict::Pass).then_some((*id, verdict))
        });
        let Some((id, verdict)) = verdict else {
            return RequestVerdict::Pass;
        };
        // Counted under the lock under which it has fired: the log of firings has the order of the verdicts.
        let rule = rules.count(id, request, request.revision);
        drop(rules);
        debug!(
            rule,
            resource = request.resource,
            verb = request.verb,
            rv = request.resource_version,
            "fault applies to a request"
        );
        // The gate closes before the request fails: the client's reconnection already finds no listener.
        if let RequestVerdict::Refuse(time) = verdict {
            self.gate.close_for(time);
            return RequestVerdict::Sever(ErrorKind::ConnectionRefused);
        }
        verdict
    }

    /// Returns the verdict on `frame` of the first rule that does not pass it.
    ///
    /// A server calls this itself, in the order in which it sends.
    pub fn on_frame(&self, frame: &FrameFacts<'_>) -> FrameVerdict {
        let mut rules = lock(&self.rules);
        let verdict = rules.installed.iter_mut().find_map(|(id, installed)| {
            let verdict = installed.rule.on_frame(frame);
            (verdict != FrameVerdict::Pass).then_some((*id, verdict))
        });
        let Some((id, verdict)) = verdict else {
            return FrameVerdict::Pass;
        };
        let rule = rules.count(id, frame.watch, frame.revision);
        drop(rules);
        debug!(
            rule,
            resource = frame.watch.resource,
            rv = frame.revision,
            "fault applies to a frame"
        );
        verdict
    }
}

// === impl Rules ===

impl Rules {
    /// Counts a firing of the rule `id`, and returns the name of the rule.
    fn count(&mut self, id: u64, request: &RequestFacts, revision: u64) -> &'static str {
        let installed = self
            .installed
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
        // Under the lock, so that an observer sees firings in their order.
        if let Some(observer) = &mut self.observer {
            observer(&firing);
        }
        self.firings.push_back(firing);
        rule
    }
}

impl fmt::Debug for Rules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rules")
            .field("installed", &self.installed.len())
            .field("fired", &self.fired)
            .finish_non_exhaustive()
    }
}

// === impl InstalledRule ===

impl InstalledRule {
    fn report(&self, id: u64) -> Option<InstalledFault> {
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
    /// Returns the id of the rule, which no other rule of this server ever has.
    pub fn id(&self) -> u64 {
        self.id
    }

    /// Keeps the rule in force for the life of the server, or until it is [removed](Faults::remove).
    pub fn detach(mut self) {
        self.rules = Weak::new();
    }
}

impl Drop for RuleGuard {
    fn drop(&mut self) {
        if let Some(rules) = self.rules.upgrade() {
            // The rule is dropped after the lock is released: its drop runs foreign code.
            let rule = lock(&rules).installed.remove(&self.id);
            drop(rule);
            self.changed.notify_waiters();
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

    fn served_by(
        &mut self,
        request: &RequestFacts,
        own: KubernetesVersion,
    ) -> Option<KubernetesVersion> {
        (**self).served_by(request, own)
    }

    fn hides(&mut self, request: &RequestFacts) -> bool {
        (**self).hides(request)
    }
}

/// Locks the rules. A rule that panics fails one request; the rules themselves are always consistent.
fn lock(rules: &Mutex<Rules>) -> MutexGuard<'_, Rules> {
    rules.lock().unwrap_or_else(PoisonError::into_inner)
}
