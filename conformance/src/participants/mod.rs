//! The participants of runs, each in a folder of its own: its section of plans, its acts in a run, its observations with their
//! words, and its promises.
//!
//! Informers take part in every run, and so do their controllers. The others are optional: to add one, add its folder and its line
//! in the list below: a type that is a `Participant`, and a `Run` of it.

mod participant;
mod states;
pub mod controllers;
pub mod informers;
mod election;
mod factory;
mod watcher;

use std::{iter, ops::Range};

use fakeserver::FakeServerBuilder;
use serde::{Deserialize, Serialize};

use self::participant::Participant;
pub(crate) use self::participant::{Draft, End, Host, Part, renumber, simplify, within};
pub(crate) use self::participant::{PlanSection, Run};
pub use self::{
    controllers::{ControllerPlan, QueueAction, QueueOperation, QueueStop},
    informers::{Adapter, HandlerPlan, InformerPlan, Pause, PlannedEncoding, subjects},
};
use crate::{
    checkers::{self, Checker, Violation},
    plan::Profile,
    trace::{Concern, Trace},
};

/// The warning of a participant after a panic of one of its tasks.
pub(crate) const PANICKED: &str = "a task of the subject panicked";

/// Makes the types of all participants of a list: a line a participant, with its folder and the type of its part of plans.
macro_rules! participants {
    ($($folder:ident => $plan:ident { $($name:ident),* $(,)? },)*) => {
        $(pub use self::$folder::{$plan, $($name),*};)*

        /// The participants of a plan beside its informers.
        #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
        #[non_exhaustive]
        pub struct Participants {
            $(
                #[doc = concat!("The ", stringify!($folder), ", if there is one.")]
                #[serde(default, skip_serializing_if = "Option::is_none")]
                pub $folder: Option<$plan>,
            )*
        }

        /// The participants of a run.
        #[derive(Default)]
        pub(crate) struct Running {
            $($folder: Option<ActiveParticipant<$plan>>,)*
        }

        /// The checkers of each participant's promises.
        const CHECKERS: &[&[Checker]] = &[$($plan::CHECKERS),*];

        impl Participants {
            /// The names of all participants.
            #[cfg(test)]
            pub(crate) const NAMES: &[&str] = &[$(stringify!($folder)),*];

            pub(crate) fn draw(draft: &Draft<'_>) -> Self {
                Self { $($folder: $plan::draw(draft),)* }
            }

            pub(crate) fn made_valid(self, profile: Profile, safety_ms: u64) -> Self {
                Self { $($folder: self.$folder.and_then(|own| own.made_valid(profile, safety_ms)),)* }
            }

            /// Replaces every moment by the result of `new`.
            pub(crate) fn map_moments(&mut self, mut new: impl FnMut(u64) -> u64) {
                $(if let Some(own) = &mut self.$folder { own.map_moments(&mut new); })*
            }

            /// Returns the acts of all participants and their moments.
            pub(crate) fn acts(&self) -> Vec<(u64, Act)> {
                let of_each = [$(of_one(self.$folder.as_ref()).map(|(at_ms, _)| at_ms).collect()),*];
                numbered(of_each)
            }

            pub(crate) fn configure(&self, mut server: FakeServerBuilder) -> FakeServerBuilder {
                $(if let Some(own) = &self.$folder { server = own.configure(server); })*
                server
            }

            /// Returns the time for which tasks may last after the end of the run, in milliseconds.
            pub(crate) fn lingering_ms(&self) -> u64 {
                let each = [$(self.$folder.as_ref().map_or(0, $plan::lingering_ms)),*];
                each.into_iter().max().unwrap_or_default()
            }

            /// Returns the text form of each participant, by its name.
            pub(crate) fn texts(&self) -> impl Iterator<Item = (&'static str, String)> {
                let each = [$((stringify!($folder), self.$folder.as_ref().map(json))),*];
                each.into_iter().filter_map(|(name, text)| Some((name, text?)))
            }

            /// Returns the parts of a participant that a finding is about.
            pub(crate) fn concern(finding: &str) -> Option<Concern> {
                [$($plan::concern(finding)),*].into_iter().flatten().next()
            }

            /// Returns the parts that can be removed.
            pub(crate) fn parts() -> Vec<AnyPart> {
                iter::empty()
                    $(.chain(parts_of::<$plan>(|all| all.$folder.as_ref(), |all| &mut all.$folder)))*
                    .collect()
            }

            /// Returns the options of what is left.
            pub(crate) fn options() -> Vec<AnyPart> {
                iter::empty()
                    $(.chain(options_of::<$plan>(|all| all.$folder.as_ref(), |all| &mut all.$folder)))*
                    .collect()
            }
        }

        impl Running {
            /// Creates the participants of a plan.
            pub(crate) fn new(plan: &Participants, host: &mut Host<'_>) -> Self {
                Self { $($folder: plan.$folder.as_ref().map(|own| ActiveParticipant::new(own, host)),)* }
            }

            /// Returns the names of all clients.
            pub(crate) fn clients(&self) -> Vec<String> {
                let mut clients = Vec::new();
                $(clients.extend(self.$folder.iter().flat_map(|own| own.clients.clone()));)*
                clients
            }

            pub(crate) fn begin(&mut self) {
                $(if let Some(own) = &mut self.$folder { own.run.begin(); })*
            }

            pub(crate) fn note(&mut self) {
                $(if let Some(own) = &mut self.$folder { own.run.note(); })*
            }

            pub(crate) async fn act(&mut self, act: Act) {
                let mut participants = 0..;
                $(
                    let is_own = participants.next() == Some(act.participant);
                    if let Some(own) = self.$folder.as_mut().filter(|_| is_own) {
                        own.run.act(own.acts[act.place].1).await;
                    }
                )*
            }

            pub(crate) fn observe(&self) {
                $(if let Some(own) = &self.$folder { own.run.observe(); })*
            }

            pub(crate) fn end_faults(&mut self) {
                $(if let Some(own) = &mut self.$folder { own.run.end_faults(); })*
            }

            pub(crate) async fn recover(&mut self) {
                $(if let Some(own) = &mut self.$folder { own.run.recover().await; })*
            }

            pub(crate) async fn settle(&mut self, end: &End<'_>) {
                $(if let Some(own) = &mut self.$folder { own.run.settle(end).await; })*
            }

            pub(crate) fn watch_count(&self) -> usize {
                [$(self.$folder.as_ref().map_or(0, |own| own.run.watch_count())),*].iter().sum()
            }

            pub(crate) async fn shut_down(&mut self) {
                $(if let Some(own) = &mut self.$folder { own.run.shut_down().await; })*
            }
        }
    };
}

