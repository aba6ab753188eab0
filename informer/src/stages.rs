//! The stages behind an informer, each by itself: for benchmarks, fuzz targets, and layers between stages.
//!
//! The stages may change in any release.

#[cfg(all(feature = "_shuttle", feature = "compact"))]
pub use crate::compact::CompactStore;
#[cfg(feature = "http")]
pub use crate::decode::{Decoder, FRAME_SIZE_MAX_BYTES, FrameSplitter, ListBody, status_of_answer};
pub use crate::{
    delta_fifo::{Batch, DeltaFifo, DeltaFifoProducer},
    indexer::IndexerWriter,
    processor::{Listener, PresentObjects, Processor},
    shared_informer::CacheInput,
    task::{Spawner, TaskSet},
};
