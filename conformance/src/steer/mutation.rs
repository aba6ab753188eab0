//! Mutations of a plan, with parts of another one.
//!
//! They work on the JSON form, so that they know no part of a plan by name: a value is replaced by one that another plan
//! has at the same place, so that it stays in the range from which it is drawn; an element of a list is taken from the
//! same list of another plan, removed, doubled, or moved in time. Many begin with whole parts of the other plan. What comes out is not always valid, and
//! [`Plan::made_valid`] mends what it can.

use rand::{RngExt, rngs::ChaCha8Rng, seq::SliceRandom};
use serde_json::{Map, Value};

use crate::sim::Plan;

/// The most steps of a mutation.
const STEP_COUNT_MAX: u32 = 12;
/// The share of mutations that begin with whole parts of the other plan.
const SPLICED: f64 = 0.6;
/// The share of their lists that become one.
const UNITED: f64 = 0.6;
/// The longest list that gets more elements. [`Plan::made_valid`] has lower limits for those that it knows.
const LIST_LENGTH_MAX: usize = 512;
/// The fields with moments of a run.
const MOMENTS: [&str; 6] = [
    "at_ms", "start_ms", "join_ms", "leave_ms", "stop_ms", "again_ms",
];

/// A mutation.
pub(super) struct Mutation<'a> {
    rng: &'a mut ChaCha8Rng,
    /// The plan whose parts are taken.
    other: Value,
    /// The moments of the plan.
    moments: Vec<u64>,
    end_ms: u64,
}

// === impl Mutation ===

impl<'a> Mutation<'a> {
    pub(super) fn new(rng: &'a mut ChaCha8Rng, other: &Plan) -> Self {
        Self {
            rng,
            other: json(other),
            moments: Vec::new(),
            end_ms: 0,
        }
    }

    /// Mutates a plan. Returns `None` if the result is no plan.
    pub(super) fn of(mut self, plan: &Plan) -> Option<Plan> {
        self.end_ms = plan.safety_ms;
        let mut mutated = json(plan);
        collect_moments(&mutated, &mut self.moments);
        let other = std::mem::take(&mut self.other);
        if self.rng.random_bool(SPLICED) {
            self.splice(&mut mutated, &other);
        }
        let mut step_count = 1;
        while step_count < STEP_COUNT_MAX && self.rng.random_bool(0.7) {
            step_count += 1;
        }
        for _ in 0..step_count {
            if self.rng.random_bool(0.2) {
                self.move_moment(&mut mutated);
            } else {
                self.mix(&mut mutated, &other);
            }
        }
        serde_json::from_value(mutated).ok()
    }

    /// Takes each part of a plan as a whole from the other one, with a chance that is drawn first.
    fn splice(&mut self, plan: &mut Value, other: &Value) {
        let (Value::Object(parts), Value::Object(others)) = (plan, other) else {
            return;
        };
        let share = [0.1, 0.3, 0.5, 0.7][self.rng.random_range(0..4)];
        let mut names: Vec<&String> = parts.keys().chain(others.keys()).collect();
        names.sort_unstable();
        names.dedup();
        let names = names.into_iter();
        let names: Vec<String> = names
            .filter(|_| self.rng.random_bool(share))
            .cloned()
            .collect();
        for name in names {
            match (parts.get_mut(&name), others.get(&name)) {
                // All incidents, faults or operations of both, as far as there is room for them.
                (Some(Value::Array(list)), Some(Value::Array(others)))
                    if self.rng.random_bool(UNITED) =>
                {
                    list.extend_from_slice(others);
                    list.shuffle(self.rng);
                }
                (_, Some(other)) => drop(parts.insert(name, other.clone())),
                (_, None) => drop(parts.remove(&name)),
            }
        }
    }

    /// Changes a value, by what the other plan has at the same place.
    fn mix(&mut self, value: &mut Value, other: &Value) {
        match (value, other) {
            (Value::Object(fields), Value::Object(others)) => self.mix_fields(fields, others),
            (Value::Array(list), Value::Array(others)) => self.mix_lists(list, others),
            (value, other) => *value = other.clone(),
        }
    }

