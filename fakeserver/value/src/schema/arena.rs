//! Structural schemas as a compact arena: equal parts are held once, and a reference is an index.

use std::collections::BTreeMap;

use fakeserver_versions::{KubernetesVersion, PerVersion};
use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;
use serde_json::Value;

use super::load;

const OBJECT_META: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";

/// A set of schemas: those of the built-in resources, or those of one custom resource.
#[derive(Debug, Default)]
pub struct Schemas {
    /// The version of Kubernetes whose metadata embedded objects have.
    pub(super) kubernetes: KubernetesVersion,
    pub(super) nodes: Vec<Node>,
    pub(super) by_name: BTreeMap<String, SchemaId>,
    pub(super) by_kind: BTreeMap<String, Vec<ServedSchema>>,
}

/// The place of a schema in its arena.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct SchemaId(pub(super) u32);

/// A schema, to look into.
#[derive(Debug, Clone, Copy)]
pub struct Schema<'a> {
    arena: &'a Schemas,
    id: SchemaId,
    /// True if `metadata` is that of all objects, regardless of the schema.
    has_metadata: bool,
}

/// The JSON type of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[expect(
    clippy::exhaustive_enums,
    reason = "complete by definition: the types of structural schemas"
)]
pub enum SchemaType {
    /// Anything.
    #[default]
    Any,
    /// An object or a map.
    Object,
    /// An array.
    Array,
    /// A string.
    String,
    /// An integer.
    Integer,
    /// A number.
    Number,
    /// True or false.
    Boolean,
    /// An integer or a string.
    IntOrString,
}

/// The way server-side apply merges a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[expect(
    clippy::exhaustive_enums,
    reason = "complete by definition: x-kubernetes-list-type"
)]
pub enum ListType {
    /// The list is one value.
    #[default]
    Atomic,
    /// By value.
    Set,
    /// By the keys of its items.
    Map,
}

/// The way a strategic merge patch merges a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[expect(
    clippy::exhaustive_structs,
    reason = "complete by definition: x-kubernetes-patch-strategy"
)]
pub struct PatchStrategy {
    /// A list is merged, not replaced.
    pub merge: bool,
    /// A map is replaced, not merged.
    pub replace: bool,
    /// Keys that the patch does not retain are cleared.
    pub retain_keys: bool,
}

/// The schema of a kind in a group and version.
#[derive(Debug)]
pub(super) struct ServedSchema {
    pub(super) group: String,
    pub(super) version: String,
    pub(super) id: SchemaId,
}

/// One schema in the arena; a reference has only the keywords that stand beside it.
#[derive(Debug, Default)]
pub(super) struct Node {
    /// The name of the definition, if it is one.
    pub(super) name: Option<String>,
    pub(super) target: Option<SchemaId>,
    pub(super) ty: SchemaType,
    pub(super) format: Option<String>,
    pub(super) properties: IndexMap<String, SchemaId, FxBuildHasher>,
    pub(super) additional: Option<SchemaId>,
    pub(super) items: Option<SchemaId>,
    pub(super) required: Vec<String>,
    pub(super) enums: Vec<Value>,
    pub(super) default: Option<Value>,
    pub(super) nullable: bool,
    pub(super) preserve_unknown: bool,
    pub(super) embedded: bool,
    pub(super) list_type: ListType,
    pub(super) list_map_keys: Vec<String>,
    pub(super) atomic_map: Option<bool>,
    pub(super) merge_key: Option<String>,
    pub(super) strategy: Option<PatchStrategy>,
}

/// The schemas of the default version, for those who have no server.
pub fn schemas() -> &'static Schemas {
    schemas_in(KubernetesVersion::DEFAULT)
}

/// The schemas of the built-in resources of a version, read on first use (some ten milliseconds, once a process).
pub fn schemas_in(kubernetes: KubernetesVersion) -> &'static Schemas {
    static SCHEMAS: PerVersion<Schemas> = PerVersion::new();
    SCHEMAS.get_or_init(kubernetes, || Schemas {
        kubernetes,
        ..load::definitions(&kubernetes.openapi_structure())
    })
}

// === impl Schemas ===

impl Schemas {
    /// The schema of a custom resource's version, from its `openAPIV3Schema`; the second value is its root.
    pub fn of_custom_resource(schema: &Value) -> (Schemas, SchemaId) {
        load::custom_resource(schema)
    }

