//! The leader election of a run: candidates for one lease, made of [`informer::leader_election`], and its disturbances.

mod candidate;

use std::{collections::BTreeMap, time::Duration};

use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use self::candidate::{CandidateRun, Standing};
use crate::{
    call,
    faults::FaultInjector,
    interleave::Yields,
    plan::{self, MeddlingKind, NAMESPACES, Plan, StopKind},
    task::TaskSet,
    trace::{Candidacy, ElectionEvent, Observation, Recorder},
    transport::{CandidateWays, Leader, LeaseLog, Route},
};

/// The lease, in the first of the [`NAMESPACES`].
const LEASE: &str = "election";
/// The user agent of those who are no candidates.
const MEDDLER: &str = "meddler";
/// The holder that never renews.
const SOMEBODY: &str = "somebody";
/// The time that the server takes to ask all candidates, to notice who does not answer, and to let a lease run out twice, after
/// the five minutes for which it may have asked a candidate to wait.
const COORDINATION_MS: u64 = 420_000;
/// The interval of looks for a leader at the end.
const POLL_INTERVAL: Duration = Duration::from_millis(500);

/// The candidates of a run and the lease that they share.
pub(crate) struct Election {
    plan: plan::Election,
    leader: Leader,
    recorder: Recorder,
    log: LeaseLog,
    ways: CandidateWays,
    faults: FaultInjector,
    /// The route and the yields of each candidate, in the order of the plan.
    routes: Vec<(Route, Yields)>,
    standing: BTreeMap<usize, Standing>,
    /// The number of candidacies of each candidate.
    counts: BTreeMap<usize, usize>,
    /// The ends of candidacies that were released.
    released: BTreeMap<usize, TaskSet>,
    /// The ends of others.
    ending: Vec<TaskSet>,
    began: Instant,
}

/// Returns the client names of the candidates of a plan.
pub(crate) fn clients(plan: &Plan) -> Vec<String> {
    let election = plan.election.iter();
    let count = election.map(|election| election.candidates.len()).sum();
    let first = |candidate| Candidacy {
        candidate,
        number: 0,
    };
    (0..count)
        .map(|candidate| first(candidate).name())
        .collect()
}

// === impl Election ===

impl Election {
    /// Creates the election of a plan, if it has one. `route` returns the route of each candidate, by its client name, and
    /// its yields.
    pub(crate) fn of(
        plan: &Plan,
        leader: Leader,
        recorder: &Recorder,
        mut route: impl FnMut(&str) -> (Route, Yields),
    ) -> Option<Self> {
        let election = plan.election.clone()?;
        let clients = clients(plan);
        let log = LeaseLog::new(leader.clone(), recorder.clone());
        let server = leader.get();
        let faults = FaultInjector::new(&server, plan.seed, clients.clone(), recorder.clone());
        Some(Self {
            plan: election,
            leader,
            ways: CandidateWays::new(recorder.clone(), log.clone()),
            log,
            faults: faults.of_candidates(),
            routes: clients.iter().map(|client| route(client)).collect(),
            standing: BTreeMap::new(),
            counts: BTreeMap::new(),
            released: BTreeMap::new(),
            ending: Vec::new(),
            recorder: recorder.clone(),
            began: Instant::now(),
        })
    }

    /// Records the beginning.
    pub(crate) fn begin(&mut self) {
        self.began = Instant::now();
        let plan = &self.plan;
        self.record(ElectionEvent::Begins {
            lease: Duration::from_millis(plan.lease_ms),
            renew: Duration::from_millis(plan.renew_ms),
            retry: Duration::from_millis(plan.retry_ms),
        });
        if plan.is_coordinated {
            let versions = plan.candidates.iter();
            self.record(ElectionEvent::IsCoordinated {
                versions: versions.map(|candidate| candidate.emulates).collect(),
            });
        }
    }

    /// Starts a candidate, unless it stands. One that has released its leadership waits until that has ended.
    pub(crate) fn start(&mut self, candidate: usize) {
        if self.standing.contains_key(&candidate) {
            return;
        }
        let number = self.counts.entry(candidate).or_default();
        let candidacy = Candidacy {
            candidate,
            number: *number,
        };
        *number += 1;
        let (route, yields) = self.routes[candidate].clone();
        let line = self.ways.open(candidacy, route, yields);
        let elector = candidate::elector(&self.plan, candidacy, line.client(), self.began);
        let candidate_run = CandidateRun::new(candidacy, elector, self.recorder.clone());
        let before = self.released.remove(&candidate);
        self.standing
            .insert(candidate, candidate_run.stand(line, before));
    }

    /// Stops a candidate as its plan says, if it stands.
    pub(crate) fn stop(&mut self, candidate: usize) {
        let stop = self.plan.candidates[candidate].stop;
        if let (Some(stop), Some(standing)) = (stop, self.standing.remove(&candidate)) {
            let ending = standing.stop(stop.kind);
            match stop.kind {
                StopKind::Release => {
                    self.released.insert(candidate, ending);
                }
                StopKind::Drop | StopKind::Crash => self.ending.push(ending),
            }
        }
    }

    /// Begins a fault of candidates.
    pub(crate) fn begin_fault(&mut self, fault: usize) {
        self.faults.begin(fault, &self.plan.faults[fault].planned());
    }

