//! Tables of calls of functions: their values and their errors.

use serde_json::{Value as Json, json};

use super::evaluate;

#[track_caller]
fn check(table: &[(&str, Json)]) {
    for (source, expected) in table {
        assert_eq!(evaluate(source).0, Ok(expected.clone()), "{source}");
    }
}

#[track_caller]
fn check_failures(table: &[(&str, &str)]) {
    for (source, expected) in table {
        assert_eq!(evaluate(source).0, Err((*expected).to_owned()), "{source}");
    }
}

#[test]
fn addresses_have_families_and_kinds() {
    check(&[
        (
            "[ip('10.0.0.1').family(), ip('::1').family()]",
            json!([4, 6]),
        ),
        (
            "['1.2.3.4', '::1', '::1.2.3.4', '1.2.3', '1.2.3.04', '::ffff:1.2.3.4', 'fe80::1%eth0', ''].map(a, isIP(a))",
            json!([true, true, true, false, false, false, false, false]),
        ),
        (
            "['::1', '0:0::1', '2001:DB8::1', '1.2.3.4'].map(a, ip.isCanonical(a))",
            json!([true, false, false, true]),
        ),
        (
            "string(ip('2001:DB8:0:0:1::1'))",
            json!("2001:db8::1:0:0:1"),
        ),
        (
            "['0.0.0.0', '::', '0.0.0.1'].map(a, ip(a).isUnspecified())",
            json!([true, true, false]),
        ),
        (
            "['127.8.8.8', '::1', '128.0.0.1'].map(a, ip(a).isLoopback())",
            json!([true, true, false]),
        ),
        (
            "['224.0.0.9', 'ff02::1', 'ff12::1', '224.0.1.1', 'ff05::1'].map(a, ip(a).isLinkLocalMulticast())",
            json!([true, true, true, false, false]),
        ),
        (
            "['169.254.1.1', 'fe80::1', 'febf::1', '169.253.1.1', 'fec0::1'].map(a, ip(a).isLinkLocalUnicast())",
            json!([true, true, true, false, false]),
        ),
        (
            "['10.0.0.1', 'fd00::1', '255.255.255.255', '224.0.1.1', 'fe80::1', '127.0.0.1', '::'].map(a, \
             ip(a).isGlobalUnicast())",
            json!([true, true, false, false, false, false, false]),
        ),
        (
            "ip('::1') == ip('0::1') && ip('::1') != ip('::2')",
            json!(true),
        ),
    ]);
    check_failures(&[
        (
            "ip.isCanonical('x')",
            "IP Address \"x\" parse error during conversion from string: ParseAddr(\"x\"): unable to parse IP",
        ),
        (
            "dyn('1.2.3.4').family()",
            "no such overload: family(string)",
        ),
    ]);
}

