//! Evaluators: what quotas count of the objects of a resource.

use fakeserver_value::{resource::GroupResource, schema::Quantity};
use serde_json::Value;

use super::{Amounts, UsageContext, claim, device_claim, pod, scope::Scope, service};
use crate::{Kind, core, resource::resource_claim};

/// The beginning of the names by which quotas count objects of any resource.
const COUNT: &str = "count/";
/// The resources whose objects quotas count by their own names as well.
const COUNTED_BY_NAME: [&str; 4] = [
    "configmaps",
    "replicationcontrollers",
    "resourcequotas",
    "secrets",
];
/// The resources that no quota counts, since their objects are not stored: groups and names.
const IGNORED: [(&str, &str); 10] = [
    ("", "bindings"),
    ("", "componentstatuses"),
    ("", "events"),
    ("authentication.k8s.io", "selfsubjectreviews"),
    ("authentication.k8s.io", "tokenreviews"),
    ("authorization.k8s.io", "localsubjectaccessreviews"),
    ("authorization.k8s.io", "selfsubjectaccessreviews"),
    ("authorization.k8s.io", "selfsubjectrulesreviews"),
    ("authorization.k8s.io", "subjectaccessreviews"),
    ("events.k8s.io", "events"),
];

/// The kinds of whose objects more is counted than how many there are.
static MEASURED: [(&Kind, Measure); 4] = [
    (&core::persistent_volume_claim::KIND, Measure::Claim),
    (&core::pod::KIND, Measure::Pod),
    (&core::service::KIND, Measure::Service),
    (&resource_claim::KIND, Measure::DeviceClaim),
];

/// The usage of the objects of a resource.
#[derive(Clone, Debug)]
pub struct Evaluator {
    resource: GroupResource,
    measure: Measure,
}

/// The amounts that are counted of an object in addition to the object itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Measure {
    Pod,
    Service,
    Claim,
    DeviceClaim,
    Nothing,
}

// === impl Evaluator ===

impl Evaluator {
    /// Returns the evaluator of a resource, unless quotas ignore it.
    pub fn of(resource: &GroupResource) -> Option<Self> {
        if IGNORED.contains(&(resource.group(), resource.resource())) {
            return None;
        }
        let mut measured = MEASURED.iter();
        let measured = measured.find(|(kind, _)| kind.storage() == resource);
        Some(Self {
            resource: resource.clone(),
            measure: measured.map_or(Measure::Nothing, |(_, measure)| *measure),
        })
    }

    /// Returns the evaluators that count something by a name of a quota. Whether there are such resources is not known.
    pub fn counting(name: &str, around: &dyn UsageContext) -> Vec<Self> {
        if let Some(resource) = name.strip_prefix(COUNT) {
            let (resource, group) = resource.split_once('.').unwrap_or((resource, ""));
            return Self::of(&GroupResource::new(group, resource))
                .into_iter()
                .collect();
        }
        let plain = COUNTED_BY_NAME
            .iter()
            .map(|name| GroupResource::new("", *name));
        let measured = MEASURED.iter().map(|(kind, _)| kind.storage().clone());
        let all = plain
            .chain(measured)
            .filter_map(|resource| Self::of(&resource));
        all.filter(|evaluator| evaluator.counts(name, around))
            .collect()
    }

    pub fn resource(&self) -> &GroupResource {
        &self.resource
    }

    /// Returns whether more is counted of an object than the object itself, so that updates may change its usage.
    pub fn measures(&self) -> bool {
        self.measure != Measure::Nothing
    }

    /// Returns whether the usage of an object depends on other objects.
    pub fn depends_on_others(&self) -> bool {
        self.measure == Measure::DeviceClaim
    }

    /// Returns whether it counts something by a name of a quota.
    pub fn counts(&self, name: &str, around: &dyn UsageContext) -> bool {
        if name.starts_with(COUNT) {
            return name == self.count_name();
        }
        match self.measure {
            Measure::Pod => pod::counts(name),
            Measure::Service => service::counts(name),
            Measure::Claim => claim::counts(name),
            Measure::DeviceClaim => device_claim::counts(name, around),
            Measure::Nothing => self.is_counted_by_name() && name == self.resource.resource(),
        }
    }

    /// Returns the usage of an object.
    pub fn usage(&self, object: &Value, around: &dyn UsageContext) -> Amounts {
        let mut usage = match self.measure {
            Measure::Pod => pod::usage(object, around.now()),
            Measure::Service => service::usage(object),
            Measure::Claim => claim::usage(object),
            Measure::DeviceClaim => device_claim::usage(object, around),
            Measure::Nothing => Amounts::default(),
        };
        let one = Quantity::from(1);
        if self.is_counted_by_name() {
            usage.set(self.resource.resource(), one.clone());
        }
        usage.set(self.count_name(), one);
        usage
    }

    /// Returns which of the `required` resources an object does not ask for and has to, in the words of a rejection.
    pub(super) fn missing<'a>(
        &self,
        required: impl Iterator<Item = &'a str>,
        object: &'a Value,
    ) -> Option<String> {
        match self.measure {
            Measure::Pod => pod::missing(required, object),
            _ => None,
        }
    }

    pub(super) fn is_in(&self, scope: &Scope, object: &Value) -> bool {
        match self.measure {
            Measure::Pod => pod::is_in(scope, object),
            Measure::Claim => claim::is_in(scope, object),
            _ => false,
        }
    }

    fn count_name(&self) -> String {
        format!("{COUNT}{}", self.resource)
    }

    fn is_counted_by_name(&self) -> bool {
        self.resource.group().is_empty() && COUNTED_BY_NAME.contains(&self.resource.resource())
    }
}
