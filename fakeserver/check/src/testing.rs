//! Parts that the tests of several rooms share.

use std::future::Future;

use crate::sources::ManifestSet;

/// The definition of a kind of custom resources, widgets.
pub(crate) const WIDGETS: &str = "\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {kind: Widget, plural: widgets}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {size: {type: integer}}}}}}
";

/// Runs a future to its end.
pub(crate) fn run<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .start_paused(true)
        .build();
    runtime.unwrap().block_on(future)
}

/// Returns a set of files with these names and texts.
pub(crate) fn set(files: &[(&str, &str)]) -> ManifestSet {
    let mut set = ManifestSet::default();
    for (name, text) in files {
        set.add(name, text.as_bytes().to_vec());
    }
    set
}
