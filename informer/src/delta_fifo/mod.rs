//! Changes in arrival order, between the reflector that receives them and the one task that applies them.
//!
//! The queue is client-go's in-order one in atomic mode: one item a change, over all keys, never merged; a replacement of
//! the whole state is one item, whose differences only the consumer can know. The queue knows nothing of the store.
//!
//! The queue holds at most [`DeltaFifoOptions::capacity`] items; then the producer waits, and with it the watch stream: a slow
//! consumer is felt by the server, not by the memory.

mod queue;
mod driver;
mod options;
#[cfg(test)]
mod tests;

pub use self::{
    driver::{DeltaFifo, DeltaFifoProducer},
    options::DeltaFifoOptions,
    queue::Batch,
};
