//! Requests from a seed: a function of the seed, the number of the request and the documents of a server.
//!
//! | module | contents |
//! |---|---|
//! | `schema`, `catalogue`, `subject` | the kinds that a server serves, their schemas, and samples of their objects |
//! | `value`, `odd` | values by a schema; values at the bounds of what is valid |
//! | `place`, `mutation`, `metadata`, `difference` | changes to a valid object, each of one thing; the patch that makes them |
//! | `parameters`, `body` | query parameters, and malformed bodies |
//! | `write`, `patch`, `subresource`, `delete`, `read` | the requests |

mod schema;
mod odd;
mod value;
mod value_position;
mod metadata;
mod mutation;
mod difference;
mod subject;
mod catalogue;
mod parameters;
mod body;
mod write;
mod patch;
mod read;
mod subresource;
mod delete;

use rand::{RngExt, rngs::ChaCha8Rng, seq::IndexedRandom};
use serde_json::Value;

use self::{catalogue::Catalogue, subject::Subject};
use super::request::{Case, Request, SetUp};
use crate::seed::Seed;

/// The categories and their weights.
const CATEGORIES: [(Category, u32); 9] = [
    (Category::Create, 36),
    (Category::Update, 14),
    (Category::Apply, 11),
    (Category::StrategicPatch, 8),
    (Category::JsonPatch, 8),
    (Category::MergePatch, 7),
    (Category::Read, 9),
    (Category::Subresource, 5),
    (Category::Delete, 3),
];

/// The share of strategic merge patches of custom resources, which servers reject, among those that are drawn.
const UNSUPPORTED: f64 = 0.1;

/// A generator of requests about the kinds of a server.
#[derive(Clone, Debug)]
pub struct Generator {
    seed: Seed,
    catalogue: Catalogue,
    /// The places of the subjects that requests are about.
    drawn: Vec<usize>,
}

#[derive(Clone, Copy, Debug)]
enum Category {
    Create,
    Update,
    Apply,
    StrategicPatch,
    JsonPatch,
    MergePatch,
    Read,
    Subresource,
    Delete,
}

// === impl Generator ===

impl Generator {
    /// Creates a generator from aggregated discovery documents and OpenAPI v3 documents.
    pub fn new(seed: Seed, discovery: &[Value], openapi: &[Value]) -> Self {
        let catalogue = Catalogue::read(discovery, openapi);
        Self {
            seed,
            drawn: (0..catalogue.subjects.len()).collect(),
            catalogue,
        }
    }

    /// Returns the short names of the kinds that requests are about.
    pub fn kinds(&self) -> impl Iterator<Item = &str> {
        let drawn = self.drawn.iter();
        drawn.map(|place| &*self.catalogue.subjects[*place].key)
    }

    /// Restricts the requests to those about these kinds. The set-up stays the same.
    pub fn keep(&mut self, kinds: &[String]) {
        let subjects = &self.catalogue.subjects;
        self.drawn
            .retain(|place| kinds.contains(&subjects[*place].key));
    }

    /// Returns the requests that make the objects which others are about, in order.
    pub fn set_up(&self) -> Vec<SetUp> {
        let subjects = &self.catalogue.subjects;
        let objects = subjects.iter().flat_map(Subject::set_up);
        let definitions_first =
            |set_up: &SetUp| !set_up.request.path.contains("customresourcedefinitions");
        let mut objects: Vec<SetUp> = objects.collect();
        objects.sort_by_key(|set_up| definitions_first(set_up) && !set_up.until);
        subject::namespaces().chain(objects).collect()
    }

    /// Returns the request of a number, from 0.
    ///
    /// Numbers are independent: the request of one does not depend on how many there are.
    pub fn case(&self, number: u64) -> Case {
        let mut rng = self.seed.stream(&format!("request {number}"));
        let count = u64::try_from(self.drawn.len()).unwrap_or(u64::MAX).max(1);
        // All kinds in turn, so that a few hundred requests are about each of them.
        let place = self.seed.get().wrapping_add(number) % count;
        let place = self.drawn[usize::try_from(place).unwrap_or_default()];
        let subject = &self.catalogue.subjects[place];
        let category = CATEGORIES.choose_weighted(&mut rng, |(_, weight)| *weight);
        let category = category.map_or(Category::Create, |(category, _)| *category);
        let (category, request, note) = self.drawn(&mut rng, subject, category, number);
        Case {
            category: category.to_owned(),
            kind: subject.key.clone(),
            note,
            request,
        }
    }

    fn drawn(
        &self,
        rng: &mut ChaCha8Rng,
        subject: &Subject,
        category: Category,
        number: u64,
    ) -> (&'static str, Request, String) {
        let schemas = &self.catalogue.schemas;
        let named = |name, (request, note)| (name, request, note);
        if !subject.has_object && !matches!(category, Category::Read) {
            return named("create", write::create(rng, subject, schemas, number));
        }
        match category {
            Category::Create => named("create", write::create(rng, subject, schemas, number)),
            Category::Update => named("update", write::update(rng, subject, schemas)),
            Category::Apply => named("apply", write::apply(rng, subject, schemas)),
            Category::StrategicPatch if subject.is_built_in || rng.random_bool(UNSUPPORTED) => {
                named("patch-strategic", patch::strategic(rng, subject, schemas))
            }
            Category::JsonPatch => named("patch-json", patch::json(rng, subject, schemas)),
            Category::StrategicPatch | Category::MergePatch => {
                named("patch-merge", patch::merge(rng, subject, schemas))
            }
            Category::Read => named("read", read::read(rng, subject)),
            Category::Subresource => subresource::write(rng, subject, schemas)
                .unwrap_or_else(|| named("update", write::update(rng, subject, schemas))),
            Category::Delete => named("delete", delete::delete(rng, subject)),
        }
    }
}

#[cfg(test)]
mod tests;
