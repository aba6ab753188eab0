//! The functions behind the fuzz targets, for arbitrary bytes.
//!
//! Each function panics where a promise is not kept; that nothing panics by itself is the first one. The targets call them
//! with what libFuzzer makes up, the tests with the seeds, among which every crash that was found is kept.

pub mod frames;
pub mod watch_events;
pub mod machine;
pub mod reflector;
pub mod plans;
pub mod server;
pub mod values;
pub mod work;

/// A fuzz target's function of its input.
pub type Target = fn(&[u8]);

/// The targets by name: each is a program in `fuzz_targets`, and has a folder of seeds.
pub const TARGETS: [(&str, Target); 14] = [
    ("cbor", values::cbor),
    ("fault_plan", plans::run),
    ("field_set", values::field_set),
    ("frames", frames::run),
    ("json_syntax", values::json_syntax),
    ("patch", server::patch),
    ("plan_text", plans::text),
    ("protobuf", values::protobuf),
    ("reflector", reflector::run),
    ("reflector_machine", machine::run),
    ("request", server::request),
    ("selectors", values::selectors),
    ("watch_events", watch_events::run),
    ("work", work::run),
];

/// Does with `data` what the target `name` does.
///
/// # Panics
///
/// If a promise is not kept, or there is no such target.
pub fn run(name: &str, data: &[u8]) {
    let target = TARGETS.iter().find(|(known, _)| *known == name);
    let (_, run) = target.expect("a target is called as its program");
    run(data);
}
