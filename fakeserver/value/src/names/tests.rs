//! Tests of names.

use super::{
    dns_label_problems, label_value_problems, qualified_name_problems, subdomain_problems,
};

#[test]
fn names_are_accepted_and_refused_by_their_form() {
    let check = |problems: fn(&str) -> Vec<String>, good: &[&str], bad: &[&str]| {
        for name in good {
            assert_eq!(problems(name), Vec::<String>::new(), "{name}");
        }
        for name in bad {
            assert_ne!(problems(name), Vec::<String>::new(), "{name}");
        }
    };
    check(
        dns_label_problems,
        &["a", "a-b", "0"],
        &["", "-a", "a-", "A", "a.b", "a_b"],
    );
    check(
        subdomain_problems,
        &["a", "a.b-c.d"],
        &["", ".a", "a.", "a..b", "Bad_Name"],
    );
    check(
        label_value_problems,
        &["", "a", "A.b_c-d"],
        &["a b", "-a", "a-"],
    );
    check(
        qualified_name_problems,
        &["a", "A.b_c", "example.com/a"],
        &["", "/a", "a/", "a/b/c", "Example.com/a", "a b"],
    );
    let long = "a".repeat(64);
    check(dns_label_problems, &[&long[..63]], &[&long]);
    check(label_value_problems, &[&long[..63]], &[&long]);
}
