use std::{collections::BTreeSet, sync::Arc};

use fakeserver_kinds::{ResourceType, definition::Definition, registry::Registry};
use fakeserver_value::resource::GroupVersionKind;
use fakeserver_versions::KubernetesVersion;
use serde_json::{Value, json};

use super::{
    Documents, DocumentsCache, definitions::Dialect, documents::subjects, operations::group_word,
    v2, v3,
};

fn parse(documents: &Documents, path: &str) -> Value {
    serde_json::from_slice(documents.v3(path).unwrap().json()).unwrap()
}

/// A registry with the custom resource `widgets.example.com`, whose objects have this schema.
fn registry_with(schema: &Value) -> Arc<Registry> {
    let definition = definition_in("example.com", schema);
    Arc::new(Registry::builtin(KubernetesVersion::DEFAULT).with_definitions(vec![definition]))
}

/// The definition of widgets in a group.
fn definition_in(group: &str, schema: &Value) -> Arc<Definition> {
    let crd = json!({
        "metadata": {"uid": group, "generation": 1},
        "spec": {
            "group": group,
            "scope": "Namespaced",
            "names": {"plural": "widgets", "kind": "Widget", "listKind": "Widgets"},
            "versions": [{
                "name": "v1",
                "served": true,
                "storage": true,
                "subresources": {"status": {}, "scale": {}},
                "schema": {"openAPIV3Schema": schema},
            }],
        },
        "status": {"conditions": [{"type": "Established", "status": "True"}]},
    });
    Definition::parse(KubernetesVersion::DEFAULT, &crd, &[]).unwrap()
}

fn widget(schema: &Value, dialect: Dialect) -> Value {
    let registry = registry_with(schema);
    let name = "com.example.v1.Widget";
    match dialect {
        Dialect::V2 => v2::document(&registry)["definitions"][name].clone(),
        Dialect::V3 => {
            let documents = DocumentsCache::default().of(registry);
            parse(&documents, "apis/example.com/v1")["components"]["schemas"][name].clone()
        }
    }
}

/// Every reference in a document. Properties that are called `$ref` are objects, not texts.
fn references(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(members) => {
            if let Some(Value::String(target)) = members.get("$ref") {
                found.insert(target.clone());
            }
            members.values().for_each(|value| references(value, found));
        }
        Value::Array(items) => items.iter().for_each(|value| references(value, found)),
        _ => {}
    }
}

fn operations(document: &Value) -> impl Iterator<Item = (&String, &String, &Value)> {
    let paths = document["paths"].as_object().unwrap().iter();
    paths.flat_map(|(path, item)| {
        let members = item.as_object().unwrap().iter();
        let operations = members.filter(|(name, _)| *name != "parameters");
        operations.map(move |(method, operation)| (path, method, operation))
    })
}

#[test]
fn every_version_has_a_document_in_which_every_reference_leads_to_a_definition() {
    let registry = Registry::builtin(KubernetesVersion::DEFAULT);
    for subject in subjects(&registry) {
        let document = v3::document(&registry, &subject);
        let mut found = BTreeSet::new();
        references(&document, &mut found);
        let schemas = &document["components"]["schemas"];
        for target in &found {
            let name = target.strip_prefix("#/components/schemas/").unwrap();
            assert!(schemas.get(name).is_some(), "{subject:?}: {target}");
        }
        assert!(!document["paths"].as_object().unwrap().is_empty());
    }
}

#[test]
fn the_document_of_version_2_is_complete_and_has_nothing_that_version_2_does_not_know() {
    let document = v2::document(&Registry::builtin(KubernetesVersion::DEFAULT));
    let mut found = BTreeSet::new();
    references(&document, &mut found);
    let definitions = document["definitions"].as_object().unwrap();
    for target in &found {
        let name = target.strip_prefix("#/definitions/").unwrap();
        assert!(definitions.contains_key(name), "{target}");
    }
    for (name, definition) in definitions {
        assert!(definition.get("oneOf").is_none(), "{name}");
    }
    let quantity = &definitions["io.k8s.apimachinery.pkg.api.resource.Quantity"];
    assert_eq!(quantity["type"], "string");
}

