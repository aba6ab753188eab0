//! What happens to the stream of a watch.

mod clean_end;
mod disconnect;
mod end_after_bookmark;
mod go_away;
mod rechunk;
mod reset_mid_body;
mod reset_mid_line;
mod silence;
mod slow_reader_evicted;
mod trickle;

pub use self::{
    clean_end::{CleanEnd, clean_end},
    disconnect::{Disconnect, disconnect},
    end_after_bookmark::{EndAfterBookmark, end_after_bookmark},
    go_away::{GoAway, go_away},
    rechunk::{Rechunk, rechunk},
    reset_mid_body::{ResetMidBody, reset_mid_body},
    reset_mid_line::{ResetMidLine, reset_mid_line},
    silence::{Silence, silence},
    slow_reader_evicted::{SlowReaderEvicted, slow_reader_evicted},
    trickle::{Trickle, trickle},
};
