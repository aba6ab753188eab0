//! The list of the built-in kinds: the one place that knows all groups.

use fakeserver_value::resource::GroupResource;

use crate::{
    Kind, admission, apiextensions, apiregistration, apps, authentication, authorization,
    autoscaling, batch, certificates, coordination, core, discovery, events, flowcontrol,
    lifecycle, networking, node, policy, rbac, resource, scheduling, storage, storagemigration,
};

/// The built-in kinds.
pub(crate) static KINDS: &[&Kind] = &[
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
    &certificates::cluster_trust_bundle::KIND,
    &certificates::pod_certificate_request::KIND,
    &resource::device_taint_rule::KIND,
    &storagemigration::storage_version_migration::KIND,
    &scheduling::priority_class::KIND,
    &scheduling::pod_group::KIND,
    &scheduling::workload::KIND,
    &lifecycle::eviction::KIND,
    &lifecycle::eviction_request::KIND,
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
pub fn built_in(group: &str, plural: &str) -> Option<&'static Kind> {
    let mut kinds = KINDS.iter().copied();
    kinds.find(|kind| kind.group() == group && kind.plural() == plural)
}

/// Returns where the objects of a resource are stored, custom ones included.
pub fn storage_of(group: &str, plural: &str) -> GroupResource {
    match built_in(group, plural) {
        Some(kind) => kind.storage().clone(),
        None => GroupResource::new(group, plural),
    }
}
