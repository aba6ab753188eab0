//! The limits of scaling: stabilization windows, policies, minimum and maximum. A pure core.

use fakeserver_value::read::{items, text};
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use super::calculator::Tolerance;

/// The tolerance of a direction that says none.
const TOLERANCE: f64 = 0.1;
/// The default stabilization window for scaling down, in seconds.
const DOWN_WINDOW: i64 = 300;
/// The number of replicas up to which an autoscaler without a behavior scales at once.
const UP_AT_ONCE: i64 = 4;

/// The words of a condition: its reason and its message.
pub(super) type ConditionText = (&'static str, &'static str);

/// The recent recommendations to an autoscaler, and its recent scalings.
///
/// # Memory
///
/// One recommendation for each reconciliation in the longest window, an hour at most, and each scaling in that time.
#[derive(Debug, Default)]
pub(super) struct History {
    recommendations: Vec<(Timestamp, i64)>,
    scalings: Vec<(Timestamp, i64)>,
}

/// The rules by which an autoscaler scales.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Rules {
    pub(super) min: i64,
    pub(super) max: i64,
    behavior: Option<[Direction; 2]>,
}

/// The rules of one direction.
#[derive(Clone, Debug, PartialEq)]
struct Direction {
    /// In seconds.
    window: i64,
    select: PolicySelection,
    policies: Vec<Policy>,
    tolerance: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PolicySelection {
    Most,
    Least,
    Nothing,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Policy {
    is_percent: bool,
    value: i64,
    /// In seconds.
    period: i64,
}

/// A number of replicas within the limits, and why it is that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LimitedReplicas {
    pub(super) replicas: i64,
    /// The words of `AbleToScale`.
    pub(super) able: ConditionText,
    pub(super) holds_back: bool,
    /// The words of `ScalingLimited`.
    pub(super) limit: ConditionText,
}

const READY: ConditionText = ("ReadyForNewScale", "recommended size matches current size");
const DOWN_STABILIZED: ConditionText = (
    "ScaleDownStabilized",
    "recent recommendations were higher than current one, applying the highest recent recommendation",
);
const UP_STABILIZED: ConditionText = (
    "ScaleUpStabilized",
    "recent recommendations were lower than current one, applying the lowest recent recommendation",
);
const WITHIN: ConditionText = (
    "DesiredWithinRange",
    "the desired count is within the acceptable range",
);
const UP_LIMIT: ConditionText = (
    "ScaleUpLimit",
    "the desired replica count is increasing faster than the maximum scale rate",
);
const TOO_MANY: ConditionText = (
    "TooManyReplicas",
    "the desired replica count is more than the maximum replica count",
);
const DOWN_LIMIT: ConditionText = (
    "ScaleDownLimit",
    "the desired replica count is decreasing faster than the maximum scale rate",
);
const TOO_FEW: ConditionText = (
    "TooFewReplicas",
    "the desired replica count is less than the minimum replica count",
);

// === impl Rules ===

impl Rules {
    /// Reads the rules of the specification of an autoscaler.
    pub(super) fn of(spec: &Value) -> Self {
        let behavior = &spec["behavior"];
        let directions = || {
            [
                Direction::of(&behavior["scaleUp"], 0),
                Direction::of(&behavior["scaleDown"], DOWN_WINDOW),
            ]
        };
        Self {
            min: spec["minReplicas"].as_i64().unwrap_or(1),
            max: spec["maxReplicas"].as_i64().unwrap_or_default(),
            behavior: behavior.is_object().then(directions),
        }
    }

    pub(super) fn tolerance(&self) -> Tolerance {
        let [up, down] = match &self.behavior {
            Some([up, down]) => [up.tolerance, down.tolerance],
            None => [TOLERANCE; 2],
        };
        Tolerance { up, down }
    }

    /// Returns what becomes of a recommendation, which the history remembers.
    pub(super) fn limit(
        &self,
        history: &mut History,
        current: i64,
        desired: i64,
        now: Timestamp,
    ) -> LimitedReplicas {
        let (stable, words) = self.stabilize(history, current, desired, now);
        let (replicas, limit) = self.limited(history, current, stable, now);
        LimitedReplicas {
            replicas,
            able: if stable == desired { READY } else { words },
            holds_back: replicas != stable,
            limit,
        }
    }

