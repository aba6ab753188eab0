//! The table of the built-in types: which field has which number, name and type, and when JSON leaves it out.
//!
//! `data/protobuf.txt` has it as text. `= PACKAGE API_VERSION` begins a package; each other line is a message: its name, `+`
//! if it is an object that lists have, `=FORM` if JSON does not show it as an object of its fields, and its fields as
//! `NUMBER:NAME:TYPE`. A type is a scalar (one small letter), a message of the package, or `PLACE.MESSAGE` of another one.
//! `*` behind it is a list and `%` a map from strings. Then `?` means that JSON leaves zero out, `!` that JSON has null
//! where the field is absent, and `>` that the message's fields stand in its parent.

use std::{collections::BTreeMap, sync::OnceLock};

const TEXT: &str = include_str!("../../data/protobuf.txt");

const META: &str = "k8s.io.apimachinery.pkg.apis.meta.v1";
/// The metadata of lists.
pub(crate) const LIST_META: (&str, &str) = (META, "ListMeta");
/// An object that is reduced to its metadata.
pub(crate) const PARTIAL_METADATA: (&str, &str) = (META, "PartialObjectMetadata");
/// The server's answer about a failure.
pub(crate) const STATUS: (&str, &str) = (META, "Status");

/// A message of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MessageId(u16);

/// A type of the table.
#[derive(Debug)]
pub(super) struct Message {
    /// The name of its package and its own.
    pub(super) package: &'static str,
    pub(super) name: &'static str,
    /// The API version, if it is an object that lists have.
    pub(super) api_version: Option<&'static str>,
    pub(super) form: Form,
    pub(super) fields: Vec<Field>,
    /// For each number, the place of its field, counted from one; zero where there is none.
    places: Vec<u8>,
    /// The places of the fields that JSON shows as null where they are absent.
    pub(super) nullable: Vec<u8>,
}

/// The form of a message in JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// An object of its fields.
    Fields,
    /// A time in whole seconds.
    Time,
    /// A time with six digits of a second.
    MicroTime,
    Quantity,
    IntOrString,
    /// The JSON that the first field holds.
    Json,
    /// The list that the first field is.
    List,
    /// The list that the second field is, or the message that the first field holds.
    Either,
    /// The message that the second field holds, or the boolean in the first.
    SchemaOrBool,
}

/// A field of a message.
#[derive(Debug)]
pub(super) struct Field {
    pub(super) number: u32,
    pub(super) name: &'static str,
    pub(super) kind: Kind,
    pub(super) shape: Shape,
    /// True if JSON leaves zero out.
    pub(super) omits_zero: bool,
}

/// The type of one value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    String,
    Bool,
    Int32,
    Int64,
    Double,
    Bytes,
    Message(MessageId),
}

/// The number of values of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    Single,
    Repeated,
    Map,
    /// A message whose fields stand in its parent.
    Inline,
}

/// All messages.
#[derive(Debug)]
pub(super) struct Table {
    messages: Vec<Message>,
    names: BTreeMap<(&'static str, &'static str), MessageId>,
    /// The objects that lists have, by API version and kind.
    objects: BTreeMap<(&'static str, &'static str), MessageId>,
}

/// Returns the message of the objects of a kind; `None` if it is not built in.
pub(crate) fn message_of_kind(api_version: &str, kind: &str) -> Option<MessageId> {
    table().objects.get(&(api_version, kind)).copied()
}

/// Returns a message by its package and its name.
pub(crate) fn message_named(name: (&'static str, &'static str)) -> MessageId {
    table().names[&name]
}

pub(super) fn message(id: MessageId) -> &'static Message {
    &table().messages[usize::from(id.0)]
}

pub(super) fn table() -> &'static Table {
    static TABLE: OnceLock<Table> = OnceLock::new();
    TABLE.get_or_init(|| Table::parse(TEXT).expect("the table is well-formed"))
}

// === impl Table ===

impl Table {
    #[cfg(test)]
    pub(super) fn objects(&self) -> impl Iterator<Item = (&'static str, &'static str)> {
        self.objects.keys().copied()
    }

    #[cfg(test)]
    pub(super) fn messages(&self) -> &[Message] {
        &self.messages
    }

