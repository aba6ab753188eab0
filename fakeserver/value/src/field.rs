//! A place in an object: its path as findings name it, and its value.

use std::{borrow::Cow, cell::OnceCell, rc::Rc};

use serde_json::Value;

/// The value of absent fields.
static NOTHING: Value = Value::Null;

/// A field of an object, there or not. Most are never named, so the path is put together only for a finding.
#[derive(Clone, Debug)]
pub struct Field<'a> {
    place: PathNode,
    /// The same place behind a counter, which the fields below this one share.
    shared: OnceCell<Rc<PathNode>>,
    value: &'a Value,
    /// The same value as findings show it: with the lists and maps without items that the client sent.
    original: &'a Value,
}

/// The place of a field: the last step, and the place at which that begins.
#[derive(Clone, Debug)]
struct PathNode {
    within: Option<Rc<PathNode>>,
    step: Step,
}

#[derive(Clone, Debug)]
enum Step {
    Root,
    Member(Cow<'static, str>),
    Key(String),
    Item(usize),
}

// === impl Field ===

impl<'a> Field<'a> {
    /// A whole object, whose path is empty.
    pub fn root(object: &'a Value) -> Self {
        Self::with_original(object, object)
    }

    /// A whole object, which findings show as `original`.
    pub fn with_original(object: &'a Value, original: &'a Value) -> Self {
        let place = PathNode {
            within: None,
            step: Step::Root,
        };
        Self::new(place, (object, original))
    }

    fn new(place: PathNode, (value, original): (&'a Value, &'a Value)) -> Self {
        Self {
            place,
            shared: OnceCell::new(),
            value,
            original,
        }
    }

    /// Returns what `pick` picks out of the value, and how findings show that.
    fn pick(&self, pick: impl Fn(&'a Value) -> Option<&'a Value>) -> (&'a Value, &'a Value) {
        let value = pick(self.value).unwrap_or(&NOTHING);
        if std::ptr::eq(self.value, self.original) {
            return (value, value);
        }
        (value, pick(self.original).unwrap_or(value))
    }

    /// The place of what one step leads to.
    fn below(&self, step: Step) -> PathNode {
        let within = self.shared.get_or_init(|| Rc::new(self.place.clone()));
        PathNode {
            within: Some(Rc::clone(within)),
            step,
        }
    }

    /// A member of a struct.
    pub fn at(&self, name: &'static str) -> Field<'a> {
        let member = self.pick(|value| value.get(name));
        Self::new(self.below(Step::Member(name.into())), member)
    }

    /// An entry of a map, where findings call it a member.
    pub fn key_as_member(&self, key: &str) -> Field<'a> {
        let step = Step::Member(key.to_owned().into());
        Self::new(self.below(step), self.pick(|value| value.get(key)))
    }

    /// An entry of a map.
    pub fn key(&self, key: &str) -> Field<'a> {
        let entry = self.pick(|value| value.get(key));
        Self::new(self.below(Step::Key(key.to_owned())), entry)
    }

    /// The same value, where findings say it stands in another struct.
    pub fn called_within(&self, parent: &Field<'_>, name: &'static str) -> Field<'a> {
        let place = parent.below(Step::Member(name.into()));
        Self::new(place, (self.value, self.original))
    }

    /// The same value, where findings say it stands at another place.
    pub fn called_at(&self, place: &Field<'_>) -> Field<'a> {
        Self::new(place.place.clone(), (self.value, self.original))
    }

    /// The same place, at which findings show another value.
    pub fn showing<'b>(&self, value: &'b Value) -> Field<'b> {
        Field::new(self.place.clone(), (value, value))
    }

    /// An item of a list, there or not.
    pub fn place(&self, place: usize) -> Field<'a> {
        let item = self.pick(|value| value.get(place));
        Self::new(self.below(Step::Item(place)), item)
    }

    /// The items of a list.
    pub fn items(&self) -> impl Iterator<Item = Field<'a>> + use<'a> {
        let list = self.clone();
        (0..self.value.as_array().map_or(0, Vec::len)).map(move |place| list.place(place))
    }

    /// The entries of a map, by key.
    pub fn entries(&self) -> impl Iterator<Item = (&'a str, Field<'a>)> + use<'a> {
        let map = self.clone();
        let entries = self.value.as_object().into_iter().flatten();
        entries.map(move |(key, _)| (key.as_str(), map.key(key)))
    }

    /// The value of a member, without its path.
    pub fn get(&self, name: &str) -> &'a Value {
        self.value.get(name).unwrap_or(&NOTHING)
    }

    /// Returns the path as findings name it: `spec.containers[0].image`.
    pub fn path(&self) -> String {
        let mut path = String::new();
        self.place.write(&mut path);
        path
    }

    pub fn value(&self) -> &'a Value {
        self.value
    }

    /// Returns the value as findings show it.
    pub fn original(&self) -> &'a Value {
        self.original
    }

    /// Returns whether it is set.
    pub fn is_set(&self) -> bool {
        !self.value.is_null()
    }

    /// Returns whether it is a text that is not empty.
    pub fn has_text(&self) -> bool {
        !self.text().is_empty()
    }

    pub fn text(&self) -> &'a str {
        self.value.as_str().unwrap_or_default()
    }

    pub fn number(&self) -> i64 {
        self.value.as_i64().unwrap_or_default()
    }

    pub fn is_true(&self) -> bool {
        *self.value == Value::Bool(true)
    }

    /// Returns the number of items or entries.
    pub fn len(&self) -> usize {
        match self.value {
            Value::Array(items) => items.len(),
            Value::Object(entries) => entries.len(),
            _ => 0,
        }
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

// === impl PathNode ===

impl PathNode {
    fn write(&self, path: &mut String) {
        if let Some(within) = &self.within {
            within.write(path);
        }
        match &self.step {
            Step::Root => {}
            Step::Member(name) => {
                if !path.is_empty() {
                    path.push('.');
                }
                path.push_str(name);
            }
            Step::Key(key) => {
                path.push('[');
                path.push_str(key);
                path.push(']');
            }
            Step::Item(place) => {
                path.push('[');
                path.push_str(&place.to_string());
                path.push(']');
            }
        }
    }
}