    fn mix_fields(&mut self, fields: &mut Map<String, Value>, others: &Map<String, Value>) {
        let is_other_variant =
            fields.len() == 1 && others.len() == 1 && !fields.keys().eq(others.keys());
        // A plan as a whole is not replaced: it has most fields.
        if is_other_variant || (fields.len() < 8 && self.rng.random_bool(0.15)) {
            fields.clone_from(others);
            return;
        }
        let mut names: Vec<&String> = fields.keys().chain(others.keys()).collect();
        names.sort_unstable();
        names.dedup();
        if names.is_empty() {
            return;
        }
        let name = names[self.rng.random_range(0..names.len())].clone();
        match (fields.get_mut(&name), others.get(&name)) {
            (Some(field), Some(other)) => self.mix(field, other),
            (None, Some(other)) => drop(fields.insert(name, other.clone())),
            (_, None) => drop(fields.remove(&name)),
        }
    }

    fn mix_lists(&mut self, list: &mut Vec<Value>, others: &[Value]) {
        match self.rng.random_range(0..100) {
            0..35 if !list.is_empty() && !others.is_empty() => {
                let place = self.rng.random_range(0..list.len());
                let other = &others[self.rng.random_range(0..others.len())];
                self.mix(&mut list[place], other);
            }
            35..55 if list.len() < LIST_LENGTH_MAX => {
                let taken = self.some_of(others);
                let place = self.rng.random_range(0..=list.len());
                list.splice(place..place, others[taken].iter().cloned());
            }
            55..70 => {
                let gone = self.some_of(list);
                list.drain(gone);
            }
            70..85 if !list.is_empty() && list.len() < LIST_LENGTH_MAX => {
                let place = self.rng.random_range(0..list.len());
                let mut double = list[place].clone();
                self.move_moment(&mut double);
                list.insert(place + 1, double);
            }
            85..95 => {
                // The beginning of one, and the end of the other.
                let kept = self.rng.random_range(0..=list.len());
                let taken = self.rng.random_range(0..=others.len());
                list.truncate(kept);
                list.extend_from_slice(&others[taken..]);
            }
            _ => *list = others.to_vec(),
        }
    }

    /// Draws a short range of a list; empty if the list is.
    fn some_of(&mut self, list: &[Value]) -> std::ops::Range<usize> {
        if list.is_empty() {
            return 0..0;
        }
        let from = self.rng.random_range(0..list.len());
        let longest = if self.rng.random_bool(0.7) { 1 } else { 6 };
        let count = self.rng.random_range(1..=longest);
        from..list.len().min(from + count)
    }

    /// Moves one moment within a value: near to another one of the plan, a little, or anywhere.
    fn move_moment(&mut self, value: &mut Value) {
        let mut moments = Vec::new();
        collect_moments(value, &mut moments);
        if moments.is_empty() {
            return;
        }
        let mut place = self.rng.random_range(0..moments.len());
        let before = moments[place];
        let after = match self.rng.random_range(0..4) {
            0 | 1 if !self.moments.is_empty() => {
                let near = self.moments[self.rng.random_range(0..self.moments.len())];
                near + [0, 0, 1, 20, 200][self.rng.random_range(0..5)]
            }
            2 => (before + self.rng.random_range(0..=2_000)).saturating_sub(1_000),
            _ => self.rng.random_range(0..=self.end_ms),
        };
        set_moment(value, &mut place, after.min(self.end_ms));
    }
}

/// Adds the moments within a value, in order.
fn collect_moments(value: &Value, moments: &mut Vec<u64>) {
    match value {
        Value::Object(fields) => {
            for (name, field) in fields {
                match field.as_u64() {
                    Some(at_ms) if MOMENTS.contains(&name.as_str()) => moments.push(at_ms),
                    _ => collect_moments(field, moments),
                }
            }
        }
        Value::Array(list) => list
            .iter()
            .for_each(|element| collect_moments(element, moments)),
        _ => {}
    }
}

/// Sets the moment after `skip` others within a value.
fn set_moment(value: &mut Value, skip: &mut usize, at_ms: u64) {
    match value {
        Value::Object(fields) => {
            for (name, field) in fields {
                if !(field.is_u64() && MOMENTS.contains(&name.as_str())) {
                    set_moment(field, skip, at_ms);
                } else if *skip == 0 {
                    *field = at_ms.into();
                    *skip = usize::MAX;
                } else {
                    *skip -= 1;
                }
            }
        }
        Value::Array(list) => list
            .iter_mut()
            .for_each(|element| set_moment(element, skip, at_ms)),
        _ => {}
    }
}

fn json(plan: &Plan) -> Value {
    serde_json::to_value(plan).expect("plans have string keys only")
}
