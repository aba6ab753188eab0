//! Feature gates, on the command line.

use std::collections::BTreeMap;

use clap::Args;
use fakeserver_server::{FakeServerBuilder, Feature};
use fakeserver_versions::{KubernetesVersion, Stage};

/// The gate of answers and bodies in CBOR.
const CBOR: &str = "CBORServingAndStorage";
/// The gate of lists and watches of shards.
const SHARDS: &str = "ShardedListAndWatch";
/// The gate of elections that the server holds.
const ELECTIONS: &str = "CoordinatedLeaderElection";
/// The gate of everything that is in an alpha stage, CBOR and shards among it.
const ALL_ALPHA: &str = "AllAlpha";
/// The gate of everything that is in a beta stage, elections among it.
const ALL_BETA: &str = "AllBeta";

#[derive(Debug, Args)]
pub(super) struct FeatureGateOptions {
    /// Feature gates of kube-apiserver: a list of pairs, as in `CBORServingAndStorage=true`; can be repeated.
    ///
    /// `CBORServingAndStorage` serves CBOR, `ShardedListAndWatch` selects by `shardSelector`, `CoordinatedLeaderElection` serves lease candidates and elects leaders among them, `WatchList` and `WatchListCompression` are about streaming lists, `ManagedFieldsOptOut` leaves managed fields out for clients that ask for it, `ConsistentListFromCacheSkipTimeoutFallback` refuses lists that the fault `late_cache` delays, `GenericWorkload` and `EvictionRequestAPI` serve workloads, pod groups and eviction requests from 1.37. The others are known by name only.
    #[arg(long, value_name = "LIST")]
    feature_gates: Vec<String>,
}

// === impl FeatureGateOptions ===

impl FeatureGateOptions {
    /// Takes lists of pairs that another command line has.
    pub(super) fn of(lists: &[String]) -> Self {
        Self {
            feature_gates: lists.to_vec(),
        }
    }

    /// # Errors
    ///
    /// A list is no list of pairs, or names what kube-apiserver does not have or cannot set; in its words, after the option.
    pub(super) fn configure(
        &self,
        kubernetes: KubernetesVersion,
        builder: FakeServerBuilder,
    ) -> Result<FakeServerBuilder, String> {
        let set = parse(kubernetes, &self.feature_gates)
            .map_err(|error| format!("--feature-gates: {error}"))?;
        let has_effect = |name: &str| {
            [CBOR, SHARDS, ELECTIONS, ALL_ALPHA, ALL_BETA].contains(&name)
                || Feature::ALL.iter().any(|feature| feature.gate() == name)
        };
        for name in set.keys().filter(|name| !has_effect(name)) {
            eprintln!("warning: the feature gate {name} has no effect here");
        }
        let is_on = |name| {
            let Some(gate) = kubernetes.gates().find_settable(name) else {
                return false;
            };
            let of_stage = match gate.stage() {
                Stage::Alpha => set.get(ALL_ALPHA),
                Stage::Beta => set.get(ALL_BETA),
                Stage::Ga | Stage::Deprecated => None,
            };
            let value = set.get(name).or(of_stage).copied();
            value.unwrap_or(gate.default_value())
        };
        let builder = Feature::ALL.into_iter().fold(builder, |builder, feature| {
            builder.with_feature(feature, is_on(feature.gate()))
        });
        Ok(builder
            .with_cbor(is_on(CBOR))
            .with_shards(is_on(SHARDS))
            .with_coordinated_leader_election(is_on(ELECTIONS)))
    }
}

