//! The replicas that one metric proposes, by the rules of the real controller. A pure core.

/// The shares by which usage may differ from its target before anything is scaled.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Tolerance {
    pub(super) up: f64,
    pub(super) down: f64,
}

/// A pod that a workload selects, as a metric counts it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sample {
    pub(super) state: State,
    /// In thousandths, as are requests.
    pub(super) usage: Option<i64>,
    pub(super) request: i64,
}

/// The part that a pod has in a calculation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// The pod is being deleted, or has failed.
    Ignored,
    /// The pod has not started yet: its usage counts as 0 when scaling up, and does not count otherwise.
    Unready,
    /// The pod counts with its usage.
    Counted,
}

/// The replicas that a metric proposes, and the measured value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Proposal {
    pub(super) replicas: i64,
    /// In percent of the requests.
    pub(super) utilization: Option<i64>,
    /// In thousandths: of each pod, or in total where the target is a total.
    pub(super) value: i64,
}

/// The sums of the pods that count.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    usage: i64,
    request: i64,
    pods: i64,
}

const NOT_MEASURED: &str = "did not receive metrics for targeted pods (pods might be unready)";

/// Proposes replicas so that pods use a share of their requests, in percent.
pub(super) fn by_utilization(
    samples: &[Sample],
    current: i64,
    target: i64,
    tolerance: Tolerance,
) -> Result<Proposal, String> {
    let percent = |sums: Sums| sums.usage.saturating_mul(100) / sums.request.max(1);
    let ratio = |sums: Sums| float(percent(sums)) / float(target);
    let full = |sample: &Sample| sample.request.saturating_mul(target.max(100)) / 100;
    let (replicas, sums) = proposed(samples, current, tolerance, ratio, full)?;
    if sums.request == 0 {
        return Err("no metrics returned matched known pods".to_owned());
    }
    Ok(Proposal {
        replicas,
        utilization: Some(percent(sums)),
        value: sums.usage / sums.pods,
    })
}

/// Proposes replicas so that each pod uses `target` on average, in thousandths.
pub(super) fn by_average(
    samples: &[Sample],
    current: i64,
    target: i64,
    tolerance: Tolerance,
) -> Result<Proposal, String> {
    let ratio = |sums: Sums| float(sums.usage / sums.pods.max(1)) / float(target);
    let (replicas, sums) = proposed(samples, current, tolerance, ratio, |_| target)?;
    Ok(Proposal {
        replicas,
        utilization: None,
        value: sums.usage / sums.pods,
    })
}

/// Proposes replicas by a value that they share, given how many of them are ready. It scales from none, too.
pub(super) fn by_value(
    value: i64,
    target: i64,
    current: i64,
    ready: i64,
    tolerance: Tolerance,
) -> Proposal {
    let ratio = float(value) / float(target);
    let replicas = match current {
        0 => ceil(ratio),
        _ if tolerance.allows(ratio) => current,
        _ => ceil(ratio * float(ready)),
    };
    Proposal {
        replicas,
        utilization: None,
        value,
    }
}

/// Proposes replicas so that each has `target` of a value, given how many there are.
pub(super) fn by_value_of_each(
    value: i64,
    target: i64,
    present: i64,
    tolerance: Tolerance,
) -> Proposal {
    let ratio = float(value) / (float(target) * float(present));
    let is_near = tolerance.allows(ratio);
    let each = if present == 0 {
        0
    } else {
        ceil(float(value) / float(present))
    };
    Proposal {
        replicas: if is_near {
            present
        } else {
            ceil(float(value) / float(target))
        },
        utilization: None,
        value: each,
    }
}

/// Proposes replicas by the ratio of usage to target. Pods without metrics count as what keeps the change small: `full` if
/// there is too little to do, nothing if there is too much.
fn proposed(
    samples: &[Sample],
    current: i64,
    tolerance: Tolerance,
    ratio: impl Fn(Sums) -> f64,
    full: impl Fn(&Sample) -> i64,
) -> Result<(i64, Sums), String> {
    let (mut measured, mut missing, mut unready) = (Vec::new(), Vec::new(), Vec::new());
    for sample in samples {
        match (sample.state, sample.usage) {
            (State::Ignored, _) => {}
            (State::Unready, _) => unready.push(sample),
            (State::Counted, Some(usage)) => measured.push((usage, sample.request)),
            (State::Counted, None) => missing.push(sample),
        }
    }
    if measured.is_empty() {
        return Err(NOT_MEASURED.to_owned());
    }
    // Of what was measured: the status shows these sums, whatever is assumed of other pods below.
    let sums = Sums::of(&measured);
    let seen = ratio(sums);
    let rebalances = !unready.is_empty() && seen > 1.0;
    if !rebalances && missing.is_empty() {
        let is_near = tolerance.allows(seen);
        let wanted = ceil(seen * float(sums.pods));
        return Ok((if is_near { current } else { wanted }, sums));
    }
    if seen < 1.0 {
        measured.extend(missing.iter().map(|sample| (full(sample), sample.request)));
    } else if seen > 1.0 {
        measured.extend(missing.iter().map(|sample| (0, sample.request)));
    }
    if rebalances {
        measured.extend(unready.iter().map(|sample| (0, sample.request)));
    }
    let all = Sums::of(&measured);
    let then = ratio(all);
    let wanted = ceil(then * float(all.pods));
    // What is assumed of unmeasured pods may damp a change, but not turn it round.
    let turns = (seen < 1.0 && then > 1.0) || (seen > 1.0 && then < 1.0);
    let contradicts = (then < 1.0 && wanted > current) || (then > 1.0 && wanted < current);
    let stays = tolerance.allows(then) || turns || contradicts;
    Ok((if stays { current } else { wanted }, sums))
}

