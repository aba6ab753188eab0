//! The downward API: fields of a pod for its containers.

use std::str::FromStr;

use fakeserver_value::{go_text::quote, schema::Quantity};
use serde_json::Value;

/// The scale of thousandths, in which amounts of processors are divided.
const MILLI: i64 = -3;

/// Returns the value of a field that `fieldRef` selects.
pub(super) fn field(pod: &Value, path: &str) -> Option<String> {
    let map = |name: &str| &pod["metadata"][name];
    if let Some((field, key)) = path.split_once("['") {
        let name = field.strip_prefix("metadata.")?;
        return string(&map(name)[key.strip_suffix("']")?]);
    }
    match path {
        "metadata.labels" => Some(lines(map("labels"))),
        "metadata.annotations" => Some(lines(map("annotations"))),
        "status.hostIPs" => Some(addresses(&pod["status"]["hostIPs"])),
        "status.podIPs" => Some(addresses(&pod["status"]["podIPs"])),
        _ => {
            let (part, name) = path.split_once('.')?;
            string(&pod[part][name])
        }
    }
}

/// Returns the amount that `resourceFieldRef` selects of a container, which is `container` unless another one is named.
pub(super) fn resource(pod: &Value, container: &Value, selector: &Value) -> Option<String> {
    let container = match selector["containerName"].as_str() {
        None | Some("") => container,
        Some(name) => {
            let all = pod["spec"]["containers"].as_array()?;
            all.iter().find(|container| container["name"] == name)?
        }
    };
    let (side, name) = selector["resource"].as_str()?.split_once('.')?;
    let amount = Quantity::from_str(container["resources"][side][name].as_str()?).ok()?;
    let divisor = match selector["divisor"].as_str() {
        None | Some("" | "0") => Quantity::from(1),
        Some(divisor) => Quantity::from_str(divisor).ok()?,
    };
    let scale = if name == "cpu" { MILLI } else { 0 };
    let (amount, divisor) = (amount.in_units_of(scale), divisor.in_units_of(scale));
    let quotient = amount.checked_div(divisor)?;
    let has_rest = amount % divisor != 0;
    Some((quotient + i64::from(has_rest)).to_string())
}

fn string(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned)
}

/// Returns a line for each entry, with its value in quotes.
fn lines(map: &Value) -> String {
    let entries = map.as_object().into_iter().flatten();
    let mut lines: Vec<String> = entries
        .map(|(name, value)| format!("{name}={}\n", quote(value.as_str().unwrap_or_default())))
        .collect();
    lines.sort_unstable();
    let text = lines.concat();
    text.trim_end().to_owned()
}

fn addresses(list: &Value) -> String {
    let list = list.as_array().into_iter().flatten();
    let addresses: Vec<&str> = list.filter_map(|entry| entry["ip"].as_str()).collect();
    addresses.join(",")
}