/// Returns the gates in lists, of which the last counts.
fn parse(
    kubernetes: KubernetesVersion,
    lists: &[String],
) -> Result<BTreeMap<String, bool>, String> {
    let mut set = BTreeMap::new();
    let mut is_prefixed = None;
    let pairs = lists.iter().flat_map(|list| list.split(','));
    for pair in pairs.filter(|pair| !pair.is_empty()) {
        let (component, pair) = match pair.split_once(':') {
            Some((component, pair)) => (Some(component.trim()), pair),
            None => (None, pair),
        };
        if let Some(component) = component.filter(|component| *component != "kube") {
            return Err(format!("component not registered: {component}"));
        }
        if *is_prefixed.get_or_insert(component.is_some()) != component.is_some() {
            return Err(
                "set kube feature gates with default empty prefix or kube: prefix consistently, do not mix use"
                    .to_owned(),
            );
        }
        let (name, value) = match pair.split_once('=') {
            Some((name, value)) => (name.trim(), value.trim()),
            None => return Err(format!("missing bool value for {}", pair.trim())),
        };
        let value = parse_bool(value)
            .ok_or_else(|| format!("invalid value of {name}={value}, err: strconv.ParseBool: parsing {value:?}: invalid syntax"))?;
        let gate = kubernetes.gates().find_settable(name);
        let gate = gate.ok_or_else(|| format!("unrecognized feature gate: {name}"))?;
        if gate.is_locked() && gate.default_value() != value {
            return Err(format!(
                "cannot set feature gate {name} to {value}, feature is locked to {}",
                gate.default_value()
            ));
        }
        set.insert(name.to_owned(), value);
    }
    Ok(set)
}

/// Reads a boolean as Go does.
fn parse_bool(text: &str) -> Option<bool> {
    match text {
        "1" | "t" | "T" | "true" | "TRUE" | "True" => Some(true),
        "0" | "f" | "F" | "false" | "FALSE" | "False" => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(lists: &[&str]) -> Result<Vec<(String, bool)>, String> {
        let lists: Vec<String> = lists.iter().map(|list| (*list).to_owned()).collect();
        parse(KubernetesVersion::DEFAULT, &lists).map(|set| set.into_iter().collect())
    }

    #[test]
    fn lists_are_read_as_kube_apiserver_reads_them() {
        let on = |name: &str| (name.to_owned(), true);
        assert_eq!(parsed(&[""]), Ok(Vec::new()));
        assert_eq!(
            parsed(&[
                "CBORServingAndStorage=true,,WatchList = 1",
                "CBORServingAndStorage=T"
            ]),
            Ok(vec![on(CBOR), on("WatchList")])
        );
        assert_eq!(parsed(&["kube:AllAlpha=true"]), Ok(vec![on(ALL_ALPHA)]));
        for (list, error) in [
            ("Nope=true", "unrecognized feature gate: Nope"),
            (
                "CBORServingAndStorage",
                "missing bool value for CBORServingAndStorage",
            ),
            (
                "CBORServingAndStorage=maybe",
                "invalid value of CBORServingAndStorage=maybe, err: strconv.ParseBool: parsing \"maybe\": invalid syntax",
            ),
            (
                "kube:CBORServingAndStorage=true,AllBeta=false",
                "set kube feature gates with default empty prefix or kube: prefix consistently, do not mix use",
            ),
            ("wardle:A=true", "component not registered: wardle"),
            (
                "APIServerTracing=false",
                "cannot set feature gate APIServerTracing to false, feature is locked to true",
            ),
        ] {
            assert_eq!(parsed(&[list]), Err(error.to_owned()), "{list}");
        }
    }

    #[test]
    fn gates_are_those_of_the_version() {
        let parse = |version: &str| {
            parse(
                version.parse().unwrap(),
                &["ShardedListAndWatch=true".to_owned()],
            )
        };
        assert!(parse("1.36").is_ok());
        assert_eq!(
            parse("1.35"),
            Err("unrecognized feature gate: ShardedListAndWatch".to_owned())
        );
    }

    #[test]
    fn the_newest_version_has_gates_of_the_next_kubernetes() {
        let parse = |version: &str| {
            parse(
                version.parse().unwrap(),
                &["ManagedFieldsOptOut=true".to_owned()],
            )
        };
        assert!(parse("latest").is_ok());
        assert_eq!(
            parse("latest-1"),
            Err("unrecognized feature gate: ManagedFieldsOptOut".to_owned())
        );
    }
}