#[test]
fn every_resource_that_is_served_has_its_paths() {
    let registry = Registry::builtin(KubernetesVersion::DEFAULT);
    let document = v2::document(&registry);
    let paths = document["paths"].as_object().unwrap();
    let all = registry.groups().iter().flat_map(|group| &group.versions);
    for resource in all.flat_map(|version| &version.resources) {
        let ResourceType {
            plural,
            group,
            version,
            ..
        } = &**resource;
        let root = if group.is_empty() {
            format!("/api/{version}")
        } else {
            format!("/apis/{group}/{version}")
        };
        let root = if resource.is_namespaced {
            format!("{root}/namespaces/{{namespace}}")
        } else {
            root
        };
        let has_verb = |verbs: &[&str]| verbs.iter().any(|verb| resource.has_verb(verb));
        let collection = paths.contains_key(&format!("{root}/{plural}"));
        let is_expected = has_verb(&["list", "create", "deletecollection"]);
        assert_eq!(collection, is_expected, "{plural}");
        for subresource in &resource.subresources {
            let path = format!("{root}/{plural}/{{name}}/{}", subresource.name);
            assert!(paths.contains_key(&path), "{path}");
        }
    }
}

#[test]
fn operations_have_names_of_their_own() {
    let document = v2::document(&registry_with(&json!({"type": "object"})));
    let ids: Vec<&str> = operations(&document)
        .map(|(_, _, operation)| operation["operationId"].as_str().unwrap())
        .collect();
    let distinct: BTreeSet<&str> = ids.iter().copied().collect();
    assert_eq!(ids.len(), distinct.len());
    for id in [
        "listCoreV1PodForAllNamespaces",
        "readCoreV1NamespacedPodStatus",
        "connectCoreV1PostNamespacedPodExec",
        "replaceAppsV1NamespacedDeploymentScale",
        "deleteAppsV1CollectionNamespacedDeployment",
        "createCoreV1Namespace",
        "patchExampleComV1NamespacedWidgetStatus",
    ] {
        assert!(distinct.contains(id), "{id}");
    }
}

#[test]
fn groups_become_words() {
    for (group, word) in [
        ("", "Core"),
        ("apps", "Apps"),
        ("rbac.authorization.k8s.io", "RbacAuthorization"),
        ("stable.example.com", "StableExampleCom"),
    ] {
        assert_eq!(group_word(group), word);
    }
}

#[test]
fn a_patch_says_which_kind_it_is_for_and_knows_field_validation() {
    let documents = DocumentsCache::default().of(Registry::builtin(KubernetesVersion::DEFAULT));
    let document = parse(&documents, "apis/apps/v1");
    let patch =
        &document["paths"]["/apis/apps/v1/namespaces/{namespace}/deployments/{name}"]["patch"];
    let kind = json!({"group": "apps", "version": "v1", "kind": "Deployment"});
    assert_eq!(patch["x-kubernetes-group-version-kind"], kind);
    assert_eq!(patch["x-kubernetes-action"], "patch");
    let parameters = patch["parameters"].as_array().unwrap();
    let names: Vec<&Value> = parameters
        .iter()
        .map(|parameter| &parameter["name"])
        .collect();
    assert_eq!(
        names,
        ["dryRun", "fieldManager", "fieldValidation", "force"]
    );
    let bodies = patch["requestBody"]["content"].as_object().unwrap();
    assert!(bodies.contains_key("application/strategic-merge-patch+json"));
    let scale =
        &document["paths"]["/apis/apps/v1/namespaces/{namespace}/deployments/{name}/scale"]["get"];
    assert_eq!(scale["x-kubernetes-group-version-kind"]["kind"], "Scale");
}

