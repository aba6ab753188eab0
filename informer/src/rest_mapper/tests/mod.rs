//! Tests of the mapper.
//!
//! - `name`: how names are read
//! - `lookup`: which resource a name means, and what is said when none or several do
//! - `kinds`: the resource of a kind
//! - `order`: groups, versions and preferences
//! - `driver`: questions to a scripted server on the paused clock
//! - `property`: tables made at random
//!
//! # Where client-go's cases are
//!
//! | client-go, controller-runtime | here |
//! |---|---|
//! | `RESTMapperVersionAndKindForResource`, `RESTMapperGroupForResource` | `lookup::names_mean_what_client_go_says` |
//! | `RESTMapperKindsFor`, `RESTMapperResourcesFor` | `lookup::every_resource_of_a_name_is_listed_in_order` |
//! | `KindToResource` | `name::plurals_are_guessed_as_client_go_does` |
//! | `RESTMapperResourceSingularizer` | `lookup::singular_names_come_from_the_server_or_the_kind` |
//! | `RESTMapperRESTMapping`, `…SelectsVersion`, `…RESTMappings`, `…ReportsErrorOnBadVersion` | `kinds` |
//! | `PriorityRESTMapper…ErrorHandling`, `…RESTMapping`, `…HonorsUserVersion` | `order`, `kinds`, with the errors in `lookup::what_may_be_in_a_group_that_failed_…` |
//! | `MultiRESTMapper…` | one table instead of a union: `order`, `property` |
//! | `RESTMapper` (discovery) | `order::core_v1_comes_first_…`, `order::a_resource_of_a_version_that_is_not_preferred_is_found` |
//! | `DeferredDiscoveryRESTMapper_CacheMiss` | `driver::one_miss_is_one_refresh_until_its_time_is_over` |
//! | `GetAPIGroupResources` | `driver::a_failing_group_leaves_the_others_usable_…` |
//! | `ReplaceAliases`, `KindFor`, `WarnAmbigious` | `lookup::names_mean_…`, `lookup::full_names_beat_short_names_…`, `lookup::a_short_name_…` |
//! | `KindForWithNewCRDs` | `driver::a_resource_that_appears_is_found_without_a_reset` |
//! | `CategoryExpansion`, `DiscoveryCategoryExpander` | `lookup::a_category_has_each_resource_once` |
//! | `LazyRestMapperProvider` | `driver`, each in both forms of discovery |
//! | memory cache: `RetryAfterCancellation`, `ServerGroupsFails`, `Partial…Failure`, `GroupsAndMaybeResources` | `discovery::tests::cached` |
//! | client: `GetServerGroupsWith…`, `Tolerates…`, `Fails…`, `TimeoutIsSet`, `Aggregated…`, `ContentTypeVersion`, `UseLegacyDiscovery`, `SplitGroupsAndResources` | `discovery::tests::client`, `discovery::tests::wire` |
//! | `ServerPreferredResources…`, `ServerSupportsVersion`, `FilteredBy` | `discovery::tests::table`; filtering is an iterator's |
//!
//! Left out, because we have no such thing: the cache on disk, `OpenAPI` documents, `CacheRoundTripper`.

mod name;
mod lookup;
mod kinds;
mod order;
mod driver;
mod property;

use super::{ResourceArg, RestMapperError, RestTable};
use crate::discovery::{
    DiscoveryError, ServerGroup, ServerResource, ServerResources, ServerVersion,
    tests::{group, resource},
};

/// Returns the meaning of a name in a table, in words: the resource, or the error.
fn resolve(table: &RestTable, name: &str) -> String {
    let resolved = name
        .parse::<ResourceArg>()
        .and_then(|name| table.resolve(&name));
    match resolved {
        Ok(resolved) => {
            let warnings = resolved.warnings.iter();
            let warnings: Vec<_> = warnings.map(|it| format!(" ({it})")).collect();
            format!("{}{}", resolved.mapping.resource, warnings.concat())
        }
        Err(error) => error.to_string(),
    }
}

fn table(groups: impl IntoIterator<Item = ServerGroup>) -> RestTable {
    RestTable::new(ServerResources::new(groups))
}

/// A version and its resources by plural and kind; `None` if it failed.
type Version<'a> = (&'a str, Option<&'a [(&'a str, &'a str)]>);

/// A group whose versions have different resources, or failed.
fn group_of(name: &str, versions: &[Version<'_>]) -> ServerGroup {
    let versions = versions.iter().map(|(version, resources)| match resources {
        Some(resources) => {
            let resources = resources.iter();
            let resources = resources.map(|(plural, kind)| resource(name, version, plural, kind));
            ServerVersion::served(version, resources.collect())
        }
        None => ServerVersion::failed(version, DiscoveryError::Stale),
    });
    ServerGroup::new(name, versions)
}

/// A group with one version and the given resources.
fn group_with(name: &str, version: &str, resources: Vec<ServerResource>) -> ServerGroup {
    ServerGroup::new(name, [ServerVersion::served(version, resources)])
}

fn arg(name: &str) -> ResourceArg {
    name.parse().unwrap()
}

fn error_of(table: &RestTable, name: &str) -> RestMapperError {
    table.resolve(&arg(name)).unwrap_err()
}