    fn parse(text: &'static str) -> Option<Self> {
        let mut table = Self {
            messages: Vec::new(),
            names: BTreeMap::new(),
            objects: BTreeMap::new(),
        };
        let mut packages = Vec::new();
        let (mut package, mut api_version) = ("", "");
        let mut lines = Vec::new();
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            if let Some(head) = line.strip_prefix("= ") {
                (package, api_version) = head.split_once(' ')?;
                packages.push(package);
                continue;
            }
            let (name, fields) = line.split_once(' ').unwrap_or((line, ""));
            let (name, form) = match name.split_once('=') {
                Some((name, form)) => (name, Form::parse(form)?),
                None => (name, Form::Fields),
            };
            let id = MessageId(u16::try_from(table.messages.len()).ok()?);
            let own_name = name.trim_end_matches('+');
            table.names.insert((package, own_name), id);
            if own_name != name {
                table.objects.insert((api_version, own_name), id);
            }
            let mut message = Message::new(package, own_name, form);
            message.api_version = (own_name != name).then_some(api_version);
            table.messages.push(message);
            lines.push(fields);
        }
        for (at, fields) in lines.into_iter().enumerate() {
            for word in fields.split_whitespace() {
                let package = table.messages[at].package;
                let (field, is_nullable) = table.field(word, package, &packages)?;
                table.messages[at].push(field, is_nullable)?;
            }
        }
        Some(table)
    }

    /// Reads `NUMBER:NAME:TYPE`; returns the field, and whether JSON shows it as null where it is absent.
    fn field(
        &self,
        word: &'static str,
        package: &'static str,
        packages: &[&'static str],
    ) -> Option<(Field, bool)> {
        let (number, rest) = word.split_once(':')?;
        let (name, kind) = rest.rsplit_once(':')?;
        let (kind, flag) = split_last(kind, &['?', '!', '>']);
        let (kind, shape) = split_last(kind, &['*', '%']);
        let kind = match kind {
            "s" => Kind::String,
            "b" => Kind::Bool,
            "i" => Kind::Int32,
            "l" => Kind::Int64,
            "d" => Kind::Double,
            "y" => Kind::Bytes,
            name => {
                let name = match name.split_once('.') {
                    Some((place, name)) => (*packages.get(place.parse::<usize>().ok()?)?, name),
                    None => (package, name),
                };
                Kind::Message(*self.names.get(&name)?)
            }
        };
        let shape = match (shape, flag) {
            (_, Some('>')) => Shape::Inline,
            (Some('*'), _) => Shape::Repeated,
            (Some('%'), _) => Shape::Map,
            _ => Shape::Single,
        };
        let field = Field {
            number: number.parse().ok()?,
            name,
            kind,
            shape,
            omits_zero: flag == Some('?'),
        };
        Some((field, flag == Some('!')))
    }
}

// === impl Message ===

impl Message {
    fn new(package: &'static str, name: &'static str, form: Form) -> Self {
        Self {
            package,
            name,
            api_version: None,
            form,
            fields: Vec::new(),
            places: Vec::new(),
            nullable: Vec::new(),
        }
    }

    fn push(&mut self, field: Field, is_nullable: bool) -> Option<()> {
        let number = usize::try_from(field.number).ok()?;
        let place = u8::try_from(self.fields.len()).ok()?;
        if self.places.len() <= number {
            self.places.resize(number + 1, 0);
        }
        self.places[number] = place.checked_add(1)?;
        if is_nullable {
            self.nullable.push(place);
        }
        self.fields.push(field);
        Some(())
    }

    /// Returns the place of the field with this number.
    pub(super) fn place(&self, number: u32) -> Option<u8> {
        let place = self.places.get(usize::try_from(number).ok()?)?;
        place.checked_sub(1)
    }

    /// Returns the field at a place.
    pub(super) fn field(&self, place: u8) -> &Field {
        &self.fields[usize::from(place)]
    }

    /// Returns the name for errors, as in `v1.Pod`.
    pub(super) fn title(&self) -> String {
        let version = self.package.rsplit('.').next().unwrap_or_default();
        format!("{version}.{}", self.name)
    }
}

// === impl Form ===

impl Form {
    fn parse(name: &str) -> Option<Self> {
        Some(match name {
            "time" => Self::Time,
            "microtime" => Self::MicroTime,
            "quantity" => Self::Quantity,
            "intorstring" => Self::IntOrString,
            "json" => Self::Json,
            "list" => Self::List,
            "either" => Self::Either,
            "schemaorbool" => Self::SchemaOrBool,
            _ => return None,
        })
    }
}

/// Takes the last character off, if it is one of these.
fn split_last<'a>(text: &'a str, of: &[char]) -> (&'a str, Option<char>) {
    match text.strip_suffix(of) {
        Some(rest) => (rest, text.chars().last()),
        None => (text, None),
    }
}
