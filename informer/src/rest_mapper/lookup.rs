//! Finding entries in the table: the senses of a name, one after the other, and what is said when there is none.

use super::{
    error::RestMapperError,
    mapping::ResolveWarning,
    name::{PartialResource, ResourceArg},
    suggest::{SUGGESTIONS_MAX, closest_names},
    table::{Entry, Index, RestTable, UnknownVersion},
};
use crate::discovery::{GroupKind, GroupResource};

/// The entries that a name fits in one of its senses, first the one that comes first. There is at least one.
pub(super) struct Candidates<'a> {
    pub(super) entries: Vec<&'a Entry>,
    /// The reading of the name.
    reading: &'a PartialResource,
    /// Other resources that have it as a short name too.
    also: Vec<GroupResource>,
}

// === impl RestTable ===

impl RestTable {
    /// The one entry that a name means.
    pub(super) fn find<'a>(
        &'a self,
        name: &'a ResourceArg,
    ) -> Result<(&'a Entry, Vec<ResolveWarning>), RestMapperError> {
        let candidates = self.candidates(name);
        let candidates = candidates.ok_or_else(|| self.missing_resource(name))?;
        let found = candidates.entries[0];
        let rivals = candidates.entries.iter().skip(1);
        if rivals.take(1).any(|rival| rival.order == found.order) {
            let candidates = candidates.entries.iter();
            return Err(RestMapperError::Ambiguous {
                name: name.to_string(),
                candidates: candidates.map(|it| it.mapping.resource.clone()).collect(),
            });
        }
        let also = candidates.also.into_iter();
        let also = also.map(|resource| ResolveWarning::AlsoMatches {
            name: candidates.reading.name.clone(),
            resource,
        });
        // A group that has what was asked for does not give its name to those that begin with it.
        let group = &found.mapping.resource.group;
        let is_exact = candidates.reading.group.as_ref() == Some(group);
        let undiscovered = self
            .unknown
            .iter()
            .filter(|unknown| unknown.order < found.order && may_have(unknown, candidates.reading))
            .filter(|unknown| !is_exact || unknown.group == *group)
            .map(|unknown| ResolveWarning::Undiscovered(unknown.failure.clone()));
        Ok((found, also.chain(undiscovered).collect()))
    }

    /// The senses of a name, strongest first: for each reading a full name, then a short name; then, again for each
    /// reading, a kind.
    pub(super) fn candidates<'a>(&'a self, name: &'a ResourceArg) -> Option<Candidates<'a>> {
        let readings = name.readings();
        readings
            .iter()
            .find_map(|reading| {
                self.by_full_name(reading)
                    .or_else(|| self.by_short_name(reading))
            })
            .or_else(|| readings.iter().find_map(|reading| self.by_kind(reading)))
    }

    /// The entries of a kind in exactly its group and in `versions`, if any are given, in their order.
    pub(super) fn of_kind(&self, kind: &GroupKind, versions: &[String]) -> Vec<&Entry> {
        let mut entries = self.named(&self.kinds, &kind.kind);
        entries.retain(|entry| entry.mapping.resource.group == kind.group);
        let mut entries = as_spelled(entries, &kind.kind);
        let rank = |entry: &Entry| {
            let version = &entry.mapping.resource.version;
            versions.iter().position(|it| it == version)
        };
        if !versions.is_empty() {
            entries.retain(|entry| rank(entry).is_some());
            entries.sort_by_key(|entry| rank(entry));
        }
        one_a_version(entries)
    }

    /// Returns the failed groups that may have a kind in exactly its group and in `versions`, if any are given.
    pub(super) fn unknown_of_kind(
        &self,
        kind: &GroupKind,
        versions: &[String],
    ) -> impl Iterator<Item = &UnknownVersion> {
        self.unknown.iter().filter(|unknown| {
            unknown.group == kind.group
                && (versions.is_empty() || versions.contains(&unknown.version))
        })
    }

    /// Returns the error of a resource name without a match.
    pub(super) fn missing_resource(&self, name: &ResourceArg) -> RestMapperError {
        let may_have = |unknown: &&UnknownVersion| {
            let mut readings = name.readings().iter();
            readings.any(|reading| may_have(unknown, reading))
        };
        let failures: Vec<_> = self.unknown.iter().filter(may_have).collect();
        if !failures.is_empty() {
            return undiscovered(name.to_string(), &failures);
        }
        let bare = &name.readings()[0].name;
        let senses = [&self.full_names, &self.short_names, &self.kinds];
        let elsewhere = senses.map(|index| self.named(index, bare));
        let mut candidates = elsewhere.concat();
        if candidates.is_empty() {
            candidates = closest_names(&self.full_names, bare)
                .into_iter()
                .flat_map(|near| self.named(&self.full_names, near))
                .collect();
        }
        let mut names: Vec<_> = Vec::new();
        for entry in candidates {
            let resource = &entry.mapping.resource;
            if !names.contains(resource) && names.len() < SUGGESTIONS_MAX {
                names.push(resource.clone());
            }
        }
        RestMapperError::NoResourceMatch {
            name: name.to_string(),
            candidates: names,
        }
    }

    /// Returns the error of a kind without a match.
    pub(super) fn missing_kind(&self, kind: &GroupKind, versions: Vec<String>) -> RestMapperError {
        let failures: Vec<_> = self.unknown_of_kind(kind, &versions).collect();
        if !failures.is_empty() {
            return undiscovered(kind.to_string(), &failures);
        }
        let elsewhere = self.named(&self.kinds, &kind.kind);
        let kinds = elsewhere.into_iter().map(|it| it.mapping.kind.clone());
        RestMapperError::NoKindMatch {
            kind: Box::new(kind.clone()),
            versions,
            candidates: kinds.take(SUGGESTIONS_MAX).collect(),
        }
    }

    fn by_full_name<'a>(&'a self, reading: &'a PartialResource) -> Option<Candidates<'a>> {
        let entries = self.within(self.named(&self.full_names, &reading.name), reading);
        Candidates::new(entries, reading)
    }

    /// A short name stands for a resource, whose versions are then looked at as if it had been named in full.
    fn by_short_name<'a>(&'a self, reading: &'a PartialResource) -> Option<Candidates<'a>> {
        let any_version = PartialResource {
            version: None,
            ..reading.clone()
        };
        // Full names beat short names, also one that is not served in the version that was asked for.
        let full = self.named(&self.full_names, &reading.name);
        if !self.within(full, &any_version).is_empty() {
            return None;
        }
        let short = self.within(self.named(&self.short_names, &reading.name), &any_version);
        let meant = short.first()?.mapping.resource.group_resource();
        let mut also: Vec<GroupResource> = Vec::new();
        for entry in short {
            let other = entry.mapping.resource.group_resource();
            if other != meant && !also.contains(&other) {
                also.push(other);
            }
        }
        let mut entries = self.named(&self.full_names, &meant.resource);
        entries.retain(|entry| {
            let resource = &entry.mapping.resource;
            resource.resource == meant.resource
                && resource.group == meant.group
                && is_version(reading, &resource.version)
        });
        let candidates = Candidates::new(entries, reading)?;
        Some(Candidates { also, ..candidates })
    }

    fn by_kind<'a>(&'a self, reading: &'a PartialResource) -> Option<Candidates<'a>> {
        let entries = self.within(self.named(&self.kinds, &reading.name), reading);
        let entries = as_spelled(entries, &reading.name);
        Candidates::new(one_a_version(entries), reading)
    }

    fn named(&self, index: &Index, name: &str) -> Vec<&Entry> {
        let places = index.get(&name.to_lowercase());
        let places = places.map_or(&[][..], Vec::as_slice);
        places.iter().map(|at| &self.entries[*at]).collect()
    }

    /// The entries of the version and the group of a reading. A group that has none, and of which all is known, stands
    /// for all groups that begin with it.
    fn within<'a>(&self, mut entries: Vec<&'a Entry>, reading: &PartialResource) -> Vec<&'a Entry> {
        entries.retain(|entry| is_version(reading, &entry.mapping.resource.version));
        let Some(group) = &reading.group else {
            return entries;
        };
        let is_exact = |entry: &&Entry| entry.mapping.resource.group == *group;
        let is_unknown = |unknown: &UnknownVersion| {
            unknown.group == *group && is_version(reading, &unknown.version)
        };
        if entries.iter().any(is_exact) || self.unknown.iter().any(is_unknown) {
            entries.retain(|entry| is_exact(entry));
        } else {
            entries.retain(|entry| entry.mapping.resource.group.starts_with(&**group));
        }
        entries
    }
}

