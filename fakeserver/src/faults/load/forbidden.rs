//! A right that is taken away, and given back.

use std::time::Duration;

use tokio::time::Instant;

use crate::{
    faults::{Answer, Effect, NamedRule, RequestFacts, RequestVerdict},
    status::Status,
};

/// See [`forbidden`].
#[derive(Debug, Clone, Copy)]
pub struct Forbidden {
    flip: Option<Duration>,
    /// When the right was first taken away.
    since: Option<Instant>,
}

/// A request is answered with 403, as after a change of roles. Watches that are open go on, as they do on a real server.
pub fn forbidden() -> NamedRule<Forbidden> {
    NamedRule::new(Forbidden {
        flip: None,
        since: None,
    })
}

// === impl Forbidden ===

impl NamedRule<Forbidden> {
    /// From the first request on, the right is away for so long, then there for so long, and so on.
    pub fn flipping(mut self, flip: Duration) -> Self {
        self.effect_mut().flip = Some(flip);
        self
    }
}

impl Forbidden {
    fn is_away(&mut self) -> bool {
        let Some(flip) = self.flip.filter(|flip| !flip.is_zero()) else {
            return true;
        };
        let since = *self.since.get_or_insert_with(Instant::now);
        let flips = since.elapsed().as_millis() / flip.as_millis().max(1);
        flips.is_multiple_of(2)
    }
}

impl Effect for Forbidden {
    fn name(&self) -> &'static str {
        "forbidden"
    }

    fn on_request(&mut self, request: &RequestFacts) -> Option<RequestVerdict> {
        if !self.is_away() {
            return None;
        }
        let resource = match &request.subresource {
            Some(subresource) => format!("{}/{subresource}", request.resource),
            None => request.resource.clone(),
        };
        let place = match &request.namespace {
            Some(namespace) => format!("in the namespace {namespace:?}"),
            None => "at the cluster scope".to_owned(),
        };
        let why = format!(
            "User {:?} cannot {} resource {resource:?} in API group {:?} {place}",
            request.user, request.verb, request.group
        );
        let status = Status::denied(request.named(), &why);
        Some(RequestVerdict::Answer(
            Answer::of(&status).without_sniffing(),
        ))
    }
}
