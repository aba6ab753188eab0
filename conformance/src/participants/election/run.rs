//! The leader election of a run: candidates for one lease, and its disturbances.

use std::{collections::BTreeMap, time::Duration};

use serde_json::{Value, json};
use tokio::time::{Instant, sleep, timeout};

use super::{
    Candidacy, ElectionEvent, ElectionPlan, ForeignWriteKind, StopKind,
    candidate::{self, CandidateRun, RunningCandidate},
    lease_log::LeaseLog,
    line::CandidateContext,
    plan::Act,
};
use crate::{
    call,
    faults::{FaultInjector, Recording},
    interleave::Yields,
    participants::participant::{End, Host, Participant, Run},
    plan::NAMESPACES,
    task::TaskSet,
    trace::{Observation, Recorder},
    transport::{Leader, Route},
};

/// The lease, in the first of the [`NAMESPACES`].
pub(super) const LEASE: &str = "election";
/// The user agent of those who are no candidates.
const MEDDLER: &str = "meddler";
/// The holder that never renews.
const SOMEBODY: &str = "somebody";
/// The time that the server takes to ask all candidates, to notice who does not answer, and to let a lease run out twice, after
/// the five minutes for which it may have asked a candidate to wait.
const COORDINATION_MS: u64 = 420_000;
/// The time limit of the last releases.
const SHUTDOWN_LIMIT: Duration = Duration::from_mins(1);
/// The faults of candidates.
const OF_CANDIDATES: Recording = Recording {
    one: "candidate",
    all: "all candidates",
    begins: |fault, planned, text| {
        Observation::from(ElectionEvent::FaultBegins {
            fault,
            candidate: planned.informer,
            text,
        })
    },
    ends: |fault| Observation::from(ElectionEvent::FaultEnds { fault }),
};
/// The interval of looks for a leader at the end.
const POLL_INTERVAL: Duration = Duration::from_millis(500);

/// The candidates of a run and the lease that they share.
pub(crate) struct Election {
    plan: ElectionPlan,
    leader: Leader,
    recorder: Recorder,
    log: LeaseLog,
    ways: CandidateContext,
    faults: FaultInjector,
    /// The route and the yields of each candidate, in the order of the plan.
    routes: Vec<(Route, Yields)>,
    standing: BTreeMap<usize, RunningCandidate>,
    /// The number of candidacies of each candidate.
    counts: BTreeMap<usize, usize>,
    /// The ends of candidacies that were released.
    released: BTreeMap<usize, TaskSet>,
    /// The ends of others.
    ending: Vec<TaskSet>,
    began: Instant,
}

// === impl Election ===

impl Run<ElectionPlan> for Election {
    fn begin(&mut self) {
        self.began = Instant::now();
        let plan = &self.plan;
        self.recorder.record(ElectionEvent::Begins {
            lease: Duration::from_millis(plan.lease_ms),
            renew: Duration::from_millis(plan.renew_ms),
            retry: Duration::from_millis(plan.retry_ms),
        });
        if plan.is_coordinated {
            let versions = plan.candidates.iter();
            self.recorder.record(ElectionEvent::IsCoordinated {
                versions: versions.map(|candidate| candidate.emulates).collect(),
            });
        }
    }

    /// Records changes of the lease that no answer has shown yet.
    fn note(&mut self) {
        self.log.note();
    }

    async fn act(&mut self, act: Act) {
        match act {
            Act::Start(candidate) => self.start(candidate),
            Act::Stop(candidate) => self.stop(candidate),
            Act::BeginFault(fault) => {
                self.faults.begin(fault, &self.plan.faults[fault].planned());
            }
            Act::EndFault(fault) => self.faults.end(fault),
            Act::Meddle(place) => self.meddle(place).await,
        }
    }

    /// Records who leads.
    fn observe(&self) {
        for standing in self.standing.values() {
            standing.observe();
        }
    }

    fn end_faults(&mut self) {
        self.faults.end_all();
    }

    /// Waits until somebody leads, but no longer than an election without faults takes.
    async fn settle(&mut self, _: &End<'_>) {
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
            self.recorder.record(ElectionEvent::Settled {
                standing: self.standing.keys().copied().collect(),
                leading: self.leading().collect(),
            });
        }
        self.log.note();
        self.observe();
    }

    /// Returns the number of candidates that watch what the server asks.
    fn watch_count(&self) -> usize {
        if self.plan.is_coordinated {
            self.standing.len()
        } else {
            0
        }
    }

    async fn shut_down(&mut self) {
        // Candidates that were not stopped until then are dropped with the election.
        let _ = timeout(SHUTDOWN_LIMIT, self.release_all()).await;
    }
}

impl Election {
    pub(super) fn new(plan: &ElectionPlan, host: &mut Host<'_>) -> Self {
        let clients = plan.clients();
        let (leader, recorder) = (host.leader.clone(), host.recorder.clone());
        let log = LeaseLog::new(leader.clone(), recorder.clone());
        let server = leader.get();
        let faults = FaultInjector::new(&server, host.seed, clients.clone(), recorder.clone());
        let routes = clients
            .iter()
            .map(|client| ((host.open_route)(), host.yields(client)));
        let routes = routes.collect();
        Self {
            plan: plan.clone(),
            leader,
            ways: CandidateContext::new(recorder.clone(), log.clone()),
            log,
            faults: faults.recording(OF_CANDIDATES),
            routes,
            standing: BTreeMap::new(),
            counts: BTreeMap::new(),
            released: BTreeMap::new(),
            ending: Vec::new(),
            recorder,
            began: Instant::now(),
        }
    }

    /// Starts a candidate, unless it stands. One that has released its leadership waits until that has ended.
    fn start(&mut self, candidate: usize) {
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
    fn stop(&mut self, candidate: usize) {
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

    /// Writes to the lease as somebody who is no candidate.
    async fn meddle(&mut self, place: usize) {
        let kind = self.plan.meddlings[place].kind;
        let revision = match kind {
            ForeignWriteKind::Delete => self.delete().await,
            ForeignWriteKind::Seize => {
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
            ForeignWriteKind::Clear => {
                let spec = json!({"holderIdentity": ""});
                self.patch(&json!({"spec": spec})).await
            }
            ForeignWriteKind::Touch => {
                let annotations = json!({"touched": place.to_string()});
                let metadata = json!({"annotations": annotations});
                self.patch(&json!({"metadata": metadata})).await
            }
        };
        self.recorder.record(ElectionEvent::Meddled {
            text: format!("{kind:?}"),
            revision,
        });
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
    async fn release_all(&mut self) {
        // One at a time: what one releases another may take, and has to release as well.
        while let Some((_, standing)) = self.standing.pop_first() {
            standing.stop(StopKind::Release).wait().await;
        }
        let released = std::mem::take(&mut self.released).into_values();
        for ending in released.chain(self.ending.drain(..)) {
            ending.wait().await;
        }
        self.log.note();
        self.ways.close();
    }

    async fn delete(&self) -> Option<u64> {
        self.log.note();
        // The answer to a deletion does not say its revision: the log before and after it does.
        let before = self.log.last_deletion();
        self.ask("DELETE", None).await;
        self.log.note();
        let last = self.log.last_deletion();
        last.filter(|_| last != before)
    }

    async fn patch(&self, patch: &Value) -> Option<u64> {
        let answer = self.ask("PATCH", Some(patch)).await?;
        let revision = answer["metadata"]["resourceVersion"].as_str();
        self.log.note();
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
}