#[test]
fn a_document_has_only_the_definitions_it_refers_to() {
    let documents = DocumentsCache::default().of(Registry::builtin(KubernetesVersion::DEFAULT));
    let apps = parse(&documents, "apis/apps/v1");
    let schemas = apps["components"]["schemas"].as_object().unwrap();
    assert!(schemas.contains_key("io.k8s.api.core.v1.Container"));
    assert!(!schemas.contains_key("io.k8s.api.core.v1.ConfigMap"));
    let containers = &schemas["io.k8s.api.core.v1.PodSpec"]["properties"]["containers"];
    assert_eq!(containers["x-kubernetes-patch-merge-key"], "name");
    assert_eq!(containers["x-kubernetes-list-map-keys"], json!(["name"]));
}

#[test]
fn in_version_3_nothing_stands_beside_a_reference() {
    let documents = DocumentsCache::default().of(Registry::builtin(KubernetesVersion::DEFAULT));
    let core = parse(&documents, "api/v1");
    let pod = &core["components"]["schemas"]["io.k8s.api.core.v1.Pod"];
    let meta = "#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";
    let metadata = &pod["properties"]["metadata"];
    assert_eq!(metadata["allOf"], json!([{"$ref": meta}]));
    assert!(metadata.get("$ref").is_none());
    assert!(metadata["description"].is_string());
    let v2 = v2::document(&Registry::builtin(KubernetesVersion::DEFAULT));
    let metadata = &v2["definitions"]["io.k8s.api.core.v1.Pod"]["properties"]["metadata"];
    assert!(metadata["$ref"].is_string() && metadata.get("allOf").is_none());
}

#[test]
fn a_custom_kind_has_its_own_schema_and_the_fields_of_all_objects() {
    let schema = json!({"type": "object", "description": "A widget.", "properties": {
        "metadata": {"type": "object"},
        "spec": {"type": "object", "description": "Its size.", "properties": {
            "size": {"type": "integer", "minimum": 1},
        }},
    }});
    let widget = widget(&schema, Dialect::V3);
    assert_eq!(widget["description"], "A widget.");
    assert_eq!(widget["properties"]["spec"], schema["properties"]["spec"]);
    assert!(widget["properties"]["metadata"]["allOf"].is_array());
    assert_eq!(widget["properties"]["kind"]["type"], "string");
    let kind = json!([{"group": "example.com", "version": "v1", "kind": "Widget"}]);
    assert_eq!(widget["x-kubernetes-group-version-kind"], kind);
}

#[test]
fn a_list_of_custom_objects_is_called_as_its_definition_says() {
    let registry = registry_with(&json!({"type": "object"}));
    let documents = DocumentsCache::default().of(registry);
    let document = parse(&documents, "apis/example.com/v1");
    let list = &document["components"]["schemas"]["com.example.v1.Widgets"];
    let item = "#/components/schemas/com.example.v1.Widget";
    assert_eq!(list["properties"]["items"]["items"]["$ref"], item);
    assert_eq!(list["required"], json!(["items"]));
}

#[test]
fn version_2_says_less_of_a_custom_kind_where_it_cannot_say_it() {
    let schema = json!({"type": "object", "required": ["maybe", "sure"], "properties": {
        "maybe": {"type": "object", "nullable": true, "properties": {"a": {"type": "string"}}},
        "open": {"type": "object", "x-kubernetes-preserve-unknown-fields": true,
            "properties": {"a": {"type": "string"}}},
        "sure": {"type": "string", "anyOf": [{"minLength": 1}]},
        "list": {"type": "array", "nullable": true, "items": {"type": "string"}},
    }});
    let widget = widget(&schema, Dialect::V2);
    let properties = &widget["properties"];
    assert_eq!(properties["maybe"], json!({}));
    let open = json!({"x-kubernetes-preserve-unknown-fields": true});
    assert_eq!(properties["open"], open);
    assert_eq!(properties["sure"], json!({"type": "string"}));
    assert_eq!(properties["list"], json!({}));
    assert_eq!(widget["required"], json!(["sure"]));
}

