//! The families and ranges of addresses, on the command line.

use clap::Args;
use fakeserver_kinds::core::service::range::{IpFamily, ServiceRange};
use fakeserver_server::FakeServerBuilder;

/// The variable by which `fakeserver envtest` gives each control plane its ranges.
pub(super) const SERVICE_RANGE_VARIABLE: &str = "FAKESERVER_SERVICE_CLUSTER_IP_RANGE";
/// The range that envtest gives its API server if nobody has chosen another.
const RANGE_OF_ENVTEST: &str = "10.0.0.0/24";

#[derive(Debug, Args)]
pub(super) struct AddressOptions {
    /// IP families of the cluster: `ipv4`, `ipv6`, `ipv4,ipv6` or `ipv6,ipv4`, the primary one first. The default is `ipv4`.
    ///
    /// Services have addresses of `10.0.0.0/16` and `fd00:10:96::/112`, unless `--service-cluster-ip-range` says otherwise;
    /// pods of `10.128.0.0/9` and `fd00:10:128::/48`, nodes of `172.18.0.0/16` and `fd00:172:18::/112`. Nothing listens there:
    /// the server itself listens where it always does.
    #[arg(long, value_name = "LIST", value_parser = parse_families)]
    ip_families: Option<DefaultRange>,

    /// Ranges of the addresses of services: one of IPv4 or IPv6, or one of each with a comma between, the primary one first.
    /// The default is `10.0.0.0/16`, or what the objects of a data file say.
    ///
    /// Its families are those of the cluster. A range has eight addresses at least; one of IPv6 is `/64` at most.
    #[arg(long, value_name = "CIDR[,CIDR]")]
    service_cluster_ip_range: Option<ServiceRange>,
}

/// The default ranges of the families that a user names.
#[derive(Clone, Copy, Debug)]
struct DefaultRange(ServiceRange);

// === impl AddressOptions ===

impl AddressOptions {
    /// Returns the ranges that are asked for, if any are.
    ///
    /// # Errors
    ///
    /// The families and the ranges contradict each other.
    pub(super) fn service_range(&self) -> Result<Option<ServiceRange>, String> {
        let Some(DefaultRange(default)) = self.ip_families else {
            return Ok(self.service_cluster_ip_range);
        };
        match self.service_cluster_ip_range {
            Some(range) if !range.families().eq(default.families()) => Err(format!(
                "--ip-families {}: the ranges of --service-cluster-ip-range {range} are of {}; leave out one of the \
                 two, or let both name the same families in the same order",
                spelled(default),
                spelled(range)
            )),
            chosen => Ok(chosen.or(Some(default))),
        }
    }

    pub(super) fn configure(
        &self,
        builder: FakeServerBuilder,
    ) -> Result<FakeServerBuilder, String> {
        Ok(match self.service_range()? {
            Some(range) => builder.with_service_range(range),
            None => builder,
        })
    }
}

/// Returns the families of ranges as `--ip-families` spells them.
fn spelled(range: ServiceRange) -> String {
    let names: Vec<String> = range
        .families()
        .map(|family| family.name().to_lowercase())
        .collect();
    names.join(",")
}

fn parse_families(text: &str) -> Result<DefaultRange, String> {
    let all = [IpFamily::V4, IpFamily::V6]
        .into_iter()
        .flat_map(|primary| [false, true].map(|dual| ServiceRange::of_families(primary, dual)));
    let wanted = text.to_lowercase().replace(' ', "");
    let mut found = all.filter(|range| spelled(*range) == wanted);
    found.next().map(DefaultRange).ok_or_else(|| {
        format!("{text:?} names no families; try `ipv4`, `ipv6`, `ipv4,ipv6` or `ipv6,ipv4`")
    })
}

