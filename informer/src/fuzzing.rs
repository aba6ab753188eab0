//! The function behind a fuzz target. Not part of the API.

use std::time::Duration;

use crate::reflector::{Chance, Chances, Mode};

/// Tells a reflector's machine what the bytes say, four an input: which of those that fit its step, with which cause, with
/// which version, and after how long.
///
/// Panics if the machine commits a part of a list, or continues for ever without a delay.
pub fn reflector_machine(data: &[u8]) {
    let Some((first, rest)) = data.split_first() else {
        return;
    };
    let mut chances = Chances::new(Mode::Mirror, first.is_multiple_of(2), u64::from(first / 2));
    for chance in rest.as_chunks::<4>().0 {
        let [choice, cause, version, after] = *chance;
        let after = match after {
            0..128 => Duration::ZERO,
            128..192 => Duration::from_millis(u64::from(after - 128) * 32),
            192.. => Duration::from_secs(u64::from(after - 192) * 7),
        };
        chances.take(&Chance {
            choice: choice % 100,
            cause: cause.into(),
            version: version.into(),
            after,
        });
    }
}
