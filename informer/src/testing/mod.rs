//! Tools for testing what is built on an informer.

mod list_watch;
mod recording_handler;

#[cfg(test)]
pub(crate) use self::recording_handler::notification_text;
pub use self::{
    list_watch::{
        EventSender, ListCall, Script, ScriptedCall, ScriptedListWatch, ScriptedStream, WatchCall,
        scripted,
    },
    recording_handler::{Recording, RecordingHandler},
};
