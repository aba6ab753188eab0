//! Mutating admission policies.

use fakeserver_value::{field::Field, findings::Findings};

use crate::{
    Habits, Kind, MetadataRechecks, Validation,
    admission::{
        cells,
        conditions::condition_errors,
        match_resources::{
            check_mutated_operations, check_policy_head, check_variables, must_check_conditions,
            set_policy_defaults,
        },
    },
    expression::DeclaredVariables,
};

/// The types of patches: their names, the fields of both, and the types that their expressions evaluate to.
const PATCHES: [(&str, &str, &str, &str); 2] = [
    (
        "JSONPatch",
        "jsonPatch",
        "applyConfiguration",
        "list(JSONPatch)",
    ),
    (
        "ApplyConfiguration",
        "applyConfiguration",
        "jsonPatch",
        "Object",
    ),
];

/// Mutating admission policies.
pub static KIND: Kind = Kind::new("admissionregistration.k8s.io", "mutatingadmissionpolicies")
    .habits(Habits {
        has_generation: true,
        requires_version: true,
        is_exempt_from_webhooks: true,
        metadata_rechecks: MetadataRechecks::WHOLE,
        checks_finalizers: false,
        ..Habits::COMMON
    })
    .defaults(set_policy_defaults)
    .cells(cells::mutating_policy)
    .validation(Validation::new(
        |policy, found| check(policy, true, found),
        |old, policy, found| check(policy, must_check_conditions(old, policy), found),
    ));

fn check(policy: &Field<'_>, checks_conditions: bool, found: &mut Findings) {
    let spec = policy.at("spec");
    check_policy_head(&spec, found);
    check_mutated_operations(&spec.at("matchConstraints"), found);
    let has_params = spec.at("paramKind").is_set();
    if checks_conditions {
        let conditions = spec.at("matchConditions");
        found.extend(condition_errors(
            &conditions.path(),
            conditions.value(),
            has_params,
        ));
    }
    let mut declared = DeclaredVariables::new(has_params).with_variables();
    check_variables(&spec.at("variables"), &mut declared, found);
    let declared = declared.with_patches();
    let mutations = spec.at("mutations");
    if mutations.is_empty() {
        found.required(&mutations, "mutations must contain at least one item");
    }
    for mutation in mutations.items() {
        check_mutation(&mutation, &declared, found);
    }
    found.one_of(&spec.at("reinvocationPolicy"), &["IfNeeded", "Never"]);
}

fn check_mutation(mutation: &Field<'_>, declared: &DeclaredVariables, found: &mut Findings) {
    let patch_type = mutation.at("patchType");
    let mut types = PATCHES.into_iter();
    let Some((name, own, other, result)) = types.find(|(name, ..)| *name == patch_type.text())
    else {
        found.one_of(&patch_type, &["ApplyConfiguration", "JSONPatch"]);
        return;
    };
    let patch = mutation.at(own);
    let expression = patch.at("expression");
    let trimmed = expression.text().trim();
    if !patch.is_set() {
        let why = format!("must be specified when patchType is {name}");
        found.required(&patch, &why);
    } else if trimmed.is_empty() {
        found.required(&expression, "");
    } else {
        let error = declared.error(&expression.path(), trimmed, trimmed, &[result]);
        found.extend(error.into_iter().collect());
    }
    if mutation.at(other).is_set() {
        let printed = format!("{{{other}}}");
        let why = format!("must not be specified when patchType is {name}");
        found.invalid_as(&mutation.at(other), &printed.into(), &why);
    }
}
