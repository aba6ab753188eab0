//! `DefaultIngressClass`: an ingress without a class gets the default one.

use super::list;
use crate::{
    kinds::networking::{ingress, ingress_class},
    value::status::Status,
    write::{Attempt, AttemptError, Write, chain::Step},
};

pub(in crate::write) const STEP: Step = Step::mutating("DefaultIngressClass", admit);

const IS_DEFAULT: &str = "ingressclass.kubernetes.io/is-default-class";
/// The annotation that named the class before there was a field.
const CLASS: &str = "kubernetes.io/ingress.class";

fn admit(write: &mut Write<'_>, attempt: &mut Attempt<'_, '_>) -> Result<(), AttemptError> {
    if !write.creates(&ingress::KIND) || write.is_import() {
        return Ok(());
    }
    let annotated = &write.new["metadata"]["annotations"][CLASS];
    if !write.new["spec"]["ingressClassName"].is_null() || !annotated.is_null() {
        return Ok(());
    }
    let mut defaults = list(attempt, &ingress_class::KIND);
    defaults.retain(|class| class["metadata"]["annotations"][IS_DEFAULT] == "true");
    match defaults.as_slice() {
        [] => Ok(()),
        [class] => {
            write.new["spec"]["ingressClassName"] = class["metadata"]["name"].clone();
            Ok(())
        }
        several => {
            let why = format!(
                "{} default IngressClasses were found, only 1 allowed",
                several.len()
            );
            Err(Status::forbidden(write.named(), &why, Vec::new()).into())
        }
    }
}
