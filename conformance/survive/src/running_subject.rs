//! A running subject, as a process or as a function.

/// A subject that runs. Dropping it kills it.
pub(super) trait RunningSubject: Send {
    /// Waits until it has ended by itself, and returns how. Cancel safe.
    fn ended(&mut self) -> impl Future<Output = String> + Send;

    /// Stops it, until it is woken.
    fn stop(&mut self);

    /// Lets it go on.
    fn wake(&mut self);

    /// Kills it.
    fn kill(&mut self) -> impl Future<Output = ()> + Send;

    /// Ends it as a system does.
    fn end(&mut self) -> impl Future<Output = ()> + Send;
}
