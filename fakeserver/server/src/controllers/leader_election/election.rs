//! The pure core: the next step of an election, by the lease and its candidates.

use std::time::Duration;

use fakeserver_kinds::{
    coordination::{self, OLDEST_EMULATION_VERSION},
    table::age,
};
use fakeserver_value::read::text;
use jiff::Timestamp;
use semver::Version;
use serde_json::Value;

/// The time in which candidates answer a ping, and for which their answer counts.
pub(super) const ANSWER_TIME: Duration = Duration::from_secs(5);
/// The time after which a candidate that was not renewed expires.
pub(super) const CANDIDATE_DURATION: Duration = Duration::from_mins(30);

/// A parsed `LeaseCandidate`.
#[derive(Clone, Debug)]
pub(super) struct Candidate {
    pub(super) name: String,
    emulation: Option<Version>,
    binary: Option<Version>,
    strategy: String,
    created: Option<Timestamp>,
    pinged: Option<Timestamp>,
    renewed: Option<Timestamp>,
}

/// A parsed `Lease`.
#[derive(Clone, Debug, Default)]
pub(super) struct Lease {
    /// Empty if it has none.
    holder: String,
    ends: Option<Timestamp>,
}

/// The next step of an election.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// There is no candidate to elect.
    Idle,
    /// Look again later: the leader is the best one, candidates have not answered yet, or they do not agree on a strategy.
    Wait,
    /// Ping the candidates of these names.
    Ping(Vec<String>),
    /// Write the strategy, and a change of the lease.
    Elect { strategy: String, change: Change },
}

/// The change of a lease that an election makes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Change {
    /// The holder stays.
    Nothing,
    /// The lease begins or restarts with this holder; with none if its strategy is that of another elector.
    Term(Option<String>),
    /// The holder is to give it up to this one.
    Prefer(String),
}

// === impl Candidate ===

impl Candidate {
    pub(super) fn of(object: &Value) -> Self {
        let spec = &object["spec"];
        let version = |field: &str| coordination::version(text(&spec[field]));
        Self {
            name: text(&object["metadata"]["name"]).to_owned(),
            emulation: version("emulationVersion"),
            binary: version("binaryVersion"),
            strategy: text(&spec["strategy"]).to_owned(),
            created: age::parse(&object["metadata"]["creationTimestamp"]),
            pinged: age::parse(&spec["pingTime"]),
            renewed: age::parse(&spec["renewTime"]),
        }
    }

    /// Returns the time at which the candidate expires, unless it is renewed.
    pub(super) fn ends(&self) -> Option<Timestamp> {
        self.renewed?.checked_add(CANDIDATE_DURATION).ok()
    }

    pub(super) fn has_ended(&self, now: Timestamp) -> bool {
        self.ends().is_none_or(|ends| ends < now)
    }

    /// Returns whether the candidate was pinged after its last renewal.
    pub(super) fn is_pinged(&self) -> bool {
        self.pinged
            .is_some_and(|pinged| self.renewed.is_none_or(|renewed| renewed < pinged))
    }

    /// Returns whether the candidate was pinged, and may still answer in time.
    fn is_awaited(&self, now: Timestamp) -> bool {
        self.is_pinged() && is_recent(self.pinged, now)
    }

    /// Returns whether the candidate was renewed recently.
    fn is_there(&self, now: Timestamp) -> bool {
        is_recent(self.renewed, now)
    }

    /// Returns whether to ping the candidate: it was never pinged, or has answered long ago.
    fn needs_ping(&self, now: Timestamp) -> bool {
        let is_old = |pinged: Timestamp| {
            let until = pinged.checked_add(ANSWER_TIME).unwrap_or(Timestamp::MAX);
            until < now && self.renewed.is_some_and(|renewed| pinged < renewed)
        };
        !self.is_awaited(now) && !self.is_there(now) && self.pinged.is_none_or(is_old)
    }

    /// The best is the first: the one with the oldest emulated version, then with the oldest binary, then the oldest object.
    fn rank(&self) -> Option<(&Version, &Version, Option<Timestamp>)> {
        Some((
            self.emulation.as_ref()?,
            self.binary.as_ref()?,
            self.created,
        ))
    }
}

/// Returns whether a time is not longer ago than an answer counts.
fn is_recent(time: Option<Timestamp>, now: Timestamp) -> bool {
    time.and_then(|time| time.checked_add(ANSWER_TIME).ok())
        .is_some_and(|until| until > now)
}

