//! The events of each watch, for the checkers of streams.

use std::{collections::BTreeMap, ops::RangeInclusive, time::Duration};

use super::Finding;
use crate::{
    checkers::anomalies::Anomalies,
    model::{History, Model},
    trace::{Member, Observation, RequestKind, Trace},
};

/// One watch from its request to its end.
pub(super) struct WatchStream<'a> {
    informer: usize,
    /// The history that it should deliver.
    pub(super) history: &'a History,
    /// The version that it resumes from; `None` if it begins with the state.
    pub(super) resumed_from: Option<u64>,
    /// All its events, in order.
    pub(super) items: Vec<Item<'a>>,
    lived: RangeInclusive<Duration>,
}

/// An event of a watch.
#[derive(Clone, Copy)]
pub(super) struct Item<'a> {
    record: usize,
    observation: &'a Observation,
    pub(super) content: FrameContent<'a>,
}

#[derive(Clone, Copy)]
pub(super) enum FrameContent<'a> {
    Event {
        kind: &'static str,
        member: &'a Member,
    },
    Bookmark {
        revision: u64,
        ends_initial_events: bool,
    },
}

/// The part of a watch that continues from a version.
pub(super) struct Live<'s, 'a> {
    /// That version: no change up to it may follow.
    pub(super) after: u64,
    /// The initial state, if it was part of the watch.
    pub(super) initial: &'s [Item<'a>],
    pub(super) items: &'s [Item<'a>],
}

/// The event that shows a deviation, and a description.
pub(super) type Deviation<'a> = (Item<'a>, String);

/// Returns the first deviation that `find` finds in each watch: later ones show nothing new.
pub(super) fn first_deviations(
    trace: &Trace,
    model: &Model,
    find: for<'s, 'a> fn(&'s WatchStream<'a>) -> Option<Deviation<'a>>,
) -> Vec<Finding> {
    let anomalies = Anomalies::of(trace);
    let streams = streams(trace, model);
    let findings = streams.values().filter_map(|stream| {
        let (item, text) = find(stream)?;
        let finding = Finding::at(item.record, format!("{}: {text}", item.observation));
        Some(finding.expected_of(anomalies.touching(stream.informer, &stream.lived)))
    });
    findings.collect()
}

fn streams<'a>(trace: &'a Trace, model: &'a Model) -> BTreeMap<usize, WatchStream<'a>> {
    let mut streams: BTreeMap<usize, WatchStream<'a>> = BTreeMap::new();
    for (record, (at, observation)) in trace.timed().enumerate() {
        let (request, content) = match observation {
            Observation::Request {
                informer,
                request,
                kind:
                    RequestKind::Watch {
                        revision,
                        is_streaming_list,
                    },
            } => {
                if let Some(history) = model.served(*informer) {
                    let from = revision.parse().ok().filter(|revision| *revision > 0);
                    let stream = WatchStream {
                        informer: *informer,
                        history,
                        resumed_from: from.filter(|_| !is_streaming_list),
                        items: Vec::new(),
                        lived: at..=at,
                    };
                    streams.insert(*request, stream);
                }
                continue;
            }
            Observation::Frame {
                request,
                kind,
                member,
            } => (request, Some(FrameContent::Event { kind, member })),
            Observation::Bookmark {
                request,
                revision,
                ends_initial_events,
            } => (
                request,
                Some(FrameContent::Bookmark {
                    revision: *revision,
                    ends_initial_events: *ends_initial_events,
                }),
            ),
            Observation::Ended { request, .. } => (request, None),
            _ => continue,
        };
        let Some(stream) = streams.get_mut(request) else {
            continue;
        };
        stream.lived = *stream.lived.start()..=at;
        stream.items.extend(content.map(|content| Item {
            record,
            observation,
            content,
        }));
    }
    streams
}

// === impl WatchStream ===

impl<'a> WatchStream<'a> {
    /// Returns the part of the watch after its first version; `None` if the initial state was never complete.
    pub(super) fn live(&self) -> Option<Live<'_, 'a>> {
        if let Some(after) = self.resumed_from {
            return Some(Live {
                after,
                initial: &[],
                items: &self.items,
            });
        }
        let ends = |item: &Item<'_>| item.initial_events_end().is_some();
        let place = self.items.iter().position(ends)?;
        Some(Live {
            after: self.items[place].initial_events_end()?,
            initial: &self.items[..place],
            items: &self.items[place + 1..],
        })
    }
}

// === impl Item ===

impl Item<'_> {
    /// Returns the version at which this bookmark ends the initial events, if it does.
    pub(super) fn initial_events_end(&self) -> Option<u64> {
        match self.content {
            FrameContent::Bookmark {
                revision,
                ends_initial_events: true,
            } => Some(revision),
            _ => None,
        }
    }

    /// Returns the revision of the change, if this is one.
    pub(super) fn change(&self) -> Option<u64> {
        match self.content {
            FrameContent::Event { member, .. } => Some(member.state.revision),
            FrameContent::Bookmark { .. } => None,
        }
    }
}
