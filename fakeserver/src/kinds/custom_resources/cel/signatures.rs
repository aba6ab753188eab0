//! The signatures of functions: a function with its overloads.

/// The functions of the language.
pub(super) const STANDARD: &[(&str, &str)] = &[
    ("_?_:_", "conditional bool A A = A"),
    ("_&&_", "logical_and bool bool = bool"),
    ("_||_", "logical_or bool bool = bool"),
    ("!_", "logical_not bool = bool"),
    ("@not_strictly_false", "not_strictly_false bool = bool"),
    ("_==_", "equals A A = bool"),
    ("_!=_", "not_equals A A = bool"),
    (
        "_+_",
        "add_bytes bytes bytes = bytes; add_double double double = double; \
         add_duration_duration duration duration = duration; \
         add_duration_timestamp duration timestamp = timestamp; \
         add_timestamp_duration timestamp duration = timestamp; add_int64 int int = int; \
         add_list list(A) list(A) = list(A); add_string string string = string; add_uint64 uint uint = uint",
    ),
    (
        "_-_",
        "subtract_double double double = double; subtract_duration_duration duration duration = duration; \
         subtract_int64 int int = int; subtract_timestamp_duration timestamp duration = timestamp; \
         subtract_timestamp_timestamp timestamp timestamp = duration; subtract_uint64 uint uint = uint",
    ),
    (
        "_*_",
        "multiply_double double double = double; multiply_int64 int int = int; multiply_uint64 uint uint = uint",
    ),
    (
        "_/_",
        "divide_double double double = double; divide_int64 int int = int; divide_uint64 uint uint = uint",
    ),
    (
        "_%_",
        "modulo_int64 int int = int; modulo_uint64 uint uint = uint",
    ),
    (
        "-_",
        "negate_double double = double; negate_int64 int = int",
    ),
    (
        "_[_]",
        "index_list list(A) int = A; index_map map(A,B) A = B; \
         optional_list_index_int optional(list(A)) int = optional(A); \
         optional_map_index_value optional(map(A,B)) A = optional(B)",
    ),
    (
        "_[?_]",
        "list_optindex_optional_int list(A) int = optional(A); \
         optional_list_optindex_optional_int optional(list(A)) int = optional(A); \
         map_optindex_optional_value map(A,B) A = optional(B); \
         optional_map_optindex_optional_value optional(map(A,B)) A = optional(B)",
    ),
    ("@in", "in_list A list(A) = bool; in_map A map(A,B) = bool"),
    (
        "size",
        "size_bytes bytes = int; bytes_size bytes. = int; size_list list(A) = int; list_size list(A). = int; \
         size_map map(A,B) = int; map_size map(A,B). = int; size_string string = int; string_size string. = int",
    ),
    ("type", "type A = type(A)"),
    (
        "bool",
        "bool_to_bool bool = bool; string_to_bool string = bool",
    ),
    (
        "bytes",
        "bytes_to_bytes bytes = bytes; string_to_bytes string = bytes",
    ),
    (
        "double",
        "double_to_double double = double; int64_to_double int = double; string_to_double string = double; \
         uint64_to_double uint = double",
    ),
    (
        "duration",
        "duration_to_duration duration = duration; int64_to_duration int = duration; \
         string_to_duration string = duration",
    ),
    ("dyn", "to_dyn A = dyn"),
    (
        "int",
        "int64_to_int64 int = int; double_to_int64 double = int; duration_to_int64 duration = int; \
         string_to_int64 string = int; timestamp_to_int64 timestamp = int; uint64_to_int64 uint = int",
    ),
    (
        "string",
        "string_to_string string = string; bool_to_string bool = string; bytes_to_string bytes = string; \
         double_to_string double = string; duration_to_string duration = string; int64_to_string int = string; \
         timestamp_to_string timestamp = string; uint64_to_string uint = string; \
         cidr_to_string net.CIDR = string; ip_to_string net.IP = string",
    ),
    (
        "timestamp",
        "timestamp_to_timestamp timestamp = timestamp; int64_to_timestamp int = timestamp; \
         string_to_timestamp string = timestamp",
    ),
    (
        "uint",
        "uint64_to_uint64 uint = uint; double_to_uint64 double = uint; int64_to_uint64 int = uint; \
         string_to_uint64 string = uint",
    ),
    ("contains", "contains_string string. string = bool"),
    ("endsWith", "ends_with_string string. string = bool"),
    ("startsWith", "starts_with_string string. string = bool"),
    (
        "matches",
        "matches string string = bool; matches_string string. string = bool",
    ),
    (
        "getFullYear",
        "year timestamp. = int; year_tz timestamp. string = int",
    ),
    (
        "getMonth",
        "month timestamp. = int; month_tz timestamp. string = int",
    ),
    (
        "getDayOfYear",
        "day_of_year timestamp. = int; day_of_year_tz timestamp. string = int",
    ),
    (
        "getDayOfMonth",
        "day timestamp. = int; day_tz timestamp. string = int",
    ),
    (
        "getDate",
        "date timestamp. = int; date_tz timestamp. string = int",
    ),
    (
        "getDayOfWeek",
        "week_day timestamp. = int; week_day_tz timestamp. string = int",
    ),
    (
        "getHours",
        "hours timestamp. = int; hours_tz timestamp. string = int; hours_of duration. = int",
    ),
    (
        "getMinutes",
        "minutes timestamp. = int; minutes_tz timestamp. string = int; minutes_of duration. = int",
    ),
    (
        "getSeconds",
        "seconds timestamp. = int; seconds_tz timestamp. string = int; seconds_of duration. = int",
    ),
    (
        "getMilliseconds",
        "millis timestamp. = int; millis_tz timestamp. string = int; millis_of duration. = int",
    ),
    ("optional.of", "optional_of A = optional(A)"),
    (
        "optional.ofNonZeroValue",
        "optional_of_non_zero_value A = optional(A)",
    ),
    ("optional.none", "optional_none = optional(A)"),
    (
        "optional.unwrap",
        "optional_unwrap list(optional(A)) = list(A)",
    ),
    (
        "unwrapOpt",
        "optional_unwrap_opt list(optional(A)). = list(A)",
    ),
    ("value", "optional_value optional(A). = A"),
    ("hasValue", "optional_has_value optional(A). = bool"),
    ("or", "optional_or optional(A). optional(A) = optional(A)"),
    ("orValue", "optional_or_value optional(A). A = A"),
    ("first", "list_first list(A). = optional(A)"),
    ("last", "list_last list(A). = optional(A)"),
];

