//! Informers with their handlers and controllers, which take part in every run: any implementation, as a subject under test.

mod plan;
mod forms;
mod handler_forms;
mod pauses;
mod draw;
mod section;
pub mod subjects;
mod run;
pub(crate) mod checkers;

pub use self::plan::{Adapter, HandlerPlan, InformerPlan, Pause, PlannedEncoding};
pub(crate) use self::{
    draw::draw,
    run::{Features, Informers},
    section::Act,
};
