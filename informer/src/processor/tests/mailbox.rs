use super::{
    super::{
        Buffer,
        item::Item,
        mailbox::{Mailbox, PushResult},
    },
    changes, present,
};
use crate::{fixtures::Value, testing::notification_text};

fn mailbox(limit: usize) -> Mailbox<Value> {
    Mailbox::new(Buffer::Coalescing { limit })
}

fn live(text: &str) -> Item<Value> {
    Item::changes(changes(text).into(), true)
}

/// One word an item: `+a@1,+b@2`, `synced`, or `resync(=a@1)`.
fn pop(mailbox: &mut Mailbox<Value>) -> String {
    let Some(mut item) = mailbox.pop() else {
        return "nothing".to_owned();
    };
    let name = match item {
        Item::EndOfInitialState => return "synced".to_owned(),
        Item::Resync(_) => "resync",
        Item::Replay(_) => "replay",
        Item::Changes { .. } | Item::Coalesced(_) => "",
    };
    let mut words = Vec::new();
    while let Some(notification) = item.next() {
        words.push(notification_text(&notification));
    }
    format!("{name}[{}]", words.join(" "))
}

fn taken(count: usize, coalesced: usize) -> PushResult {
    PushResult::Taken { count, coalesced }
}

#[test]
fn a_closed_mailbox_takes_nothing_and_gives_what_it_holds() {
    let mut mailbox = mailbox(9);
    assert_eq!(mailbox.push(Item::EndOfInitialState), taken(0, 0));
    mailbox.close();
    assert_eq!(mailbox.push(Item::EndOfInitialState), PushResult::Refused);
    assert_eq!(pop(&mut mailbox), "synced");
    assert_eq!(pop(&mut mailbox), "nothing");
}

#[test]
fn a_mailbox_holds_one_resync_at_a_time() {
    let mut mailbox = mailbox(9);
    let resync = || Item::Resync(present("a@1"));
    assert_eq!(mailbox.push(resync()), taken(1, 0));
    assert_eq!(mailbox.push(resync()), PushResult::Refused);
    assert_eq!(pop(&mut mailbox), "resync[=a@1]");
    assert_eq!(
        mailbox.push(resync()),
        PushResult::Refused,
        "it is being told"
    );
    mailbox.finish_resync();
    assert_eq!(mailbox.push(resync()), taken(1, 0));
}

#[test]
fn the_ring_begins_with_1024_places_and_shrinks_to_that_when_empty() {
    let mut mailbox = Mailbox::new(Buffer::Unbounded);
    let capacity = mailbox.capacity();
    assert!((1_024..2_048).contains(&capacity), "{capacity}");
    for _ in 0..5_000 {
        mailbox.push(live("~a@1"));
    }
    assert!(mailbox.capacity() >= 5_000);
    while mailbox.pop().is_some() {}
    assert_eq!(mailbox.capacity(), capacity);
}

#[test]
fn changes_beyond_the_limit_are_merged_and_the_others_stay_in_order() {
    let mut mailbox = mailbox(3);
    assert_eq!(mailbox.push(live("+a@1 ~a@2")), taken(2, 0));
    assert_eq!(mailbox.push(live("~a@3 ~a@4 +b@5 ~a@6 ~b@7")), taken(5, 2));
    assert_eq!(mailbox.push(live("-b@8 ~c@9")), taken(2, 2));
    assert_eq!(pop(&mut mailbox), "[+a@1 ~a@0..2]");
    assert_eq!(pop(&mut mailbox), "[~a@0..3]");
    // One and one wait: there is room for one in order behind what was merged.
    assert_eq!(mailbox.push(live("~a@10 ~a@11 ~a@12")), taken(3, 1));
    assert_eq!(pop(&mut mailbox), "[~a@0..6 ~c@0..9]");
    assert_eq!(pop(&mut mailbox), "[~a@0..10]");
    assert_eq!(pop(&mut mailbox), "[~a@0..12]");
    assert_eq!(pop(&mut mailbox), "nothing");
}

#[test]
fn nothing_is_merged_over_the_end_of_the_initial_state_or_a_resync() {
    let mut mailbox = mailbox(0);
    mailbox.push(live("~a@1"));
    mailbox.push(Item::EndOfInitialState);
    mailbox.push(live("~a@2 ~a@3"));
    mailbox.push(Item::Resync(present("a@3")));
    mailbox.push(live("-a@4"));
    let all: Vec<_> = (0..6).map(|_| pop(&mut mailbox)).collect();
    assert_eq!(
        all,
        [
            "[~a@0..1]",
            "synced",
            "[~a@0..3]",
            "resync[=a@3]",
            "[-a@4]",
            "nothing"
        ]
    );
}

#[test]
fn the_initial_state_and_what_is_read_from_snapshots_do_not_count() {
    let initial = || Item::changes(changes("+a@1 +b@1 +c@1").into(), false);
    for buffer in [
        Buffer::Coalescing { limit: 1 },
        Buffer::Disconnecting { limit: 1 },
    ] {
        let mut mailbox = Mailbox::new(buffer);
        assert_eq!(mailbox.push(Item::Replay(present("x@1 y@1"))), taken(2, 0));
        assert_eq!(mailbox.push(initial()), taken(3, 0));
        assert_eq!(mailbox.push(Item::EndOfInitialState), taken(0, 0));
        assert_eq!(mailbox.push(Item::Resync(present("x@1 y@1"))), taken(2, 0));
        assert_eq!(mailbox.push(live("~a@2")), taken(1, 0));
        assert_eq!(pop(&mut mailbox), "replay[(+x@1) (+y@1)]");
        assert_eq!(pop(&mut mailbox), "[+a@1 +b@1 +c@1]");
    }
}

#[test]
fn more_than_may_wait_is_not_taken() {
    let mut mailbox = Mailbox::new(Buffer::Disconnecting { limit: 2 });
    assert_eq!(mailbox.push(live("~a@1 ~a@2")), taken(2, 0));
    assert_eq!(
        mailbox.push(live("~a@3")),
        PushResult::Overflow { limit: 2 }
    );
    assert_eq!(pop(&mut mailbox), "[~a@0..1 ~a@0..2]");
    assert_eq!(mailbox.push(live("~a@3")), taken(1, 0));
}

#[test]
fn merged_changes_are_taken_in_parts_and_the_rest_can_be_merged() {
    let mut mailbox = mailbox(0);
    let text: Vec<_> = (0..100).map(|n| format!("~k{n}@1")).collect();
    mailbox.push(live(&text.join(" ")));
    assert_eq!(mailbox.pop().unwrap().len(), 64);
    assert_eq!(mailbox.push(live("~k99@2 ~k0@2")), taken(2, 1));
    let rest = pop(&mut mailbox);
    assert!(rest.starts_with("[~k64@0..1 "), "{rest}");
    assert!(rest.ends_with("~k99@0..2 ~k0@0..2]"), "{rest}");
}
