use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use proptest::prelude::*;
use serde_json::json;

use super::{
    Change, Compact, CompactOptions, Packer,
    live::{Live, LiveKey},
    samples::{SAMPLES, Samples},
    young::YoungObjects,
};
use crate::{
    encoding::Syntax,
    fixtures::{Value, object},
    object::Object,
};

const WHOLE: Syntax = Syntax::Json { has_type: true };

/// A packer that counts what it decodes.
fn packer(options: CompactOptions) -> (Arc<Packer<Value>>, Arc<AtomicUsize>) {
    let decoded = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&decoded);
    let packer = Packer::new(options, false, move |json, _| {
        count.fetch_add(1, Ordering::Relaxed);
        serde_json::from_slice(json)
    });
    (Arc::new(packer), decoded)
}

fn small() -> CompactOptions {
    CompactOptions::default()
        .with_young_size_max_bytes(1000)
        .with_hot_objects_max(2)
}

fn json_of(text: &str) -> String {
    json!({"kind": "Value", "padding": "words that all of them have in common", "text": text})
        .to_string()
}

fn text_of(object: &Compact<Value>) -> String {
    object.read().unwrap().text.clone()
}

fn compact(value: Arc<Compact<Value>>) -> Object<Compact<Value>> {
    Object::from_parts(object("a").metadata().clone(), value)
}

fn is_packed(object: &Compact<Value>) -> bool {
    object.size().1
}

// === The pure cores ===

#[test]
fn the_older_half_is_packed_when_the_young_area_is_full() {
    let mut young = YoungObjects::new(100);
    let items: Vec<Arc<u8>> = (0..12).map(Arc::new).collect();
    let batches: Vec<Option<Vec<u8>>> = items
        .iter()
        .map(|item| {
            let batch = young.push(Arc::downgrade(item), 10)?;
            assert_eq!(batch.size_bytes, batch.items.len() * 10);
            Some(
                batch
                    .items
                    .iter()
                    .map(|item| *item.upgrade().unwrap())
                    .collect(),
            )
        })
        .collect();
    assert!(batches[..10].iter().all(Option::is_none));
    assert_eq!(batches[10], Some(vec![0, 1, 2, 3, 4, 5]));
    assert_eq!(batches[11], None);
}

#[test]
fn short_lived_objects_are_not_packed() {
    let mut young = YoungObjects::new(30);
    let held = Arc::new(1);
    for _ in 0..3 {
        assert!(young.push(Arc::downgrade(&Arc::new(0)), 10).is_none());
    }
    let batch = young.push(Arc::downgrade(&held), 10);
    assert!(batch.is_none(), "all of the older half is gone");
    let large = Arc::new(2);
    let batch = young.push(Arc::downgrade(&large), 30).unwrap();
    assert_eq!((batch.items.len(), batch.size_bytes), (2, 40));
    assert!(batch.items[0].upgrade().is_some());
}

#[test]
fn samples_are_the_first_objects_and_then_ever_fewer() {
    let mut samples = Samples::new();
    let mut trainings = Vec::new();
    for n in 1..=20_000_u32 {
        if let Some(taken) = samples.offer(&n.to_le_bytes()) {
            assert_eq!(taken.len(), SAMPLES);
            trainings.push((n, u32::from_le_bytes(taken[1][..].try_into().unwrap())));
        }
    }
    assert_eq!(trainings, [(128, 2), (128 + 128 * 64, 128 + 2 * 64)]);
    assert_eq!(samples.taken().len(), 2);
}

#[test]
fn large_objects_are_sampled_in_part() {
    let mut samples = Samples::new();
    samples.offer(&vec![b'x'; 1 << 20]);
    assert_eq!(samples.taken()[0].len(), 32 << 10);
}