    /// Returns the recommendation that recent ones allow, and the words if it is another one.
    fn stabilize(
        &self,
        history: &mut History,
        current: i64,
        desired: i64,
        now: Timestamp,
    ) -> (i64, ConditionText) {
        let (up, down) = match &self.behavior {
            None => (0, DOWN_WINDOW),
            Some([up, down]) => (up.window, down.window),
        };
        let recommendations = &history.recommendations;
        let recent = |window| {
            let recent = recommendations.iter();
            let recent = recent.filter(move |(at, _)| is_within(*at, window, now));
            recent.map(|(_, replicas)| *replicas)
        };
        let lowest = recent(up).fold(desired, i64::min);
        let highest = recent(down).fold(desired, i64::max);
        let stable = match &self.behavior {
            None => highest,
            // Scaling up is held back to the lowest recent recommendation, scaling down to the highest.
            Some(_) => current.max(lowest).min(highest),
        };
        let all = &mut history.recommendations;
        // The longer window of both directions has to be kept. The raw recommendation is remembered, not the stabilized one.
        all.retain(|(at, _)| is_within(*at, up.max(down), now));
        all.push((now, desired));
        let words = if self.behavior.is_some() && desired >= current {
            UP_STABILIZED
        } else {
            DOWN_STABILIZED
        };
        (stable, words)
    }

    fn limited(
        &self,
        history: &History,
        current: i64,
        desired: i64,
        now: Timestamp,
    ) -> (i64, ConditionText) {
        if desired > current {
            let fastest = match &self.behavior {
                None => (2 * current).max(UP_AT_ONCE),
                // A spent rate must not turn a scaling up into a scaling down.
                Some([up, _]) => up.highest(history, current, now).max(current),
            };
            let (most, words) = if self.max > fastest {
                (fastest, UP_LIMIT)
            } else {
                (self.max, TOO_MANY)
            };
            if desired > most {
                return (most, words);
            }
        } else if desired < current {
            let fastest = match &self.behavior {
                None => 0,
                Some([_, down]) => down.lowest(history, current, now).min(current),
            };
            let (least, words) = if self.min < fastest {
                (fastest, DOWN_LIMIT)
            } else {
                (self.min, TOO_FEW)
            };
            if desired < least {
                return (least, words);
            }
        }
        (desired, WITHIN)
    }
}

// === impl Direction ===

impl Direction {
    fn of(rules: &Value, window: i64) -> Self {
        let tolerance = text(&rules["tolerance"]).parse::<fakeserver_value::schema::Quantity>();
        let policies = items(&rules["policies"]).iter().map(|policy| Policy {
            is_percent: policy["type"] == "Percent",
            value: policy["value"].as_i64().unwrap_or_default(),
            period: policy["periodSeconds"].as_i64().unwrap_or_default(),
        });
        let configured = rules["stabilizationWindowSeconds"].as_i64();
        Self {
            window: configured.unwrap_or(window),
            select: match text(&rules["selectPolicy"]) {
                "Min" => PolicySelection::Least,
                "Disabled" => PolicySelection::Nothing,
                _ => PolicySelection::Most,
            },
            policies: policies.collect(),
            tolerance: tolerance.map_or(TOLERANCE, |tolerance| tolerance.as_float()),
        }
    }

    /// Returns the most replicas that the policies allow now.
    fn highest(&self, history: &History, current: i64, now: Timestamp) -> i64 {
        let limits = self.policies.iter().map(|policy| {
            let start = current - history.added(policy.period, now);
            if policy.is_percent {
                // Rounded up, so that few replicas can grow, too.
                start + divided_up(start.saturating_mul(policy.value), 100)
            } else {
                start.saturating_add(policy.value)
            }
        });
        match self.select {
            PolicySelection::Nothing => current,
            PolicySelection::Least => limits.min().unwrap_or(current),
            PolicySelection::Most => limits.max().unwrap_or(current),
        }
    }

    /// Returns the fewest replicas that the policies allow now.
    fn lowest(&self, history: &History, current: i64, now: Timestamp) -> i64 {
        let limits = self.policies.iter().map(|policy| {
            let start = current + history.removed(policy.period, now);
            if policy.is_percent {
                start - divided_up(start.saturating_mul(policy.value), 100)
            } else {
                start.saturating_sub(policy.value)
            }
        });
        match self.select {
            PolicySelection::Nothing => current,
            PolicySelection::Least => limits.max().unwrap_or(current),
            PolicySelection::Most => limits.min().unwrap_or(current),
        }
    }
}

// === impl History ===

impl History {
    /// Takes down the replicas that there were when the autoscaler was first seen.
    pub(super) fn begin(&mut self, current: i64, now: Timestamp) {
        if self.recommendations.is_empty() {
            self.recommendations.push((now, current));
        }
    }

