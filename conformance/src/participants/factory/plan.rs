//! A factory of informers beside the informers of a plan.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::{
    draw,
    event::FactoryEvent,
    factories,
    run::{CLIENT, Factory},
};
use crate::{
    checkers::Checker,
    participants::{
        participant::{Draft, Host, Part, Participant, PlanSection},
        renumber, simplify, within,
    },
    plan::{Operator, Profile, Selection},
};

/// The most views of a factory, and acts on it, and the time for which it is shut down at most.
const VIEWS_MAX: usize = 6;
const ACTS_MAX: usize = 96;
const STOP_MAX_MS: u64 = 4_000;

const VIEW_OPTIONS: [fn(&mut ViewPlan); 4] = [
    |view| view.transforms = false,
    |view| view.selection.namespace = None,
    |view| view.selection.operator = Operator::default(),
    |view| view.selection.label = None,
];

const OPTIONS: [fn(&mut FactoryPlan); 3] = [
    |factory| factory.page_size = 500,
    |factory| factory.streaming_lists = false,
    |factory| {
        for act in &mut factory.acts {
            if let FactoryActKind::Restart(yields) = &mut act.kind {
                *yields = 0;
            }
        }
    },
];

/// A factory: the views through which its informers are requested, and the acts on it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct FactoryPlan {
    /// The number of items in a page of its informers.
    pub page_size: u32,
    /// True if its informers stream their lists.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub streaming_lists: bool,
    /// The views.
    pub views: Vec<ViewPlan>,
    /// The acts, in order of time. One that names an absent view does nothing.
    pub acts: Vec<FactoryAct>,
}

/// A view of a factory, through which one informer is requested. Views that select the same share it, unless one of them
/// transforms objects.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct ViewPlan {
    /// The selection.
    pub selection: Selection,
    /// True if it signs its objects by a transform of its own.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub transforms: bool,
}

/// An act on a factory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct FactoryAct {
    /// The time.
    pub at_ms: u64,
    /// The kind of act.
    pub kind: FactoryActKind,
}

/// The kinds of acts on a factory. Numbers are places of views.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum FactoryActKind {
    /// The informer of a view is requested, perhaps once more.
    Request(usize),
    /// A handler is added to the informer of a view, if that was requested.
    Join(usize),
    /// The registration of the oldest handler of a view is dropped.
    Leave(usize),
    /// The same handler is removed, and the end of its last call awaited.
    Remove(usize),
    /// The factory is started, perhaps once more.
    Start,
    /// It is shut down.
    Stop,
    /// It is started during its shutdown, after this number of yields.
    Restart(u8),
    /// It is shut down, and another one made of the same client, with the same views and as many handlers.
    Renew,
    /// The handles to the informer of a view are dropped, and unused informers are released.
    Release(usize),
}

// === impl FactoryPlan ===

impl FactoryPlan {
    /// Creates a factory of these views that does nothing.
    pub fn of(views: Vec<ViewPlan>) -> Self {
        Self {
            page_size: 500,
            streaming_lists: false,
            views,
            acts: Vec::new(),
        }
    }

    /// Removes views with their acts, and renumbers the rest.
    fn take_views(&mut self, range: Range<usize>) {
        self.views.drain(range.clone());
        let is_left = |act: &mut FactoryAct| {
            let view = act.kind.view_mut();
            view.is_none_or(|view| renumber(view, &range))
        };
        self.acts.retain_mut(is_left);
    }
}

impl PlanSection for FactoryPlan {
    /// The place in its list.
    type Act = usize;

    const OPTIONS: &'static [Part<Self>] = &[
        Part {
            len: |factory| factory.views.len() * VIEW_OPTIONS.len(),
            take: |factory, range| simplify(&mut factory.views, &VIEW_OPTIONS, &range),
        },
        Part {
            len: |_| OPTIONS.len(),
            take: |factory, range| simplify([factory], &OPTIONS, &range),
        },
    ];
    const PARTS: &'static [Part<Self>] = &[
        Part {
            len: |factory| factory.views.len(),
            take: Self::take_views,
        },
        Part {
            len: |factory| factory.acts.len(),
            take: |factory, range| drop(factory.acts.drain(range)),
        },
    ];

    fn made_valid(mut self, _profile: Profile, safety_ms: u64) -> Option<Self> {
        self.page_size = self.page_size.max(1);
        self.views.truncate(VIEWS_MAX);
        self.acts.truncate(ACTS_MAX);
        for view in &mut self.views {
            if !view.selection.resource.is_namespaced() {
                view.selection.namespace = None;
            }
        }
        for act in &mut self.acts {
            act.at_ms = within(act.at_ms, safety_ms + STOP_MAX_MS);
        }
        self.acts.sort_by_key(|act| act.at_ms);
        (!self.views.is_empty()).then_some(self)
    }

    fn is_void(&self) -> bool {
        self.views.is_empty()
    }

    fn map_moments(&mut self, new: &mut dyn FnMut(u64) -> u64) {
        for act in &mut self.acts {
            act.at_ms = new(act.at_ms);
        }
    }

    fn acts(&self) -> Vec<(u64, usize)> {
        let acts = self.acts.iter().enumerate();
        acts.map(|(place, act)| (act.at_ms, place)).collect()
    }
}

impl Participant for FactoryPlan {
    type Run = Factory;

    const CHECKERS: &'static [Checker] = &[Checker::of_participant(
        "factories",
        "a factory shares its informers, runs them together, and takes them from one generation to the next",
        factories::check,
        |seen| seen.event::<FactoryEvent>().is_some(),
    )];

    fn draw(draft: &Draft<'_>) -> Option<Self> {
        draw::draw(draft)
    }

    fn clients(&self) -> Vec<String> {
        vec![CLIENT.to_owned()]
    }

    fn enter(&self, host: &mut Host<'_>) -> Factory {
        Factory::new(self, host)
    }
}

// === impl ViewPlan ===

impl ViewPlan {
    /// Creates a view that transforms nothing.
    pub fn of(selection: Selection) -> Self {
        Self {
            selection,
            transforms: false,
        }
    }
}

// === impl FactoryAct ===

impl FactoryAct {
    /// Creates an act.
    pub fn new(at_ms: u64, kind: FactoryActKind) -> Self {
        Self { at_ms, kind }
    }
}

// === impl FactoryActKind ===

impl FactoryActKind {
    /// Returns the view that the act names.
    fn view_mut(&mut self) -> Option<&mut usize> {
        match self {
            Self::Request(view)
            | Self::Join(view)
            | Self::Leave(view)
            | Self::Remove(view)
            | Self::Release(view) => Some(view),
            Self::Start | Self::Stop | Self::Restart(_) | Self::Renew => None,
        }
    }
}
