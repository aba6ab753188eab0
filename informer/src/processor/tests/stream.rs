use futures::{FutureExt, StreamExt, poll};
use tokio::time::Instant;

use super::{
    super::{Buffer, HandlerEnd, HandlerOptions, Listener, NotificationStream},
    changes, present, settle, started,
};
use crate::{fixtures::Value, testing::notification_text};

fn options() -> HandlerOptions {
    HandlerOptions::default().with_name("s")
}

/// Returns the items that the stream gives without waiting.
fn read(stream: &mut NotificationStream<Value>) -> String {
    let mut words = Vec::new();
    while let Some(next) = stream.next().now_or_never() {
        let Some(notification) = next else {
            words.push("over".to_owned());
            break;
        };
        words.push(notification_text(&notification));
    }
    words.join(" ")
}

#[tokio::test(start_paused = true)]
async fn a_stream_gives_what_is_there_and_then_what_changes() {
    let (mut processor, tasks) = started();
    let (listener, mut stream) = Listener::stream(options());
    processor.attach(listener, present("a@1"), Instant::now());
    assert!(tasks.is_empty(), "it takes no task");
    processor.mark_synced();
    processor.distribute(changes("~a@2"), true);
    assert_eq!(notification_text(&stream.next().await.unwrap()), "(+a@1)");
    assert!(!stream.has_synced(), "nothing says that it was worked on");
    assert_eq!(read(&mut stream), "~a@0..2");
    assert!(stream.has_synced());
    assert_eq!(stream.registration().metrics().delivered, 2);
    let mut next = Box::pin(stream.next());
    assert!(poll!(&mut next).is_pending());
    processor.distribute(changes("-a@3"), true);
    assert_eq!(notification_text(&next.await.unwrap()), "-a@3");
}

#[tokio::test(start_paused = true)]
async fn a_slow_reader_has_what_waits_merged() {
    let (mut processor, _tasks) = started();
    let buffer = Buffer::Coalescing { limit: 1 };
    let (listener, mut stream) = Listener::stream(options().with_buffer(buffer));
    processor.attach(listener, present(""), Instant::now());
    for n in 1..=1_000 {
        processor.distribute(changes(&format!("~a@{n} ~b@{n}")), true);
    }
    assert_eq!(stream.registration().metrics().pending, 3);
    assert_eq!(read(&mut stream), "~a@0..1 ~b@0..1000 ~a@0..1000");
    assert_eq!(stream.registration().metrics().coalesced, 1_997);
}

#[tokio::test(start_paused = true)]
async fn a_stream_over_its_limit_ends_and_says_why() {
    let (mut processor, _tasks) = started();
    let buffer = Buffer::Disconnecting { limit: 1 };
    let (listener, mut stream) = Listener::stream(options().with_buffer(buffer));
    processor.attach(listener, present(""), Instant::now());
    processor.distribute(changes("~a@1 ~a@2"), true);
    assert_eq!(read(&mut stream), "over");
    let (handler, limit) = ("s".into(), 1);
    let overflowed = HandlerEnd::Overflowed { handler, limit };
    assert_eq!(stream.registration().end(), Some(overflowed));
}

#[tokio::test(start_paused = true)]
async fn a_shutdown_does_not_wait_for_a_stream_which_still_gives_what_was_waiting() {
    let (mut processor, _tasks) = started();
    let (listener, mut stream) = Listener::stream(options());
    processor.attach(listener, present("a@1"), Instant::now());
    processor.distribute(changes("~a@2"), true);
    processor.close();
    processor.ended().now_or_never().unwrap();
    drop(processor);
    assert_eq!(read(&mut stream), "(+a@1) ~a@0..2 over");
    assert_eq!(read(&mut stream), "over");
    let handler = "s".into();
    assert_eq!(
        stream.registration().end(),
        Some(HandlerEnd::Stopped { handler })
    );
}

#[tokio::test(start_paused = true)]
async fn a_stream_ends_with_a_dropped_processor_and_with_one_that_never_was() {
    let (mut processor, _tasks) = started();
    let (listener, mut stream) = Listener::stream(options());
    processor.attach(listener, present("a@1"), Instant::now());
    let mut next = Box::pin(stream.next());
    assert!(poll!(&mut next).is_ready());
    drop(next);
    let mut next = Box::pin(stream.next());
    assert!(poll!(&mut next).is_pending());
    processor.distribute(changes("~a@2"), true);
    drop(processor);
    assert!(next.await.is_none());

    let (listener, mut stream) = Listener::<Value>::stream(options());
    drop(listener);
    assert!(stream.next().await.is_none());
}

#[tokio::test(start_paused = true)]
async fn a_dropped_stream_is_forgotten() {
    let (mut processor, _tasks) = started();
    let (listener, stream) = Listener::stream(options());
    processor.attach(listener, present("a@1"), Instant::now());
    assert_eq!(processor.list().metrics().len(), 1);
    drop(stream);
    processor.distribute(changes("~a@2"), true);
    settle().await;
    assert!(processor.list().metrics().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_resync_is_read_once_and_can_come_again() {
    let (mut processor, _tasks) = started();
    let period = std::time::Duration::from_secs(1);
    let (listener, mut stream) = Listener::stream(options().with_resync_period(period));
    processor.attach(listener, present(""), Instant::now());
    processor.mark_synced();
    for _ in 0..2 {
        let next = processor.next_resync().unwrap();
        processor.resync(next, || present("a@1"));
        assert_eq!(read(&mut stream), "=a@1");
    }
}
