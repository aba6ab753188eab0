//! The transitions of a reflector: from the end of one request to the next.

use std::{
    collections::BTreeMap,
    fmt::{self, Display, Formatter},
};

use crate::trace::{Ending, Observation, RequestKind};

/// The end of a request, and the next one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Asked(End, Next);

/// The end of a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
enum End {
    #[default]
    Start,
    Page,
    WholeList,
    WatchThatBrought,
    WatchThatBroughtNothing,
    BrokenWatch,
    BrokenList,
    Expired,
    Throttled,
    Refused,
    Garbled,
    NoAnswer,
    Pause,
}

/// The kind of the next request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Next {
    AnyState,
    StateAtVersion,
    NewestState,
    Page,
    Stream,
    StreamAtVersion,
    Watch,
}

/// The requests in progress of all informers.
#[derive(Debug, Default)]
pub(super) struct Reflectors {
    /// The informer of each request.
    senders: BTreeMap<usize, usize>,
    informers: BTreeMap<usize, LastRequest>,
}

/// The last request of an informer, and its end as far as it is known.
#[derive(Debug, Default)]
struct LastRequest {
    request: Option<usize>,
    is_watch: bool,
    has_brought: bool,
    end: End,
}

// === impl End ===

impl End {
    const fn text(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::Page => "page",
            Self::WholeList => "whole list",
            Self::WatchThatBrought => "watch that brought something ended",
            Self::WatchThatBroughtNothing => "watch that brought nothing ended",
            Self::BrokenWatch => "watch broke off",
            Self::BrokenList => "list broke off",
            Self::Expired => "expired",
            Self::Throttled => "throttled",
            Self::Refused => "refused",
            Self::Garbled => "garbled",
            Self::NoAnswer => "no answer",
            Self::Pause => "pause",
        }
    }
}

// === impl Next ===

impl Next {
    fn of(kind: &RequestKind) -> Self {
        match kind {
            RequestKind::List {
                is_continued: true, ..
            } => Self::Page,
            RequestKind::List { revision, .. } => match revision.as_str() {
                "" => Self::NewestState,
                "0" => Self::AnyState,
                _ => Self::StateAtVersion,
            },
            RequestKind::Watch {
                is_streaming_list: false,
                ..
            } => Self::Watch,
            RequestKind::Watch { revision, .. } if revision.is_empty() => Self::Stream,
            RequestKind::Watch { .. } => Self::StreamAtVersion,
        }
    }

    const fn text(self) -> &'static str {
        match self {
            Self::AnyState => "list of any state",
            Self::StateAtVersion => "list at a version",
            Self::NewestState => "list of the newest state",
            Self::Page => "next page",
            Self::Stream => "streaming list",
            Self::StreamAtVersion => "streaming list at a version",
            Self::Watch => "watch",
        }
    }
}

// === impl Reflectors ===

impl Reflectors {
    /// Takes an observation, and returns the transition that it completes, with the informer.
    pub(super) fn observe(&mut self, observation: &Observation) -> Option<(usize, Asked)> {
        match observation {
            Observation::Request {
                informer,
                request,
                kind,
            } => {
                self.senders.insert(*request, *informer);
                let asked = self.informers.entry(*informer).or_default();
                let next = Next::of(kind);
                let before = std::mem::replace(
                    asked,
                    LastRequest {
                        request: Some(*request),
                        is_watch: matches!(kind, RequestKind::Watch { .. }),
                        has_brought: false,
                        end: End::NoAnswer,
                    },
                );
                // The next page is asked for while one arrives.
                let end = if next == Next::Page {
                    End::Page
                } else {
                    before.end
                };
                return Some((*informer, Asked(end, next)));
            }
            Observation::InformerPauses { informer } => {
                self.informers.entry(*informer).or_default().end = End::Pause;
            }
            Observation::Answer { request, status } => match status {
                200 => {}
                410 => self.end(*request, End::Expired),
                429 => self.end(*request, End::Throttled),
                _ => self.end(*request, End::Refused),
            },
            Observation::ErrorEvent { request, status } => match status {
                410 => self.end(*request, End::Expired),
                429 => self.end(*request, End::Throttled),
                _ => self.end(*request, End::Refused),
            },
            Observation::Garbled { request } => self.end(*request, End::Garbled),
            Observation::Page { request, .. } => self.end(*request, End::WholeList),
            Observation::Frame { request, .. } | Observation::Bookmark { request, .. } => {
                if let Some(asked) = self.asked(*request) {
                    asked.has_brought = true;
                }
            }
            Observation::Ended { request, ending } => {
                if let Some(asked) = self.asked(*request)
                    && asked.end == End::NoAnswer
                {
                    asked.end = match (asked.is_watch, ending) {
                        (true, Ending::Clean) if asked.has_brought => End::WatchThatBrought,
                        (true, Ending::Clean) => End::WatchThatBroughtNothing,
                        (true, _) => End::BrokenWatch,
                        (false, _) => End::BrokenList,
                    };
                }
            }
            _ => {}
        }
        None
    }

