//! `RuntimeClass`: the class of a pod exists, and adds its overhead.

use super::find;
use crate::{
    kinds::{core::pod, node::runtime_class},
    value::status::Status,
    write::{Attempt, AttemptError, Write, chain::Step},
};

pub(in crate::write) const STEP: Step = Step::mutating("RuntimeClass", admit);

fn admit(write: &mut Write<'_>, attempt: &mut Attempt<'_, '_>) -> Result<(), AttemptError> {
    if !write.creates(&pod::KIND) || write.is_import() {
        return Ok(());
    }
    let Some(name) = write.new["spec"]["runtimeClassName"].as_str() else {
        return Ok(());
    };
    let Some(mut class) = find(attempt, &runtime_class::KIND, name) else {
        let why = format!("pod rejected: RuntimeClass {name:?} not found");
        return Err(Status::forbidden(write.named(), &why, Vec::new()).into());
    };
    let overhead = class["overhead"]["podFixed"].take();
    if !overhead.is_null() {
        write.new["spec"]["overhead"] = overhead;
    }
    Ok(())
}