/// The functions of libraries.
pub(super) const LIBRARIES: &[(&str, &str)] = &[
    ("charAt", "string_char_at_int string. int = string"),
    (
        "indexOf",
        "string_index_of_string string. string = int; string_index_of_string_int string. string int = int; \
         list_a_index_of_int list(A). A = int",
    ),
    (
        "lastIndexOf",
        "string_last_index_of_string string. string = int; \
         string_last_index_of_string_int string. string int = int; list_a_last_index_of_int list(A). A = int",
    ),
    ("lowerAscii", "string_lower_ascii string. = string"),
    ("upperAscii", "string_upper_ascii string. = string"),
    ("trim", "string_trim string. = string"),
    (
        "replace",
        "string_replace_string_string string. string string = string; \
         string_replace_string_string_int string. string string int = string",
    ),
    (
        "split",
        "string_split_string string. string = list(string); \
         string_split_string_int string. string int = list(string)",
    ),
    (
        "substring",
        "string_substring_int string. int = string; string_substring_int_int string. int int = string",
    ),
    ("format", "string_format string. list(dyn) = string"),
    ("strings.quote", "strings_quote string = string"),
    (
        "join",
        "list_join list(string). = string; list_join_string list(string). string = string",
    ),
    ("reverse", "list_reverse list(A). = list(A)"),
    (
        "sets.contains",
        "list_sets_contains_list list(A) list(A) = bool",
    ),
    (
        "sets.equivalent",
        "list_sets_equivalent_list list(A) list(A) = bool",
    ),
    (
        "sets.intersects",
        "list_sets_intersects_list list(A) list(A) = bool",
    ),
    ("slice", "list_slice list(A). int int = list(A)"),
    (
        "flatten",
        "list_flatten list(list(A)). = list(A); list_flatten_int list(dyn). int = list(dyn)",
    ),
    ("distinct", "list_distinct list(A). = list(A)"),
    ("sort", "list_sort list(A). = list(A)"),
    ("lists.range", "lists_range int = list(int)"),
    ("isSorted", "list_is_sorted list(A). = bool"),
    (
        "sum",
        "list_int_sum list(int). = int; list_uint_sum list(uint). = uint; list_double_sum list(double). = double; \
         list_duration_sum list(duration). = duration",
    ),
    ("min", "list_min list(A). = A"),
    ("max", "list_max list(A). = A"),
    (
        "cel.@mapInsert",
        "map_insert_key_value map(A,B) A B = map(A,B); map_insert_map map(A,B) map(A,B) = map(A,B)",
    ),
    ("find", "string_find_string string. string = string"),
    (
        "findAll",
        "string_find_all_string string. string = list(string); \
         string_find_all_string_int string. string int = list(string)",
    ),
    ("url", "string_to_url string = kubernetes.URL"),
    ("isURL", "is_url_string string = bool"),
    ("getScheme", "url_get_scheme kubernetes.URL. = string"),
    ("getHost", "url_get_host kubernetes.URL. = string"),
    ("getHostname", "url_get_hostname kubernetes.URL. = string"),
    ("getPort", "url_get_port kubernetes.URL. = string"),
    (
        "getEscapedPath",
        "url_get_escaped_path kubernetes.URL. = string",
    ),
    (
        "getQuery",
        "url_get_query kubernetes.URL. = map(string,list(string))",
    ),
    ("cidr", "string_to_cidr string = net.CIDR"),
    ("isCIDR", "is_cidr string = bool"),
    (
        "containsIP",
        "cidr_contains_ip_string net.CIDR. string = bool; cidr_contains_ip_ip net.CIDR. net.IP = bool",
    ),
    (
        "containsCIDR",
        "cidr_contains_cidr_string net.CIDR. string = bool; cidr_contains_cidr net.CIDR. net.CIDR = bool",
    ),
    ("prefixLength", "cidr_prefix_length net.CIDR. = int"),
    ("masked", "cidr_masked net.CIDR. = net.CIDR"),
    (
        "ip",
        "string_to_ip string = net.IP; cidr_ip net.CIDR. = net.IP",
    ),
    ("isIP", "is_ip string = bool"),
    ("ip.isCanonical", "ip_is_canonical string = bool"),
    ("family", "ip_family net.IP. = int"),
    ("isUnspecified", "ip_is_unspecified net.IP. = bool"),
    ("isLoopback", "ip_is_loopback net.IP. = bool"),
    (
        "isLinkLocalMulticast",
        "ip_is_link_local_multicast net.IP. = bool",
    ),
    (
        "isLinkLocalUnicast",
        "ip_is_link_local_unicast net.IP. = bool",
    ),
    ("isGlobalUnicast", "ip_is_global_unicast net.IP. = bool"),
    (
        "quantity",
        "string_to_quantity string = kubernetes.Quantity",
    ),
    ("isQuantity", "is_quantity_string string = bool"),
    ("sign", "quantity_sign kubernetes.Quantity. = int"),
    (
        "isGreaterThan",
        "quantity_is_greater_than kubernetes.Quantity. kubernetes.Quantity = bool; \
         semver_is_greater_than kubernetes.Semver. kubernetes.Semver = bool",
    ),
    (
        "isLessThan",
        "quantity_is_less_than kubernetes.Quantity. kubernetes.Quantity = bool; \
         semver_is_less_than kubernetes.Semver. kubernetes.Semver = bool",
    ),
    (
        "compareTo",
        "quantity_compare_to kubernetes.Quantity. kubernetes.Quantity = int; \
         semver_compare_to kubernetes.Semver. kubernetes.Semver = int",
    ),
    (
        "asApproximateFloat",
        "quantity_get_float kubernetes.Quantity. = double",
    ),
    ("asInteger", "quantity_get_int kubernetes.Quantity. = int"),
    (
        "isInteger",
        "quantity_is_integer kubernetes.Quantity. = bool",
    ),
    (
        "add",
        "quantity_add kubernetes.Quantity. kubernetes.Quantity = kubernetes.Quantity; \
         quantity_add_int kubernetes.Quantity. int = kubernetes.Quantity",
    ),
    (
        "sub",
        "quantity_sub kubernetes.Quantity. kubernetes.Quantity = kubernetes.Quantity; \
         quantity_sub_int kubernetes.Quantity. int = kubernetes.Quantity",
    ),
    (
        "semver",
        "string_to_semver string = kubernetes.Semver; string_bool_to_semver string bool = kubernetes.Semver",
    ),
    (
        "isSemver",
        "is_semver_string string = bool; is_semver_string_bool string bool = bool",
    ),
    ("major", "semver_major kubernetes.Semver. = int"),
    ("minor", "semver_minor kubernetes.Semver. = int"),
    ("patch", "semver_patch kubernetes.Semver. = int"),
    (
        "validate",
        "format-validate kubernetes.NamedFormat. string = optional(list(string))",
    ),
    (
        "format.named",
        "format-named string = optional(kubernetes.NamedFormat)",
    ),
    ("format.dns1123Label", "format = kubernetes.NamedFormat"),
    ("format.dns1123Subdomain", "format = kubernetes.NamedFormat"),
    ("format.dns1035Label", "format = kubernetes.NamedFormat"),
    ("format.qualifiedName", "format = kubernetes.NamedFormat"),
    (
        "format.dns1123LabelPrefix",
        "format = kubernetes.NamedFormat",
    ),
    (
        "format.dns1123SubdomainPrefix",
        "format = kubernetes.NamedFormat",
    ),
    (
        "format.dns1035LabelPrefix",
        "format = kubernetes.NamedFormat",
    ),
    ("format.labelValue", "format = kubernetes.NamedFormat"),
    ("format.uri", "format = kubernetes.NamedFormat"),
    ("format.uuid", "format = kubernetes.NamedFormat"),
    ("format.byte", "format = kubernetes.NamedFormat"),
    ("format.date", "format = kubernetes.NamedFormat"),
    ("format.datetime", "format = kubernetes.NamedFormat"),
];
