//! Arbitrary inputs of a reflector's machine.

/// Four bytes an input; see [`informer::fuzzing::reflector_machine`].
pub fn run(data: &[u8]) {
    informer::fuzzing::reflector_machine(data);
}