// === impl Candidates ===

impl<'a> Candidates<'a> {
    fn new(entries: Vec<&'a Entry>, reading: &'a PartialResource) -> Option<Self> {
        (!entries.is_empty()).then_some(Self {
            entries,
            reading,
            also: Vec::new(),
        })
    }
}

fn is_version(reading: &PartialResource, version: &str) -> bool {
    reading.version.as_deref().is_none_or(|it| it == version)
}

/// Returns whether a failed group may have the resource that a reading names.
fn may_have(unknown: &UnknownVersion, reading: &PartialResource) -> bool {
    let group = reading.group.as_deref().unwrap_or("");
    unknown.group.starts_with(group) && is_version(reading, &unknown.version)
}

/// The entries whose kind is spelled exactly so, or all if none is.
fn as_spelled<'a>(mut entries: Vec<&'a Entry>, kind: &str) -> Vec<&'a Entry> {
    let is_exact = |entry: &&Entry| entry.mapping.kind.kind == kind;
    if entries.iter().any(is_exact) {
        entries.retain(|entry| is_exact(entry));
    }
    entries
}

/// One entry for each version: where several resources share a kind, one that can be listed is the one that holds the
/// objects, the others are actions on them; between equals the last one, as in client-go.
fn one_a_version(entries: Vec<&Entry>) -> Vec<&Entry> {
    let mut chosen: Vec<&Entry> = Vec::with_capacity(entries.len());
    for entry in entries {
        let version = entry.mapping.resource.group_version();
        let rival = chosen
            .iter_mut()
            .find(|rival| rival.mapping.resource.group_version() == version);
        match rival {
            None => chosen.push(entry),
            Some(rival) if rival.order == entry.order => {
                if entry.is_listable || !rival.is_listable {
                    *rival = entry;
                }
            }
            // A preference has set them apart already.
            Some(_) => {}
        }
    }
    chosen
}

fn undiscovered(name: String, failures: &[&UnknownVersion]) -> RestMapperError {
    let failures = failures.iter().map(|unknown| unknown.failure.clone());
    RestMapperError::Undiscovered {
        name,
        failures: failures.collect(),
    }
}
