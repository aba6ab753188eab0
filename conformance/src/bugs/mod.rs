//! Mistakes on purpose: a harness that does not find them when they are there would not find them if somebody made them.
//!
//! Each [`Bug`] is one that was made somewhere, or could be made with the next change. It is done to the informer under test
//! from outside, at the [`Seam`] where its effect shows: `informer` itself knows nothing of it. What cannot be done at a seam is
//! a patch in `conformance/bugs/`.
//!
//! A bug is caught when a checker finds something in the run of a plan that is drawn as any other; [`hunt()`] says how many
//! seeds that takes.

mod list_watch;
mod store;
mod handler;
mod options;
mod hunt;
mod page;

pub use self::{
    handler::BuggyHandler,
    hunt::{Catch, Hunt, hunt, hunts, run},
    list_watch::{BuggyListWatch, BuggyStream},
    page::page,
    store::BuggyStore,
};

/// One mistake that is made on purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Bug {
    /// Its name on the command line and in tables.
    pub name: &'static str,
    /// What is done wrong, in a line.
    pub about: &'static str,
    mistake: Mistake,
}

/// Where a bug sits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Seam {
    /// Between the server and the reflector.
    ListWatch,
    /// Between the reflector and the cache.
    ReflectorStore,
    /// Between the cache and a handler.
    EventHandler,
    /// What the reflector is told to wait for.
    ReflectorOptions,
}

/// What is done, seam by seam.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mistake {
    ListWatch(list_watch::Mistake),
    Store(store::Mistake),
    Handler(handler::Mistake),
    Options(options::Mistake),
}

// === impl Bug ===

impl Bug {
    /// All of them, seam by seam.
    pub fn all() -> impl Iterator<Item = Self> {
        let list_watch = list_watch::MISTAKES
            .iter()
            .map(|(mistake, name, about)| Self::new(name, about, Mistake::ListWatch(*mistake)));
        let store = store::MISTAKES
            .iter()
            .map(|(mistake, name, about)| Self::new(name, about, Mistake::Store(*mistake)));
        let handler = handler::MISTAKES
            .iter()
            .map(|(mistake, name, about)| Self::new(name, about, Mistake::Handler(*mistake)));
        let options = options::MISTAKES
            .iter()
            .map(|(mistake, name, about)| Self::new(name, about, Mistake::Options(*mistake)));
        list_watch.chain(store).chain(handler).chain(options)
    }

    /// The bug of this name.
    pub fn find(name: &str) -> Option<Self> {
        Self::all().find(|bug| bug.name == name)
    }

    /// Where it sits.
    pub fn seam(self) -> Seam {
        match self.mistake {
            Mistake::ListWatch(_) => Seam::ListWatch,
            Mistake::Store(_) => Seam::ReflectorStore,
            Mistake::Handler(_) => Seam::EventHandler,
            Mistake::Options(_) => Seam::ReflectorOptions,
        }
    }

    const fn new(name: &'static str, about: &'static str, mistake: Mistake) -> Self {
        Self {
            name,
            about,
            mistake,
        }
    }
}

// === impl Seam ===

impl Seam {
    /// The name of the trait or type.
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
