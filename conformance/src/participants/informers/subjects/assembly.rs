//! The informer of a subject, put together as its plan says.

use std::{convert::Infallible, time::Duration};

use informer::{
    DeltaFifoOptions, Filter, Object, Scope, SharedInformer, SharedInformerBuilder,
    field_path::Fields,
    http::{self, HttpListWatch},
    reflector::ReflectorOptions,
};
use serde::de::DeserializeOwned;

use super::{SubjectParts, hurried::hurry, indices, interleaved::Interleaved};
use crate::{
    bugs::{Bug, BuggyListWatch},
    plan::{LABEL, Selection},
};

/// Creates a client as users of `informer` do. kube's own would retry failures without reporting them.
pub(super) fn own_client(parts: &SubjectParts<'_>) -> kube::Client {
    let Some(url) = &parts.url else {
        return parts.client.clone();
    };
    let config = kube::Config::new(url.parse().expect("an address makes a URL"));
    http::client(config).expect("a URL without TLS is all that a client needs")
}

/// The informer of a subject, before it is built.
pub(super) type Builder<K> =
    SharedInformerBuilder<K, BuggyListWatch<K, Interleaved<HttpListWatch<K>>>>;

/// Creates what lists and watches a selection, of which the server has to know no more than namespace and labels.
pub(super) fn list_watch<K>(
    client: kube::Client,
    selection: &Selection,
    dynamic_type: &K::DynamicType,
) -> HttpListWatch<K>
where
    K: kube::Resource + DeserializeOwned + Send + Sync + 'static,
{
    let scope = match &selection.namespace {
        Some(namespace) => Scope::Namespace(namespace.clone()),
        None => Scope::All,
    };
    let list_watch = HttpListWatch::new_with(client, scope, dynamic_type);
    match selection.label_selector() {
        Some(selector) => list_watch.with_labels(selector),
        None => list_watch,
    }
}

/// Returns the options of a reflector as its plan says.
pub(super) fn reflector_options(parts: &SubjectParts<'_>) -> ReflectorOptions {
    let plan = parts.plan;
    let mut options = ReflectorOptions::default();
    options.page_size = Some(plan.page_size);
    options.streaming_lists = plan.streaming_lists;
    options.watch_timeout_min = Duration::from_secs(plan.watch_timeout_s);
    options.seed = Some(parts.seed);
    if parts.is_hurried {
        hurry(&mut options);
    }
    options
}

pub(super) fn builder<K: Fields + Send + Sync + 'static>(
    parts: &SubjectParts<'_>,
    list_watch: HttpListWatch<K>,
    bug: Option<Bug>,
) -> Builder<K> {
    let plan = parts.plan;
    let mut options = reflector_options(parts);
    if let Some(bug) = bug {
        bug.inject(&mut options);
    }
    let mut queue = DeltaFifoOptions::default();
    if let Some(count) = plan.queue_max {
        queue = queue.with_capacity(count).with_batch_max(count);
    }
    let list_watch = Interleaved::new(list_watch, parts.yields.clone());
    let builder = SharedInformer::builder(BuggyListWatch::new(list_watch, bug))
        .with_options(options)
        .with_queue(queue)
        .with_index(indices::TIER, indices::by_tier())
        .with_index(indices::FIELD, indices::by_field());
    let builder = match &parts.gate {
        Some(gate) => builder.with_list_gate(gate.clone()),
        None => builder,
    };
    if !plan.selection.is_filtered {
        return builder;
    }
    builder.with_filter(filter(parts.informer, plan.selection.clone()))
}

/// Creates the filter of the informer at `place`, of one kind or another.
fn filter<K: Fields + Send + Sync + 'static>(place: usize, selection: Selection) -> Filter<K> {
    match place % 3 {
        // A field that an object does not have has no value that could be accepted.
        0 if !selection.selects(None) => {
            Filter::by_field(indices::FIELD, move |label| selection.selects(Some(label)))
                .expect("it is the path of a field")
        }
        1 => Filter::fallible(move |object: &Object<K>| {
            Ok::<_, Infallible>(selection.selects(object.labels().get(LABEL)))
        }),
        _ => Filter::of_metadata(move |metadata| selection.selects(metadata.labels.get(LABEL))),
    }
}
