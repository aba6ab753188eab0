//! Indexes of jobs, as text: `1,3-5`.

/// Returns the number of indexes in a text.
///
/// # Errors
///
/// Intervals cannot be read, are out of order, or exceed `completions`.
pub(super) fn indexes(text: &str, completions: i64) -> Result<i64, String> {
    let (mut last, mut total) = (None, 0);
    for interval in text.split(',').filter(|_| !text.is_empty()) {
        let (first, end) = parse(interval, completions)?;
        if let Some(last) = last.filter(|last| *last >= first) {
            return Err(out_of_order(last, first));
        }
        total += end - first + 1;
        last = Some(end);
    }
    Ok(total)
}

/// Returns the first index that two texts have in common, leaving out intervals that cannot be read.
pub(super) fn first_common(one: &str, other: &str, completions: i64) -> Option<i64> {
    let intervals = |text: &str| -> Vec<(i64, i64)> {
        let intervals = text.split(',');
        intervals
            .filter_map(|interval| parse(interval, completions).ok())
            .collect()
    };
    let (one, other) = (intervals(one), intervals(other));
    let (mut at, mut beside) = (0, 0);
    while let (Some(a), Some(b)) = (one.get(at), other.get(beside)) {
        if a.0 <= b.1 && b.0 <= a.1 {
            return Some(a.0.max(b.0));
        }
        if a.0 <= b.0 {
            at += 1;
        } else {
            beside += 1;
        }
    }
    None
}

fn parse(interval: &str, completions: i64) -> Result<(i64, i64), String> {
    let index = |text: &str| -> Result<i64, String> {
        let parsed = text.parse::<i64>();
        let parsed =
            parsed.map_err(|_| format!("cannot convert string to integer for index: {text:?}"))?;
        if parsed >= completions {
            return Err(format!("too large index: {text:?}"));
        }
        Ok(parsed)
    };
    let limits: Vec<&str> = interval.split('-').collect();
    match limits.as_slice() {
        [only] => index(only).map(|index| (index, index)),
        [first, last] => {
            let (first, last) = (index(first)?, index(last)?);
            if first >= last {
                return Err(out_of_order(first, last));
            }
            Ok((first, last))
        }
        _ => Err(format!(
            "the fragment {interval:?} violates the requirement that an index interval can have at most two parts \
             separated by '-'"
        )),
    }
}

fn out_of_order(previous: i64, current: i64) -> String {
    format!("non-increasing order, previous: {previous}, current: {current}")
}
