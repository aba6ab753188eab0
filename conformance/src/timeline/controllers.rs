//! Events of controllers and their queues.

use std::{io::Write, time::Duration};

use super::Teller;
use crate::{
    trace::{Controlled, QueueEvent},
    tracefile::{EventKind, Role},
};

impl<W: Write> Teller<W> {
    /// Tells of a controller, but not of the items of its queue.
    pub(super) fn controlled(&mut self, at: Duration, controlled: &Controlled) {
        let Controlled {
            informer,
            controller,
            event,
        } = controlled;
        let shown = match event {
            QueueEvent::Stands(_) => return,
            QueueEvent::Heard { key, state, .. } => Some((key, state)),
            QueueEvent::Begins { key, shown } => Some((key, shown)),
            _ => None,
        };
        let shown = shown.and_then(|(key, state)| Some((key, state.as_ref()?)));
        let object = shown.map(|(key, state)| self.object(*informer, key, &state.uid));
        let of = self.informer(*informer);
        let name = format!("control {informer}.{controller}");
        let actor = self.writer.actor(&name, Role::Controller, Some(of));
        let kind = EventKind::Note {
            say: event.to_string(),
            object,
            revision: shown.map(|(_, state)| state.revision),
        };
        self.say(at, actor, kind);
    }
}
