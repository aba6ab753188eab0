//! What a reflector's machine can be told.

/// Four bytes an input; see [`informer::fuzzing::reflector_machine`].
pub fn run(data: &[u8]) {
    informer::fuzzing::reflector_machine(data);
}
