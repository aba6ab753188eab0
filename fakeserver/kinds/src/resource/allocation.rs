//! The status of claims: their allocation, its devices, and who uses them.

use fakeserver_value::{field::Field, findings::Findings};
use serde_json::{Value, json};

use crate::{
    addresses::check_interface_address,
    formats::{check_conditions, check_driver_name},
    pod_spec::validation::placement::check_node_selector,
    resource::{
        configuration::{check_configuration, check_raw},
        device::check_binding,
        names::{at_most, check_label_name, check_pool_name, check_uid, check_unique},
        requests::RequestNames,
    },
};

const ALLOCATION: &str = "io.k8s.api.resource.v1.AllocationResult";

const USERS_MAX: usize = 256;

const RESULTS_MAX: usize = 32;

const CONFIGURATIONS_MAX: usize = 64;

const SOURCES: [&str; 2] = ["FromClaim", "FromClass"];

const CONDITIONS_MAX: usize = 8;

const DATA_MAX_BYTES: usize = 10 << 10;

const INTERFACE_NAME_MAX_BYTES: usize = 256;

const HARDWARE_ADDRESS_MAX_BYTES: usize = 128;

const ADDRESSES_MAX: usize = 16;

/// The identity of a device, or of a share of it.
#[derive(Debug, PartialEq, Eq)]
struct DeviceId<'a> {
    driver: &'a str,
    pool: &'a str,
    device: &'a str,
    share: &'a str,
}

// === impl DeviceId ===

impl<'a> DeviceId<'a> {
    fn of(device: &Field<'a>) -> Self {
        Self {
            driver: device.at("driver").text(),
            pool: device.at("pool").text(),
            device: device.at("device").text(),
            share: device.at("shareID").text(),
        }
    }

    /// Prints it as Go prints the internal struct, whose fields show nothing in older versions.
    fn printed(&self, found: &Findings) -> String {
        if !found.is_on("DeviceIdsShown") {
            return r#"{"Driver":{},"Pool":{},"Device":{},"ShareID":{}}"#.to_owned();
        }
        format!(
            "{{\"Driver\":{},\"Pool\":{},\"Device\":{},\"ShareID\":{}}}",
            json!(self.driver),
            json!(self.pool),
            json!(self.device),
            json!(self.share)
        )
    }
}

/// Checks an update of the status of a claim.
pub(super) fn check_status(old: &Field<'_>, new: &Field<'_>, found: &mut Findings) {
    let (was, is) = (old.at("status"), new.at("status"));
    let allocation = is.at("allocation");
    check_users(new, &was, &is, found);
    let results = allocation.at("devices").at("results");
    let allocated: Vec<DeviceId<'_>> = results
        .items()
        .map(|result| DeviceId::of(&result))
        .collect();
    let mut ids = Vec::new();
    for device in is.at("devices").items() {
        let id = DeviceId::of(&device);
        check_device_status(&device, &allocated, found);
        if ids.contains(&id) {
            let printed = id.printed(found);
            found.duplicate_printed(&device, &printed);
        } else {
            ids.push(id);
        }
    }
    if !allocation.is_set() {
        return;
    }
    if !was.at("allocation").is_set() {
        check_allocation(&RequestNames::of(&new.at("spec")), &allocation, found);
    } else if was.get("allocation") != allocation.value() {
        found.invalid_struct(&allocation, ALLOCATION, "field is immutable");
    }
}

/// Checks the users of a claim, of which a deleted one gets no more.
fn check_users(claim: &Field<'_>, was: &Field<'_>, is: &Field<'_>, found: &mut Findings) {
    let users = is.at("reservedFor");
    let all = at_most(&users, USERS_MAX, found);
    for user in &all {
        for name in ["resource", "name", "uid"] {
            if !user.at(name).has_text() {
                found.required(&user.at(name), "");
            }
        }
    }
    check_unique(&all, Some("uid"), found);
    if users.is_empty() {
        return;
    }
    if !is.at("allocation").is_set() {
        found.forbidden(&users, "may not be specified when `allocated` is not set");
        return;
    }
    let before: Vec<&Value> = was
        .get("reservedFor")
        .as_array()
        .into_iter()
        .flatten()
        .collect();
    let has_more = users.items().any(|user| !before.contains(&user.value()));
    if has_more && claim.at("metadata").at("deletionTimestamp").is_set() {
        found.forbidden(
            &users,
            "new entries may not be added while `deallocationRequested` or `deletionTimestamp` are set",
        );
    }
}

fn check_device_status(device: &Field<'_>, allocated: &[DeviceId<'_>], found: &mut Findings) {
    check_driver_name(&device.at("driver"), found);
    check_pool_name(&device.at("pool"), found);
    check_label_name(&device.at("device"), found);
    if device.at("shareID").is_set() {
        check_uid(&device.at("shareID"), found);
    }
    let id = DeviceId::of(device);
    if !allocated.contains(&id) {
        let printed = id.printed(found);
        found.invalid_printed(device, &printed, "must be an allocated device in the claim");
    }
    let conditions = device.at("conditions");
    if conditions.len() > CONDITIONS_MAX {
        found.too_many(&conditions, CONDITIONS_MAX);
    }
    check_conditions(&conditions, found);
    if device.at("data").is_set() {
        check_raw(&device.at("data"), DATA_MAX_BYTES, found);
    }
    let network = device.at("networkData");
    for (name, bytes_max) in [
        ("interfaceName", INTERFACE_NAME_MAX_BYTES),
        ("hardwareAddress", HARDWARE_ADDRESS_MAX_BYTES),
    ] {
        if network.at(name).text().len() > bytes_max {
            found.too_long(&network.at(name), bytes_max);
        }
    }
    let addresses = at_most(&network.at("ips"), ADDRESSES_MAX, found);
    for address in &addresses {
        check_interface_address(address, found);
    }
    check_unique(&addresses, None, found);
}

/// Checks a new allocation.
fn check_allocation(names: &RequestNames<'_>, allocation: &Field<'_>, found: &mut Findings) {
    let devices = allocation.at("devices");
    for result in at_most(&devices.at("results"), RESULTS_MAX, found) {
        names.check_reference(&result.at("request"), found);
        check_driver_name(&result.at("driver"), found);
        check_pool_name(&result.at("pool"), found);
        check_label_name(&result.at("device"), found);
        check_binding(&result, found);
        if result.at("shareID").is_set() {
            check_uid(&result.at("shareID"), found);
        }
    }
    for configuration in at_most(&devices.at("config"), CONFIGURATIONS_MAX, found) {
        found.one_of(&configuration.at("source"), &SOURCES);
        names.check_references(&configuration.at("requests"), found);
        check_configuration(&configuration, found);
    }
    if allocation.at("nodeSelector").is_set() {
        check_node_selector(&allocation.at("nodeSelector"), found);
    }
}