#[test]
fn networks_contain_addresses_and_networks() {
    check(&[
        (
            "['10.0.0.0/8', '::/0', '10.1.2.3/32', '10.0.0.0/33', '10.0.0.0', '::ffff:1.2.3.4/100'].map(c, isCIDR(c))",
            json!([true, true, true, false, false, false]),
        ),
        (
            "['10.1.1.1', '11.0.0.0', '::1'].map(a, cidr('10.0.0.0/8').containsIP(a))",
            json!([true, false, false]),
        ),
        (
            "['2001:db8::1', '2001:db9::1', '1.2.3.4'].map(a, cidr('2001:db8::/32').containsIP(ip(a)))",
            json!([true, false, false]),
        ),
        (
            "['10.1.0.0/16', '10.0.0.0/8', '10.0.0.0/7', '11.0.0.0/16', '::/64'].map(c, \
             cidr('10.0.0.0/8').containsCIDR(c))",
            json!([true, true, false, false, false]),
        ),
        (
            "cidr('0.0.0.0/0').containsIP('255.1.1.1') && cidr('::/0').containsIP('ff::')",
            json!(true),
        ),
        (
            "['10.1.2.3/8', '10.1.2.3/0', '10.1.2.3/32', '2001:db8:1::1/33', '::1/128'].map(c, string(cidr(c).masked()))",
            json!([
                "10.0.0.0/8",
                "0.0.0.0/0",
                "10.1.2.3/32",
                "2001:db8::/33",
                "::1/128"
            ]),
        ),
        (
            "string(cidr('10.1.2.3/8')) + ' ' + string(cidr('10.1.2.3/8').ip()) + ' ' + \
             string(cidr('10.1.2.3/8').prefixLength())",
            json!("10.1.2.3/8 10.1.2.3 8"),
        ),
        (
            "cidr('10.0.0.0/8') == cidr('10.0.0.0/8') && cidr('10.0.0.1/8') != cidr('10.0.0.0/8')",
            json!(true),
        ),
    ]);
    check_failures(&[
        ("cidr('10.0.0.0/8').containsIP('x')", "no such overload"),
        (
            "cidr('10.0.0.0/8').containsCIDR('10.0.0.0')",
            "network address parse error during conversion from string: network address parse error during conversion \
             from string: netip.ParsePrefix(\"10.0.0.0\"): no '/'",
        ),
    ]);
}

#[test]
fn urls_are_taken_apart() {
    check(&[
        (
            "['https://a.b', '/a', 'mailto:a', '//h/a', '', 'a', 'https://h:x/', 'https://h/%z'].map(u, isURL(u))",
            json!([true, true, true, true, false, false, false, false]),
        ),
        (
            "url('HTTPS://u:p@a.b:443/c%20d?x=1&y=+&x=2#f').getScheme()",
            json!("https"),
        ),
        (
            "['https://u:p@a.b:443/c?x#f', 'https://[::1]:8/', 'https://a.b', '/a', '//h/a'].map(u, [url(u).getHost(), \
             url(u).getHostname(), url(u).getPort(), url(u).getEscapedPath()])",
            json!([
                ["a.b:443", "a.b", "443", "/c"],
                ["[::1]:8", "::1", "8", "/"],
                ["a.b", "a.b", "", ""],
                ["", "", "", "/a"],
                ["h", "h", "", "/a"],
            ]),
        ),
        (
            "url('https://h/a b/%2f').getEscapedPath()",
            json!("/a%20b//"),
        ),
        (
            "url('https://a.b/?x=1&y=+%41&x=2#z=1').getQuery()",
            json!({"x": ["1", "2"], "y": [" A"]}),
        ),
        (
            "url('HTTPS://a/b') == url('https://a/b') && url('https://a/b') != url('https://a/c')",
            json!(true),
        ),
    ]);
    check_failures(&[
        (
            "url('https://h:x/')",
            "URL parse error during conversion from string: parse \"https://h:x/\": invalid port \":x\" after host",
        ),
        (
            "dyn('https://a').getHost()",
            "no such overload: getHost(string)",
        ),
    ]);
}

#[test]
fn quantities_are_compared_and_added() {
    check(&[
        (
            "['1Gi', '1.5', '-3m', '1e3', '1Gx', '', ' 1'].map(q, isQuantity(q))",
            json!([true, true, true, true, false, false, false]),
        ),
        (
            "['-1', '0', '2m'].map(q, sign(quantity(q)))",
            json!([-1, 0, 1]),
        ),
        (
            "['1000m', '1', '999m', '2Ki'].map(q, quantity(q).compareTo(quantity('1')))",
            json!([0, 0, -1, 1]),
        ),
        (
            "['1k', '1.5', '1500m', '9E', '10E'].map(q, quantity(q).isInteger())",
            json!([true, false, false, true, false]),
        ),
        (
            "quantity('1Ki').asInteger() + quantity('-2k').asInteger()",
            json!(-976),
        ),
        ("quantity('1.5').asApproximateFloat() == 1.5", json!(true)),
        (
            "quantity('100m').add(quantity('1')) == quantity('1100m')",
            json!(true),
        ),
        (
            "quantity('1Ki').add(1) == quantity('1025') && quantity('1').sub(2) == quantity('-1')",
            json!(true),
        ),
        (
            "quantity('1').sub(quantity('0.5')) == quantity('500m')",
            json!(true),
        ),
        (
            "quantity('2').isGreaterThan(quantity('1')) && !quantity('1').isGreaterThan(quantity('1')) && \
             quantity('1').isLessThan(quantity('1.1'))",
            json!(true),
        ),
    ]);
    check_failures(&[
        (
            "quantity('10E').asInteger()",
            "cannot convert value to integer",
        ),
        (
            "quantity('1').add(dyn('1'))",
            "no such overload: add(kubernetes.Quantity, string)",
        ),
    ]);
}

