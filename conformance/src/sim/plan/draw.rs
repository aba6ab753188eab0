//! Draws plans from seeds: operations, faults, incidents and participants, within the limits of the [swarm](Swarm).

use fakeserver::{KubernetesVersion, faults::Fault};
use rand::{RngExt, rngs::ChaCha8Rng, seq::IndexedRandom};

use super::Plan;
use crate::{
    participants::{Draft, Participants, informers},
    plan::{
        Action, Incident, IncidentKind, Operation, Profile, Size, contents, drawn_faults,
        swarm::{IncidentName, Rhythm, Swarm, pick},
    },
    seed::Seed,
};

// === impl Plan ===

impl Plan {
    /// Draws the plan of a seed, of the default size.
    pub fn draw(seed: Seed) -> Self {
        Self::draw_sized(seed, Profile::default())
    }

    /// Draws the plan of a seed in a profile.
    ///
    /// A new fault changes the plan of a seed only by its own occurrences and by those that it pushes out.
    pub fn draw_sized(seed: Seed, profile: Profile) -> Self {
        Self::draw_among(seed, profile, &drawn_faults::drawable())
    }

    /// Draws the plan of a seed in a profile, with servers that change their version of Kubernetes.
    pub fn draw_upgraded(seed: Seed, profile: Profile) -> Self {
        let plan = Self::draw_sized(seed, profile);
        if plan.incidents.iter().any(Incident::is_upgrade) {
            plan
        } else {
            plan.with_upgrades(1.0)
        }
    }

    /// Draws the plan of a seed in a profile, with no other faults than these.
    pub(super) fn draw_among(seed: Seed, profile: Profile, faults: &[Fault]) -> Self {
        let size = profile.size();
        let swarm = Swarm::draw(&mut seed.stream("shape"), &size);
        let informers = informers::draw(seed, profile, &swarm);
        let mut workload = workload(&mut seed.stream("workload"), &swarm, &size);
        if informers
            .iter()
            .any(|informer| informer.selection.is_strict)
        {
            spoil(&mut seed.stream("spoiling"), &mut workload);
        }
        let plan = Self {
            seed,
            safety_ms: swarm.safety_ms,
            revision: revision(&mut seed.stream("revision")),
            interleaving: swarm.interleaving,
            contents: contents::draw(seed),
            list_gate: list_gate(&mut seed.stream("list gate")),
            workload,
            participants: Participants::draw(&Draft {
                seed,
                profile,
                safety_ms: swarm.safety_ms,
                objects: &swarm.objects,
            }),
            // Each part has a stream of its own, so that a part that draws more changes no other one.
            incidents: incidents(&mut seed.stream("incidents"), &swarm, informers.len()),
            faults: drawn_faults::draw(seed, &swarm, informers.len(), faults),
            informers,
        };
        let plan = plan.with_upgrades(UPGRADED);
        match profile {
            Profile::Brief => plan.made_brief(),
            _ => plan,
        }
    }

    /// Draws one to three upgrades in a share of all runs, by a stream of their own.
    #[must_use]
    fn with_upgrades(mut self, share: f64) -> Self {
        let rng = &mut self.seed.stream("upgrades");
        if !rng.random_bool(share) || !self.can_be_upgraded() {
            return self;
        }
        let all: Vec<KubernetesVersion> = KubernetesVersion::all().collect();
        for _ in 0..rng.random_range(1..=3) {
            let kind = IncidentKind::Upgrade {
                version: pick(rng, &all),
                is_rolling: rng.random_bool(0.5),
            };
            self.incidents.push(Incident::new(
                rng.random_range(0..self.safety_ms),
                rng.random_range(0..=self.safety_ms / 2),
                kind,
            ));
        }
        self.incidents.sort_by_key(|incident| incident.at_ms);
        self
    }
}

/// The share of all runs whose servers change their version.
const UPGRADED: f64 = 1.0 / 12.0;

/// Draws the revision at which the server begins: in half of all runs a little less than a power of ten, or than 2^53, from
/// which on floats of 64 bits do not hold every integer.
fn revision(rng: &mut ChaCha8Rng) -> Option<u64> {
    if rng.random_bool(0.5) {
        return None;
    }
    let limit = match rng.random_range(2..=18) {
        16 => 1 << 53,
        exponent => 10_u64.pow(exponent),
    };
    Some(limit - rng.random_range(1..=60))
}

