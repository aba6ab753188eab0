//! The internal form of a value, as Go prints it: with the names and the order of its struct's fields.
//!
//! The API server works on types that have no version, and no JSON names. If an error message shows such a value, it
//! has every field, under its name in Go.

use std::fmt;

use serde_json::Value;

use super::types::{Field, FieldValue, Form, Shape, TypeId, TypeTable};
use crate::go_text::escape_html;

/// A value as `encoding/json` prints it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PrintedValue {
    /// A text, a number, or null, as JSON.
    Scalar(String),
    /// Items in their order.
    List(Vec<PrintedValue>),
    /// Fields in the order of the struct, or entries by key.
    Struct(Vec<(String, PrintedValue)>),
}

/// Fields of a pod's spec that the internal form has in the pod's security context.
pub(super) const HOST_FIELDS: [&str; 5] = [
    "hostNetwork",
    "hostPID",
    "hostIPC",
    "shareProcessNamespace",
    "hostUsers",
];
/// The internal structs with fields in another order: the fields after which others stand, and those.
const MOVED: &[(&str, &str, &[&str])] = &[
    ("PodSpec", "subdomain", &["setHostnameAsFQDN"]),
    ("PodSpec", "priority", &["preemptionPolicy"]),
    ("PodSpec", "runtimeClassName", &["overhead"]),
    ("VolumeSource", "rbd", &["quobyte"]),
    ("PodSecurityContext", "fsGroup", &["fsGroupChangePolicy"]),
    (
        "PersistentVolumeSource",
        "awsElasticBlockStore",
        &["hostPath"],
    ),
    ("PersistentVolumeSource", "rbd", &["quobyte"]),
    ("PersistentVolumeSource", "iscsi", &["flexVolume"]),
];
/// Names that are more than their JSON name with a capital letter.
const GO_NAMES: &[(&str, &str)] = &[
    ("apiGroup", "APIGroup"),
    ("apiVersion", "APIVersion"),
    ("awsElasticBlockStore", "AWSElasticBlockStore"),
    ("cephfs", "CephFS"),
    ("chapAuthDiscovery", "DiscoveryCHAPAuth"),
    ("chapAuthSession", "SessionCHAPAuth"),
    ("csi", "CSI"),
    ("diskURI", "DataDiskURI"),
    ("dnsConfig", "DNSConfig"),
    ("dnsPolicy", "DNSPolicy"),
    ("fc", "FC"),
    ("fsGroup", "FSGroup"),
    ("fsGroupChangePolicy", "FSGroupChangePolicy"),
    ("fsType", "FSType"),
    ("gcePersistentDisk", "GCEPersistentDisk"),
    ("gmsaCredentialSpec", "GMSACredentialSpec"),
    ("gmsaCredentialSpecName", "GMSACredentialSpecName"),
    ("grpc", "GRPC"),
    ("httpGet", "HTTPGet"),
    ("httpHeaders", "HTTPHeaders"),
    ("ip", "IP"),
    ("iqn", "IQN"),
    ("iscsi", "ISCSI"),
    ("iscsiInterface", "ISCSIInterface"),
    ("nfs", "NFS"),
    ("os", "OS"),
    ("pdID", "PdID"),
    ("pdName", "PDName"),
    ("rbd", "RBD"),
    ("seLinuxChangePolicy", "SELinuxChangePolicy"),
    ("seLinuxOptions", "SELinuxOptions"),
    ("sslEnabled", "SSLEnabled"),
    ("storagePolicyID", "StoragePolicyID"),
    ("storageos", "StorageOS"),
    ("tcpSocket", "TCPSocket"),
    ("tty", "TTY"),
    ("uid", "UID"),
    ("wwids", "WWIDs"),
];

/// The internal form of a value of a built-in type.
pub fn internal_form(table: &TypeTable, id: TypeId, value: &Value) -> PrintedValue {
    let ty = table.get(id);
    if ty.form != Form::Struct || ty.name.starts_with("io.k8s.apimachinery.") {
        return tagged_form(table, id, value);
    }
    let name = ty.go_name();
    let mut printed = Vec::new();
    for field in fields_of(table, id) {
        let json = field.name.as_str();
        if (name == "PodSpec" && HOST_FIELDS.contains(&json)) || json == "serviceAccount" {
            continue;
        }
        if json == "securityContext" && name == "PodSpec" {
            printed.push((
                "SecurityContext".to_owned(),
                pod_context(table, field, id, value),
            ));
            continue;
        }
        if json == "metadata" {
            // `ObjectMeta` is embedded in internal types with its own JSON names.
            let FieldValue::Message(metadata) = field.value else {
                continue;
            };
            if let PrintedValue::Struct(fields) = tagged_form(table, metadata, &value[json]) {
                printed.extend(fields);
            }
            continue;
        }
        printed.push((
            go_name(name, json),
            internal_field(table, field, &value[json]),
        ));
    }
    PrintedValue::Struct(printed)
}

