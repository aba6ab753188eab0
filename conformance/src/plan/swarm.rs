//! The parameters of one run, drawn first, so that runs differ in kind and not only in detail.
//!
//! If everything always happens a little, nothing ever happens often, and one effect hides another. So each run leaves
//! out most of the possibilities: some runs are all label changes under one fault, some nothing but deletions behind a
//! paged list, some a little of everything.

use rand::{RngExt, rngs::ChaCha8Rng, seq::IndexedRandom};

use super::{Action, Interleaving, Resource, Tier, drawn_faults::RANK_MAX, profile::Size};

/// The parameters of one run.
#[derive(Clone, Debug)]
pub(crate) struct Swarm {
    pub(crate) safety_ms: u64,
    pub(crate) objects: Vec<(Resource, u8)>,
    pub(crate) tiers: Vec<Tier>,
    /// The weights of actions; those that are not in the list never happen.
    actions: Vec<(ActionKind, u32)>,
    pub(crate) rhythm: Rhythm,
    pub(crate) informers: InformerOdds,
    pub(crate) handlers: HandlerOdds,
    pub(crate) faults: FaultOdds,
    /// The kinds of incidents: none in most runs.
    pub(crate) incidents: Vec<IncidentName>,
    pub(crate) interleaving: Interleaving,
    pub(crate) fault_count: usize,
    /// The most by which the rank of a fault's next occurrence exceeds that of the one before: with 0 all faults of a
    /// run are the same, and the higher it is, the more they differ.
    pub(crate) rank_step: u64,
    /// The moments at which faults begin and end; empty if the rhythm has none.
    pub(crate) fault_moments: Vec<u64>,
}

/// The rhythm of operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rhythm {
    /// Spread over the whole time.
    Even,
    /// Several at one moment, then a pause: clients that were away see changes so.
    Bursts,
    /// All within a few moments, close together.
    Crowds,
    /// Around the moments at which faults begin and end.
    AtFaults,
}

/// The probability of each trait of an informer, and the ranges of its numbers.
#[derive(Clone, Debug)]
pub(crate) struct InformerOdds {
    pub(crate) in_namespace: f64,
    pub(crate) labelled: f64,
    pub(crate) late: f64,
    pub(crate) streaming: f64,
    pub(crate) short_queue: f64,
    pub(crate) page_sizes: Vec<u32>,
    pub(crate) watch_timeouts_s: Vec<u64>,
}

/// The probability of each trait of a handler.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HandlerOdds {
    pub(crate) late: f64,
    pub(crate) leaves: f64,
    pub(crate) leaves_by_itself: f64,
    pub(crate) resyncs: f64,
    pub(crate) panics: f64,
}

/// The probability of each trait of a fault.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FaultOdds {
    pub(crate) at_once: f64,
    pub(crate) for_one_informer: f64,
    pub(crate) skips: f64,
    pub(crate) counted: f64,
}

/// An incident before its numbers are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum IncidentName {
    Replica,
    Restart,
    DataLoss,
    Suspend,
}

/// An action before its label is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ActionKind {
    Create,
    Update,
    Relabel,
    Delete,
    Recreate,
    Hold,
    Release,
}

// === impl Swarm ===

impl Swarm {
    pub(crate) fn draw(rng: &mut ChaCha8Rng, size: &Size) -> Self {
        let safety_ms = pick(rng, &[8_000, 20_000, 45_000, 90_000, 240_000]);
        let tiers = some_of(rng, &[Tier::Web, Tier::Db, Tier::None], 0.75);
        let mut swarm = Self {
            safety_ms,
            objects: objects(rng, size),
            actions: actions(rng),
            rhythm: pick(
                rng,
                &[
                    Rhythm::Even,
                    Rhythm::Even,
                    Rhythm::Bursts,
                    Rhythm::Crowds,
                    Rhythm::AtFaults,
                ],
            ),
            informers: InformerOdds::draw(rng, &tiers),
            handlers: HandlerOdds::draw(rng),
            faults: FaultOdds::draw(rng),
            incidents: IncidentName::draw(rng),
            interleaving: Interleaving::draw(rng),
            tiers,
            fault_count: rng.random_range(size.faults.clone()),
            rank_step: pick(
                rng,
                &[
                    0,
                    RANK_MAX / 40,
                    RANK_MAX / 8,
                    RANK_MAX / 8,
                    RANK_MAX,
                    RANK_MAX,
                ],
            ),
            fault_moments: Vec::new(),
        };
        if swarm.rhythm == Rhythm::AtFaults {
            let count = rng.random_range(2..=6);
            swarm.fault_moments = (0..count).map(|_| rng.random_range(0..safety_ms)).collect();
        }
        swarm
    }