participants! {
    election => ElectionPlan {
        Candidacy, CandidateFault, CandidatePlan, CandidateStop, ElectionEvent, LeaseState, ForeignWrite,
        ForeignWriteKind, StopKind,
    },
    factory => FactoryPlan { FactoryAct, FactoryActKind, FactoryEvent, FactoryRequest, ViewPlan },
    watcher => WatcherPlan { WatchPlan, WatcherEvent },
}

/// An act of a participant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Act {
    /// The place of the participant in the list.
    participant: usize,
    /// The place of the act among its own, in order of time.
    place: usize,
}

/// A participant in a run, and what its plan says of it.
struct ActiveParticipant<P: Participant> {
    run: P::Run,
    acts: Vec<(u64, P::Act)>,
    clients: Vec<String>,
}

type Take = dyn Fn(&mut Participants, Range<usize>) + Send + Sync;

/// A part of any participant.
pub(crate) struct AnyPart {
    pub(crate) len: Box<dyn Fn(&Participants) -> usize + Send + Sync>,
    pub(crate) take: Box<Take>,
}

/// Returns the checkers of all promises: those of informers and servers first.
pub fn checkers() -> impl Iterator<Item = &'static Checker> + Clone {
    let own = CHECKERS.iter().copied().flatten();
    let of_informers = informers::checkers::CHECKERS.iter();
    of_informers.chain(controllers::CHECKERS).chain(own)
}

/// Returns true if a checker of this name assumes instant delivery, which runs in real time do not have.
pub(crate) fn assumes_instant_delivery(checker: &str) -> bool {
    let of_informers = informers::checkers::OF_INSTANT_DELIVERY;
    let of_controllers = controllers::OF_INSTANT_DELIVERY;
    of_informers.contains(&checker) || of_controllers.contains(&checker)
}

/// Runs all checkers over a trace.
pub(crate) fn check_all(trace: &Trace) -> Vec<Violation> {
    checkers::check_all(trace, checkers())
}

// === impl ActiveParticipant ===

impl<P: Participant> ActiveParticipant<P> {
    fn new(plan: &P, host: &mut Host<'_>) -> Self {
        Self {
            run: plan.enter(host),
            acts: of_one(Some(plan)).collect(),
            clients: plan.clients(),
        }
    }
}

/// Returns the acts of a participant in order.
fn of_one<P: Participant>(plan: Option<&P>) -> impl Iterator<Item = (u64, P::Act)> {
    let mut acts = plan.map(P::acts).unwrap_or_default();
    acts.sort_unstable();
    acts.dedup();
    acts.into_iter()
}

/// Numbers the acts of all participants, of which each has its moments in order.
fn numbered<const N: usize>(of_each: [Vec<u64>; N]) -> Vec<(u64, Act)> {
    let of_each = of_each.into_iter().enumerate();
    let acts = of_each.flat_map(|(participant, moments)| {
        let moments = moments.into_iter().enumerate();
        moments.map(move |(place, at_ms)| (at_ms, Act { participant, place }))
    });
    acts.collect()
}

/// Returns the parts of one participant, itself first.
fn parts_of<P: Participant>(
    get: fn(&Participants) -> Option<&P>,
    slot: fn(&mut Participants) -> &mut Option<P>,
) -> impl Iterator<Item = AnyPart> {
    let whole = AnyPart {
        len: Box::new(move |all| usize::from(get(all).is_some())),
        take: Box::new(move |all, _| *slot(all) = None),
    };
    iter::once(whole).chain(erased(P::PARTS, get, slot))
}

fn options_of<P: Participant>(
    get: fn(&Participants) -> Option<&P>,
    slot: fn(&mut Participants) -> &mut Option<P>,
) -> impl Iterator<Item = AnyPart> {
    erased(P::OPTIONS, get, slot)
}

fn erased<P: Participant>(
    parts: &'static [Part<P>],
    get: fn(&Participants) -> Option<&P>,
    slot: fn(&mut Participants) -> &mut Option<P>,
) -> impl Iterator<Item = AnyPart> {
    parts.iter().map(move |part| AnyPart {
        len: Box::new(move |all| get(all).map_or(0, part.len)),
        take: Box::new(move |all, range| {
            let own = slot(all);
            if let Some(plan) = own {
                (part.take)(plan, range);
            }
            // A participant with nothing left to do goes as a whole.
            own.take_if(|plan| plan.is_void());
        }),
    })
}

fn json<T: Serialize>(part: &T) -> String {
    serde_json::to_string(part).expect("plans have string keys only")
}