#[test]
fn a_held_object_is_shared_and_the_last_few_are_held_here() {
    let key = |object| LiveKey {
        object,
        is_changed: false,
    };
    let mut live = Live::new(2);
    let (first, _) = live.put(key(1), Arc::new(1));
    let (again, surplus) = live.put(key(1), Arc::new(1));
    assert!(Arc::ptr_eq(&first, &again));
    assert!(surplus.is_some(), "the slower one is dropped");
    drop((first, again));
    assert!(live.get(key(1)).is_some(), "it is hot");
    live.put(key(2), Arc::new(2));
    let (_, dropped) = live.put(key(3), Arc::new(3));
    drop(dropped);
    assert!(live.get(key(1)).is_none(), "two others are hotter");
    assert!(live.get(key(2)).is_some());
    let changed = LiveKey {
        object: 2,
        is_changed: true,
    };
    assert!(live.get(changed).is_none());
}

#[test]
fn entries_of_dropped_objects_are_swept() {
    let mut live = Live::new(0);
    let mut held = Vec::new();
    for object in 0..10_000 {
        let key = LiveKey {
            object,
            is_changed: false,
        };
        let (value, dropped) = live.put(key, Arc::new(object));
        drop(dropped);
        if object % 100 == 0 {
            held.push((key, value));
        }
    }
    assert!(live.len() <= 2 * held.len() + 64 + 1, "{}", live.len());
    for (key, value) in held {
        assert!(Arc::ptr_eq(&live.get(key).unwrap(), &value));
    }
}

// === The shell ===

#[test]
fn objects_that_are_alike_take_a_fraction_once_they_are_old() {
    let (packer, _) = packer(small());
    let cells: Vec<_> = (0..1000)
        .map(|n| packer.put(json_of(&format!("object {n}")).as_bytes(), WHOLE))
        .collect();
    let raw: usize = cells.iter().filter(|cell| !is_packed(cell)).count();
    assert!((1..=12).contains(&raw), "{raw} are young");
    let sizes = cells.iter().map(|cell| cell.size()).filter(|size| size.1);
    let largest = sizes.map(|size| size.0).max().unwrap();
    assert!(largest * 2 < json_of("object 1").len(), "{largest}");
    for (n, cell) in cells.iter().enumerate() {
        assert_eq!(text_of(cell), format!("object {n}"));
    }
}

#[test]
fn a_higher_level_compresses_more() {
    let size = |level: i32| {
        let (packer, _) = packer(small().with_compression_level(level));
        // Words that repeat, but not next to each other.
        let text = |n: usize| -> String {
            let words = (0..600).map(|at| ((at * at + n) % 97).to_string());
            words.collect::<Vec<_>>().join(" ")
        };
        let cells: Vec<_> = (0..40)
            .map(|n| packer.put(json_of(&text(n)).as_bytes(), WHOLE))
            .collect();
        let small = cells.iter().filter(|cell| is_packed(cell));
        small.map(|cell| cell.size().0).sum::<usize>()
    };
    assert!(size(19) < size(1), "{} {}", size(19), size(1));
}

#[test]
fn incompressible_objects_stay_uncompressed() {
    let (packer, _) = packer(small().with_young_size_max_bytes(0));
    let cell = packer.put(b"{}", WHOLE);
    assert!(!is_packed(&cell));
    assert_eq!(cell.size().0, 2);
}

#[test]
fn an_object_is_decoded_once_while_it_is_held_or_hot() {
    let (packer, decoded) = packer(small());
    let cells: Vec<_> = (0..5)
        .map(|n| packer.put(json_of(&n.to_string()).as_bytes(), WHOLE))
        .collect();
    assert_eq!(decoded.load(Ordering::Relaxed), 0, "nothing was read");
    let held = cells[0].read().unwrap();
    for cell in &cells[1..] {
        cell.read().unwrap();
    }
    assert!(Arc::ptr_eq(&held, &cells[0].read().unwrap()));
    cells[4].read().unwrap();
    assert_eq!(decoded.load(Ordering::Relaxed), 5);
    cells[1].read().unwrap();
    assert_eq!(decoded.load(Ordering::Relaxed), 6, "it was cold");
}

