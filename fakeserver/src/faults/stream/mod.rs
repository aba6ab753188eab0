//! What happens to the stream of a watch.

mod clean_end;
mod disconnect;
mod end_after_bookmark;
mod go_away;
mod reset_mid_line;
mod silence;

pub use self::{
    clean_end::{CleanEnd, clean_end},
    disconnect::{Disconnect, disconnect},
    end_after_bookmark::{EndAfterBookmark, end_after_bookmark},
    go_away::{GoAway, go_away},
    reset_mid_line::{ResetMidLine, reset_mid_line},
    silence::{Silence, silence},
};
