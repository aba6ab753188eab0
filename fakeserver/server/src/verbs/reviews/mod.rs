//! Reviews of users and rights: they are created, answered at once, and never stored.

mod access;
mod rules;
mod token;
mod identity;

use axum::response::Response;
use fakeserver_kinds::{Kind, authentication, authorization};
use fakeserver_value::{
    edit::remove,
    status::{FieldError, Status},
};
use serde_json::{Value, json};

use super::{Api, Request, admit::admit, answer, body::receive};
use crate::{
    edge::{request::write_options, response::Shape},
    write::{ReceivedObject, Target, WriteOptions},
};

/// A kind of review.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Review {
    /// Access of the requester to a resource.
    SelfSubjectAccess,
    /// Access of a named user to a resource.
    SubjectAccess,
    /// Access of a named user to a resource in one namespace.
    LocalSubjectAccess,
    /// The requester's own rules in a namespace.
    SelfSubjectRules,
    /// The user of a token.
    Token,
    /// The requester's own identity.
    SelfSubject,
}

/// The kinds of these reviews.
static KINDS: [(&Kind, Review); 6] = [
    (
        &authorization::self_subject_access_review::KIND,
        Review::SelfSubjectAccess,
    ),
    (
        &authorization::subject_access_review::KIND,
        Review::SubjectAccess,
    ),
    (
        &authorization::local_subject_access_review::KIND,
        Review::LocalSubjectAccess,
    ),
    (
        &authorization::self_subject_rules_review::KIND,
        Review::SelfSubjectRules,
    ),
    (&authentication::token_review::KIND, Review::Token),
    (
        &authentication::self_subject_review::KIND,
        Review::SelfSubject,
    ),
];

// === impl Review ===

impl Review {
    /// The one that a request is about, if it is one of these.
    pub(super) fn of(target: &Target) -> Option<Self> {
        let mut kinds = KINDS.into_iter();
        let found = kinds.find(|(kind, _)| target.rules().is(kind));
        found.map(|(_, review)| review)
    }

    /// Answers the question in `body`.
    pub(super) async fn serve(
        self,
        api: &Api,
        request: &Request<'_>,
        body: &[u8],
    ) -> Result<Response, Status> {
        let encoding = answer::encoding(api, request, Shape::Object)?;
        let options = write_options(&request.query, "CreateOptions")?;
        let ReceivedObject { object, warnings } = receive(request, body, options.validation())?;
        let answered = self.answer(api, request, &options, object).await;
        answer::answered(request, &encoding, warnings, answered)
    }

    /// Returns the answer to a question, and the warnings of admission.
    async fn answer(
        self,
        api: &Api,
        request: &Request<'_>,
        options: &WriteOptions,
        mut review: Value,
    ) -> Result<(Value, Vec<String>), Status> {
        request.target.set_namespace(&mut review)?;
        remove(&mut review, "status");
        let kind = request.target.resource.group_version_kind();
        let (mut review, admission_warnings) = admit(api, request, &kind, options, review).await?;
        request.target.set_namespace(&mut review)?;
        let answered = match self {
            Self::SelfSubjectAccess | Self::SubjectAccess | Self::LocalSubjectAccess => {
                access::answer(self, request, review)?
            }
            Self::SelfSubjectRules => rules::answer(request, &review)?,
            Self::Token => token::answer(api, review)?,
            Self::SelfSubject => identity::answer(api, request),
        };
        Ok((answered, admission_warnings))
    }
}

/// Returns a review with this metadata and without a spec, the base of some answers.
fn empty_review(target: &Target, metadata: &Value) -> Value {
    json!({
        "kind": target.resource.kind.to_string(),
        "apiVersion": target.resource.api_version(),
        "metadata": metadata,
    })
}

/// Returns the errors of a review's metadata, which has to be empty.
fn metadata_errors(review: &Value, is_namespaced: bool) -> Vec<FieldError> {
    let mut metadata = review["metadata"].clone();
    remove(&mut metadata, "managedFields");
    let sent_metadata = metadata.clone();
    if is_namespaced {
        remove(&mut metadata, "namespace");
    }
    // Versions show the absent time of a creation.
    let is_empty = (metadata.as_object()).is_none_or(|fields| fields.values().all(Value::is_null));
    let why = if is_namespaced {
        "must be empty except for namespace"
    } else {
        "must be empty"
    };
    if is_empty {
        Vec::new()
    } else {
        vec![FieldError::invalid("metadata", &sent_metadata, why)]
    }
}
