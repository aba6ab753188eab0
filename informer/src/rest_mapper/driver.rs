//! The mapper that asks: looks a name up in what is known, and has discovery read again what it is missing in.

use std::sync::Arc;

use arc_swap::ArcSwapOption;
use tokio::time::Instant;

use super::{
    error::RestMapperError,
    mapping::{ResolvedMapping, RestMapping},
    name::{PartialResource, ResourceArg},
    order::Preference,
    table::RestTable,
};
use crate::discovery::{
    CachedDiscovery, DiscoveryFailure, GroupKind, GroupResource, Scope, ServerResources,
};

/// Tells from a name which resource is meant, where it is served, the kind of its objects and their scope.
///
/// Clones share what is known. A name that is known is answered at once; one that is not makes discovery read again
/// what may have it, first the group that was named, then everything, as often as
/// [`CacheOptions`](crate::discovery::CacheOptions) allow.
///
/// # Examples
///
/// ```no_run
/// use informer::rest_mapper::RestMapper;
/// use kube::{Api, api::DynamicObject};
///
/// # async fn example(client: kube::Client) -> Result<(), Box<dyn std::error::Error>> {
/// let mapper = RestMapper::new(client.clone());
/// let mapping = mapper.resource_for("deploy").await?;
/// assert_eq!(mapping.resource.to_string(), "deployments.v1.apps");
/// let deployments: Api<DynamicObject> = Api::all_with(client, &mapping.api_resource());
/// # Ok(())
/// # }
/// ```
#[doc(alias = "RESTMapper")]
#[doc(alias = "DeferredDiscoveryRESTMapper")]
#[derive(Clone, Debug)]
pub struct RestMapper {
    discovery: CachedDiscovery,
    preferences: Arc<[Preference]>,
    table: Arc<ArcSwapOption<RestTable>>,
}

/// The number of failed groups up to which they are read again one by one instead of all together.
const GROUPS_MAX: usize = 3;

// === impl RestMapper ===

impl RestMapper {
    /// Asks by `client`. Nothing is read before the first question.
    pub fn new(client: kube::Client) -> Self {
        Self::from_discovery(CachedDiscovery::new(
            crate::discovery::DiscoveryClient::new(client),
        ))
    }

    /// Asks by a discovery cache, which may be shared with others.
    pub fn from_discovery(discovery: CachedDiscovery) -> Self {
        Self {
            discovery,
            preferences: Arc::new([]),
            table: Arc::new(ArcSwapOption::empty()),
        }
    }

    /// Sets what comes before the server's order when a name fits several resources, the strongest first.
    #[must_use]
    pub fn with_preferences(mut self, preferences: impl IntoIterator<Item = Preference>) -> Self {
        self.preferences = preferences.into_iter().collect();
        self.table = Arc::new(ArcSwapOption::empty());
        self
    }

    /// Resolves a name typed by a person: `po`, `pods`, `pod`, `Pod`, `deployments.apps`, `Deployment.v1.apps`.
    ///
    /// The reason why it might have meant something else is logged as a warning; [`resolve`](Self::resolve) returns it
    /// instead.
    ///
    /// # Errors
    ///
    /// See [`RestMapperError`]; its methods report whether to try again.
    ///
    /// # Cancel safety
    ///
    /// If dropped, a refresh that it runs is given up; the next question begins it again.
    #[doc(alias = "KindFor")]
    #[doc(alias = "ResourceFor")]
    pub async fn resource_for(&self, name: &str) -> Result<RestMapping, RestMapperError> {
        self.resolve(name).await.map(without_warnings)
    }

    /// As [`resource_for`](Self::resource_for), with what a careful caller says along with the answer.
    ///
    /// # Errors
    ///
    /// See [`RestMapperError`]; its methods report whether to try again.
    ///
    /// # Cancel safety
    ///
    /// If dropped, a refresh that it runs is given up; the next question begins it again.
    pub async fn resolve(&self, name: &str) -> Result<ResolvedMapping, RestMapperError> {
        let name: ResourceArg = name.parse()?;
        self.ask(|table| table.resolve(&name), |table| plan(table, &name))
            .await
    }

