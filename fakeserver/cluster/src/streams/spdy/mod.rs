//! SPDY/3.1 as far as clients of containers speak it: frames, compressed headers, and streams that carry connections.
//!
//! There is no flow control by windows: SPDY clients of Kubernetes have none.

mod headers;
mod frame;
mod forward;

pub(super) use self::forward::serve as forward;