/// Returns the ranges of an API server that `fakeserver envtest` starts: `chosen` of them, or else those of its flag, which
/// envtest gives in any case.
///
/// # Errors
///
/// A text is no range, or both name ranges, and not the same.
pub(super) fn range_of_server(
    flag: Option<&str>,
    chosen: Option<&str>,
) -> Result<Option<ServiceRange>, String> {
    let parse = |name: &str, text: Option<&str>| {
        let range = text.map(str::parse::<ServiceRange>).transpose();
        range.map_err(|error| format!("{name}: {error}"))
    };
    let name = "--service-cluster-ip-range";
    let (own, chosen) = (parse(name, flag)?, parse(SERVICE_RANGE_VARIABLE, chosen)?);
    match (own, chosen) {
        (Some(own), Some(chosen)) if own != chosen && flag != Some(RANGE_OF_ENVTEST) => {
            Err(format!(
                "{name} {own}: {SERVICE_RANGE_VARIABLE} is {chosen}; leave out the flag, or `--ip-families` and {name} of \
                 `fakeserver envtest`"
            ))
        }
        (own, chosen) => Ok(chosen.or(own)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(families: Option<&str>, range: Option<&str>) -> AddressOptions {
        AddressOptions {
            ip_families: families.map(|text| parse_families(text).unwrap()),
            service_cluster_ip_range: range.map(|text| text.parse().unwrap()),
        }
    }

    #[test]
    fn families_choose_ranges_and_do_not_contradict_them() {
        for (families, range, expected) in [
            (None, None, Ok(None)),
            (None, Some("fd00::/112"), Ok(Some("fd00::/112"))),
            (Some("ipv4"), None, Ok(Some("10.0.0.0/16"))),
            (Some("IPv6"), None, Ok(Some("fd00:10:96::/112"))),
            (
                Some("ipv4, ipv6"),
                None,
                Ok(Some("10.0.0.0/16,fd00:10:96::/112")),
            ),
            (
                Some("ipv6,ipv4"),
                None,
                Ok(Some("fd00:10:96::/112,10.0.0.0/16")),
            ),
            (
                Some("ipv6,ipv4"),
                Some("fd00::/112,10.1.0.0/16"),
                Ok(Some("fd00::/112,10.1.0.0/16")),
            ),
            (Some("ipv4"), Some("fd00::/112"), Err("are of ipv6")),
            (
                Some("ipv6,ipv4"),
                Some("10.1.0.0/16,fd00::/112"),
                Err("are of ipv4,ipv6"),
            ),
            (
                Some("ipv4,ipv6"),
                Some("10.1.0.0/16"),
                Err("--ip-families ipv4,ipv6"),
            ),
        ] {
            let found = options(families, range).service_range();
            match (found, expected) {
                (Ok(found), Ok(expected)) => {
                    let found = found.map(|range| range.to_string());
                    assert_eq!(found.as_deref(), expected);
                }
                (Err(found), Err(expected)) => assert!(found.contains(expected), "{found}"),
                (found, _) => panic!("{families:?} {range:?}: {found:?}"),
            }
        }
        for text in ["", "ipv5", "ipv4,ipv4", "ipv4,ipv6,ipv4"] {
            assert!(parse_families(text).unwrap_err().contains("try `ipv4`"));
        }
    }

    #[test]
    fn a_chosen_range_replaces_the_one_that_envtest_gives() {
        let dual = "10.0.0.0/16,fd00::/112";
        for (flag, chosen, expected) in [
            (None, None, None),
            (Some("10.9.0.0/24"), None, Some("10.9.0.0/24")),
            (
                Some("10.9.0.0/24,fd00::/112"),
                None,
                Some("10.9.0.0/24,fd00::/112"),
            ),
            (Some(RANGE_OF_ENVTEST), Some(dual), Some(dual)),
            (None, Some(dual), Some(dual)),
            (Some(dual), Some(dual), Some(dual)),
        ] {
            let found = range_of_server(flag, chosen).unwrap();
            let found = found.map(|range| range.to_string());
            assert_eq!(found.as_deref(), expected);
        }
        let why = range_of_server(Some("10.9.0.0/24"), Some(dual)).unwrap_err();
        assert!(why.contains("leave out the flag"), "{why}");
        let why = range_of_server(Some("10.9.0.0/24,10.8.0.0/24"), None).unwrap_err();
        assert!(why.contains("must be of different IP family"), "{why}");
    }
}