    fn end(&mut self, request: usize, end: End) {
        if let Some(asked) = self.asked(request)
            && asked.end == End::NoAnswer
        {
            asked.end = end;
        }
    }

    /// Returns the last request of an informer, if it is this one.
    fn asked(&mut self, request: usize) -> Option<&mut LastRequest> {
        let informer = self.senders.get(&request)?;
        let asked = self.informers.get_mut(informer)?;
        (asked.request == Some(request)).then_some(asked)
    }
}

impl Display for Asked {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Self(end, next) = self;
        write!(f, "{} -> {}", end.text(), next.text())
    }
}

/// The transitions that happen in three thousand medium seeds.
pub(super) const KNOWN: &[Asked] = &[
    Asked(End::Start, Next::AnyState),
    Asked(End::Start, Next::Stream),
    Asked(End::Page, Next::Page),
    Asked(End::WholeList, Next::Watch),
    Asked(End::WatchThatBrought, Next::AnyState),
    Asked(End::WatchThatBrought, Next::Stream),
    Asked(End::WatchThatBrought, Next::StreamAtVersion),
    Asked(End::WatchThatBrought, Next::Watch),
    Asked(End::WatchThatBroughtNothing, Next::AnyState),
    Asked(End::WatchThatBroughtNothing, Next::StateAtVersion),
    Asked(End::WatchThatBroughtNothing, Next::Stream),
    Asked(End::WatchThatBroughtNothing, Next::StreamAtVersion),
    Asked(End::WatchThatBroughtNothing, Next::Watch),
    Asked(End::BrokenWatch, Next::AnyState),
    Asked(End::BrokenWatch, Next::StateAtVersion),
    Asked(End::BrokenWatch, Next::NewestState),
    Asked(End::BrokenWatch, Next::Stream),
    Asked(End::BrokenWatch, Next::StreamAtVersion),
    Asked(End::BrokenWatch, Next::Watch),
    Asked(End::BrokenList, Next::AnyState),
    Asked(End::BrokenList, Next::StateAtVersion),
    Asked(End::Expired, Next::AnyState),
    Asked(End::Expired, Next::StateAtVersion),
    Asked(End::Expired, Next::NewestState),
    Asked(End::Expired, Next::Stream),
    Asked(End::Expired, Next::StreamAtVersion),
    Asked(End::Throttled, Next::AnyState),
    Asked(End::Throttled, Next::NewestState),
    Asked(End::Throttled, Next::Stream),
    Asked(End::Throttled, Next::Watch),
    Asked(End::Refused, Next::AnyState),
    Asked(End::Refused, Next::StateAtVersion),
    Asked(End::Refused, Next::NewestState),
    Asked(End::Refused, Next::Stream),
    Asked(End::Refused, Next::StreamAtVersion),
    Asked(End::Refused, Next::Watch),
    Asked(End::Pause, Next::AnyState),
    Asked(End::Pause, Next::StateAtVersion),
    Asked(End::Pause, Next::NewestState),
    Asked(End::Pause, Next::Stream),
    Asked(End::Pause, Next::StreamAtVersion),
    Asked(End::Pause, Next::Watch),
];
