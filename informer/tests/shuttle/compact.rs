//! Compact objects: read while they are packed.

use informer::{
    Object,
    compact::{Compact, CompactOptions},
    stages::CompactStore,
};
use serde_json::{Value, json};
use shuttle::{
    sync::{Arc, Mutex},
    thread,
};

use super::{check, metadata};

/// Shuttle's tasks give way at each lock, and zstd takes its time.
const ITERATIONS: usize = 100;
const NAMES: [&str; 3] = ["a", "b", "c"];

fn store() -> CompactStore<Value> {
    // Room for one object, so that each further one has others packed.
    let options = CompactOptions::default()
        .with_young_size_max_bytes(200)
        .with_hot_objects_max(1);
    CompactStore::new(options)
}

fn content(name: &str) -> Value {
    json!({"kind": "Value", "text": name, "padding": "words that all objects have in common ".repeat(3)})
}

fn put(store: &CompactStore<Value>, name: &str) -> Object<Compact<Value>> {
    store.put(metadata(name, 1), &content(name).to_string())
}

#[test]
fn a_reader_finds_the_content_while_objects_are_packed() {
    check(ITERATIONS, || {
        let store = store();
        let first = put(&store, NAMES[0]);
        let reader = {
            let first = first.clone();
            thread::spawn(move || {
                for _ in 0..2 {
                    assert_eq!(*first.decode().unwrap(), content(NAMES[0]));
                }
            })
        };
        let others: Vec<_> = NAMES[1..].iter().map(|name| put(&store, name)).collect();
        for (object, name) in others.iter().zip(&NAMES[1..]) {
            assert_eq!(*object.decode().unwrap(), content(name));
        }
        reader.join().unwrap();
        assert_eq!(*first.decode().unwrap(), content(NAMES[0]));
    });
}

#[test]
fn readers_of_one_object_share_it() {
    check(ITERATIONS, || {
        let store = store();
        let object = put(&store, "a");
        let held = Arc::new(Mutex::new(Vec::new()));
        let readers = [(); 2].map(|()| {
            let (object, held) = (object.clone(), Arc::clone(&held));
            thread::spawn(move || {
                let value = object.decode().unwrap();
                held.lock().unwrap().push(value);
            })
        });
        put(&store, "b");
        for reader in readers {
            reader.join().unwrap();
        }
        let held = held.lock().unwrap();
        assert!(std::sync::Arc::ptr_eq(&held[0], &held[1]));
    });
}
