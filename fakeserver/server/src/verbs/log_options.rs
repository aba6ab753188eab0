//! The parameters of a request for a log.

use fakeserver_value::{
    schema::{Precision, parse_time},
    status::{FieldError, Status},
};
use jiff::{SignedDuration, Timestamp};
use serde_json::json;

use super::Request;

const NOT_NEGATIVE: &str = "must be greater than or equal to 0";
const POSITIVE: &str = "must be greater than 0";

/// The parameters of a request for a log.
#[derive(Debug, Default)]
pub struct LogOptions {
    /// True if the log is followed to its end.
    pub follows: bool,
    /// True if the log of the previous run is wanted.
    pub is_previous: bool,
    since_seconds: Option<i64>,
    /// Lines, their times and their number, but for `since_seconds`.
    selection: LogSelection,
}

/// The selection of lines that a request makes, and their form.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LogSelection {
    /// True if each line begins with its time.
    pub has_timestamps: bool,
    /// The number of lines from the end, before those of `since` are chosen.
    pub tail: Option<u64>,
    /// The time before which lines are left out.
    pub since: Option<Timestamp>,
    /// The number of bytes after which the log is cut.
    pub limit_bytes: Option<u64>,
}

// === impl LogOptions ===

impl LogOptions {
    /// Reads the parameters, and checks them as a real server does.
    pub fn of(request: &Request<'_>) -> Result<Self, Status> {
        let query = &request.query;
        let since_seconds = query.integer("sinceSeconds")?;
        let since_time = since_time(query.all("sinceTime").next())?;
        let tail = query.integer("tailLines")?;
        let limit = query.integer("limitBytes")?;
        let mut errors = Vec::new();
        let mut check = |name: &str, number: Option<i64>, min: i64, why: &str| {
            if let Some(number) = number.filter(|number| *number < min) {
                errors.push(FieldError::invalid(name, &json!(number), why));
            }
        };
        check("tailLines", tail, 0, NOT_NEGATIVE);
        check("limitBytes", limit, 1, POSITIVE);
        if since_time.is_none() {
            check("sinceSeconds", since_seconds, 1, POSITIVE);
        } else if since_seconds.is_some() {
            let why = "at most one of `sinceTime` or `sinceSeconds` may be specified";
            errors.push(FieldError::forbidden("", why));
        }
        if query.all("stream").next().is_some() {
            // Selecting a stream needs a feature gate that is off.
            errors.push(FieldError::forbidden("stream", "may not be specified"));
        }
        if !errors.is_empty() {
            let name = request.target.name();
            return Err(Status::invalid("PodLogOptions", "", name, &errors));
        }
        let is_set = |name: &str| query.bool(name).unwrap_or_default();
        Ok(Self {
            follows: is_set("follow"),
            is_previous: is_set("previous"),
            since_seconds,
            selection: LogSelection {
                has_timestamps: is_set("timestamps"),
                tail: tail.and_then(|count| u64::try_from(count).ok()),
                since: since_time,
                limit_bytes: limit.and_then(|bytes| u64::try_from(bytes).ok()),
            },
        })
    }

    /// Returns the lines that are selected at `now`.
    pub fn selection(&self, now: Timestamp) -> LogSelection {
        let mut selection = self.selection.clone();
        if let Some(seconds) = self.since_seconds {
            let since = now.checked_sub(SignedDuration::from_secs(seconds));
            selection.since = since.ok();
        }
        selection
    }
}

/// Parses `sinceTime`; `null` means no limit.
fn since_time(text: Option<&str>) -> Result<Option<Timestamp>, Status> {
    match text {
        None => Ok(None),
        Some("" | "null") => Ok(Some(Timestamp::MIN)),
        Some(text) => match parse_time(text, Precision::Seconds) {
            Ok(time) => Ok(Some(time)),
            Err(error) => Err(Status::bad_request(error.to_string())),
        },
    }
}
