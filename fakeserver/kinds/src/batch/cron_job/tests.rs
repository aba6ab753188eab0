//! Tests of cron jobs.

use serde_json::json;

use super::KIND;
use crate::testing::check;

#[test]
fn cron_jobs_have_schedules() {
    let cron_job = |schedule: &str, policy: &str| {
        json!({"metadata": {"name": "c"}, "spec": {
            "schedule": schedule,
            "jobTemplate": {"spec": {"template": {"spec": {
                "restartPolicy": policy,
                "containers": [{"name": "c", "image": "i"}],
            }}}},
        }})
    };
    for schedule in [
        "*/5 * * * *",
        "0 0 1 jan mon-fri",
        "@daily",
        "@every 5m",
        "1,2 3-4 ? * 0",
    ] {
        check(&KIND, &cron_job(schedule, "Never"), &[]);
    }
    for (schedule, problem) in [
        ("* * *", "expected exactly 5 fields, found 3: [* * *]"),
        ("60 * * * *", "end of range (60) above maximum (59): 60"),
        (
            "5-1 * * * *",
            "beginning of range (5) beyond end of range (1): 5-1",
        ),
        ("@often", "unrecognized descriptor: @often"),
        (
            "x * * * *",
            "failed to parse int from x: strconv.Atoi: parsing \"x\": invalid syntax",
        ),
    ] {
        let expected = format!("spec.schedule: Invalid value: {schedule:?}: {problem}");
        check(&KIND, &cron_job(schedule, "Never"), &[&expected]);
    }
    for (zone, problem) in [
        ("Europe/Berlin", None),
        ("Nowhere/City", Some("unknown time zone Nowhere/City")),
        ("europe/berlin", Some("unknown time zone europe/berlin")),
    ] {
        let mut job = cron_job("@daily", "Never");
        job["spec"]["timeZone"] = json!(zone);
        let problem = problem.map(|why| format!("spec.timeZone: Invalid value: {zone:?}: {why}"));
        let expected: Vec<&str> = problem.iter().map(String::as_str).collect();
        check(&KIND, &job, &expected);
    }
    check(
        &KIND,
        &cron_job("@daily", "Always"),
        &[
            "spec.jobTemplate.spec.template.spec.restartPolicy: Required value: valid values: \"OnFailure\", \"Never\"",
        ],
    );
}
