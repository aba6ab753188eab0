//! The list of faults, its page, and the JSON of specs.

use std::{collections::BTreeSet, time::Duration};

use serde_json::Value;

use crate::faults::{Fault, FaultSpec, Filter, Latency, Rule, Throttle, ThrottleForm, Trigger};

#[test]
fn each_fault_has_its_name_and_its_entry() {
    for fault in Fault::all() {
        let entry = fault.entry();
        let is_in_json = match serde_json::to_value(fault).unwrap() {
            Value::String(name) => name == entry.fault,
            Value::Object(fields) => fields.contains_key(entry.fault),
            other => panic!("{other}"),
        };
        assert!(is_in_json, "{entry:?}");
        assert_eq!(Fault::named(entry.fault), Some(fault));
        assert_eq!(fault.rule().name(), entry.fault);
        let number: u32 = entry.number.strip_prefix('F').unwrap().parse().unwrap();
        let is_control = (20..=23).contains(&number);
        assert_eq!(entry.can_be_held(), !is_control, "{entry:?}");
        let texts = [entry.effect, entry.models, entry.suffered];
        assert!(texts.iter().all(|text| !text.is_empty()), "{entry:?}");
    }
    let entries = || Fault::all().map(Fault::entry);
    let numbers = entries().map(|entry| entry.number[1..].parse::<u32>().unwrap());
    assert!(numbers.is_sorted());
    let names: BTreeSet<&str> = entries().map(|entry| entry.fault).collect();
    assert_eq!(names.len(), entries().count());
}

#[test]
fn drawn_parameters_are_valid_and_follow_from_the_seed() {
    for fault in Fault::all() {
        let drawn = |seed| fault.drawn(seed);
        for seed in 0..50 {
            assert_eq!(drawn(seed).name(), fault.name());
            assert_eq!(drawn(seed).problem(), None, "{fault:?}");
            assert_eq!(drawn(seed), drawn(seed));
        }
    }
    assert_ne!(
        Fault::Latency(Latency::default()).drawn(1),
        Fault::Latency(Latency::default()).drawn(2)
    );
}

#[test]
fn every_parameter_of_the_catalogue_is_one() {
    for entry in Fault::all().map(Fault::entry) {
        for parameter in entry.parameters {
            // No parameter accepts an object: the error is about the value, and not about the name.
            let spec = serde_json::json!({"fault": entry.fault, *parameter: {"no": "value"}});
            let error = FaultSpec::from_value(spec).unwrap_err();
            assert_eq!(error.field(), *parameter, "{}: {error}", entry.fault);
            assert!(!error.problem().contains("unknown field"), "{error}");
        }
    }
}

/// Returns the rows that the page of faults has for a fault.
fn rows(fault: Fault) -> [String; 2] {
    let entry = fault.entry();
    let parameters = entry.parameters.iter().map(|name| format!("`{name}`"));
    let parameters = parameters.collect::<Vec<_>>().join(", ");
    let row = format!(
        "| {} | `{}` | {parameters} | {} | {} | {} | {} |",
        entry.number,
        entry.fault,
        entry.models,
        entry.suffered,
        if entry.needs_tcp() { "yes" } else { "" },
        if entry.can_be_held() { "yes" } else { "no" },
    );
    [row, format!("| `{}` | {} |", entry.fault, entry.effect)]
}

#[test]
fn the_page_of_faults_is_the_catalogue() {
    let page = include_str!("../../../../docs/faults.md");
    let (catalogue, effects) = page.split_once("\n## Effects\n").unwrap();
    let found = |part: &str, start: &str| -> Vec<String> {
        let rows = part.lines().filter(|line| line.starts_with(start));
        rows.map(str::to_owned).collect()
    };
    let wanted = |table: usize| -> Vec<String> {
        let rows = Fault::all().map(|fault| rows(fault)[table].clone());
        rows.collect()
    };
    assert_eq!(found(catalogue, "| F"), wanted(0));
    assert_eq!(found(effects, "| `"), wanted(1));
}

#[test]
fn every_number_of_the_catalogue_has_a_fault() {
    for number in 1..=38 {
        let number = format!("F{number}");
        let is_used = Fault::all().any(|fault| fault.entry().number == number);
        assert!(is_used, "{number}");
    }
}

