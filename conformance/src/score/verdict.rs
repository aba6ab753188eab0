//! What became of a contestant in a scenario, in a word.

use std::fmt;

use serde::Serialize;

/// What became of a contestant in a scenario. Later ones are more telling.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "kebab-case", tag = "verdict")]
#[non_exhaustive]
pub enum Verdict {
    /// There is no verdict: the server could not be asked.
    NotRun,
    /// Nothing of the scenario ever touched it.
    NotHit,
    /// It kept every promise.
    Held,
    /// A negative control, and a checker noticed it.
    Caught,
    /// It warned of what was not meant to happen.
    Warned,
    /// A task, a watch or a body outlived its owner.
    Leaked,
    /// It asked for a whole state without a reason, or went on from where it had no reason to.
    Wasteful,
    /// It asked again before the time until which it was told to wait, or did not wait longer from failure to failure.
    Impatient,
    /// Its cache was wrong in between: ahead of or behind its own version, or an index differed.
    WrongCache,
    /// Its handlers heard what was not so, or not of everything.
    WrongNews,
    /// Its cache or its handlers went back in time.
    BackInTime,
    /// Its handlers do not know of what is there.
    Deaf,
    /// Its handlers never heard of the end of an object.
    LostDelete,
    /// It sent requests without a pause, or more of them than pauses that grow leave room for.
    HotLoop {
        /// How many requests a second; where time stood still, how many until it was stopped.
        per_second: f64,
    },
    /// It heard of a change later than it may.
    Late {
        /// After how much time, in simulated seconds, where one change was waited for.
        seconds: Option<u64>,
    },
    /// What it should have brought about on the server was not there in the end.
    Undone,
    /// Its cache differs from the server, and it does not notice.
    Stale,
    /// It never became complete, or stopped listening.
    Hung,
    /// It panicked.
    Panicked,
    /// A process that said what it may not.
    Misspoke,
    /// A process that ended by itself.
    Died,
    /// A negative control that no checker noticed.
    Missed,
}

// === impl Verdict ===

impl Verdict {
    /// What it is called, without figures.
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

    /// Whether nothing is wrong.
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
