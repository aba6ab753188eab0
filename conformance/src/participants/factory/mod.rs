//! A factory beside the informers: informers that share a client, made of [`informer::factory`], through their generations.

mod event;
mod plan;
mod draw;
mod handler;
mod view;
mod run;
mod factories;

pub use self::{
    event::{FactoryEvent, FactoryRequest},
    plan::{FactoryAct, FactoryActKind, FactoryPlan, ViewPlan},
};

#[cfg(test)]
mod tests;
