//! Seeded sets of manifests, for tests and benchmarks: of a shop with many parts, in which some have known mistakes.

mod part;
mod mistake;

use std::collections::BTreeSet;

use fastrand::Rng;

use self::part::Part;
pub use self::{mistake::Mistake, part::DEFINITION};

/// The objects of a file.
const OBJECTS_PER_FILE: usize = 5;

/// A set of manifests, and the mistakes in it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SeededSet {
    /// The names and texts of its files.
    pub files: Vec<(String, String)>,
    /// Each mistake, with the file and the name of the object that has it.
    pub mistakes: Vec<SeededMistake>,
}

/// A mistake in a set.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SeededMistake {
    /// The kind of mistake.
    pub mistake: Mistake,
    /// The file.
    pub file: String,
    /// The name of the object.
    pub object: String,
}

// === impl SeededSet ===

impl SeededSet {
    /// Creates a set of `objects` objects, of which `each` have each kind of [`Mistake`]. Equal arguments give equal sets.
    pub fn new(seed: u64, objects: usize, each: usize) -> Self {
        let mut rng = Rng::with_seed(seed);
        let mut set = Self {
            files: vec![("crds/backup.yaml".to_owned(), part::DEFINITION.to_owned())],
            mistakes: Vec::new(),
        };
        set.files
            .push(("policies/replicas.yaml".to_owned(), part::POLICY.to_owned()));
        set.files
            .push(("namespace.yaml".to_owned(), part::NAMESPACE.to_owned()));
        let parts = objects.saturating_sub(part::FOUNDATION_OBJECTS);
        let planned = planned(&mut rng, parts, each);
        let (mut text, mut number) = (String::new(), 0);
        for index in 0..parts {
            let mistake = planned.get(index).copied().flatten();
            let name = format!("part-{index}");
            let file = format!("parts/{:03}/{number:04}.yaml", number / 100);
            // A mistake decides on the kind of its object.
            let part = mistake.map_or_else(|| Part::drawn(&mut rng), Mistake::part);
            let mut manifest = part.manifest(&name, &mut rng);
            if let Some(mistake) = mistake {
                manifest = mistake.made_in(&manifest);
                set.mistakes.push(SeededMistake {
                    mistake,
                    file: file.clone(),
                    object: name,
                });
            }
            text.push_str("---\n");
            text.push_str(&manifest);
            if (index + 1) % OBJECTS_PER_FILE == 0 || index + 1 == parts {
                set.files.push((file, std::mem::take(&mut text)));
                number += 1;
            }
        }
        set
    }
}

/// Returns the mistakes by the index of their object. No two are in one file, so that each is one of its file.
fn planned(rng: &mut Rng, parts: usize, each: usize) -> Vec<Option<Mistake>> {
    let mut planned = vec![None; parts];
    let files = parts / OBJECTS_PER_FILE;
    let mut taken = BTreeSet::new();
    for mistake in Mistake::ALL {
        for _ in 0..each {
            // A set that is too small has fewer.
            if taken.len() >= files {
                return planned;
            }
            let file = loop {
                let file = rng.usize(0..files);
                if taken.insert(file) {
                    break file;
                }
            };
            planned[file * OBJECTS_PER_FILE + rng.usize(0..OBJECTS_PER_FILE)] = Some(mistake);
        }
    }
    planned
}