#[test]
fn version_2_omits_the_schema_of_a_kind_with_unknown_fields() {
    let schema = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true,
        "properties": {"spec": {"type": "object"}}});
    let closed = widget(&schema, Dialect::V2);
    assert!(closed.get("properties").is_none());
    let open = widget(&schema, Dialect::V3);
    assert_eq!(open["properties"]["spec"]["type"], "object");
}

#[test]
fn a_published_schema_has_the_meaning_of_the_definitions() {
    let either = json!([{"type": "integer"}, {"type": "string"}]);
    let schema = json!({"type": "object", "properties": {
        "port": {"x-kubernetes-int-or-string": true},
        "said": {"x-kubernetes-int-or-string": true, "anyOf": either},
        "more": {"x-kubernetes-int-or-string": true, "anyOf": [{"minimum": 1}]},
        "size": {"type": "integer", "default": 1, "nullable": false, "enum": []},
        "none": {"type": "object", "properties": {}},
        "values": {"type": "object", "required": ["a"], "additionalProperties": {"type": "string", "nullable": true}},
        "any": {"type": "object", "nullable": true, "required": ["a"],
            "properties": {"a": {"type": "string", "nullable": true}}},
    }});
    let newest = widget(&schema, Dialect::V3);
    let properties = &newest["properties"];
    assert_eq!(properties["port"]["anyOf"], either);
    assert_eq!(properties["said"], schema["properties"]["said"]);
    assert_eq!(properties["more"]["allOf"], json!([{"anyOf": either}]));
    assert_eq!(properties["size"], json!({"type": "integer", "default": 1}));
    assert_eq!(properties["none"], json!({"type": "object"}));
    let oldest = widget(&schema, Dialect::V2);
    let properties = &oldest["properties"];
    assert_eq!(
        properties["port"],
        json!({"x-kubernetes-int-or-string": true})
    );
    assert_eq!(properties["size"], json!({"type": "integer"}));
    assert!(properties["values"].get("required").is_none());
    assert_eq!(properties["any"], json!({"required": ["a"]}));
}

#[test]
fn a_definition_is_described_as_a_real_server_describes_it() {
    let registry = registry_with(&json!({"type": "object"}));
    let documents = DocumentsCache::default().of(registry);
    let document = parse(&documents, "apis/example.com/v1");
    let schemas = &document["components"]["schemas"];
    let says = |pointer: &str, prefix: &str| {
        let found = schemas.pointer(pointer).and_then(Value::as_str).unwrap();
        assert!(found.starts_with(prefix), "{pointer}: {found}");
    };
    says(
        "/com.example.v1.Widget/properties/apiVersion/description",
        "APIVersion defines",
    );
    says(
        "/com.example.v1.Widget/properties/metadata/description",
        "Standard object's metadata",
    );
    says(
        "/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta/properties/creationTimestamp/description",
        "CreationTimestamp is a timestamp",
    );
    says(
        "/com.example.v1.Widgets/description",
        "Widgets is a list of Widget",
    );
    says(
        "/com.example.v1.Widgets/properties/items/description",
        "List of widgets.",
    );
    assert!(document["components"].get("securitySchemes").is_none());
    let kinds = &schemas["io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions"];
    let kinds = kinds["x-kubernetes-group-version-kind"].as_array().unwrap();
    assert_eq!(kinds.len(), 53, "those of all groups");
    let paths = &document["paths"];
    let item = &paths["/apis/example.com/v1/namespaces/{namespace}/widgets/{name}"];
    assert_eq!(item["get"]["parameters"][0]["name"], "resourceVersion");
    let body = item["put"]["requestBody"]["content"].as_object().unwrap();
    assert!(body.keys().eq(["application/json", "application/yaml"]));
    assert!(paths.get("/apis/example.com/v1/watch/widgets").is_none());
}

