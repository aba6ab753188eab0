//! Servers that begin with what is in files.

use std::{error::Error, path::Path};

use fakeserver::{FakeServer, FakeServerBuilder};

use crate::support::{Api, CONFIG_MAPS, DEPLOYMENTS, PODS};

/// A deployment and its pod as a real cluster prints them, and an object written by hand.
const DUMP: &str = r#"
apiVersion: v1
kind: List
metadata:
  resourceVersion: ""
items:
- apiVersion: apps/v1
  kind: Deployment
  metadata:
    annotations:
      deployment.kubernetes.io/revision: "3"
    creationTimestamp: "2024-05-06T07:08:09Z"
    generation: 5
    name: web
    namespace: default
    resourceVersion: "123456"
    uid: 0c1d4cf4-3f2b-4f4e-9d5e-0123456789ab
  spec:
    replicas: 2
    selector:
      matchLabels: {app: web}
    template:
      metadata:
        labels: {app: web}
      spec:
        containers:
        - image: nginx
          name: web
  status:
    observedGeneration: 5
    replicas: 2
- apiVersion: v1
  kind: Pod
  metadata:
    creationTimestamp: "2024-05-06T07:08:10Z"
    name: web-1
    namespace: default
    ownerReferences:
    - apiVersion: apps/v1
      controller: true
      kind: Deployment
      name: web
      uid: 0c1d4cf4-3f2b-4f4e-9d5e-0123456789ab
    uid: 1c1d4cf4-3f2b-4f4e-9d5e-0123456789ab
  spec:
    containers:
    - image: nginx
      name: web
    nodeName: node-1
  status:
    phase: Running
    podIP: 10.1.2.3
"#;
const WIDGETS: &str = r"
kind: Widget
apiVersion: example.com/v1
metadata: {name: w, namespace: tools}
spec: {size: 4}
---
kind: CustomResourceDefinition
apiVersion: apiextensions.k8s.io/v1
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: widgets, singular: widget, kind: Widget}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec: {type: object, properties: {size: {type: integer}}}
---
kind: Namespace
apiVersion: v1
metadata: {name: tools, labels: {team: x}}
";

fn builder(directory: &Path, files: &[(&str, &str)]) -> FakeServerBuilder {
    for (name, text) in files {
        std::fs::write(directory.join(name), text).unwrap();
    }
    FakeServer::builder().with_manifests(directory)
}

#[tokio::test]
async fn a_dump_comes_back_as_it_was() {
    let directory = tempfile::tempdir().unwrap();
    let builder = builder(directory.path(), &[("dump.yaml", DUMP)]);
    let api = Api {
        server: builder.build(),
    };
    let web = api.get(&format!("{DEPLOYMENTS}/web")).await.ok();
    let metadata = &web["metadata"];
    assert_eq!(metadata["generation"], 5);
    assert_eq!(metadata["creationTimestamp"], "2024-05-06T07:08:09Z");
    assert_eq!(web["status"]["observedGeneration"], 5);
    assert_ne!(metadata["resourceVersion"], "123456");
    let pod = api.get(&format!("{PODS}/web-1")).await.ok();
    assert_eq!(
        pod["metadata"]["ownerReferences"][0]["uid"],
        metadata["uid"]
    );
    assert_eq!(pod["status"]["podIP"], "10.1.2.3");
}

#[tokio::test]
async fn files_need_no_order() {
    let directory = tempfile::tempdir().unwrap();
    let builder = builder(directory.path(), &[("widgets.yaml", WIDGETS)]);
    let api = Api {
        server: builder.build(),
    };
    let widget = "/apis/example.com/v1/namespaces/tools/widgets/w";
    assert_eq!(api.get(widget).await.ok()["spec"]["size"], 4);
    let namespace = api.get("/api/v1/namespaces/tools").await.ok();
    assert_eq!(namespace["metadata"]["labels"]["team"], "x");
}

#[tokio::test]
async fn rejections_name_file_document_and_field() {
    let bad = DUMP.replace("phase: Running", "phase: [Running]");
    let unknown = DUMP.replace("replicas: 2\n    selector", "replicaz: 2\n    selector");
    let invalid = WIDGETS.replace("size: 4", "size: four");
    for (text, place, field) in [
        (
            bad,
            "bad.yaml, document 1, item 2: Pod default/web-1: ",
            "Go struct field PodStatus.status.phase of type",
        ),
        (
            unknown,
            "bad.yaml, document 1, item 1: Deployment default/web: ",
            "unknown field \"spec.replicaz\"",
        ),
        (
            invalid,
            "bad.yaml, document 1: Widget tools/w: ",
            "spec.size: Invalid value: \"string\"",
        ),
        (
            "kind: Gadget\napiVersion: x/v1\nmetadata: {name: g}".to_owned(),
            "bad.yaml, document 1: Gadget g: ",
            "no matches for kind",
        ),
    ] {
        let directory = tempfile::tempdir().unwrap();
        let builder = builder(directory.path(), &[("bad.yaml", &text)]);
        let error = builder.try_build().unwrap_err();
        let mut message = String::new();
        let mut source = error.source();
        while let Some(error) = source {
            message.push_str(&error.to_string());
            message.push_str(": ");
            source = error.source();
        }
        assert!(
            message.contains(place) && message.contains(field),
            "{message}"
        );
    }
}

#[tokio::test]
async fn a_data_file_counts_for_more_than_manifests() {
    let directory = tempfile::tempdir().unwrap();
    let data = tempfile::tempdir().unwrap();
    let file = data.path().join("state");
    let server = builder(directory.path(), &[("dump.yaml", DUMP)]);
    let server = server.with_data_file(&file).build();
    let api = Api { server };
    api.delete(&format!("{DEPLOYMENTS}/web")).await.ok();
    api.config_map("mine").await;
    api.server.save().unwrap();
    drop(api);
    let server = FakeServer::builder().with_manifests(directory.path());
    let api = Api {
        server: server.with_data_file(&file).build(),
    };
    api.get(&format!("{DEPLOYMENTS}/web")).await.refused(404);
    api.get(&format!("{CONFIG_MAPS}/mine")).await.ok();
    api.server.reset();
    api.get(&format!("{DEPLOYMENTS}/web")).await.ok();
    api.get(&format!("{CONFIG_MAPS}/mine")).await.refused(404);
}