#[test]
fn versions_have_an_order() {
    check(&[
        (
            "['1.2.3', '1.2.3-a.1+b', '1.2.3+01', 'v1.2.3', '1.2', '01.2.3', '1.2.3-01', '1.2.3-', '1.2.3+'].map(v, \
             isSemver(v))",
            json!([true, true, true, false, false, false, false, false, false]),
        ),
        (
            "['v1.2.3', '1', 'v1.2', '01.02.03', '1.2-a', '1.2.03-a', 'x', 'V1'].map(v, isSemver(v, true))",
            json!([true, true, true, true, false, true, false, false]),
        ),
        (
            "semver('v01.02', true) == semver('1.2.0') && isSemver('1.2.3', false)",
            json!(true),
        ),
        (
            "[semver('1.2.3').major(), semver('1.2.3').minor(), semver('1.2.3').patch()]",
            json!([1, 2, 3]),
        ),
        (
            "['1.2.4', '1.2.3', '1.2.3-a', '1.2.3+b', '0.9.9'].map(v, semver(v).compareTo(semver('1.2.3')))",
            json!([1, 0, -1, 0, -1]),
        ),
        ("semver('1.2.3+a') == semver('1.2.3+b')", json!(true)),
        (
            "semver('1.2.3-2').isLessThan(semver('1.2.3-11')) && semver('1.2.3-a').isGreaterThan(semver('1.2.3-11'))",
            json!(true),
        ),
    ]);
    check_failures(&[
        (
            "semver('1.2.3-01')",
            "Numeric PreRelease version must not contain leading zeroes \"01\"",
        ),
        (
            "semver('1.2.3-a_b')",
            "Invalid character(s) found in prerelease \"a_b\"",
        ),
        (
            "semver('1.2.3+a_b')",
            "Invalid character(s) found in build meta data \"a_b\"",
        ),
        ("semver('1.2.3+')", "Build meta data is empty"),
        (
            "semver('1..3')",
            "strconv.ParseUint: parsing \"\": invalid syntax",
        ),
        (
            "semver('1.2.18446744073709551616')",
            "strconv.ParseUint: parsing \"18446744073709551616\": value out of range",
        ),
        (
            "semver('1.2-a', true)",
            "short version cannot contain PreRelease/Build meta data",
        ),
    ]);
}

#[test]
fn patterns_find_parts() {
    check(&[
        (
            "['ab1', '١', ''].map(t, t.matches('^[a-z]*\\\\d?$'))",
            json!([true, false, true]),
        ),
        ("matches('abc', 'b') && 'ABC'.matches('(?i)b')", json!(true)),
        (
            "['xay1', ''].map(t, t.find('[a-z]\\\\d'))",
            json!(["y1", ""]),
        ),
        ("'a1b2c3'.findAll('[a-z]')", json!(["a", "b", "c"])),
        (
            "[-1, 0, 2].map(n, 'a1b2c3'.findAll('[a-z]', n))",
            json!([["a", "b", "c"], [], ["a", "b"]]),
        ),
        ("'abc'.findAll('x*')", json!(["", "", "", ""])),
    ]);
    check_failures(&[
        (
            "'a'.matches(object.metadata.name + '(')",
            "error parsing regexp: missing closing ): `a(`",
        ),
        (
            "'a'.find(object.metadata.name + '(')",
            "Illegal regex: error parsing regexp: missing closing ): `a(`",
        ),
        ("dyn(1).find('a')", "no such overload: find(int, string)"),
    ]);
}