#[test]
fn version_2_has_no_defaults() {
    fn has_defaults(schema: &Value) -> bool {
        let below = schema["properties"].as_object().into_iter().flatten();
        schema.get("default").is_some() || below.into_iter().any(|(_, schema)| has_defaults(schema))
    }
    let document = v2::document(&Registry::builtin(KubernetesVersion::DEFAULT));
    let mut definitions = document["definitions"].as_object().unwrap().values();
    assert!(!definitions.any(has_defaults));
}

#[test]
fn embedded_objects_are_objects() {
    let schema = json!({"type": "object", "properties": {
        "template": {"type": "object", "x-kubernetes-embedded-resource": true},
    }});
    let widget = widget(&schema, Dialect::V3);
    let template = &widget["properties"]["template"];
    assert_eq!(template["required"], json!(["kind", "apiVersion"]));
    assert!(template["properties"]["metadata"]["allOf"].is_array());
    // Where anything may stand, clients of version 2 would reject all but what is declared.
    let mut open = schema;
    open["properties"]["template"]["x-kubernetes-preserve-unknown-fields"] = json!(true);
    let open = self::widget(&open, Dialect::V2);
    assert!(open["properties"]["template"].get("properties").is_none());
}

#[test]
fn documents_are_made_once_for_each_state_and_shared_where_nothing_was_added() {
    let cache = DocumentsCache::default();
    let builtin = cache.of(Registry::builtin(KubernetesVersion::DEFAULT));
    let other = DocumentsCache::default().of(Registry::builtin(KubernetesVersion::DEFAULT));
    assert!(Arc::ptr_eq(&builtin, &other));
    let registry = registry_with(&json!({"type": "object"}));
    let custom = cache.of(Arc::clone(&registry));
    assert!(Arc::ptr_eq(&custom, &cache.of(registry)));
    let shared = custom.v3("apis/apps/v1").unwrap().json().as_ptr();
    assert_eq!(shared, builtin.v3("apis/apps/v1").unwrap().json().as_ptr());
    assert!(builtin.v3("apis/example.com/v1").is_none());
    assert!(custom.v3("apis/example.com/v1").is_some());
    // A group that only definitions have made has no document of its own.
    assert!(custom.v3("apis/example.com").is_none());
    assert!(custom.v3("apis/apps").is_some());
}

#[test]
fn a_custom_kind_is_named_by_its_group_backwards() {
    let kind = GroupVersionKind::new("stable.example.com", "v1", "CronTab");
    assert_eq!(super::custom::name(&kind), "com.example.stable.v1.CronTab");
}

#[test]
fn a_document_is_not_made_again_for_a_change_elsewhere() {
    let schema = json!({"type": "object"});
    let one = definition_in("example.com", &schema);
    let other = definition_in("other.com", &schema);
    let cache = DocumentsCache::default();
    let place = |documents: &Documents, path: &str| documents.v3(path).unwrap().json().as_ptr();
    let first =
        Registry::builtin(KubernetesVersion::DEFAULT).with_definitions(vec![Arc::clone(&one)]);
    let first = cache.of(Arc::new(first));
    let both = Registry::builtin(KubernetesVersion::DEFAULT).with_definitions(vec![one, other]);
    let both = cache.of(Arc::new(both));
    let path = "apis/example.com/v1";
    assert_eq!(place(&first, path), place(&both, path));
    assert!(first.v3("apis/other.com/v1").is_none());
    // Another schema is another document, and both are there.
    let changed = registry_with(&json!({"type": "object", "description": "new"}));
    let changed = cache.of(changed);
    assert_ne!(place(&both, path), place(&changed, path));
    let hash = |documents: &Documents| documents.v3(path).unwrap().hash().to_owned();
    assert_ne!(hash(&both), hash(&changed));
}
