//! The text form of a plan: JSON, with an element of each list on a line of its own.

use std::fmt::Write;

use serde::Serialize;

use super::Plan;

// === impl Plan ===

impl Plan {
    /// Formats the plan for [`from_text`](Self::from_text).
    pub fn to_text(&self) -> String {
        let mut text = String::from("{\n");
        field(&mut text, "seed", &json(&self.seed));
        field(&mut text, "safety_ms", &json(&self.safety_ms));
        if self.revision.is_some() {
            field(&mut text, "revision", &json(&self.revision));
        }
        if !self.interleaving.is_none() {
            field(&mut text, "interleaving", &json(&self.interleaving));
        }
        if !self.contents.is_empty() {
            field(&mut text, "contents", &json(&self.contents));
        }
        if self.list_gate.is_some() {
            field(&mut text, "list_gate", &json(&self.list_gate));
        }
        field(&mut text, "informers", &lines(&self.informers));
        field(&mut text, "workload", &lines(&self.workload));
        field(&mut text, "faults", &lines(&self.faults));
        if !self.incidents.is_empty() {
            field(&mut text, "incidents", &lines(&self.incidents));
        }
        for (name, participant) in self.participants.texts() {
            field(&mut text, name, &participant);
        }
        text.truncate(text.len() - ",\n".len());
        text.push_str("\n}\n");
        text
    }

    /// Reads a plan.
    ///
    /// # Errors
    ///
    /// The text is no plan; the error says where.
    pub fn from_text(text: &str) -> serde_json::Result<Self> {
        serde_json::from_str(text)
    }
}

fn field(text: &mut String, name: &str, value: &str) {
    writeln!(text, "  \"{name}\": {value},").expect("a string takes what is written");
}

fn lines<T: Serialize>(items: &[T]) -> String {
    if items.is_empty() {
        return "[]".to_owned();
    }
    let items: Vec<String> = items
        .iter()
        .map(|item| format!("    {}", json(item)))
        .collect();
    format!("[\n{}\n  ]", items.join(",\n"))
}

fn json<T: Serialize>(value: &T) -> String {
    serde_json::to_string(value).expect("plans have string keys only")
}
