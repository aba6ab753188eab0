//! `DefaultIngressClass`: an ingress without a class gets the default one.

use fakeserver_kinds::networking::{ingress, ingress_class};

use super::default_class;

use crate::write::{Attempt, Write, chain::Step};

pub(in crate::write) const STEP: Step = Step::mutating("DefaultIngressClass", |write, attempt| {
    admit(write, attempt);
    Ok(())
});

const IS_DEFAULT: &str = "ingressclass.kubernetes.io/is-default-class";
/// The annotation that named the class before there was a field.
const CLASS: &str = "kubernetes.io/ingress.class";

fn admit(write: &mut Write<'_>, attempt: &Attempt<'_, '_>) {
    if !write.creates(&ingress::KIND) || write.is_import() {
        return;
    }
    let annotated = &write.new["metadata"]["annotations"][CLASS];
    if write.new["spec"]["ingressClassName"].is_null()
        && annotated.is_null()
        && let Some(class) = default_class(attempt, &ingress_class::KIND, &[IS_DEFAULT])
    {
        write.new["spec"]["ingressClassName"] = class["metadata"]["name"].clone();
    }
}
