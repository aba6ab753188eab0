//! Sources of uids, generated names and random timeouts: one seed, and one random generator for each use.

use std::{
    sync::{Mutex, PoisonError},
    time::Duration,
};

use rand::{RngExt, SeedableRng, rngs::ChaCha8Rng};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// The characters of generated names: neither vowels nor look-alikes.
const NAME_ALPHABET: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";
/// The length of a generated suffix.
const NAME_SUFFIX: usize = 5;
/// A watch that names no timeout gets one from this range, in seconds.
const WATCH_TIMEOUT_SECONDS: std::ops::Range<u64> = 1_800..3_600;

/// The seeded generators of one server.
///
/// Each use has a stream of its own, so that a further read request (which draws an audit id) does not change
/// the uid of the next object.
#[derive(Debug)]
pub struct Entropy {
    seed: u64,
    objects: Mutex<ChaCha8Rng>,
    audits: Mutex<ChaCha8Rng>,
    watches: Mutex<ChaCha8Rng>,
    token_key: [u8; 32],
}

/// The position of each generator of a server.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Position {
    pub objects: u64,
    audits: u64,
    watches: u64,
}

// === impl Entropy ===

impl Entropy {
    pub fn new(seed: u64) -> Self {
        let stream = |number| {
            let mut generator = ChaCha8Rng::seed_from_u64(seed);
            generator.set_stream(number);
            Mutex::new(generator)
        };
        let mut token_key = [0; 32];
        lock(&stream(3)).fill(&mut token_key);
        Self {
            seed,
            objects: stream(0),
            audits: stream(1),
            watches: stream(2),
            token_key,
        }
    }

    /// Returns the seed of all generators.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    pub fn position(&self) -> Position {
        Position {
            objects: word_position(&self.objects),
            audits: word_position(&self.audits),
            watches: word_position(&self.watches),
        }
    }

    /// Continues from the position of generators that had the same seed.
    pub fn resume_from(&self, position: Position) {
        let Position {
            objects,
            audits,
            watches,
        } = position;
        lock(&self.objects).set_word_pos(objects.into());
        lock(&self.audits).set_word_pos(audits.into());
        lock(&self.watches).set_word_pos(watches.into());
    }

    /// A uid for an object.
    pub fn uid(&self) -> Uuid {
        draw_uuid(&self.objects)
    }

    /// Returns the suffix that `generateName` appends.
    pub fn name_suffix(&self) -> String {
        let mut generator = lock(&self.objects);
        (0..NAME_SUFFIX)
            .map(|_| char::from(NAME_ALPHABET[generator.random_range(0..NAME_ALPHABET.len())]))
            .collect()
    }

    /// Returns a number from 0 to 1 for the jitter of a stage.
    pub fn fraction(&self) -> f64 {
        lock(&self.objects).random_range(0.0..=1.0)
    }

    /// Returns the key that signs tokens of service accounts, unless a secret one was given.
    pub fn token_key(&self) -> [u8; 32] {
        self.token_key
    }

    /// Returns an `Audit-Id` for a request that has none.
    pub fn audit_id(&self) -> Uuid {
        draw_uuid(&self.audits)
    }

    /// Returns the duration of a watch that names no timeout.
    pub fn watch_timeout(&self) -> Duration {
        Duration::from_secs(lock(&self.watches).random_range(WATCH_TIMEOUT_SECONDS))
    }
}

/// Returns the position of a generator, in words of four bytes. 64 bits suffice for any run.
fn word_position(generator: &Mutex<ChaCha8Rng>) -> u64 {
    u64::try_from(lock(generator).get_word_pos()).unwrap_or(u64::MAX)
}

fn draw_uuid(generator: &Mutex<ChaCha8Rng>) -> Uuid {
    let mut bytes = [0; 16];
    lock(generator).fill(&mut bytes);
    uuid::Builder::from_random_bytes(bytes).into_uuid()
}

/// A generator is valid at every step, also where a panic has poisoned its lock.
fn lock(generator: &Mutex<ChaCha8Rng>) -> std::sync::MutexGuard<'_, ChaCha8Rng> {
    generator.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_use_does_not_disturb_the_others() {
        let quiet = Entropy::new(7);
        let busy = Entropy::new(7);
        for _ in 0..10 {
            busy.audit_id();
            busy.watch_timeout();
        }
        assert_eq!(quiet.uid(), busy.uid());
        assert_eq!(quiet.name_suffix(), busy.name_suffix());
        assert_ne!(quiet.uid(), Entropy::new(8).uid());
        assert_ne!(quiet.uid(), quiet.uid());
    }

    #[test]
    fn a_resumed_generator_draws_the_next_values() {
        let (first, second) = (Entropy::new(7), Entropy::new(7));
        first.uid();
        first.name_suffix();
        first.watch_timeout();
        second.resume_from(first.position());
        assert_eq!(second.position(), first.position());
        assert_eq!(second.uid(), first.uid());
        assert_eq!(second.name_suffix(), first.name_suffix());
        assert_eq!(second.watch_timeout(), first.watch_timeout());
        assert_eq!(second.audit_id(), first.audit_id());
    }

    #[test]
    fn generated_names_and_uids_have_the_form_of_the_api() {
        let entropy = Entropy::new(7);
        for _ in 0..100 {
            assert_eq!(entropy.uid().get_version_num(), 4);
            let suffix = entropy.name_suffix();
            assert_eq!(suffix.len(), 5);
            assert!(
                suffix.bytes().all(|byte| NAME_ALPHABET.contains(&byte)),
                "{suffix}"
            );
            assert!(WATCH_TIMEOUT_SECONDS.contains(&entropy.watch_timeout().as_secs()));
        }
    }
}
