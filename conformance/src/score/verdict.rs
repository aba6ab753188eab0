//! The verdicts on contestants.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The verdict on a contestant in a scenario. Later ones are more telling.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "verdict")]
#[non_exhaustive]
pub enum Verdict {
    /// There is no verdict: the server was not reached.
    NotRun,
    /// No fault of the scenario had an effect on it.
    NotHit,
    /// It kept every promise.
    Held,
    /// A negative control, and a checker noticed it.
    Caught,
    /// It logged an unexpected warning.
    Warned,
    /// A task, a watch or a body outlived its owner.
    Leaked,
    /// It requested a whole state without a reason, or resumed from a wrong version.
    Wasteful,
    /// It did not wait as long as a refusal demanded, or its backoff did not grow.
    Impatient,
    /// Its cache was wrong at times: ahead of or behind its own version, or with a wrong index.
    WrongCache,
    /// Its handlers saw wrong states, or not all of them.
    WrongNews,
    /// Its cache or its handlers went back in time.
    BackInTime,
    /// Its handlers do not know of present objects.
    Deaf,
    /// Its handlers were never notified of the end of an object.
    LostDelete,
    /// It sent requests without a pause, or more than a growing backoff allows.
    HotLoop {
        /// The number of requests a second; in a hot loop, the number until it was stopped.
        per_second: f64,
    },
    /// It noticed a change too late.
    Late {
        /// The delay in simulated seconds, if there was one change to wait for.
        seconds: Option<u64>,
    },
    /// It did not bring about its goal on the server.
    Undone,
    /// Its cache differs from the server, and it does not notice.
    Stale,
    /// It never became complete, or stopped listening.
    Hung,
    /// It panicked.
    Panicked,
    /// A process that broke the protocol.
    Misspoke,
    /// A process that exited by itself.
    Died,
    /// A negative control that no checker noticed.
    Missed,
}

// === impl Verdict ===

impl Verdict {
    /// Returns its name, without figures.
    pub const fn word(self) -> &'static str {
        match self {
            Self::NotRun => "not run",
            Self::NotHit => "-",
            Self::Held => "ok",
            Self::Caught => "caught",
            Self::Warned => "warned",
            Self::Leaked => "leaked",
            Self::Wasteful => "wasteful",
            Self::Impatient => "impatient",
            Self::Late { .. } => "late",
            Self::WrongCache => "wrong cache",
            Self::WrongNews => "wrong news",
            Self::BackInTime => "back in time",
            Self::Deaf => "deaf",
            Self::LostDelete => "lost delete",
            Self::HotLoop { .. } => "hot loop",
            Self::Undone => "undone",
            Self::Stale => "stale",
            Self::Hung => "hung",
            Self::Panicked => "panic",
            Self::Misspoke => "misspoke",
            Self::Died => "died",
            Self::Missed => "missed",
        }
    }

    /// Returns true if nothing is wrong.
    pub const fn is_good(self) -> bool {
        matches!(self, Self::NotHit | Self::Held | Self::Caught)
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::HotLoop { per_second } if *per_second >= 10.0 => {
                write!(f, "hot {per_second:.0}/s")
            }
            Self::HotLoop { per_second } => write!(f, "hot {per_second:.1}/s"),
            Self::Late {
                seconds: Some(seconds),
            } => write!(f, "late {seconds} s"),
            other => f.write_str(other.word()),
        }
    }
}
