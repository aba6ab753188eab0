//! The other objects that placing a pod depends on: namespaces, claims, volumes, classes and budgets.

use fakeserver_kinds::Kind;
use fakeserver_server::store::{ObjectKey, Transaction};
use serde_json::Value;

/// Reads objects.
pub(super) trait Objects {
    fn get(&self, kind: &'static Kind, namespace: Option<&str>, name: &str) -> Option<Value>;

    /// Lists all objects of a kind.
    fn list(&self, kind: &'static Kind) -> Vec<Value>;
}

impl Objects for Transaction<'_> {
    fn get(&self, kind: &'static Kind, namespace: Option<&str>, name: &str) -> Option<Value> {
        let key = ObjectKey::new(kind.storage().clone(), namespace, name);
        Transaction::get(self, &key).map(|stored| stored.to_value())
    }

    fn list(&self, kind: &'static Kind) -> Vec<Value> {
        let stored = Transaction::list(self, kind.storage(), None);
        stored.iter().map(|stored| stored.to_value()).collect()
    }
}