/// The security context of a pod with what its spec says of namespaces of the host.
fn pod_context(table: &TypeTable, context: &Field, spec: TypeId, value: &Value) -> PrintedValue {
    let FieldValue::Message(id) = context.value else {
        return scalar(&Value::Null);
    };
    let mut printed: Vec<(String, PrintedValue)> = HOST_FIELDS
        .iter()
        .filter_map(|name| table.field(spec, name))
        .map(|field| {
            let name = go_name("PodSecurityContext", &field.name);
            (name, internal_field(table, field, &value[&field.name]))
        })
        .collect();
    if let PrintedValue::Struct(own) = internal_form(table, id, &value["securityContext"]) {
        printed.extend(own);
    }
    PrintedValue::Struct(printed)
}

/// The fields as the internal struct has them, those of embedded structs among them.
fn fields_of(table: &TypeTable, id: TypeId) -> Vec<&Field> {
    let fields = own_fields(table, id).into_iter();
    let fields = fields.flat_map(|field| match field.value {
        FieldValue::Message(inner) if field.inline => fields_of(table, inner),
        _ => vec![field],
    });
    fields.collect()
}

/// The fields that the internal struct declares itself, in its order.
pub(super) fn own_fields(table: &TypeTable, id: TypeId) -> Vec<&Field> {
    let ty = table.get(id);
    let mut fields: Vec<&Field> = ty.fields.iter().collect();
    for (owner, after, moved) in MOVED {
        if *owner != ty.go_name() {
            continue;
        }
        let (moved, mut rest): (Vec<&Field>, Vec<&Field>) = fields
            .into_iter()
            .partition(|field| moved.contains(&field.name.as_str()));
        let at = rest.iter().position(|field| field.name == *after);
        let at = at.map_or(rest.len(), |at| at + 1);
        rest.splice(at..at, moved);
        fields = rest;
    }
    fields
}

fn internal_field(table: &TypeTable, field: &Field, value: &Value) -> PrintedValue {
    match (field.shape, value) {
        (Shape::Repeated, Value::Array(items)) => PrintedValue::List(
            items
                .iter()
                .map(|item| internal_element(table, field, item))
                .collect(),
        ),
        (Shape::Map, Value::Object(entries)) => PrintedValue::Struct(
            entries
                .iter()
                .map(|(key, value)| (key.clone(), internal_element(table, field, value)))
                .collect(),
        ),
        (Shape::Single, value) if !(field.pointer && value.is_null()) => {
            internal_element(table, field, value)
        }
        (_, value) => scalar(value),
    }
}

fn internal_element(table: &TypeTable, field: &Field, value: &Value) -> PrintedValue {
    match (field.value, value) {
        (FieldValue::Message(id), value) => internal_form(table, id, value),
        (FieldValue::String, Value::Null) => scalar(&"".into()),
        (FieldValue::Bool, Value::Null) => scalar(&false.into()),
        (FieldValue::Int32 | FieldValue::Int64 | FieldValue::Double, Value::Null) => {
            scalar(&0.into())
        }
        (_, value) => scalar(value),
    }
}

/// Prints a value whose type has JSON names: empty fields are left out.
fn tagged_form(table: &TypeTable, id: TypeId, value: &Value) -> PrintedValue {
    match (table.get(id).form, value) {
        (Form::Quantity, Value::Null) => scalar(&"0".into()),
        (Form::IntOrString, Value::Null) => scalar(&0.into()),
        (Form::Struct, Value::Null) => PrintedValue::Struct(Vec::new()),
        (Form::Struct, Value::Object(_)) => {
            let fields = fields_of(table, id).into_iter();
            let present = fields.filter(|field| !is_omitted(field, &value[&field.name]));
            PrintedValue::Struct(
                present
                    .map(|field| {
                        let printed = internal_field(table, field, &value[&field.name]);
                        (field.name.clone(), printed)
                    })
                    .collect(),
            )
        }
        (_, value) => plain(value),
    }
}