#[expect(
    clippy::cast_precision_loss,
    reason = "the real controller calculates so"
)]
fn float(number: i64) -> f64 {
    number as f64
}

/// Rounds up to a number of replicas, at most the largest 32-bit one.
#[expect(clippy::cast_possible_truncation, reason = "it is clamped before")]
fn ceil(number: f64) -> i64 {
    number.ceil().clamp(0.0, f64::from(i32::MAX)) as i64
}

// === impl Tolerance ===

impl Tolerance {
    /// Returns whether a ratio of usage to target is near enough to 1.
    fn allows(self, ratio: f64) -> bool {
        (1.0 - self.down) <= ratio && ratio <= (1.0 + self.up)
    }
}

// === impl Sums ===

impl Sums {
    fn of(measured: &[(i64, i64)]) -> Self {
        measured
            .iter()
            .fold(Self::default(), |sums, (usage, request)| Self {
                usage: sums.usage.saturating_add(*usage),
                request: sums.request.saturating_add(*request),
                pods: sums.pods + 1,
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TENTH: Tolerance = Tolerance { up: 0.1, down: 0.1 };

    /// Pods that request 1 of something, with their usage in thousandths.
    fn pods(usages: &[i64]) -> Vec<Sample> {
        let of = |usage: &i64| sample(State::Counted, Some(*usage));
        usages.iter().map(of).collect()
    }

    fn sample(state: State, usage: Option<i64>) -> Sample {
        Sample {
            state,
            usage,
            request: 1000,
        }
    }

    fn utilization(samples: &[Sample], target: i64) -> i64 {
        let current = i64::try_from(samples.len()).unwrap();
        let proposal = by_utilization(samples, current, target, TENTH);
        proposal.unwrap().replicas
    }

    #[test]
    fn replicas_follow_the_ratio_of_usage_to_target() {
        assert_eq!(utilization(&pods(&[300, 500, 700]), 30), 5);
        assert_eq!(utilization(&pods(&[100, 300, 500, 250, 250]), 50), 3);
        assert_eq!(utilization(&pods(&[0, 0, 0]), 50), 0);
        let proposal = by_utilization(&pods(&[300, 500, 700]), 3, 30, TENTH).unwrap();
        assert_eq!((proposal.utilization, proposal.value), (Some(50), 500));
    }

    #[test]
    fn a_small_difference_changes_nothing() {
        assert_eq!(utilization(&pods(&[540, 540, 540]), 50), 3);
        assert_eq!(utilization(&pods(&[460, 460, 460]), 50), 3);
        let strict = Tolerance { up: 0.0, down: 0.1 };
        let proposal = by_utilization(&pods(&[540, 540, 540]), 3, 50, strict);
        assert_eq!(proposal.unwrap().replicas, 4);
    }

    #[test]
    fn pods_without_metrics_make_a_change_smaller_and_never_turn_it() {
        let missing = sample(State::Counted, None);
        let mut low = pods(&[100, 100]);
        low.push(missing);
        // (100 + 100 + 1000) of 3000 are 40 percent of 50.
        assert_eq!(utilization(&low, 50), 3, "2.4, rounded up");
        let mut high = pods(&[900, 900]);
        high.push(missing);
        assert_eq!(utilization(&high, 30), 6);
        assert_eq!(
            utilization(&high, 80),
            3,
            "with all of them it would be less"
        );
    }

    #[test]
    fn pods_that_start_use_nothing_where_there_is_too_much_to_do() {
        let mut samples = pods(&[900, 900]);
        samples.push(sample(State::Unready, Some(50)));
        assert_eq!(utilization(&samples, 30), 6);
        let mut idle = pods(&[100, 100]);
        idle.push(sample(State::Unready, None));
        assert_eq!(utilization(&idle, 50), 1, "they do not count");
        let ended = [
            sample(State::Ignored, Some(1)),
            sample(State::Unready, None),
        ];
        let error = by_utilization(&ended, 2, 50, TENTH).unwrap_err();
        assert!(error.contains("pods might be unready"), "{error}");
    }

    #[test]
    fn averages_and_values_have_rules_of_their_own() {
        let proposal = by_average(&pods(&[1000, 3000]), 2, 1000, TENTH).unwrap();
        assert_eq!((proposal.replicas, proposal.value), (4, 2000));
        assert_eq!(by_value(6000, 2000, 2, 2, TENTH).replicas, 6);
        assert_eq!(by_value(2100, 2000, 2, 2, TENTH).replicas, 2);
        assert_eq!(by_value(6000, 2000, 0, 0, TENTH).replicas, 3, "from none");
        assert_eq!(by_value(0, 2000, 0, 0, TENTH).replicas, 0);
        let each = by_value_of_each(6000, 2000, 2, TENTH);
        assert_eq!((each.replicas, each.value), (3, 3000));
        assert_eq!(by_value_of_each(6000, 2000, 0, TENTH).replicas, 3);
    }
}