/// Draws a gate of one or two lists at a time, in a fifth of all runs.
fn list_gate(rng: &mut ChaCha8Rng) -> Option<usize> {
    rng.random_bool(0.2).then(|| pick(rng, &[1, 1, 2]))
}

fn workload(rng: &mut ChaCha8Rng, swarm: &Swarm, size: &Size) -> Vec<Operation> {
    let initial_count = rng.random_range(0..=swarm.objects.len());
    let mut operations: Vec<Operation> = swarm.objects[..initial_count]
        .iter()
        .map(|(resource, slot)| {
            Operation::new(0, *resource, *slot, Action::Create(swarm.tier(rng)))
        })
        .collect();
    let count = rng.random_range(size.operations.clone());
    let mut moments = Moments::new(rng, swarm);
    // All objects that are there at the beginning count, even if they are more than the size says.
    for _ in operations.len()..count.max(operations.len()) {
        let at_ms = moments.next(rng);
        let (resource, slot) = pick(rng, &swarm.objects);
        operations.push(Operation::new(at_ms, resource, slot, swarm.action(rng)));
    }
    operations.sort_by_key(|operation| operation.at_ms);
    operations
}

/// Puts operations that make objects undecodable, and decodable again, in the place of some that come later than the start.
fn spoil(rng: &mut ChaCha8Rng, operations: &mut [Operation]) {
    let share = pick(rng, &[0.1, 0.3, 0.6]);
    let is_possible =
        |operation: &&mut Operation| operation.at_ms > 0 && operation.resource.is_typed();
    for operation in operations.iter_mut().filter(is_possible) {
        if rng.random_bool(share) {
            let spoils = rng.random_bool(0.6);
            operation.action = if spoils { Action::Spoil } else { Action::Heal };
        }
    }
}

/// Draws the moments of operations, by the rhythm of the run.
struct Moments {
    rhythm: Rhythm,
    safety_ms: u64,
    /// The moments near which operations happen, if the rhythm has any.
    near: Vec<u64>,
    last: u64,
}

// === impl Moments ===

impl Moments {
    fn new(rng: &mut ChaCha8Rng, swarm: &Swarm) -> Self {
        let safety_ms = swarm.safety_ms;
        let near = match swarm.rhythm {
            Rhythm::Even | Rhythm::Bursts => Vec::new(),
            Rhythm::Crowds => {
                let count = rng.random_range(1..=3);
                (0..count).map(|_| rng.random_range(1..safety_ms)).collect()
            }
            Rhythm::AtFaults => swarm.fault_moments.clone(),
        };
        Self {
            rhythm: swarm.rhythm,
            safety_ms,
            near,
            last: 1,
        }
    }

    fn next(&mut self, rng: &mut ChaCha8Rng) -> u64 {
        let is_same = self.rhythm == Rhythm::Bursts && rng.random_bool(0.7);
        if is_same {
            return self.last;
        }
        self.last = match self.near.choose(rng) {
            Some(near) => (near + rng.random_range(0..200)).clamp(1, self.safety_ms - 1),
            None => rng.random_range(1..self.safety_ms),
        };
        self.last
    }
}

fn incidents(rng: &mut ChaCha8Rng, swarm: &Swarm, informer_count: usize) -> Vec<Incident> {
    let safety_ms = swarm.safety_ms;
    let Some(mishaps) = Some(&swarm.incidents).filter(|mishaps| !mishaps.is_empty()) else {
        return Vec::new();
    };
    let mut incidents: Vec<Incident> = (0..rng.random_range(1..=3))
        .map(|_| {
            let kind = match pick(rng, mishaps) {
                IncidentName::Replica => IncidentKind::Replica {
                    informer: rng
                        .random_bool(0.7)
                        .then(|| rng.random_range(0..informer_count)),
                    lag_ms: pick(rng, &[10, 500, 2_000, 5_000, 30_000]),
                },
                IncidentName::Restart => IncidentKind::Restart,
                IncidentName::DataLoss => IncidentKind::DataLoss,
                IncidentName::Suspend => IncidentKind::Suspend,
            };
            Incident::new(
                rng.random_range(0..safety_ms),
                rng.random_range(0..=safety_ms / 2),
                kind,
            )
        })
        .collect();
    incidents.sort_by_key(|incident| incident.at_ms);
    incidents
}
