//! What each watch has brought, as the checkers of streams read it.

use std::{collections::BTreeMap, ops::RangeInclusive, time::Duration};

use super::{Finding, anomalies::Anomalies};
use crate::{
    model::{History, Model},
    trace::{Member, Observation, RequestKind, Trace},
};

/// One watch from its request to its end.
pub(super) struct Stream<'a> {
    informer: usize,
    /// What it should have brought.
    pub(super) history: &'a History,
    /// The version that it goes on from; `None` where the state comes first.
    pub(super) resumed_from: Option<u64>,
    /// All that came, in order.
    pub(super) items: Vec<Item<'a>>,
    lived: RangeInclusive<Duration>,
}

/// One thing that a watch brought.
#[derive(Clone, Copy)]
pub(super) struct Item<'a> {
    record: usize,
    observation: &'a Observation,
    pub(super) brought: Brought<'a>,
}

#[derive(Clone, Copy)]
pub(super) enum Brought<'a> {
    Event {
        kind: &'static str,
        member: &'a Member,
    },
    Bookmark {
        revision: u64,
        ends_initial_events: bool,
    },
}

/// The part of a watch that goes on from a version.
pub(super) struct Live<'s, 'a> {
    /// That version: nothing up to it has to come any more.
    pub(super) after: u64,
    /// The initial state, if that came first.
    pub(super) initial: &'s [Item<'a>],
    pub(super) items: &'s [Item<'a>],
}

/// A mistake: what showed it, and in what it lies.
pub(super) type Mistake<'a> = (Item<'a>, String);

/// The first mistake that `find` sees in each watch: what follows a mistake shows nothing new.
pub(super) fn first_mistakes(
    trace: &Trace,
    model: &Model,
    find: for<'s, 'a> fn(&'s Stream<'a>) -> Option<Mistake<'a>>,
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

fn streams<'a>(trace: &'a Trace, model: &'a Model) -> BTreeMap<usize, Stream<'a>> {
    let mut streams: BTreeMap<usize, Stream<'a>> = BTreeMap::new();
    for (record, (at, observation)) in trace.timed().enumerate() {
        let (request, brought) = match observation {
            Observation::Request {
                informer,
                request,
                kind:
                    RequestKind::Watch {
                        revision,
                        is_streaming_list,
                    },
            } => {
                if let Some(history) = model.history(*informer) {
                    let from = revision.parse().ok().filter(|revision| *revision > 0);
                    let stream = Stream {
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
            } => (request, Some(Brought::Event { kind, member })),
            Observation::Bookmark {
                request,
                revision,
                ends_initial_events,
            } => (
                request,
                Some(Brought::Bookmark {
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
        stream.items.extend(brought.map(|brought| Item {
            record,
            observation,
            brought,
        }));
    }
    streams
}

// === impl Stream ===

impl<'a> Stream<'a> {
    /// What came once the watch stood at a version; `None` if the initial state was never complete.
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
    /// The version at which this bookmark ends the initial events, if it does.
    pub(super) fn initial_events_end(&self) -> Option<u64> {
        match self.brought {
            Brought::Bookmark {
                revision,
                ends_initial_events: true,
            } => Some(revision),
            _ => None,
        }
    }

    /// The revision of the change, if it is one.
    pub(super) fn change(&self) -> Option<u64> {
        match self.brought {
            Brought::Event { member, .. } => Some(member.state.revision),
            Brought::Bookmark { .. } => None,
        }
    }
}
