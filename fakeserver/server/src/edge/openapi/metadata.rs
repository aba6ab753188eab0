//! Descriptions of the metadata that all objects have, for `kubectl explain`.

/// The definition of metadata.
pub(super) const OBJECT_META: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";

/// Returns the description of a field of metadata.
pub(super) fn description(field: &str) -> Option<&'static str> {
    Some(match field {
        "annotations" => {
            "Annotations is a map of data that tools and users keep with the object. They cannot be selected by."
        }
        "creationTimestamp" => {
            "CreationTimestamp is a timestamp of the server: when the object was created. Clients do not set it."
        }
        "deletionGracePeriodSeconds" => {
            "The seconds that the object has to end before it is removed. Set with deletionTimestamp, and only \
             shortened. Read-only."
        }
        "deletionTimestamp" => {
            "DeletionTimestamp is the time at which the object is to be removed, once its finalizers are gone. Set by \
             the server when a deletion is requested; it cannot be taken back. Read-only."
        }
        "finalizers" => {
            "The names of components that have work to do before the object is removed. Each removes its own; an object \
             with deletionTimestamp gets no new ones."
        }
        "generateName" => {
            "GenerateName is the beginning of a name that the server completes, for objects that are created without a \
             name."
        }
        "generation" => {
            "The number of the object's desired state, which the server increases with each change of it. Read-only."
        }
        "labels" => "Labels is a map of texts by which objects are organized and selected.",
        "managedFields" => {
            "ManagedFields records which manager owns which fields, in which version of the object. The server keeps it \
             for server-side apply."
        }
        "name" => {
            "Name is unique among the objects of a resource, within their namespace if they have one. It cannot be \
             changed."
        }
        "namespace" => {
            "Namespace is the space within which the name is unique. Objects of the cluster have none. It cannot be \
             changed."
        }
        "ownerReferences" => {
            "The objects that this one depends on. It is garbage collected when all of them are gone; at most one of them \
             is its controller."
        }
        "resourceVersion" => {
            "The version of the object, an opaque value of the server, by which clients find out whether it has changed. \
             Read-only."
        }
        "selfLink" => "SelfLink is a field of the past, which servers no longer set.",
        "uid" => {
            "UID tells the object from all others of the past and the future, also from those of the same name. Read-only."
        }
        _ => return None,
    })
}
