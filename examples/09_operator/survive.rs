//! The operator dies between two writes, reads what is old, loses answers: the websites end up the same.

use std::time::Duration;

use informer::manager::Manager;
use kube::CustomResourceExt as _;
use serde_json::json;
use survive::{Subject, Workload};
use tokio_util::sync::CancellationToken;

use crate::{
    operator,
    website::{Website, WebsiteSpec},
};

const BLOG: &str = "example.com/v1 Website default/blog";
const QUIET: Duration = Duration::from_secs(1);

#[test]
fn the_operator_survives() {
    let operator = Subject::function(async |client| {
        let manager = Manager::new(client).with_controller(operator::controller());
        manager.run(CancellationToken::new()).await
    });
    let image = "example.com/blog:1".to_owned();
    let mut blog = Website::new("blog", WebsiteSpec { image, replicas: 2 });
    blog.metadata.namespace = Some("default".to_owned());
    let workload = Workload::new()
        .apply(&blog)
        .wait(BLOG, "object.status.readyReplicas == 2")
        .quiet(QUIET)
        .patch(BLOG, json!({"spec": {"replicas": 1}}))
        .wait(BLOG, "object.status.readyReplicas == 1")
        .quiet(QUIET)
        .delete(BLOG)
        .wait(BLOG, "object == null")
        .quiet(QUIET);
    survive::check(operator)
        .object(&Website::crd())
        .steps(workload)
        .plans(12)
        .run();
}