// === impl Lease ===

impl Lease {
    pub(super) fn of(object: &Value) -> Self {
        let spec = &object["spec"];
        let seconds = spec["leaseDurationSeconds"].as_u64();
        let renewed = age::parse(&spec["renewTime"]);
        let ends = renewed.zip(seconds).map(|(renewed, seconds)| {
            let duration = Duration::from_secs(seconds);
            renewed.checked_add(duration).unwrap_or(Timestamp::MAX)
        });
        Self {
            holder: text(&spec["holderIdentity"]).to_owned(),
            ends,
        }
    }

    fn has_ended(&self, now: Timestamp) -> bool {
        self.ends.is_none_or(|ends| ends < now)
    }
}

/// Returns the next step. `candidates` are those for the lease, in the order of their names.
pub(super) fn step(lease: Option<&Lease>, candidates: &[Candidate], now: Timestamp) -> Step {
    let candidates: Vec<&Candidate> = candidates
        .iter()
        .filter(|candidate| !candidate.has_ended(now))
        .collect();
    if candidates.is_empty() {
        return Step::Idle;
    }
    if !is_needed(lease, &candidates, now) {
        return Step::Wait;
    }
    let to_ask = candidates
        .iter()
        .filter(|candidate| candidate.needs_ping(now));
    let to_ask: Vec<String> = to_ask.map(|candidate| candidate.name.clone()).collect();
    if !to_ask.is_empty() {
        return Step::Ping(to_ask);
    }
    if candidates.iter().any(|candidate| candidate.is_awaited(now)) {
        return Step::Wait;
    }
    let there: Vec<&Candidate> = candidates
        .into_iter()
        .filter(|candidate| candidate.is_there(now))
        .collect();
    let Some(strategy) = common_strategy(&there) else {
        return Step::Wait;
    };
    let best = (strategy == OLDEST_EMULATION_VERSION)
        .then(|| best(&there))
        .flatten();
    Step::Elect {
        strategy: strategy.to_owned(),
        change: change(lease, best.map(|best| best.name.clone()), now),
    }
}

/// Returns whether an election is needed: the lease has no holder, another candidate is better, or the holder has to
/// prove that it is alive.
fn is_needed(lease: Option<&Lease>, candidates: &[&Candidate], now: Timestamp) -> bool {
    let Some(lease) = lease.filter(|lease| !lease.has_ended(now) && !lease.holder.is_empty())
    else {
        return true;
    };
    let half = CANDIDATE_DURATION / 2;
    let is_silent = |candidate: &&Candidate| {
        let until = candidate.renewed.map(|renewed| renewed.checked_add(half));
        until.is_some_and(|until| until.unwrap_or(Timestamp::MAX) < now)
    };
    candidates.iter().any(is_silent)
        || (common_strategy(candidates) == Some(OLDEST_EMULATION_VERSION)
            && best(candidates).is_some_and(|best| best.name != lease.holder))
}

/// Returns the strategy of those with the newest binary; `None` if they do not agree.
fn common_strategy<'a>(candidates: &[&'a Candidate]) -> Option<&'a str> {
    let newest = candidates.iter().map(|candidate| &candidate.binary).max()?;
    let mut strategies = candidates
        .iter()
        .filter(|candidate| candidate.binary == *newest)
        .map(|candidate| candidate.strategy.as_str());
    let first = strategies.next()?;
    strategies
        .all(|strategy| strategy == first)
        .then_some(first)
}

fn best<'a>(candidates: &[&'a Candidate]) -> Option<&'a Candidate> {
    let ranked = candidates
        .iter()
        .filter_map(|candidate| Some((candidate.rank()?, *candidate)));
    let best = ranked.min_by(|(one, _), (other, _)| one.cmp(other));
    best.map(|(_, candidate)| candidate)
}

/// Returns the change that makes `best` the holder in the end.
fn change(lease: Option<&Lease>, best: Option<String>, now: Timestamp) -> Change {
    let Some(lease) = lease else {
        return Change::Term(best);
    };
    match best {
        None => Change::Nothing,
        Some(best) if best == lease.holder => Change::Nothing,
        Some(best) if lease.holder.is_empty() || lease.has_ended(now) => Change::Term(Some(best)),
        Some(best) => Change::Prefer(best),
    }
}
