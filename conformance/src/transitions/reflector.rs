//! The transitions of a reflector: from the end of one request to the next.

use std::{
    collections::BTreeMap,
    fmt::{self, Display, Formatter},
};

use crate::trace::{Ending, Observation, RequestKind};

/// The end of a request, and the next one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct RequestTransition(End, Next);

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

/// The last request of an informer, and its end if it was observed.
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
    pub(super) fn observe(
        &mut self,
        observation: &Observation,
    ) -> Option<(usize, RequestTransition)> {
        match observation {
            Observation::Request {
                informer,
                request,
                kind,
            } => {
                self.senders.insert(*request, *informer);
                let last_request = self.informers.entry(*informer).or_default();
                let next = Next::of(kind);
                let before = std::mem::replace(
                    last_request,
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
                return Some((*informer, RequestTransition(end, next)));
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
                if let Some(last_request) = self.last_request(*request) {
                    last_request.has_brought = true;
                }
            }
            Observation::Ended { request, ending } => {
                if let Some(last_request) = self.last_request(*request)
                    && last_request.end == End::NoAnswer
                {
                    last_request.end = match (last_request.is_watch, ending) {
                        (true, Ending::Clean) if last_request.has_brought => End::WatchThatBrought,
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
        if let Some(last_request) = self.last_request(request)
            && last_request.end == End::NoAnswer
        {
            last_request.end = end;
        }
    }

    /// Returns the last request of an informer, if it is this one.
    fn last_request(&mut self, request: usize) -> Option<&mut LastRequest> {
        let informer = self.senders.get(&request)?;
        let last_request = self.informers.get_mut(informer)?;
        (last_request.request == Some(request)).then_some(last_request)
    }
}

impl Display for RequestTransition {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Self(end, next) = self;
        write!(f, "{} -> {}", end.text(), next.text())
    }
}

/// The transitions that happen in three thousand medium seeds.
pub(super) const KNOWN: &[RequestTransition] = &[
    RequestTransition(End::Start, Next::AnyState),
    RequestTransition(End::Start, Next::Stream),
    RequestTransition(End::Page, Next::Page),
    RequestTransition(End::WholeList, Next::Watch),
    RequestTransition(End::WatchThatBrought, Next::AnyState),
    RequestTransition(End::WatchThatBrought, Next::Stream),
    RequestTransition(End::WatchThatBrought, Next::StreamAtVersion),
    RequestTransition(End::WatchThatBrought, Next::Watch),
    RequestTransition(End::WatchThatBroughtNothing, Next::AnyState),
    RequestTransition(End::WatchThatBroughtNothing, Next::StateAtVersion),
    RequestTransition(End::WatchThatBroughtNothing, Next::Stream),
    RequestTransition(End::WatchThatBroughtNothing, Next::StreamAtVersion),
    RequestTransition(End::WatchThatBroughtNothing, Next::Watch),
    RequestTransition(End::BrokenWatch, Next::AnyState),
    RequestTransition(End::BrokenWatch, Next::StateAtVersion),
    RequestTransition(End::BrokenWatch, Next::NewestState),
    RequestTransition(End::BrokenWatch, Next::Stream),
    RequestTransition(End::BrokenWatch, Next::StreamAtVersion),
    RequestTransition(End::BrokenWatch, Next::Watch),
    RequestTransition(End::BrokenList, Next::AnyState),
    RequestTransition(End::BrokenList, Next::StateAtVersion),
    RequestTransition(End::Expired, Next::AnyState),
    RequestTransition(End::Expired, Next::StateAtVersion),
    RequestTransition(End::Expired, Next::NewestState),
    RequestTransition(End::Expired, Next::Stream),
    RequestTransition(End::Expired, Next::StreamAtVersion),
    RequestTransition(End::Throttled, Next::AnyState),
    RequestTransition(End::Throttled, Next::NewestState),
    RequestTransition(End::Throttled, Next::Stream),
    RequestTransition(End::Throttled, Next::Watch),
    RequestTransition(End::Refused, Next::AnyState),
    RequestTransition(End::Refused, Next::StateAtVersion),
    RequestTransition(End::Refused, Next::NewestState),
    RequestTransition(End::Refused, Next::Stream),
    RequestTransition(End::Refused, Next::StreamAtVersion),
    RequestTransition(End::Refused, Next::Watch),
    RequestTransition(End::Pause, Next::AnyState),
    RequestTransition(End::Pause, Next::StateAtVersion),
    RequestTransition(End::Pause, Next::NewestState),
    RequestTransition(End::Pause, Next::Stream),
    RequestTransition(End::Pause, Next::StreamAtVersion),
    RequestTransition(End::Pause, Next::Watch),
];
