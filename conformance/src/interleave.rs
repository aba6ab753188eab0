//! Yields to other tasks, as often as a plan says and at places that its seed draws.

use std::sync::{Arc, Mutex};

use rand::{RngExt, rngs::ChaCha8Rng};

use crate::{plan::Interleaving, seed::Seed};

/// A place at which a task may yield to others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "complete by definition")]
pub enum Seam {
    /// Before an operation on the cluster.
    Operation,
    /// Before a request reaches the server, or its answer the informer.
    Request,
    /// Before a frame of a body reaches the informer's client.
    Frame,
    /// Before a page or an event goes to the informer's store.
    Store,
}

/// Draws how often a task yields. Clones draw from the same generator. The draws of an actor that has a generator of
/// its own do not depend on other actors.
#[derive(Clone, Debug, Default)]
pub struct Yields(Option<Arc<Shared>>);

#[derive(Debug)]
struct Shared {
    chances: Interleaving,
    generator: Mutex<ChaCha8Rng>,
}

// === impl Yields ===

impl Yields {
    /// Creates yields within `chances`, drawn from `generator`.
    pub fn new(chances: Interleaving, generator: ChaCha8Rng) -> Self {
        let shared = || {
            Arc::new(Shared {
                chances,
                generator: Mutex::new(generator),
            })
        };
        Self((!chances.is_none()).then(shared))
    }

    /// Creates the yields of an actor, drawn from the seed of its run.
    pub(crate) fn of(chances: Interleaving, seed: Seed, actor: &str) -> Self {
        Self::new(chances, seed.stream(&format!("yields of {actor}")))
    }

    /// Yields, perhaps several times, perhaps not at all.
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost, but the draw is used up.
    pub async fn pass(&self, seam: Seam) {
        for _ in 0..self.draw(seam) {
            tokio::task::yield_now().await;
        }
    }

    /// Draws the number of yields at a seam.
    pub fn draw(&self, seam: Seam) -> u8 {
        let Some(shared) = &self.0 else {
            return 0;
        };
        let chances = &shared.chances;
        let percent = match seam {
            Seam::Operation => chances.operations,
            Seam::Request => chances.requests,
            Seam::Frame => chances.frames,
            Seam::Store => chances.store,
        };
        let mut generator = shared.generator.lock().expect("no holder panics");
        if generator.random_range(0..100) < percent {
            generator.random_range(1..=chances.row_max.max(1))
        } else {
            0
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Seam, Yields};
    use crate::{plan::Interleaving, seed::Seed};

    fn drawn(chances: Interleaving, seam: Seam) -> Vec<u8> {
        let yields = Yields::new(chances, Seed::new(1).stream("yields"));
        (0..200).map(|_| yields.draw(seam)).collect()
    }

    #[test]
    fn a_chance_is_kept_and_so_is_the_limit() {
        let mut chances = Interleaving::default();
        (chances.frames, chances.row_max) = (50, 3);
        let frames = drawn(chances, Seam::Frame);
        assert_eq!(frames, drawn(chances, Seam::Frame));
        let count = frames.iter().filter(|count| **count > 0).count();
        assert!((60..140).contains(&count), "{count}");
        assert_eq!(frames.iter().max(), Some(&3));
        assert_eq!(drawn(chances, Seam::Store), [0; 200]);
        chances.store = 100;
        assert!(!drawn(chances, Seam::Store).contains(&0));
    }

    #[tokio::test(start_paused = true)]
    async fn others_go_first_and_no_time_passes() {
        let mut chances = Interleaving::default();
        (chances.requests, chances.row_max) = (100, 1);
        let yields = Yields::new(chances, Seed::new(1).stream("yields"));
        let began = tokio::time::Instant::now();
        let order = std::cell::RefCell::new(Vec::new());
        let step = |name: &'static str, yields: Yields| {
            let order = &order;
            async move {
                yields.pass(Seam::Request).await;
                order.borrow_mut().push(name);
            }
        };
        tokio::join!(step("first", yields), step("second", Yields::default()));
        assert_eq!(order.into_inner(), ["second", "first"]);
        assert_eq!(began.elapsed(), std::time::Duration::ZERO);
    }
}
