//! Amounts of resources by name.

use std::{
    collections::{BTreeMap, btree_map::Entry},
    fmt,
};

use fakeserver_value::schema::Quantity;
use serde_json::{Map, Value, json};

use crate::formats::quantity;

/// Amounts of resources by name. They print as rejections write them: `cpu=1,memory=1Gi`.
#[derive(Clone, Debug, Default, PartialEq)]
#[doc(alias = "ResourceList")]
pub struct Amounts(BTreeMap<String, Quantity>);

// === impl Amounts ===

impl Amounts {
    /// Reads a map of quantities. Null has none.
    pub fn of(map: &Value) -> Self {
        let entries = map.as_object().into_iter().flatten();
        entries
            .map(|(name, amount)| (name.as_str(), quantity(amount)))
            .collect()
    }

    /// Returns the amounts as objects write them.
    pub fn to_json(&self) -> Value {
        let entries = self.0.iter();
        let entries: Map<String, Value> = entries
            .map(|(name, amount)| (name.clone(), json!(amount.to_string())))
            .collect();
        entries.into()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn get(&self, name: &str) -> Option<&Quantity> {
        self.0.get(name)
    }

    pub fn set(&mut self, name: impl Into<String>, amount: Quantity) {
        self.0.insert(name.into(), amount);
    }

    /// Returns all amounts in the order of their names.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Quantity)> {
        self.0.iter().map(|(name, amount)| (name.as_str(), amount))
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// Adds amounts.
    pub fn add(&mut self, others: &Self) {
        for (name, amount) in &others.0 {
            match self.0.entry(name.clone()) {
                Entry::Vacant(entry) => {
                    entry.insert(amount.clone());
                }
                Entry::Occupied(mut entry) => *entry.get_mut() += amount,
            }
        }
    }

    /// Raises each amount to the other one if that is greater.
    pub fn raise(&mut self, others: &Self) {
        for (name, amount) in &others.0 {
            if self.0.get(name).is_none_or(|own| amount > own) {
                self.0.insert(name.clone(), amount.clone());
            }
        }
    }

    /// Replaces amounts.
    pub fn replace(&mut self, others: Self) {
        self.0.extend(others.0);
    }

    /// Returns what these amounts have more than others.
    pub fn beyond(&self, others: &Self) -> Self {
        let more = self.0.iter().map(|(name, amount)| {
            let mut amount = amount.clone();
            if let Some(other) = others.0.get(name) {
                amount -= other;
            }
            (name, amount)
        });
        more.filter(|(_, amount)| !amount.is_zero() && !amount.is_negative())
            .collect()
    }

    /// Returns the amounts that are not zero.
    pub fn without_zeros(&self) -> Self {
        self.filtered(|_, amount| !amount.is_zero())
    }

    /// Returns the amounts of some resources.
    pub fn only(&self, is_wanted: impl Fn(&str) -> bool) -> Self {
        self.filtered(|name, _| is_wanted(name))
    }

    /// Returns the amounts that are greater than their limits. What has no limit is not among them.
    pub fn above(&self, limits: &Self) -> Self {
        self.filtered(|name, amount| {
            let limit = limits.0.get(name);
            limit.is_some_and(|limit| amount > limit)
        })
    }

    fn filtered(&self, is_wanted: impl Fn(&str, &Quantity) -> bool) -> Self {
        let entries = self
            .0
            .iter()
            .filter(|(name, amount)| is_wanted(name, amount));
        let entries = entries.map(|(name, amount)| (name.clone(), amount.clone()));
        Self(entries.collect())
    }
}

impl fmt::Display for Amounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, (name, amount)) in self.0.iter().enumerate() {
            let comma = if place == 0 { "" } else { "," };
            write!(f, "{comma}{name}={amount}")?;
        }
        Ok(())
    }
}

impl<N: Into<String>> FromIterator<(N, Quantity)> for Amounts {
    fn from_iter<I: IntoIterator<Item = (N, Quantity)>>(entries: I) -> Self {
        let entries = entries.into_iter();
        Self(
            entries
                .map(|(name, amount)| (name.into(), amount))
                .collect(),
        )
    }
}
