//! Tools for testing what is built on an informer.

mod list_watch;

pub use self::list_watch::{
    EventSender, ListCall, Script, ScriptedCall, ScriptedListWatch, ScriptedStream, WatchCall,
    scripted,
};