#[test]
fn formats_have_problems_of_their_own() {
    check(&[
        (
            "['uri', 'uuid', 'byte', 'date', 'datetime'].map(f, format.named(f).value().validate('').orValue([]))",
            json!([
                ["parse \"\": empty url"],
                ["does not match the UUID format"],
                ["invalid base64"],
                ["invalid date"],
                ["invalid datetime"],
            ]),
        ),
        (
            "[format.uri().validate('/a'), format.uuid().validate('12345678-1234-1234-1234-12345678abcd'), \
             format.byte().validate('AA=='), format.date().validate('2024-02-29'), \
             format.datetime().validate('2024-02-29T00:00:00.5+01:00')].exists(p, p.hasValue())",
            json!(false),
        ),
        (
            "[format.dns1123Label().validate('a-'), format.dns1123LabelPrefix().validate('a-'), \
             format.qualifiedName().validate('a/b'), format.labelValue().validate('-')].map(p, p.hasValue())",
            json!([true, false, false, true]),
        ),
    ]);
    check_failures(&[(
        "dyn('a').validate('b')",
        "no such overload: validate(string, string)",
    )]);
}

#[test]
fn times_and_durations_are_converted() {
    check(&[
        (
            "string(timestamp('2024-01-02T03:04:05.50+02:00'))",
            json!("2024-01-02T03:04:05.5+02:00"),
        ),
        (
            "timestamp('9999-12-31T23:59:59.999999999Z')",
            json!("9999-12-31T23:59:59.999999999Z"),
        ),
        ("timestamp('0001-01-01T00:00:00Z').getFullYear()", json!(1)),
        ("int(timestamp('1969-12-31T23:59:59.5Z'))", json!(-1)),
        (
            "timestamp('2024-01-02T05:04:05+02:00') == timestamp('2024-01-02T03:04:05Z')",
            json!(true),
        ),
        (
            "timestamp('2024-01-02T23:30:00-01:00').getHours()",
            json!(0),
        ),
        (
            "[timestamp('2024-07-02T23:30:15.123Z')].map(t, [t.getHours('+02:30'), t.getMinutes('02:30'), \
             t.getDayOfMonth('Asia/Tokyo'), t.getDate(''), t.getDayOfYear('UTC'), t.getHours('-23:59'), \
             t.getMilliseconds(), t.getDayOfWeek()])[0]",
            json!([2, 0, 2, 2, 183, 23, 123, 2]),
        ),
        (
            "timestamp('9999-12-31T23:59:59Z').getHours('America/New_York')",
            json!(18),
        ),
        (
            "['1h1m1.5s', '-1.5s', '0', '1us', '.5s'].map(d, string(duration(d)))",
            json!(["3661.5s", "-1.5s", "0s", "0.000001s", "0.5s"]),
        ),
        (
            "int(duration('1ms')) + int(-dyn(duration('1us')))",
            json!(999_000),
        ),
        (
            "duration('1h') - duration('90m') == duration('-30m')",
            json!(true),
        ),
        (
            "duration('-90s').getMinutes() == -1 && duration('25h').getHours() == 25",
            json!(true),
        ),
        (
            "timestamp('2024-03-01T00:00:00Z') - duration('24h') == timestamp('2024-02-29T00:00:00Z')",
            json!(true),
        ),
    ]);
}

