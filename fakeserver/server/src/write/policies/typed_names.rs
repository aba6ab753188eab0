//! The check that constructed objects have the types of the fields in which they stand.

use fakeserver_cel::{ConstructedObject, Value as CelValue, as_constructed};

/// Returns what is wrong with the names of the types in a constructed object, one problem a line.
pub(super) fn type_name_problems(object: &ConstructedObject) -> Option<String> {
    let mut problems = Vec::new();
    visit_object(object, &object.type_name, &mut problems);
    (!problems.is_empty()).then(|| problems.join("\n"))
}

fn visit_object(object: &ConstructedObject, expected: &str, problems: &mut Vec<String>) {
    if object.type_name != expected {
        problems.push(format!(
            "unexpected type name {:?}, expected {expected:?}, which matches field name path from root Object type",
            object.type_name
        ));
    }
    for (name, value) in &object.fields {
        visit(value, &format!("{expected}.{name}"), problems);
    }
}

fn visit(value: &CelValue, expected: &str, problems: &mut Vec<String>) {
    match value {
        CelValue::Opaque(_) => {
            if let Some(object) = as_constructed(value) {
                visit_object(object, expected, problems);
            }
        }
        CelValue::List(items) => {
            for item in &**items {
                visit(item, expected, problems);
            }
        }
        CelValue::Map(map) => {
            for item in map.values() {
                visit(item, expected, problems);
            }
        }
        _ => {}
    }
}
