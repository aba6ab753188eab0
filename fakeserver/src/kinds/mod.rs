//! Kinds: the built-in ones, those that definitions create at run time, and the rules of each.
//!
//! Each kind is a module in the folder of its group, with all its rules: defaults, preparation, validation, printed
//! cells, selectable fields, habits. Each has one [`Kind`], which the [`registry`] finds by the path of a request. The
//! request carries it as [`ResourceType::rules`].

mod kind;
mod habits;
mod resource_type;
mod endpoint;
pub(crate) mod scale;
mod selectable_field;
pub(crate) mod cel_names;
pub(crate) mod cel;
pub(crate) mod expression;
pub(crate) mod addresses;
pub(crate) mod formats;
mod resource_names;
pub(crate) mod metadata;
pub(crate) mod client_config;
pub(crate) mod conversion;
pub(crate) mod table;
mod claim_spec;
pub(crate) mod pod_spec;
mod workload;
pub(crate) mod custom_resources;
pub(crate) mod core;
pub(crate) mod apps;
pub(crate) mod batch;
pub(crate) mod autoscaling;
pub(crate) mod policy;
pub(crate) mod networking;
pub(crate) mod discovery;
pub(crate) mod storage;
pub(crate) mod rbac;
pub(crate) mod scheduling;
pub(crate) mod node;
pub(crate) mod coordination;
pub(crate) mod events;
pub(crate) mod certificates;
pub(crate) mod admission;
pub(crate) mod apiextensions;
pub(crate) mod apiregistration;
pub(crate) mod resource;
pub(crate) mod flowcontrol;
pub(crate) mod authentication;
pub(crate) mod authorization;
pub(crate) mod usage;
pub(crate) mod registry;
pub(crate) mod metrics;
mod initial_objects;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;

pub(crate) use self::{
    habits::{Habits, KeptByStatus, MetadataRechecks, Removal},
    initial_objects::{initial_object, initial_objects, uid_of as initial_uid},
    kind::{Accepted, Kind, KindRef, Validation, Verdict},
    resource_type::{ResourceType, Subresource},
    selectable_field::{SelectableField, SelectableFields},
};

pub(crate) use self::cel::parse_shard_selector;
use crate::value::resource::GroupResource;

/// The built-in kinds.
static KINDS: [&Kind; 68] = [
    &core::binding::KIND,
    &core::component_status::KIND,
    &core::config_map::KIND,
    &core::endpoints::KIND,
    &core::event::KIND,
    &core::limit_range::KIND,
    &core::namespace::KIND,
    &core::node::KIND,
    &core::persistent_volume::KIND,
    &core::persistent_volume_claim::KIND,
    &core::pod::KIND,
    &core::pod_template::KIND,
    &core::replication_controller::KIND,
    &core::resource_quota::KIND,
    &core::secret::KIND,
    &core::service::KIND,
    &core::service_account::KIND,
    &apps::controller_revision::KIND,
    &apps::daemon_set::KIND,
    &apps::deployment::KIND,
    &apps::replica_set::KIND,
    &apps::stateful_set::KIND,
    &batch::cron_job::KIND,
    &batch::job::KIND,
    &autoscaling::horizontal_pod_autoscaler::KIND,
    &policy::pod_disruption_budget::KIND,
    &networking::ingress::KIND,
    &networking::ingress_class::KIND,
    &networking::ip_address::KIND,
    &networking::network_policy::KIND,
    &networking::service_cidr::KIND,
    &discovery::endpoint_slice::KIND,
    &storage::csi_driver::KIND,
    &storage::csi_node::KIND,
    &storage::csi_storage_capacity::KIND,
    &storage::storage_class::KIND,
    &storage::volume_attachment::KIND,
    &storage::volume_attributes_class::KIND,
    &rbac::cluster_role::KIND,
    &rbac::cluster_role_binding::KIND,
    &rbac::role::KIND,
    &rbac::role_binding::KIND,
    &scheduling::priority_class::KIND,
    &node::runtime_class::KIND,
    &coordination::lease::KIND,
    &coordination::lease_candidate::KIND,
    &events::event::KIND,
    &certificates::certificate_signing_request::KIND,
    &admission::mutating_admission_policy::KIND,
    &admission::mutating_admission_policy_binding::KIND,
    &admission::mutating_webhook_configuration::KIND,
    &admission::validating_admission_policy::KIND,
    &admission::validating_admission_policy_binding::KIND,
    &admission::validating_webhook_configuration::KIND,
    &apiextensions::custom_resource_definition::KIND,
    &apiregistration::api_service::KIND,
    &resource::device_class::KIND,
    &resource::resource_claim::KIND,
    &resource::resource_claim_template::KIND,
    &resource::resource_slice::KIND,
    &flowcontrol::flow_schema::KIND,
    &flowcontrol::priority_level_configuration::KIND,
    &authentication::self_subject_review::KIND,
    &authentication::token_review::KIND,
    &authorization::local_subject_access_review::KIND,
    &authorization::self_subject_access_review::KIND,
    &authorization::self_subject_rules_review::KIND,
    &authorization::subject_access_review::KIND,
];

/// Returns the built-in kind of a resource.
pub(crate) fn built_in(group: &str, plural: &str) -> Option<&'static Kind> {
    let mut kinds = KINDS.into_iter();
    kinds.find(|kind| kind.group() == group && kind.plural() == plural)
}

/// Returns where the objects of a resource are stored, custom ones included.
pub(crate) fn storage_of(group: &str, plural: &str) -> GroupResource {
    match built_in(group, plural) {
        Some(kind) => kind.storage().clone(),
        None => GroupResource::new(group, plural),
    }
}