#[test]
fn times_and_durations_have_ranges() {
    let long = "duration('2562047h')";
    check_failures(&[
        (&format!("{long} + {long}"), "integer overflow"),
        (
            "timestamp('9999-12-31T23:59:59Z') + duration('1s')",
            "timestamp overflow",
        ),
        (
            "timestamp('0001-01-01T00:00:00Z') - duration('1ns')",
            "timestamp overflow",
        ),
        (
            "timestamp('2024-01-02T03:04:05Z') - timestamp('0001-01-01T00:00:00Z')",
            "integer overflow",
        ),
        (
            "timestamp(object.spec.replicas * 100000000000)",
            "timestamp overflow",
        ),
        (
            "timestamp(object.metadata.name)",
            "type conversion error from 'string' to 'google.protobuf.Timestamp'",
        ),
        (
            "timestamp('2024-01-02T03:04:05Z').getHours('+01:60')",
            "timezone offset minutes out of range [0, 59]: +01:60",
        ),
        (
            "timestamp('2024-01-02T03:04:05Z').getHours('x:00')",
            "strconv.Atoi: parsing \"x\": invalid syntax",
        ),
        (
            "timestamp('2024-01-02T03:04:05Z').getHours('Nowhere')",
            "unknown time zone Nowhere",
        ),
        (
            "dyn(duration('1s')).getFullYear()",
            "no such overload: getFullYear(google.protobuf.Duration)",
        ),
    ]);
}

#[test]
fn numbers_bytes_and_collections_are_equal_across_types() {
    check(&[
        (
            "dyn(1) == dyn(1.0) && dyn(1u) == dyn(1) && dyn(2) != dyn(2.5)",
            json!(true),
        ),
        (
            "dyn(9007199254740993) == dyn(9007199254740992.0)",
            json!(true),
        ),
        (
            "1 < 1.5 && 2u > 1 && 18446744073709551615u > -1 && 1.0 <= 1u",
            json!(true),
        ),
        (
            "dyn(1) == dyn('1') || dyn([1]) == dyn({1: 1}) || dyn(null) == dyn(false)",
            json!(false),
        ),
        (
            "[1, 2] == dyn([dyn(1.0), dyn(2u)]) && {'a': [1]} == dyn({'a': [1.0]}) && [1] != [1, 1]",
            json!(true),
        ),
        (
            "{dyn(1): 'a', dyn(2u): 'b'} == dyn({dyn(2): 'b', dyn(1u): 'a'}) && {1: 1} != {1: 2}",
            json!(true),
        ),
        (
            "{1.0: 'a'}[dyn(1)] + {18446744073709551615u: 'b'}[18446744073709551615u]",
            json!("ab"),
        ),
        (
            "b'a\\xff' == bytes('a') + b'\\xff' && b'a' < b'b' && size(b'é') == 2 && size('é') == 1",
            json!(true),
        ),
        (
            "string(b'\\xc3\\xa9') + 'a世b'.substring(1, 2) + 'a世b'.charAt(2)",
            json!("é世b"),
        ),
        (
            "[1.0, 0.1, 1e21, 1e-7, 123456789.0, -0.0].map(d, string(d))",
            json!(["1", "0.1", "1e+21", "1e-07", "1.23456789e+08", "-0"]),
        ),
        (
            "0.0 / 0.0 == 0.0 / 0.0 || 1.0 / 0.0 != 1.0 / 0.0",
            json!(false),
        ),
        ("jsonpatch.escapeKey('~a/~1')", json!("~0a~1~01")),
    ]);
    check_failures(&[
        (
            "-9223372036854775808 - object.spec.replicas",
            "integer overflow",
        ),
        (
            "object.spec.replicas * 9223372036854775807",
            "integer overflow",
        ),
        ("2u - 3u", "unsigned integer overflow"),
        ("18446744073709551615u + 1u", "unsigned integer overflow"),
        (
            "uint(object.spec.replicas - 4)",
            "unsigned integer overflow",
        ),
        ("int(object.spec.ratio * 1e20)", "integer overflow"),
        (
            "string(bytes('a') + b'\\xff')",
            "invalid UTF-8 in bytes, cannot convert to string",
        ),
        ("object.spec.replicas % 0", "modulus by zero"),
    ]);
}
