//! A factory of informers beside the informers of a plan.

use serde::{Deserialize, Serialize};

use super::Selection;

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
    /// It is started while it shuts down, after so many yields.
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

    /// Replaces every moment by the result of `new`.
    pub(super) fn map_moments(&mut self, mut new: impl FnMut(u64) -> u64) {
        for act in &mut self.acts {
            act.at_ms = new(act.at_ms);
        }
    }

    /// Removes the views `from..to` with their acts, and renumbers the rest.
    pub(super) fn take_views(&mut self, from: usize, to: usize) {
        self.views.drain(from..to);
        self.acts.retain_mut(|act| match act.kind.view_mut() {
            Some(view) if (from..to).contains(view) => false,
            Some(view) if *view >= to => {
                *view -= to - from;
                true
            }
            _ => true,
        });
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