    pub(crate) fn action(&self, rng: &mut ChaCha8Rng) -> Action {
        let (deed, _) = self
            .actions
            .choose_weighted(rng, |(_, weight)| *weight)
            .expect("creation is among them, with a weight");
        match deed {
            ActionKind::Create => Action::Create(self.tier(rng)),
            ActionKind::Update => Action::Update,
            ActionKind::Relabel => Action::Relabel(self.tier(rng)),
            ActionKind::Delete => Action::Delete,
            ActionKind::Recreate => Action::Recreate(self.tier(rng)),
            ActionKind::Hold => Action::Hold,
            ActionKind::Release => Action::Release,
        }
    }

    pub(crate) fn tier(&self, rng: &mut ChaCha8Rng) -> Tier {
        pick(rng, &self.tiers)
    }
}

// === impl InformerOdds ===

impl InformerOdds {
    fn draw(rng: &mut ChaCha8Rng, tiers: &[Tier]) -> Self {
        // Without objects that have the label, a selection by label would be empty.
        let labelled = if tiers.contains(&Tier::Web) { 0.4 } else { 0.1 };
        Self {
            in_namespace: odds(rng, 0.2),
            labelled: odds(rng, labelled),
            late: odds(rng, 0.3),
            streaming: pick(rng, &[0.0, 0.6, 0.6, 1.0]),
            short_queue: odds(rng, 0.3),
            page_sizes: some_of(rng, &[1, 2, 5, 500], 0.6),
            watch_timeouts_s: some_of(rng, &[5, 20, 60, 300], 0.6),
        }
    }
}

// === impl HandlerOdds ===

impl HandlerOdds {
    fn draw(rng: &mut ChaCha8Rng) -> Self {
        Self {
            late: odds(rng, 0.4),
            leaves: odds(rng, 0.15),
            leaves_by_itself: odds(rng, 0.1),
            resyncs: odds(rng, 0.2),
            panics: odds(rng, 0.1),
        }
    }
}

// === impl FaultOdds ===

impl FaultOdds {
    fn draw(rng: &mut ChaCha8Rng) -> Self {
        Self {
            at_once: odds(rng, 0.2),
            for_one_informer: pick(rng, &[0.0, 0.5, 0.5, 1.0]),
            skips: pick(rng, &[0.0, 0.5, 0.5, 1.0]),
            counted: pick(rng, &[0.3, 0.7, 0.7, 1.0]),
        }
    }
}

// === impl IncidentName ===

impl IncidentName {
    fn draw(rng: &mut ChaCha8Rng) -> Vec<Self> {
        if rng.random_bool(0.6) {
            return Vec::new();
        }
        let all = [Self::Replica, Self::Restart, Self::DataLoss, Self::Suspend];
        some_of(rng, &all, 0.5)
    }
}

/// Picks one of `choices`, of which there is at least one.
pub(crate) fn pick<T: Clone>(rng: &mut ChaCha8Rng, choices: &[T]) -> T {
    choices.choose(rng).expect("there are choices").clone()
}

/// Draws a probability: 0 in a third of all runs, far higher than usual in a sixth.
pub(crate) fn odds(rng: &mut ChaCha8Rng, usual: f64) -> f64 {
    match rng.random_range(0..6) {
        0 | 1 => 0.0,
        2..=4 => usual,
        _ => (usual * 4.0).min(1.0),
    }
}

/// Draws the choices of this run, in their order; at least one.
pub(crate) fn some_of<T: Clone>(rng: &mut ChaCha8Rng, choices: &[T], share: f64) -> Vec<T> {
    let mut some = choices.to_vec();
    some.retain(|_| rng.random_bool(share));
    if some.is_empty() {
        some.push(pick(rng, choices));
    }
    some
}

/// Draws objects of some of the resources, turn by turn.
fn objects(rng: &mut ChaCha8Rng, size: &Size) -> Vec<(Resource, u8)> {
    let resources = some_of(rng, &Resource::ALL, 0.75);
    let count = rng.random_range(size.objects.clone());
    let slots = 0..=u8::MAX;
    slots
        .flat_map(|slot| resources.iter().map(move |resource| (*resource, slot)))
        .take(count)
        .collect()
}

fn actions(rng: &mut ChaCha8Rng) -> Vec<(ActionKind, u32)> {
    let mut actions = vec![(ActionKind::Create, 25)];
    let others = [
        (ActionKind::Update, 20),
        (ActionKind::Relabel, 20),
        (ActionKind::Delete, 15),
        (ActionKind::Recreate, 8),
        (ActionKind::Hold, 6),
        (ActionKind::Release, 6),
    ];
    for (deed, usual) in others {
        let factor = pick(rng, &[0, 1, 1, 4]);
        if factor > 0 {
            actions.push((deed, usual * factor));
        }
    }
    actions
}