    /// Takes down that replicas were added, or removed if their number is negative.
    pub(super) fn scaled(&mut self, change: i64, now: Timestamp) {
        // No policy looks back further than half an hour.
        self.scalings.retain(|(at, _)| is_within(*at, 1800, now));
        self.scalings.push((now, change));
    }

    fn added(&self, seconds: i64, now: Timestamp) -> i64 {
        self.changes(seconds, now)
            .filter(|change| *change > 0)
            .sum()
    }

    fn removed(&self, seconds: i64, now: Timestamp) -> i64 {
        let removed = self.changes(seconds, now).filter(|change| *change < 0);
        -removed.sum::<i64>()
    }

    fn changes(&self, seconds: i64, now: Timestamp) -> impl Iterator<Item = i64> {
        let scalings = self.scalings.iter();
        scalings
            .filter(move |(at, _)| is_within(*at, seconds, now))
            .map(|(_, change)| *change)
    }
}

/// Returns whether a time is less than `seconds` ago.
fn is_within(at: Timestamp, seconds: i64, now: Timestamp) -> bool {
    now.duration_since(at) < SignedDuration::from_secs(seconds)
}

fn divided_up(number: i64, by: i64) -> i64 {
    number.saturating_add(by - 1) / by
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_second(1_700_000_000 + seconds).unwrap()
    }

    fn rules(behavior: &Value) -> Rules {
        Rules::of(&json!({"minReplicas": 2, "maxReplicas": 20, "behavior": behavior}))
    }

    #[test]
    fn without_a_behavior_it_doubles_at_most_and_waits_before_it_falls() {
        let (rules, mut history) = (rules(&Value::Null), History::default());
        let up = rules.limit(&mut history, 3, 12, at(0));
        assert_eq!((up.replicas, up.limit), (6, UP_LIMIT));
        let few = rules.limit(&mut History::default(), 1, 12, at(0));
        assert_eq!(few.replicas, 4);
        let down = rules.limit(&mut history, 12, 3, at(299));
        assert_eq!((down.replicas, down.able), (12, DOWN_STABILIZED));
        let later = rules.limit(&mut history, 12, 3, at(300));
        assert_eq!((later.replicas, later.able), (3, READY));
    }

    #[test]
    fn minimum_and_maximum_are_kept() {
        let rules = rules(&Value::Null);
        let many = rules.limit(&mut History::default(), 15, 30, at(0));
        assert_eq!((many.replicas, many.limit), (20, TOO_MANY));
        assert!(many.holds_back);
        let few = rules.limit(&mut History::default(), 15, 0, at(0));
        assert_eq!((few.replicas, few.limit), (2, TOO_FEW));
        let same = rules.limit(&mut History::default(), 15, 15, at(0));
        assert_eq!((same.holds_back, same.limit), (false, WITHIN));
    }

    #[test]
    fn policies_limit_the_rate_by_recent_scalings() {
        let pods = json!({"type": "Pods", "value": 4, "periodSeconds": 60});
        let percent = json!({"type": "Percent", "value": 10, "periodSeconds": 60});
        for (select, expected) in [("Max", 14), ("Min", 11), ("Disabled", 10)] {
            let up = json!({"policies": [pods, percent], "selectPolicy": select});
            let rules = rules(&json!({"scaleUp": up, "scaleDown": {}}));
            let up = rules.limit(&mut History::default(), 10, 20, at(0));
            assert_eq!(up.replicas, expected, "{select}");
        }
        let rules = rules(&json!({"scaleUp": {"policies": [pods]}, "scaleDown": {}}));
        let mut history = History::default();
        history.scaled(3, at(0));
        assert_eq!(rules.limit(&mut history, 10, 20, at(59)).replicas, 11);
        assert_eq!(rules.limit(&mut history, 11, 20, at(60)).replicas, 15);
    }

    #[test]
    fn each_direction_has_a_window_and_a_rate_of_its_own() {
        let pods = json!({"type": "Pods", "value": 2, "periodSeconds": 60});
        let down = json!({"policies": [pods], "stabilizationWindowSeconds": 0});
        let up = json!({"stabilizationWindowSeconds": 120, "policies": [pods]});
        let rules = rules(&json!({"scaleUp": up, "scaleDown": down}));
        let mut history = History::default();
        let fall = rules.limit(&mut history, 10, 3, at(0));
        assert_eq!((fall.replicas, fall.limit), (8, DOWN_LIMIT));
        history.scaled(-2, at(0));
        assert_eq!(rules.limit(&mut history, 8, 3, at(30)).replicas, 8);
        let rise = rules.limit(&mut history, 8, 9, at(60));
        assert_eq!((rise.replicas, rise.able), (8, UP_STABILIZED), "{rise:?}");
    }
}
