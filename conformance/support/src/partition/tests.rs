use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;

fn partition(text: &str) -> Result<Partition, String> {
    text.parse()
        .map_err(|error: PartitionError| error.to_string())
}

#[test]
fn a_partition_is_read_as_it_is_written() {
    for text in ["0/1", "0/4", "3/4", "99999/100000"] {
        assert_eq!(partition(text).unwrap().to_string(), text);
    }
    assert!(partition("0/1").unwrap().is_whole());
    assert_eq!(Partition::default().to_string(), "0/1");
}

#[test]
fn what_is_no_partition_is_refused_with_what_to_write() {
    for (text, want) in [
        (
            "0/0",
            "0/0 is no partition: N, the number of partitions, is at least 1",
        ),
        ("5/3", "5/3 is no partition: K is one of 0 to 2"),
        ("3/3", "3/3 is no partition: K is one of 0 to 2"),
        (
            "1/100001",
            "100001 partitions are too many: N is at most 100000",
        ),
    ] {
        assert_eq!(partition(text).unwrap_err(), want);
    }
    for garbage in [
        "",
        "/",
        "1",
        "1/",
        "/2",
        "+1/2",
        "-1/2",
        "a/b",
        "1/2/3",
        "1 / 2",
        "0/4294967296",
        "٣/4",
    ] {
        let error = partition(garbage).unwrap_err();
        assert!(error.contains("write K/N"), "{garbage}: {error}");
    }
}

#[test]
fn a_pod_of_an_indexed_job_has_the_partition_of_its_index() {
    let of = |variables: &'static [(&str, &str)]| {
        let read = |name: &str| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        };
        Partition::of_job(read).map_err(|error| error.to_string())
    };
    assert_eq!(of(&[]), Ok(None));
    assert_eq!(of(&[(INDEX_VARIABLE, "2")]), Ok(None));
    let both = of(&[(INDEX_VARIABLE, "2"), (COUNT_VARIABLE, "4")]);
    assert_eq!(both.unwrap().unwrap().to_string(), "2/4");
    let error = of(&[(COUNT_VARIABLE, "4")]).unwrap_err();
    assert!(error.contains("completionMode: Indexed"), "{error}");
    let error = of(&[(INDEX_VARIABLE, "4"), (COUNT_VARIABLE, "4")]).unwrap_err();
    assert_eq!(error, "4/4 is no partition: K is one of 0 to 3");
    let error = of(&[(INDEX_VARIABLE, "one"), (COUNT_VARIABLE, "4")]).unwrap_err();
    assert_eq!(
        error,
        "JOB_COMPLETION_INDEX is `one`: it has to be a number"
    );
}

/// Campaigns are assigned by this: a change of it changes what a partition runs.
#[test]
fn a_text_belongs_to_the_same_partition_for_ever() {
    let owner = |text: &str| (0..4).find(|index| Partition::new(*index, 4).unwrap().has(text));
    let owners = [
        "crash before create pods",
        "crash after create pods",
        "stale",
        "",
    ]
    .map(owner);
    assert_eq!(owners, [Some(3), Some(0), Some(3), Some(3)]);
}

#[test]
fn texts_are_spread_over_all_partitions() {
    let texts: Vec<String> = (0..4_000).map(|number| format!("plan {number}")).collect();
    for index in 0..4 {
        let partition = Partition::new(index, 4).unwrap();
        let own = texts.iter().filter(|text| partition.has(text)).count();
        assert!((800..1_200).contains(&own), "{partition}: {own}");
    }
}

proptest! {
    #[test]
    fn every_item_belongs_to_one_partition(total in 0_u64..400, count in 1_u32..40) {
        let mut seen = BTreeSet::new();
        for index in 0..count {
            let partition = Partition::new(index, count).unwrap();
            let own: Vec<u64> = partition.of(0..total).collect();
            prop_assert_eq!(own.len() as u64, partition.size(total));
            prop_assert!(partition.size(total).abs_diff(total / u64::from(count)) <= 1);
            for item in own {
                prop_assert!(seen.insert(item), "{} twice", item);
            }
        }
        prop_assert!(seen.into_iter().eq(0..total));
    }

    #[test]
    fn more_items_leave_the_owners_of_the_others(total in 0_u64..400, more in 0_u64..400, count in 1_u32..40, index in 0_u32..40) {
        let partition = Partition::new(index % count, count).unwrap();
        let own: Vec<u64> = partition.of(0..total).collect();
        let longer: Vec<u64> = partition.of(0..total + more).collect();
        prop_assert!(longer.starts_with(&own));
    }

    #[test]
    fn every_text_belongs_to_one_partition(text in ".*", count in 1_u32..2_000) {
        let owners = (0..count).filter(|index| Partition::new(*index, count).unwrap().has(&text));
        prop_assert_eq!(owners.count(), 1);
    }

    #[test]
    fn no_text_is_read_as_another_partition(text in "\\PC{0,12}") {
        if let Ok(partition) = text.parse::<Partition>() {
            prop_assert!(partition.index() < partition.count());
            let digits = |number: &str| number.trim_start_matches('0').to_owned();
            let (index, count) = text.split_once('/').unwrap();
            prop_assert_eq!(digits(index), digits(&partition.index().to_string()));
            prop_assert_eq!(digits(count), digits(&partition.count().to_string()));
        }
    }
}