    /// The schema of a kind.
    pub fn of_kind(&self, group: &str, version: &str, kind: &str) -> Option<Schema<'_>> {
        let mut all = self.by_kind.get(kind)?.iter();
        let found = all.find(|served| served.group == group && served.version == version)?;
        Some(self.get(found.id))
    }

    /// The schema of an OpenAPI definition.
    pub fn of_definition(&self, name: &str) -> Option<Schema<'_>> {
        self.by_name.get(name).map(|id| self.get(*id))
    }

    /// The name of the OpenAPI definition of a kind.
    pub fn definition_name(&self, group: &str, version: &str, kind: &str) -> Option<&str> {
        self.of_kind(group, version, kind)?.definition_name()
    }

    /// Looks into a schema.
    pub fn get(&self, id: SchemaId) -> Schema<'_> {
        Schema {
            arena: self,
            id,
            has_metadata: false,
        }
    }

    /// Every kind, as group, version, kind.
    pub fn kinds(&self) -> impl Iterator<Item = (&str, &str, &str)> {
        self.by_kind.iter().flat_map(|(kind, all)| {
            let all = all.iter();
            all.map(|served| (&*served.group, &*served.version, &**kind))
        })
    }

    /// Every definition by its name.
    pub fn definitions(&self) -> impl Iterator<Item = (&str, Schema<'_>)> {
        self.by_name
            .iter()
            .map(|(name, id)| (&**name, self.get(*id)))
    }
}

// === impl Schema ===

impl<'a> Schema<'a> {
    /// Its place in the arena.
    pub fn id(self) -> SchemaId {
        self.id
    }

    /// The name of its OpenAPI definition, if it has one.
    pub fn definition_name(self) -> Option<&'a str> {
        let id = self.near().target.unwrap_or(self.id);
        self.arena.nodes[id.0 as usize].name.as_deref()
    }

    /// Returns the type of its values.
    pub fn ty(self) -> SchemaType {
        self.target().ty
    }

    /// A closer description of its type, such as `int32`, `byte`, `date-time`.
    pub fn format(self) -> Option<&'a str> {
        self.target().format.as_deref()
    }

    /// The schema of whole objects, of which this one describes all but the metadata.
    #[must_use]
    pub fn with_metadata(self) -> Self {
        Self {
            has_metadata: true,
            ..self
        }
    }

    /// The schema of a property, or of any key of a map.
    pub fn field(self, name: &str) -> Option<Schema<'a>> {
        self.property(name).or_else(|| self.additional())
    }

    /// The schema of a declared property.
    pub fn property(self, name: &str) -> Option<Schema<'a>> {
        let is_object = self.has_metadata || self.target().embedded;
        if is_object && name == "metadata" {
            return schemas_in(self.arena.kubernetes).of_definition(OBJECT_META);
        }
        let id = self.target().properties.get(name)?;
        Some(self.arena.get(*id))
    }

    /// The declared properties, by name.
    pub fn properties(self) -> impl Iterator<Item = (&'a str, Schema<'a>)> {
        let properties = self.target().properties.iter();
        properties.map(move |(name, id)| (name.as_str(), self.arena.get(*id)))
    }

    /// The schema of the values of a map.
    pub fn additional(self) -> Option<Schema<'a>> {
        self.target().additional.map(|id| self.arena.get(id))
    }

    /// The schema of the items of a list.
    pub fn items(self) -> Option<Schema<'a>> {
        self.target().items.map(|id| self.arena.get(id))
    }

    /// The properties that must be there.
    pub fn required(self) -> &'a [String] {
        &self.target().required
    }

    /// The only values it may have; empty if any.
    pub fn enum_values(self) -> &'a [Value] {
        &self.target().enums
    }

    /// The value it has when absent.
    pub fn default(self) -> Option<&'a Value> {
        self.near()
            .default
            .as_ref()
            .or(self.target().default.as_ref())
    }

    /// Returns whether null is a value of it.
    pub fn is_nullable(self) -> bool {
        self.near().nullable || self.target().nullable
    }

    /// Returns whether keys that are not declared are kept.
    pub fn preserves_unknown_fields(self) -> bool {
        self.near().preserve_unknown || self.target().preserve_unknown
    }

    /// Returns whether it is a whole object, with its own kind and metadata.
    pub fn is_embedded_resource(self) -> bool {
        self.target().embedded
    }

    /// Returns the way server-side apply merges it, if it is a list.
    pub fn list_type(self) -> ListType {
        self.target().list_type
    }

    /// The keys that tell items of a [`ListType::Map`] apart.
    pub fn list_map_keys(self) -> &'a [String] {
        &self.target().list_map_keys
    }

    /// Returns whether server-side apply treats the object as one value.
    pub fn is_atomic_map(self) -> bool {
        self.near()
            .atomic_map
            .or(self.target().atomic_map)
            .unwrap_or(false)
    }

    /// The key that tells items of a list apart in strategic merge patches.
    pub fn merge_key(self) -> Option<&'a str> {
        self.near().merge_key.as_deref()
    }

    /// Returns the way strategic merge patches treat it.
    pub fn patch_strategy(self) -> PatchStrategy {
        self.near().strategy.unwrap_or_default()
    }

    /// Returns the node at the place of use.
    fn near(self) -> &'a Node {
        &self.arena.nodes[self.id.0 as usize]
    }

    /// Returns the node that a reference leads to.
    fn target(self) -> &'a Node {
        let near = self.near();
        near.target
            .map_or(near, |id| &self.arena.nodes[id.0 as usize])
    }
}