    /// As [`resource_for`](Self::resource_for), for a name whose parts are known.
    ///
    /// # Errors
    ///
    /// See [`RestMapperError`]; its methods report whether to try again.
    ///
    /// # Cancel safety
    ///
    /// If dropped, a refresh that it runs is given up; the next question begins it again.
    pub async fn resource_for_partial(
        &self,
        resource: PartialResource,
    ) -> Result<RestMapping, RestMapperError> {
        let name = ResourceArg::from(resource);
        let resolved = self.ask(|table| table.resolve(&name), |table| plan(table, &name));
        resolved.await.map(without_warnings)
    }

    /// Every resource that a name fits, first the one that comes first.
    ///
    /// # Errors
    ///
    /// See [`RestMapperError`]; its methods report whether to try again.
    ///
    /// # Cancel safety
    ///
    /// If dropped, a refresh that it runs is given up; the next question begins it again.
    #[doc(alias = "ResourcesFor")]
    #[doc(alias = "KindsFor")]
    pub async fn resources_for(&self, name: &str) -> Result<Vec<RestMapping>, RestMapperError> {
        let name: ResourceArg = name.parse()?;
        self.ask(
            |table| table.resources_for(&name),
            |table| plan(table, &name),
        )
        .await
    }

    /// The resource of a kind: in the first of `versions` that has it, or in the one that comes first if none is given.
    ///
    /// # Errors
    ///
    /// See [`RestMapperError`]; its methods report whether to try again.
    ///
    /// # Cancel safety
    ///
    /// If dropped, a refresh that it runs is given up; the next question begins it again.
    #[doc(alias = "RESTMapping")]
    pub async fn rest_mapping(
        &self,
        kind: &GroupKind,
        versions: &[&str],
    ) -> Result<RestMapping, RestMapperError> {
        let resolved = self.ask(
            |table| table.rest_mapping(kind, versions),
            |_| vec![Scope::Group(kind.group.clone())],
        );
        resolved.await.map(without_warnings)
    }

    /// The resources of a kind in each of `versions` that has it, in their order; in every version if none is given.
    ///
    /// # Errors
    ///
    /// See [`RestMapperError`]; its methods report whether to try again.
    ///
    /// # Cancel safety
    ///
    /// If dropped, a refresh that it runs is given up; the next question begins it again.
    #[doc(alias = "RESTMappings")]
    pub async fn rest_mappings(
        &self,
        kind: &GroupKind,
        versions: &[&str],
    ) -> Result<Vec<RestMapping>, RestMapperError> {
        self.ask(
            |table| table.rest_mappings(kind, versions),
            |_| vec![Scope::Group(kind.group.clone())],
        )
        .await
    }

    /// The singular name of a resource that is named in any way.
    ///
    /// # Errors
    ///
    /// See [`RestMapperError`]; its methods report whether to try again.
    ///
    /// # Cancel safety
    ///
    /// If dropped, a refresh that it runs is given up; the next question begins it again.
    #[doc(alias = "ResourceSingularizer")]
    pub async fn singular_of(&self, name: &str) -> Result<String, RestMapperError> {
        let name: ResourceArg = name.parse()?;
        self.ask(|table| table.singular_of(&name), |table| plan(table, &name))
            .await
    }

    /// The resources of a category, as in `all`; empty if nothing that is known is in it.
    ///
    /// # Errors
    ///
    /// Only if nothing is known at all. Groups that could not be discovered are left out; they are in
    /// [`RestTable::server_resources`] of [`table`](Self::table).
    ///
    /// # Cancel safety
    ///
    /// If dropped, a refresh that it runs is given up; the next question begins it again.
    #[doc(alias = "CategoryExpander")]
    pub async fn category(&self, name: &str) -> Result<Vec<GroupResource>, RestMapperError> {
        Ok(self.table().await?.category(name).to_vec())
    }

