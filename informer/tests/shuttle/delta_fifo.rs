//! The queue between a reflector and its cache: one producer, one consumer, and room for little.

use informer::{
    DeltaFifoOptions,
    reflector::{Delta, ReflectorStore, StoreClosed},
    stages::DeltaFifo,
};
use shuttle::{future::block_on, thread};

use super::{check, object};

const COUNT: u64 = 4;

fn options(batch_max: usize) -> DeltaFifoOptions {
    DeltaFifoOptions::default()
        .with_capacity(2)
        .with_batch_max(batch_max)
}

#[test]
fn everything_arrives_in_order_and_both_ends_end() {
    check(2_000, || {
        let (mut producer, mut consumer) = DeltaFifo::channel(&options(2));
        let writing = thread::spawn(move || {
            for version in 1..=COUNT {
                let delta = Delta::Upserted(object(&version.to_string(), version));
                block_on(producer.write(delta)).unwrap();
            }
        });
        let mut arrived = Vec::new();
        while let Some(batch) = block_on(consumer.pop()) {
            arrived.extend(batch.deltas.iter().map(|delta| match delta {
                Delta::Upserted(object) => object.resource_version().as_str().to_owned(),
                other => panic!("{other:?}"),
            }));
        }
        writing.join().unwrap();
        let all: Vec<String> = (1..=COUNT).map(|version| version.to_string()).collect();
        assert_eq!(arrived, all);
    });
}

#[test]
fn a_producer_that_waits_for_room_is_notified_of_the_close() {
    check(2_000, || {
        let (mut producer, mut consumer) = DeltaFifo::channel(&options(1));
        let writing = thread::spawn(move || {
            for version in 1.. {
                let delta = Delta::Upserted(object("a", version));
                if let Err(StoreClosed) = block_on(producer.write(delta)) {
                    return version;
                }
            }
            unreachable!("it is closed at last")
        });
        block_on(consumer.pop()).unwrap();
        drop(consumer);
        // One was taken, two had room, and one more if the room came back before the close.
        assert!((2..=4).contains(&writing.join().unwrap()));
    });
}