    /// Ends a fault of candidates, unless it has ended.
    pub(crate) fn end_fault(&mut self, fault: usize) {
        self.faults.end(fault);
    }

    /// Ends all faults of candidates.
    pub(crate) fn end_faults(&mut self) {
        self.faults.end_all();
    }

    /// Writes to the lease as somebody who is no candidate.
    pub(crate) async fn meddle(&mut self, place: usize) {
        let kind = self.plan.meddlings[place].kind;
        let revision = match kind {
            MeddlingKind::Delete => self.delete().await,
            MeddlingKind::Seize => {
                let seconds = self.plan.lease_ms / 1_000;
                // As text it differs from that of any other write.
                let now = format!("1970-01-01T00:00:00.{place:06}Z");
                let spec = json!({
                    "holderIdentity": SOMEBODY,
                    "leaseDurationSeconds": seconds,
                    "acquireTime": now,
                    "renewTime": now,
                });
                self.patch(&json!({"spec": spec})).await
            }
            MeddlingKind::Clear => {
                let spec = json!({"holderIdentity": ""});
                self.patch(&json!({"spec": spec})).await
            }
            MeddlingKind::Touch => {
                let annotations = json!({"touched": place.to_string()});
                let metadata = json!({"annotations": annotations});
                self.patch(&json!({"metadata": metadata})).await
            }
        };
        self.record(ElectionEvent::Meddled {
            text: format!("{kind:?}"),
            revision,
        });
    }

    /// Records changes of the lease that no answer has shown yet.
    pub(crate) fn note(&self) {
        self.log.note();
    }

    /// Records who leads.
    pub(crate) fn observe(&self) {
        for standing in self.standing.values() {
            standing.observe();
        }
    }

    /// Waits until somebody leads, but no longer than an election without faults takes.
    pub(crate) async fn settle(&self) {
        let plan = &self.plan;
        let mut limit_ms = 3 * plan.lease_ms + plan.renew_ms + 10 * plan.retry_ms;
        if plan.is_coordinated {
            limit_ms += COORDINATION_MS;
        }
        let until = Instant::now() + Duration::from_millis(limit_ms);
        while !self.standing.is_empty() && !self.is_led() && Instant::now() < until {
            sleep(POLL_INTERVAL).await;
        }
        if plan.is_coordinated {
            self.record(ElectionEvent::Settled {
                standing: self.standing.keys().copied().collect(),
                leading: self.leading().collect(),
            });
        }
        self.note();
        self.observe();
    }

    /// Returns the number of candidates that watch what the server asks.
    pub(crate) fn informer_count(&self) -> usize {
        if self.plan.is_coordinated {
            self.standing.len()
        } else {
            0
        }
    }

    /// Returns the candidates that lead.
    fn leading(&self) -> impl Iterator<Item = usize> {
        let leading = self
            .standing
            .iter()
            .filter(|(_, standing)| standing.leads());
        leading.map(|(candidate, _)| *candidate)
    }

    /// Returns whether somebody leads; if the server decides, one of the best.
    fn is_led(&self) -> bool {
        let plan = &self.plan;
        let version = |candidate: &usize| plan.candidates[*candidate].emulates;
        let oldest = self.standing.keys().map(version).min();
        let is_good = |candidate| !plan.is_coordinated || Some(version(&candidate)) == oldest;
        self.leading().any(is_good)
    }

    /// Lets all candidates release their leaderships, one after the other, and waits for that.
    ///
    /// # Cancel safety
    ///
    /// Those that were not stopped yet are dropped with the election.
    pub(crate) async fn shut_down(&mut self) {
        while let Some((_, standing)) = self.standing.pop_first() {
            standing.stop(StopKind::Release).wait().await;
        }
        let released = std::mem::take(&mut self.released).into_values();
        for ending in released.chain(self.ending.drain(..)) {
            ending.wait().await;
        }
        self.note();
        self.ways.close();
    }

    async fn delete(&self) -> Option<u64> {
        self.note();
        let before = self.log.last_deletion();
        self.ask("DELETE", None).await;
        self.note();
        let last = self.log.last_deletion();
        last.filter(|_| last != before)
    }

    async fn patch(&self, patch: &Value) -> Option<u64> {
        let answer = self.ask("PATCH", Some(patch)).await?;
        let revision = answer["metadata"]["resourceVersion"].as_str();
        self.note();
        revision?.parse().ok()
    }

    /// Sends a request about the lease, and returns the answer if it is a success.
    async fn ask(&self, method: &str, body: Option<&Value>) -> Option<Value> {
        let namespace = NAMESPACES[0];
        let path = format!("/apis/coordination.k8s.io/v1/namespaces/{namespace}/leases/{LEASE}");
        let header = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let mut headers = vec![
            header("user-agent", MEDDLER),
            header("accept", "application/json"),
        ];
        if body.is_some() {
            headers.push(header("content-type", "application/merge-patch+json"));
        }
        let body = body.map(|body| body.to_string().into_bytes());
        let router = self.leader.get().router();
        let response = call::open(&router, method, &path, &headers, body.unwrap_or_default()).await;
        let answer = call::read(response).await;
        let is_success = answer.status < 300;
        is_success.then(|| serde_json::from_slice(&answer.body).ok())?
    }

    fn record(&self, event: ElectionEvent) {
        self.recorder.record(Observation::Election(event));
    }
}
