//! The test of the front page: the answer to a write is lost, and code that tries again writes twice.
//!
//! ```console
//! $ cargo test -p examples --test lost_answer
//! ```

use fakeserver::{FakeServer, faults::LostAnswer};
use k8s_openapi::api::core::v1::Secret;
use kube::{Api, Client, api::PostParams};

async fn issue_token(client: Client) {
    let mut token = Secret::default();
    token.metadata.generate_name = Some("token-".to_owned());
    let tokens = Api::default_namespaced(client);
    while tokens.create(&PostParams::default(), &token).await.is_err() {}
}

#[tokio::test]
#[should_panic(expected = "assertion `left == right` failed\n  left: 2\n right: 1")]
async fn a_token_is_issued_once() {
    let server = FakeServer::builder().build();
    let lost = LostAnswer::default().rule().times(1);
    let _fault = server.faults().install(lost);
    issue_token(server.client()).await;
    assert_eq!(server.objects("", "v1", "secrets").len(), 1);
}

/// The README shows this file from its imports to the end of the test, but for one attribute, and what the test prints.
#[test]
fn the_readme_shows_this_test_and_its_output() {
    let page = include_str!("../README.md");
    let (_, printed) = include_str!("lost_answer.rs").split_once("\n\n").unwrap();
    let (printed, _) = printed.split_once("\n/// ").unwrap();
    let lines = printed
        .lines()
        .filter(|line| !line.starts_with("#[should_panic"));
    let code = lines.collect::<Vec<_>>().join("\n");
    assert!(page.contains(&code), "README.md has not:\n{code}");
    assert!(page.contains("failed\n  left: 2\n right: 1\n"));
}