#[test]
fn a_spec_is_written_as_it_is_read() {
    for fault in Fault::all() {
        let spec = FaultSpec::new(fault)
            .matching(
                Filter::any()
                    .client("x")
                    .name("web")
                    .min_resource_version(3),
            )
            .when(Trigger::always().nth(2).times(3).with_probability(0.5, 7));
        let text = serde_json::to_string(&spec).unwrap();
        assert_eq!(
            serde_json::from_str::<FaultSpec>(&text).unwrap(),
            spec,
            "{text}"
        );
        let plain = serde_json::to_string(&FaultSpec::new(fault)).unwrap();
        assert!(
            !plain.contains("match") && !plain.contains("when"),
            "{plain}"
        );
    }
    let text = r#"{"fault":"throttle","retryAfterSeconds":5,"match":{"resource":"pods","verb":"watch"},"when":{"afterMs":10,"forMs":20}}"#;
    let spec: FaultSpec = serde_json::from_str(text).unwrap();
    let expected = FaultSpec::new(Fault::Throttle(Throttle {
        retry_after_seconds: 5,
        form: ThrottleForm::Text,
        ..Throttle::default()
    }));
    let expected = expected
        .matching(Filter::any().verb("watch").resource("pods"))
        .when(
            Trigger::always()
                .after(Duration::from_millis(10))
                .lasting(Duration::from_millis(20)),
        );
    assert_eq!(spec, expected);
}

/// Invalid specs, the invalid field, and words of the reason.
const NO_SPECS: &[(&str, &str, &str)] = &[
    ("[]", "", "an object"),
    ("{}", "fault", "has to be named"),
    (r#"{"fault":3}"#, "fault", "is a string"),
    (
        r#"{"fault":"flood"}"#,
        "fault",
        "there is no fault \"flood\"; `fakeserver faults` and `/_control/faults/catalogue` list them",
    ),
    (
        r#"{"fault":"server_eror"}"#,
        "fault",
        "there is no fault \"server_eror\" (did you mean \"server_error\"?); `fakeserver faults`",
    ),
    (
        r#"{"fault":"hang","code":500}"#,
        "code",
        "has no parameters",
    ),
    (
        r#"{"fault":"throttle","seconds":5}"#,
        "seconds",
        "retryAfterSeconds, form",
    ),
    (
        r#"{"fault":"throttle","retryAfterSeconds":"5"}"#,
        "retryAfterSeconds",
        "invalid type",
    ),
    (
        r#"{"fault":"throttle","form":"tea"}"#,
        "form",
        "unknown variant `tea`",
    ),
    (
        r#"{"fault":"server_error","code":200}"#,
        "code",
        "from 400 to 599",
    ),
    (r#"{"fault":"denied","code":500}"#, "code", "403 or 422"),
    (
        r#"{"fault":"latency","jitterMs":86400001}"#,
        "jitterMs",
        "more than a day",
    ),
    (
        r#"{"fault":"hang","match":{"verbs":"get"}}"#,
        "match.verbs",
        "unknown field `verbs`",
    ),
    (
        r#"{"fault":"hang","match":{"verb":"read"}}"#,
        "match.verb",
        "unknown verb",
    ),
    (
        r#"{"fault":"hang","match":{"client":7}}"#,
        "match.client",
        "invalid type",
    ),
    (r#"{"fault":"hang","when":{"nth":0}}"#, "when.nth", "from 1"),
    (
        r#"{"fault":"hang","when":{"probability":1.5}}"#,
        "when.probability",
        "between 0 and 1",
    ),
    (
        r#"{"fault":"hang","when":{"times":-1}}"#,
        "when.times",
        "invalid value",
    ),
];

#[test]
fn an_invalid_spec_is_rejected_with_its_field() {
    for (text, field, problem) in NO_SPECS {
        let error = FaultSpec::from_value(serde_json::from_str(text).unwrap()).unwrap_err();
        assert_eq!(error.field(), *field, "{text}: {error}");
        assert!(error.problem().contains(problem), "{text}: {error}");
        assert!(error.to_string().starts_with(field));
    }
}
