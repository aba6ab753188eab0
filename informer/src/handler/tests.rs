use std::sync::{Arc, Mutex};

use super::{
    EventHandler, Filter, FilteringHandler, HandlerFuncs, Notification, NotificationCause,
};
use crate::{
    fixtures::{Value, object_with},
    object::{Deleted, Object, Reads, Tombstone, TombstoneReason},
    testing::RecordingHandler,
};

fn thing(text: &str, team: &str) -> Object<Value> {
    object_with(text, "", [("team", team)])
}

fn add(handler: &mut impl EventHandler<Value>, object: Object<Value>, cause: NotificationCause) {
    handler.on_notification(&Notification::Add { object, cause });
}

fn update(handler: &mut impl EventHandler<Value>, old: Object<Value>, new: Object<Value>) {
    let cause = NotificationCause::Relist;
    handler.on_notification(&Notification::Update { old, new, cause });
}

fn delete(handler: &mut impl EventHandler<Value>, deleted: Deleted<Value>) {
    let cause = NotificationCause::Live;
    handler.on_notification(&Notification::Delete { deleted, cause });
}

fn is_mine(object: &Object<Value>) -> bool {
    object.labels().get("team") == Some("mine")
}

#[test]
fn a_filter_turns_updates_into_what_its_handler_knows() {
    let (inner, recording) = RecordingHandler::new();
    let mut handler = FilteringHandler::new(is_mine, inner);
    add(
        &mut handler,
        thing("a@1", "mine"),
        NotificationCause::Initial,
    );
    add(
        &mut handler,
        thing("b@1", "other"),
        NotificationCause::Initial,
    );
    assert_eq!(recording.take_text(), "(+a@1)");
    update(&mut handler, thing("a@1", "mine"), thing("a@2", "mine"));
    update(&mut handler, thing("b@1", "other"), thing("b@2", "other"));
    assert_eq!(recording.take_text(), "~a@1..2");
    update(&mut handler, thing("a@2", "mine"), thing("a@3", "other"));
    update(&mut handler, thing("b@2", "other"), thing("b@3", "mine"));
    assert_eq!(recording.take_text(), "-a@2 +b@3");
    delete(&mut handler, Deleted::Object(thing("a@4", "other")));
    delete(&mut handler, Deleted::Object(thing("b@4", "mine")));
    assert_eq!(recording.take_text(), "-b@4");
}

#[test]
fn a_filter_keeps_no_deletion_from_a_handler_that_knows_the_object() {
    let (inner, recording) = RecordingHandler::new();
    let mut handler = FilteringHandler::new(is_mine, inner);
    add(&mut handler, thing("a@1", "mine"), NotificationCause::Live);
    add(&mut handler, thing("b@1", "mine"), NotificationCause::Live);
    recording.take();
    // The last state is not accepted, or is not known.
    delete(&mut handler, Deleted::Object(thing("a@9", "other")));
    let gone = thing("b@1", "mine");
    delete(
        &mut handler,
        Deleted::Tombstone(Tombstone {
            key: gone.key().clone(),
            last_known: None,
            reason: TombstoneReason::MissedDelete,
        }),
    );
    assert_eq!(recording.take_text(), "-a@9 !b");
}

#[test]
fn a_filter_reads_metadata_a_field_or_the_object() {
    let filters = [
        Filter::<Value>::of_metadata(|metadata| metadata.labels.get("team") == Some("mine")),
        Filter::by_field(".text", |text| text == "mine").unwrap(),
        Filter::of_value(|value: &Value| value.text == "mine"),
    ];
    let reads: Vec<_> = filters.iter().map(Filter::reads).collect();
    assert_eq!(reads, [Reads::Metadata, Reads::Fields, Reads::Value]);
    let path = filters[1].field_path().unwrap();
    assert_eq!(path.to_string(), ".text");
    for filter in filters {
        let (inner, recording) = RecordingHandler::new();
        let mut handler = FilteringHandler::with_filter(filter, inner);
        let [mine, other] =
            ["mine", "other"].map(|team| object_with("a@1", team, [("team", team)]));
        add(&mut handler, other.clone(), NotificationCause::Live);
        assert_eq!(recording.take_text(), "");
        update(&mut handler, other, mine);
        assert_eq!(recording.take_text(), "+a@1");
    }
}

#[test]
fn a_filter_that_panics_or_cannot_read_accepts_nothing() {
    let panics = Filter::<Value>::of_metadata(|_| std::panic::resume_unwind(Box::new("told to")));
    let object = thing("a@1", "mine");
    assert!(!panics.accepts(&object));
    assert_eq!(
        panics.check(&object),
        Err("the filter panicked: told to".into())
    );
    let error = Filter::<Value>::by_field(".text[", |_| true).unwrap_err();
    assert_eq!(error.position(), 6);
}

#[test]
fn closures_receive_what_they_are_for_and_nothing_else() {
    let recording = Arc::new(Mutex::new(Vec::new()));
    let note =
        |recording: &Arc<Mutex<Vec<String>>>, text: String| recording.lock().unwrap().push(text);
    let (adds, deletions) = (Arc::clone(&recording), Arc::clone(&recording));
    let mut handler = HandlerFuncs::new()
        .with_add(move |object: &Object<Value>, _| note(&adds, format!("+{object:?}")))
        .with_delete(move |deleted| note(&deletions, format!("-{}", deleted.key())));
    add(&mut handler, thing("a@1", ""), NotificationCause::Initial);
    update(&mut handler, thing("a@1", ""), thing("a@2", ""));
    delete(&mut handler, Deleted::Object(thing("a@3", "")));
    assert_eq!(*recording.lock().unwrap(), ["+a@1", "-a"]);
}

#[test]
fn a_closure_receives_everything_with_its_cause_before_the_one_it_is_for() {
    let recording = Arc::new(Mutex::new(Vec::new()));
    let note =
        |recording: &Arc<Mutex<Vec<String>>>, text: String| recording.lock().unwrap().push(text);
    let (all, adds) = (Arc::clone(&recording), Arc::clone(&recording));
    let mut handler = HandlerFuncs::new()
        .with_notification(move |notification: &Notification<Value>| {
            note(
                &all,
                format!("{} {:?}", notification.key(), notification.cause()),
            );
        })
        .with_add(move |object, in_initial_list| {
            note(&adds, format!("{object:?} {in_initial_list}"));
        });
    add(&mut handler, thing("a@1", ""), NotificationCause::Initial);
    update(&mut handler, thing("a@1", ""), thing("a@2", ""));
    delete(&mut handler, Deleted::Object(thing("a@3", "")));
    add(&mut handler, thing("a@4", ""), NotificationCause::Relist);
    assert_eq!(
        *recording.lock().unwrap(),
        [
            "a Initial",
            "a@1 true",
            "a Relist",
            "a Live",
            "a Relist",
            "a@4 false"
        ]
    );
}

#[test]
fn a_filtered_update_has_the_cause_of_the_update() {
    let (inner, recording) = RecordingHandler::new();
    let mut handler = FilteringHandler::new(is_mine, inner);
    add(
        &mut handler,
        thing("a@1", "mine"),
        NotificationCause::Initial,
    );
    update(&mut handler, thing("a@1", "mine"), thing("a@2", "other"));
    update(&mut handler, thing("a@2", "other"), thing("a@3", "mine"));
    assert_eq!(
        recording.take_causes(),
        [
            NotificationCause::Initial,
            NotificationCause::Relist,
            NotificationCause::Relist
        ]
    );
}
