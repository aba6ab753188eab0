//! The text of the data of controller revisions. A real server stores it verbatim, and compares it byte for byte: data
//! sent with spaces differs from the same data after a patch, which has none.

use fakeserver_kinds::apps::controller_revision;
use fakeserver_value::{
    go_text::compact, go_values::JSON_VALUES, managed_fields, schema::raw_extension,
    status::FieldError,
};
use serde::Deserialize;
use serde_json::{Value, value::RawValue};

use super::{ExistingObject, Target};
use crate::store::StoredObject;

/// The member whose text is compared.
pub const DATA: &str = "data";

#[derive(Deserialize)]
struct Revision<'a> {
    #[serde(borrow)]
    data: Option<&'a RawValue>,
}

/// Returns the text of the data in the body of a request, if it is a controller revision.
pub fn sent(target: &Target, body: &[u8]) -> Option<String> {
    if !target.rules().is(&controller_revision::KIND) {
        return None;
    }
    text_in(body)
}

/// Returns the text of data that a JSON patch or a merge patch leaves unchanged: without spaces.
pub fn patched(target: &Target, stored: &StoredObject, new: &Value) -> Option<String> {
    let text = sent(target, &stored.json())?;
    let is_same = serde_json::from_str::<Value>(&text).is_ok_and(|old| old == new[DATA]);
    is_same.then(|| compact(&text))
}

/// Returns the text of the stored data, if an applied configuration leaves the object unchanged.
pub fn applied(target: &Target, existing: &ExistingObject, new: &Value) -> Option<String> {
    let without_managers = |object: &Value| {
        let mut object = object.clone();
        managed_fields::set(&mut object, None);
        object
    };
    let is_same = || without_managers(&existing.object) == without_managers(new);
    sent(target, &existing.stored.json()).filter(|_| is_same())
}

/// Returns the error of data whose text differs from the stored one.
pub(super) fn error(
    target: &Target,
    stored: &StoredObject,
    new: &Value,
    text: Option<&str>,
) -> Option<FieldError> {
    let old = sent(target, &stored.json())?;
    let is = text.map_or_else(|| compact(&new[DATA].to_string()), str::to_owned);
    let print = || {
        if target.resource.kubernetes.gates().is_on(JSON_VALUES) {
            return compact(&is);
        }
        raw_extension(Some(is.as_str()).filter(|text| *text != "null"))
    };
    (old != is).then(|| FieldError::invalid_printed(DATA, &print(), "field is immutable"))
}

fn text_in(json: &[u8]) -> Option<String> {
    let revision: Revision<'_> = serde_json::from_slice(json).ok()?;
    revision.data.map(|data| data.get().to_owned())
}
