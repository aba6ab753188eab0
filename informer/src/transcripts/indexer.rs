//! A cache with its indices, and snapshots of it that are held.

use std::{collections::BTreeMap, panic::resume_unwind, sync::Arc};

use super::{Command, Outcome, World, play};
use crate::{
    fixtures::{Value, key, object_with, undecodable},
    indexer::{IndexFn, IndexerError, IndexerWriter, Snapshot},
    object::{Object, ObjectKey, ResourceVersion},
};

struct Indexing {
    writer: IndexerWriter<Value>,
    held: BTreeMap<String, Arc<Snapshot<Value>>>,
}

// === impl Indexing ===

impl World for Indexing {
    fn new() -> Self {
        Self {
            writer: IndexerWriter::new(),
            held: BTreeMap::new(),
        }
    }

    fn run(&mut self, command: &mut Command<'_>) -> Outcome {
        match command.name() {
            "write" => {
                let lines = command.lines();
                Ok(self.writer.write(|draft| edit(draft, &lines)))
            }
            "add-index" => {
                let added = self.writer.add_index(command.word()?, by_word());
                Ok(text_of(added.map(|()| "added".to_owned())))
            }
            "remove-index" => {
                let removed = self.writer.remove_index(&command.word()?);
                Ok(text_of(removed.map(|()| "removed".to_owned())))
            }
            "hold" => {
                let snapshot = self.writer.reader().snapshot();
                self.held.insert(command.word()?, snapshot);
                Ok("held".to_owned())
            }
            "show" => {
                let snapshot = self.snapshot(command)?;
                let objects: Vec<String> = snapshot.iter().map(|own| format!("{own:?}")).collect();
                let refused: Vec<String> = snapshot
                    .undecodable()
                    .map(|error| format!("!{}", error.key))
                    .collect();
                let words = [objects, refused].concat().join(" ");
                Ok(format!("[{words}] at {:?}", snapshot.resource_version()))
            }
            "keys" => {
                let snapshot = self.snapshot(command)?;
                let value = command.value::<String>("value")?.unwrap_or_default();
                let keys = snapshot.index_keys(&command.word()?, &value);
                Ok(text_of(keys.map(|keys| list(&keys))))
            }
            "values" => {
                let snapshot = self.snapshot(command)?;
                let values = snapshot.list_index_values(&command.word()?);
                let quoted = |values: Vec<Arc<str>>| {
                    let values = values.iter().map(|value| format!("{value:?}"));
                    list(&values.collect::<Vec<_>>())
                };
                Ok(text_of(values.map(quoted)))
            }
            "unindexed" => {
                let snapshot = self.snapshot(command)?;
                let unindexed = snapshot.unindexed(&command.word()?);
                let lines = |unindexed: Vec<(ObjectKey, Arc<str>)>| {
                    let lines = unindexed.iter().map(|(key, why)| format!("{key}: {why}"));
                    list(&lines.collect::<Vec<_>>())
                };
                Ok(text_of(unindexed.map(lines)))
            }
            _ => Err(command.unknown()),
        }
    }
}

impl Indexing {
    /// The snapshot that is held under `of=NAME`, or the present one.
    fn snapshot(&self, command: &mut Command<'_>) -> Outcome<Arc<Snapshot<Value>>> {
        let Some(name) = command.value::<String>("of")? else {
            return Ok(self.writer.reader().snapshot());
        };
        let held = self.held.get(&name).map(Arc::clone);
        held.ok_or_else(|| format!("nothing is held as {name}"))
    }
}

/// One line an edit: `a/x@5 WORDS`, `remove a/x`, `undecodable a/x@5`, `version 5`. Tells what each replaced.
fn edit(draft: &mut Snapshot<Value>, lines: &[String]) -> String {
    let replaced = lines.iter().map(|line| {
        let (first, rest) = line.split_once(' ').unwrap_or((line, ""));
        let before: Option<Object<Value>> = match first {
            "remove" => draft.remove(&key(rest)),
            "undecodable" => draft.mark_undecodable(undecodable(rest)),
            "version" => {
                draft.set_resource_version(ResourceVersion::new(rest));
                return "set".to_owned();
            }
            object => draft.insert(object_with(object, rest, [])),
        };
        before.map_or("before: nothing".to_owned(), |own| {
            format!("before: {own:?}")
        })
    });
    replaced.collect::<Vec<_>>().join("\n")
}

/// One value a word; `fail` and `panic` are refused.
fn by_word() -> IndexFn<Value> {
    IndexFn::fallible(|object: &Object<Value>| {
        let text = object.get().text.clone();
        match text.as_str() {
            "fail" => Err("the text says so"),
            // Without the hook's message on standard error.
            "panic" => resume_unwind(Box::new("told to")),
            _ => Ok(text
                .split_whitespace()
                .map(str::to_owned)
                .collect::<Vec<_>>()),
        }
    })
}

fn text_of(outcome: Result<String, IndexerError>) -> String {
    outcome.unwrap_or_else(|error| format!("error: {error}"))
}

fn list<T: ToString>(items: &[T]) -> String {
    let items: Vec<String> = items.iter().map(ToString::to_string).collect();
    if items.is_empty() {
        "none".to_owned()
    } else {
        items.join("\n")
    }
}

#[test]
fn transcripts() {
    play::<Indexing>("indexer");
}