/// Returns whether a type with names for JSON leaves a field out.
fn is_omitted(field: &Field, value: &Value) -> bool {
    match (field.shape, value) {
        (_, Value::Null) => true,
        (Shape::Repeated, Value::Array(items)) => items.is_empty(),
        (Shape::Map, Value::Object(entries)) => entries.is_empty(),
        _ => false,
    }
}

fn plain(value: &Value) -> PrintedValue {
    match value {
        Value::Array(items) => PrintedValue::List(items.iter().map(plain).collect()),
        Value::Object(entries) => PrintedValue::Struct(
            entries
                .iter()
                .map(|(key, value)| (key.clone(), plain(value)))
                .collect(),
        ),
        value => scalar(value),
    }
}

fn scalar(value: &Value) -> PrintedValue {
    PrintedValue::Scalar(escape_html(&value.to_string()))
}

pub(super) fn go_name(owner: &str, json: &str) -> String {
    let special = match (owner, json) {
        ("RBDVolumeSource" | "RBDPersistentVolumeSource", "monitors") => Some("CephMonitors"),
        ("RBDVolumeSource" | "RBDPersistentVolumeSource", "image") => Some("RBDImage"),
        ("RBDVolumeSource" | "RBDPersistentVolumeSource", "pool") => Some("RBDPool"),
        ("RBDVolumeSource" | "RBDPersistentVolumeSource", "user") => Some("RadosUser"),
        ("GlusterfsVolumeSource" | "GlusterfsPersistentVolumeSource", "endpoints") => {
            Some("EndpointsName")
        }
        ("DeviceAttribute", "int") => Some("IntValue"),
        ("DeviceAttribute", "bool") => Some("BoolValue"),
        ("DeviceAttribute", "string") => Some("StringValue"),
        ("DeviceAttribute", "version") => Some("VersionValue"),
        ("DeviceAttribute", "ints") => Some("IntValues"),
        ("DeviceAttribute", "bools") => Some("BoolValues"),
        ("DeviceAttribute", "strings") => Some("StringValues"),
        ("DeviceAttribute", "versions") => Some("VersionValues"),
        ("DeviceSelector", "cel") => Some("CEL"),
        _ => None,
    };
    let irregular = GO_NAMES.iter().find(|(name, _)| *name == json);
    if let Some(name) = special.or(irregular.map(|(_, go)| *go)) {
        return name.to_owned();
    }
    let mut letters = json.chars();
    let first = letters.next().map(|first| first.to_ascii_uppercase());
    first.into_iter().chain(letters).collect()
}

// === impl PrintedValue ===

impl PrintedValue {
    /// The value over several lines, each level one space further in.
    pub fn indented(&self) -> String {
        let mut text = String::new();
        self.write_indented(&mut text, 0);
        text
    }

    fn write_indented(&self, text: &mut String, depth: usize) {
        let line = |text: &mut String, depth: usize| {
            text.push('\n');
            text.extend(std::iter::repeat_n(' ', depth));
        };
        match self {
            Self::Scalar(value) => text.push_str(value),
            Self::List(items) if items.is_empty() => text.push_str("[]"),
            Self::Struct(fields) if fields.is_empty() => text.push_str("{}"),
            Self::List(items) => {
                text.push('[');
                for (place, item) in items.iter().enumerate() {
                    text.push_str(if place > 0 { "," } else { "" });
                    line(text, depth + 1);
                    item.write_indented(text, depth + 1);
                }
                line(text, depth);
                text.push(']');
            }
            Self::Struct(fields) => {
                text.push('{');
                for (place, (name, value)) in fields.iter().enumerate() {
                    text.push_str(if place > 0 { "," } else { "" });
                    line(text, depth + 1);
                    text.push_str(&key(name));
                    text.push_str(": ");
                    value.write_indented(text, depth + 1);
                }
                line(text, depth);
                text.push('}');
            }
        }
    }
}

impl fmt::Display for PrintedValue {
    /// The value in one line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Scalar(value) => f.write_str(value),
            Self::List(items) => {
                f.write_str("[")?;
                for (place, item) in items.iter().enumerate() {
                    write!(f, "{}{item}", if place > 0 { "," } else { "" })?;
                }
                f.write_str("]")
            }
            Self::Struct(fields) => {
                f.write_str("{")?;
                for (place, (name, value)) in fields.iter().enumerate() {
                    write!(
                        f,
                        "{}{}:{value}",
                        if place > 0 { "," } else { "" },
                        key(name)
                    )?;
                }
                f.write_str("}")
            }
        }
    }
}

fn key(name: &str) -> String {
    escape_html(&Value::from(name).to_string())
}
