//! Seeded bugs: they show that the checkers find real ones.
//!
//! Each [`Bug`] is one that some client has had, or that the next change could add. It sits outside of the informer
//! under test, at the [`Seam`] where its effect shows: `informer` itself has no part in it. A bug for which there is no
//! seam is a patch in `conformance/bugs/`.
//!
//! A bug is caught if a checker finds something in the run of an ordinary plan; [`hunt`](crate::hunt) counts the seeds
//! that this takes.

mod list_watch;
mod store;
mod handler;
mod options;

pub use self::{
    handler::BuggyHandler,
    list_watch::{BuggyListWatch, BuggyStream},
    store::BuggyStore,
};

/// A seeded bug.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Bug {
    /// Its name on the command line and in tables.
    pub name: &'static str,
    /// The deviation, in a line.
    pub about: &'static str,
    kind: BugKind,
}

/// The place of a bug in the informer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Seam {
    /// Between the server and the reflector.
    ListWatch,
    /// Between the reflector and the cache.
    ReflectorStore,
    /// Between the cache and a handler.
    EventHandler,
    /// The time limits and delays of the reflector.
    ReflectorOptions,
}

/// The deviation, by seam.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum BugKind {
    ListWatch(list_watch::ListWatchBug),
    Store(store::StoreBug),
    Handler(handler::HandlerBug),
    Options(options::OptionsBug),
}

// === impl Bug ===

impl Bug {
    /// Returns all bugs, seam by seam.
    pub fn all() -> impl Iterator<Item = Self> {
        let list_watch = list_watch::BUGS
            .iter()
            .map(|(kind, name, about)| Self::new(name, about, BugKind::ListWatch(*kind)));
        let store = store::BUGS
            .iter()
            .map(|(kind, name, about)| Self::new(name, about, BugKind::Store(*kind)));
        let handler = handler::BUGS
            .iter()
            .map(|(kind, name, about)| Self::new(name, about, BugKind::Handler(*kind)));
        let options = options::BUGS
            .iter()
            .map(|(kind, name, about)| Self::new(name, about, BugKind::Options(*kind)));
        list_watch.chain(store).chain(handler).chain(options)
    }

    /// Finds a bug by its name.
    pub fn find(name: &str) -> Option<Self> {
        Self::all().find(|bug| bug.name == name)
    }

    /// Returns the seam of the bug.
    pub fn seam(self) -> Seam {
        match self.kind {
            BugKind::ListWatch(_) => Seam::ListWatch,
            BugKind::Store(_) => Seam::ReflectorStore,
            BugKind::Handler(_) => Seam::EventHandler,
            BugKind::Options(_) => Seam::ReflectorOptions,
        }
    }

    const fn new(name: &'static str, about: &'static str, kind: BugKind) -> Self {
        Self { name, about, kind }
    }
}

// === impl Seam ===

impl Seam {
    /// Returns the name of the trait or type.
    pub const fn name(self) -> &'static str {
        match self {
            Self::ListWatch => "ListWatch",
            Self::ReflectorStore => "ReflectorStore",
            Self::EventHandler => "EventHandler",
            Self::ReflectorOptions => "ReflectorOptions",
        }
    }
}

#[cfg(test)]
mod tests;
