//! The list of faults, and all that follows from it.

use std::fmt;

use rand::{SeedableRng, rngs::ChaCha8Rng};
use serde::{Deserialize, Serialize};

use super::{
    CatalogueEntry, FaultRule, Target, anomaly,
    definition::{AnyDefinition, Problem},
    history, load, schema, stream, view, watch_list, write,
};

/// Makes [`Fault`] of the list below: a line a fault, with its module and its variant, and its parameters if it has some.
macro_rules! faults {
    ($($family:ident::$module:ident => $variant:ident $(($parameters:ident))?,)*) => {
        $($(pub use super::$family::$module::$parameters;)?)*

        /// A fault with its parameters.
        ///
        /// As JSON it is its name, or an object of its name and its parameters: `{"throttle":{"retryAfterSeconds":5}}`.
        /// Absent parameters have their defaults.
        #[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
        #[cfg_attr(test, derive(schemars::JsonSchema))]
        #[serde(rename_all = "snake_case")]
        #[non_exhaustive]
        pub enum Fault {
            $(
                #[doc = concat!("`", stringify!($module), "` of the catalogue, `fakeserver::docs::faults`.")]
                $variant $(($parameters))?,
            )*
        }

        $(
            impl From<$family::$module::$variant> for Fault {
                fn from(definition: $family::$module::$variant) -> Self {
                    faults!(@fault definition $variant $($parameters)?)
                }
            }

            $(
                impl $parameters {
                    /// Returns a rule that fires at each occasion.
                    pub fn rule(self) -> FaultRule {
                        Fault::from(self).rule()
                    }
                }
            )?
        )*

        impl Fault {
            /// Returns all faults in the order of the catalogue, with the defaults of their parameters.
            pub fn all() -> impl Iterator<Item = Self> {
                [$(Self::from($family::$module::$variant::default()),)*].into_iter()
            }

            fn definition(&self) -> &dyn AnyDefinition {
                match self {
                    $(
                        Self::$variant $((faults!(@bind parameters $parameters)))? => {
                            faults!(@definition $family $module $variant $(parameters $parameters)?)
                        }
                    )*
                }
            }
        }
    };
    (@fault $definition:ident $variant:ident) => {{
        let _ = $definition;
        Self::$variant
    }};
    (@fault $definition:ident $variant:ident $parameters:ident) => { Self::$variant($definition) };
    (@bind $name:ident $parameters:ident) => { $name };
    (@definition $family:ident $module:ident $variant:ident) => { &$family::$module::$variant };
    (@definition $family:ident $module:ident $variant:ident $name:ident $parameters:ident) => { $name };
}

faults! {
    stream::clean_end => CleanEnd,
    stream::disconnect => Disconnect,
    stream::reset_mid_line => ResetMidLine,
    stream::reset_mid_body => ResetMidBody,
    stream::silence => Silence,
    stream::trickle => Trickle(Trickle),
    stream::slow_reader_evicted => SlowReaderEvicted,
    stream::rechunk => Rechunk,
    stream::go_away => GoAway,
    watch_list::end_before_initial_events_end => EndBeforeInitialEventsEnd,
    stream::end_after_bookmark => EndAfterBookmark,
    history::compact => Compact,
    history::expire => Expire,
    history::expired_event => ExpiredEvent,
    history::expired_status => ExpiredStatus(ExpiredStatus),
    history::expired_relist => ExpiredRelist,
    history::rollback => Rollback(Rollback),
    history::version_too_large => VersionTooLarge(VersionTooLarge),
    history::late_cache => LateCache(LateCache),
    history::gone => Gone(Gone),
    view::stale_view => StaleView(StaleView),
    view::lagging_replica => LaggingReplica(LaggingReplica),
    view::time_travel => TimeTravel(TimeTravel),
    view::coalesce => Coalesce(Coalesce),
    view::unobserved => Unobserved(Unobserved),
    write::lost_answer => LostAnswer(LostAnswer),
    anomaly::drop_event => DropEvent,
    anomaly::duplicate_event => DuplicateEvent,
    anomaly::reorder_events => ReorderEvents,
    anomaly::bookmark_ahead => BookmarkAhead,
    load::throttle => Throttle(Throttle),
    load::server_error => ServerError(ServerError),
    load::connection_refused => ConnectionRefused(ConnectionRefused),
    load::latency => Latency(Latency),
    load::hang => Hang,
    load::slow_headers => SlowHeaders(SlowHeaders),
    load::unauthorized => Unauthorized,
    load::forbidden => Forbidden(Forbidden),
    write::conflict => Conflict,
    write::already_exists => AlreadyExists,
    write::denied => Denied(Denied),
    write::slow_webhook => SlowWebhook(SlowWebhook),
    schema::resource_gone => ResourceGone,
    schema::discovery_unavailable => DiscoveryUnavailable,
    schema::unknown_fields => UnknownFields,
    schema::huge_objects => HugeObjects(HugeObjects),
    write::entity_too_large => EntityTooLarge,
    schema::mixed_versions => MixedVersions(MixedVersions),
    watch_list::watch_list_ignored => WatchListIgnored,
    watch_list::watch_list_rejected => WatchListRejected,
    watch_list::initial_events_end_missing => InitialEventsEndMissing,
    watch_list::initial_events_shuffled => InitialEventsShuffled,
    watch_list::changed_during_initial_events => ChangedDuringInitialEvents(ChangedDuringInitialEvents),
}

// === impl Fault ===

impl Fault {
    /// Returns its entry in the catalogue.
    pub fn entry(self) -> &'static CatalogueEntry {
        self.definition().entry()
    }

    /// Returns its name, under which its firings are counted.
    pub fn name(self) -> &'static str {
        self.entry().fault
    }

    /// Returns the fault of this name with the defaults of its parameters, if there is one.
    pub fn named(name: &str) -> Option<Self> {
        Self::all().find(|fault| fault.name() == name)
    }

    /// Returns the fault with parameters drawn from `seed`, as random plans have it.
    #[must_use]
    pub fn drawn(self, seed: u64) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        self.definition().drawn(&mut rng)
    }

    /// Returns a rule that fires at each occasion.
    pub fn rule(self) -> FaultRule {
        let (entry, effect) = (self.entry(), self.definition().effect());
        let rule = FaultRule::new(entry.fault, effect);
        match entry.target {
            Target::Discovery => rule.about_discovery(),
            _ => rule,
        }
    }

    /// Returns an invalid parameter, with the reason.
    pub(super) fn problem(self) -> Option<Problem> {
        self.definition().problem()
    }
}

impl fmt::Debug for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.definition().fmt(f)
    }
}