    /// Returns the present knowledge as a value, for many queries.
    ///
    /// # Errors
    ///
    /// If nothing could be read yet.
    ///
    /// # Cancel safety
    ///
    /// If dropped, a refresh that it runs is given up; the next question begins it again.
    pub async fn table(&self) -> Result<Arc<RestTable>, RestMapperError> {
        let resources = self.discovery.server_resources().await.map_err(Box::new)?;
        let is_of = |table: &RestTable, resources: &Arc<ServerResources>| {
            Arc::ptr_eq(table.server_resources(), resources)
        };
        if let Some(table) = self.table.load_full()
            && is_of(&table, &resources)
        {
            return Ok(table);
        }
        let table = Arc::new(RestTable::with_preferences(resources, &self.preferences));
        self.table.store(Some(Arc::clone(&table)));
        Ok(table)
    }

    /// The discovery cache; to invalidate it, say.
    #[doc(alias = "Reset")]
    pub fn discovery(&self) -> &CachedDiscovery {
        &self.discovery
    }

    /// Asks the table, and while it misses something, has read again what `plan` says, part by part.
    async fn ask<T>(
        &self,
        question: impl Fn(&RestTable) -> Result<T, RestMapperError>,
        plan: impl Fn(&RestTable) -> Vec<Scope>,
    ) -> Result<T, RestMapperError> {
        let asked_at = Instant::now();
        let mut table = self.table().await?;
        let mut missing = match question(&table) {
            Err(error) if error.is_missing() => error,
            answer => return answer,
        };
        let mut failures = Vec::new();
        for scope in plan(&table) {
            match self.discovery.refresh(scope.clone(), asked_at).await {
                // The list of groups says more than the failure to read one of them.
                Ok(()) if scope == Scope::Whole => failures.clear(),
                Ok(()) => {}
                Err(error) => failures.push(match scope {
                    Scope::Whole => DiscoveryFailure::of_everything(error),
                    Scope::Group(group) => DiscoveryFailure::of_group(&group, error),
                }),
            }
            table = self.table().await?;
            missing = match question(&table) {
                Err(error) if error.is_missing() => error,
                answer => return answer,
            };
        }
        Err(missing.with_failures(failures))
    }
}

/// Returns the scopes to read again for a name: the failed groups that may have it, the group that it names, and at
/// last everything, since a group may be named by its beginning.
fn plan(table: &RestTable, name: &ResourceArg) -> Vec<Scope> {
    let mut groups: Vec<String> = Vec::new();
    let mut add = |group: &str| {
        if !groups.iter().any(|known| known == group) {
            groups.push(group.to_owned());
        }
    };
    for reading in name.readings() {
        let Some(group) = &reading.group else {
            continue;
        };
        // `foos.example.com` hardly means version `example` of the group `com`.
        let is_likely = reading.version.as_deref().is_none_or(is_usual_version);
        if is_likely || table.server_resources().group(group).is_some() {
            add(group);
        }
    }
    if let Err(RestMapperError::Undiscovered { failures, .. }) = table.resolve(name) {
        let failed = failures.iter().filter_map(|it| it.group.as_deref());
        failed.for_each(&mut add);
    }
    let groups = groups.into_iter().map(Scope::Group);
    if groups.len() > GROUPS_MAX {
        return vec![Scope::Whole];
    }
    groups.chain([Scope::Whole]).collect()
}

/// Returns whether a version looks like `v1` or `v2beta1`: others are legal, but rare.
fn is_usual_version(version: &str) -> bool {
    let digits = version.strip_prefix('v').unwrap_or_default();
    digits.starts_with(|first: char| first.is_ascii_digit())
}

fn without_warnings(resolved: ResolvedMapping) -> RestMapping {
    for warning in &resolved.warnings {
        tracing::warn!(resource = %resolved.mapping.resource, %warning, "name may mean another resource");
    }
    resolved.mapping
}