#[test]
fn objects_that_the_type_refuses_are_errors_at_each_read() {
    let (packer, _) = packer(small());
    let cell = packer.put(br#"{"text": 7}"#, WHOLE);
    for _ in 0..2 {
        assert!(
            cell.read()
                .unwrap_err()
                .to_string()
                .contains("invalid type")
        );
    }
}

#[test]
fn a_change_is_made_when_the_object_is_decoded_and_its_failure_is_reported() {
    let (packer, _) = packer(small());
    let cell = packer.put(json_of("a").as_bytes(), WHOLE);
    let louder: Arc<Change<Value>> = Arc::new(|value| {
        value.text.push('!');
        Ok(())
    });
    let arrived = compact(Arc::clone(&cell));
    let changed = arrived.clone().with_change(&louder);
    assert_eq!(changed.decode().unwrap().text, "a!");
    assert_eq!(text_of(&cell), "a", "a shared object stays as it arrived");
    drop((cell, arrived));
    let alone = compact(packer.put(json_of("b").as_bytes(), WHOLE));
    let id = Arc::as_ptr(alone.get());
    let changed = alone.with_change(&louder);
    assert_eq!(
        Arc::as_ptr(changed.get()),
        id,
        "an unshared one is not copied"
    );
    assert_eq!(changed.decode().unwrap().text, "b!");
    let refuses: Arc<Change<Value>> = Arc::new(|_| Err("not today".into()));
    let panics: Arc<Change<Value>> = Arc::new(|_| panic!("boom"));
    for (change, message) in [(refuses, "not today"), (panics, "the transform panicked")] {
        let held = compact(packer.put(json_of("c").as_bytes(), WHOLE)).with_change(&change);
        let error = held.decode().unwrap_err();
        assert_eq!(error.source.to_string(), message);
    }
}

#[test]
fn the_json_is_given_where_nothing_of_it_is_left_out() {
    let (packer, decoded) = packer(small());
    let json = json_of("a");
    let json = json.as_bytes();
    let whole = packer.put(json, WHOLE);
    assert_eq!(whole.plain(<[u8]>::to_vec), Some(json.to_vec()));
    let bare = Syntax::Json { has_type: false };
    assert_eq!(packer.put(json, bare).plain(<[u8]>::len), Some(json.len()));
    let dropping = Arc::new(Packer::<Value>::new(small(), true, |json, _| {
        serde_json::from_slice(json)
    }));
    assert_eq!(dropping.put(json, WHOLE).plain(<[u8]>::len), None);
    assert_eq!(decoded.load(Ordering::Relaxed), 0);
}

#[test]
fn debug_output_does_not_show_the_content() {
    let (packer, _) = packer(small());
    let cell = packer.put(json_of("a secret").as_bytes(), WHOLE);
    assert!(!format!("{cell:?} {packer:?}").contains("secret"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn on_several_threads_all_is_read_as_it_came_whenever_it_is_packed() {
    let (packer, _) = packer(small());
    let mut cells = Vec::new();
    for n in 0..2000 {
        cells.push(packer.put(json_of(&n.to_string()).as_bytes(), WHOLE));
        if n % 7 == 0 {
            assert_eq!(text_of(&cells[n / 2]), (n / 2).to_string());
        }
        tokio::task::consume_budget().await;
    }
    for (n, cell) in cells.iter().enumerate() {
        assert_eq!(text_of(cell), n.to_string());
    }
}

proptest! {
    /// Against a list of texts: after any order of puts, drops and reads, each object reads as it was put.
    #[test]
    fn each_object_reads_as_it_came(
        steps in prop::collection::vec((any::<prop::sample::Index>(), 0..4_u8, ".{0,40}"), 1..200),
        young in 0..4000_usize,
    ) {
        let (packer, _) = packer(small().with_young_size_max_bytes(young));
        let mut model: Vec<(String, Arc<Compact<Value>>)> = Vec::new();
        for (at, action, text) in steps {
            match action {
                0 if !model.is_empty() => drop(model.swap_remove(at.index(model.len()))),
                1 if !model.is_empty() => {
                    let (text, cell) = &model[at.index(model.len())];
                    prop_assert_eq!(&text_of(cell), text);
                }
                _ => {
                    let cell = packer.put(json_of(&text).as_bytes(), WHOLE);
                    model.push((text, cell));
                }
            }
        }
        for (text, cell) in &model {
            prop_assert_eq!(&text_of(cell), text);
        }
    }
}
