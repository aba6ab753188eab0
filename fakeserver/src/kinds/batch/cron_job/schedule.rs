//! Schedules of cron jobs, in the dialect of the Go library that a real server uses.

/// A part of a schedule: its least and greatest number, and the names that stand for numbers.
struct Part {
    least: u32,
    greatest: u32,
    names: &'static [&'static str],
    first_name: u32,
}

const MONTHS: [&str; 12] = [
    "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
];

const DAYS: [&str; 7] = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

const PARTS: [Part; 5] = [
    Part::numbers(0, 59),
    Part::numbers(0, 23),
    Part::numbers(1, 31),
    Part {
        least: 1,
        greatest: 12,
        names: &MONTHS,
        first_name: 1,
    },
    Part {
        least: 0,
        greatest: 6,
        names: &DAYS,
        first_name: 0,
    },
];

const DESCRIPTORS: [&str; 7] = [
    "@yearly",
    "@annually",
    "@monthly",
    "@weekly",
    "@daily",
    "@midnight",
    "@hourly",
];

const EVERY: &str = "@every ";

/// Returns the problem of a schedule, in the words of the API server's parser.
pub(crate) fn schedule_problem(schedule: &str) -> Option<String> {
    if schedule.starts_with('@') {
        let is_known = DESCRIPTORS.contains(&schedule)
            || schedule.strip_prefix(EVERY).is_some_and(is_duration);
        return (!is_known).then(|| format!("unrecognized descriptor: {schedule}"));
    }
    let fields: Vec<&str> = schedule.split_whitespace().collect();
    if fields.len() != PARTS.len() {
        return Some(format!(
            "expected exactly {} fields, found {}: [{}]",
            PARTS.len(),
            fields.len(),
            fields.join(" ")
        ));
    }
    let mut parts = PARTS.iter().zip(fields);
    parts.find_map(|(part, field)| {
        field
            .split(',')
            .filter(|range| !range.is_empty())
            .find_map(|range| part.problem(range))
    })
}

fn is_duration(text: &str) -> bool {
    let text = text.trim();
    !text.is_empty()
        && text.starts_with(|first: char| first.is_ascii_digit() || first == '.')
        && text.ends_with(['s', 'm', 'h'])
}

impl Part {
    const fn numbers(least: u32, greatest: u32) -> Self {
        Self {
            least,
            greatest,
            names: &[],
            first_name: 0,
        }
    }

    /// Returns the problem of a range such as `*`, `3`, `1-5` or `*/15`.
    fn problem(&self, range: &str) -> Option<String> {
        let steps: Vec<&str> = range.split('/').collect();
        let ends: Vec<&str> = steps[0].split('-').collect();
        let (start, mut end) = if matches!(ends[0], "*" | "?") {
            (self.least, self.greatest)
        } else {
            let start = match self.number(ends[0]) {
                Ok(start) => start,
                Err(why) => return Some(why),
            };
            match ends.as_slice() {
                [_] => (start, start),
                [_, end] => match self.number(end) {
                    Ok(end) => (start, end),
                    Err(why) => return Some(why),
                },
                _ => return Some(format!("too many hyphens: {range}")),
            }
        };
        match steps.as_slice() {
            [_] => {}
            [_, step] => {
                let step = match number(step) {
                    Ok(step) => step,
                    Err(why) => return Some(why),
                };
                if ends.len() == 1 {
                    end = self.greatest;
                }
                if step == 0 {
                    return Some(format!(
                        "step of range should be a positive number: {range}"
                    ));
                }
            }
            _ => return Some(format!("too many slashes: {range}")),
        }
        if start < self.least {
            return Some(format!(
                "beginning of range ({start}) below minimum ({}): {range}",
                self.least
            ));
        }
        if end > self.greatest {
            return Some(format!(
                "end of range ({end}) above maximum ({}): {range}",
                self.greatest
            ));
        }
        (start > end)
            .then(|| format!("beginning of range ({start}) beyond end of range ({end}): {range}"))
    }

    fn number(&self, text: &str) -> Result<u32, String> {
        let lower = text.to_lowercase();
        let named = self.names.iter().zip(self.first_name..);
        match named.into_iter().find(|(name, _)| **name == lower) {
            Some((_, number)) => Ok(number),
            None => number(text),
        }
    }
}

fn number(text: &str) -> Result<u32, String> {
    let parsed: Result<i64, _> = text.parse();
    match parsed {
        Ok(number) => u32::try_from(number)
            .map_err(|_| format!("negative number ({number}) not allowed: {text}")),
        Err(_) => Err(format!(
            "failed to parse int from {text}: strconv.Atoi: parsing {text:?}: invalid syntax"
        )),
    }
}
