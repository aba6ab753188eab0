//! Declarations of the functions that expressions may call, those of 1.36.

use std::{collections::BTreeMap, sync::LazyLock};

use super::types::{Bindings, Type};

/// A form of a function.
#[derive(Clone, Debug)]
pub(super) struct Overload {
    /// The name that costs depend on; empty for most.
    pub(super) name: &'static str,
    pub(super) is_member: bool,
    /// The types of the arguments, that of the target first.
    arguments: Vec<Type>,
    result: Type,
}

/// The forms of each function.
static FUNCTIONS: LazyLock<BTreeMap<&'static str, Vec<Overload>>> = LazyLock::new(|| {
    let mut all: BTreeMap<&'static str, Vec<Overload>> = BTreeMap::new();
    for line in DECLARATIONS.lines().filter(|line| !line.is_empty()) {
        let Some((head, forms)) = line.split_once(' ') else {
            continue;
        };
        let (is_member, names) = match head.strip_prefix('.') {
            Some(names) => (true, names),
            None => (false, head),
        };
        for name in names.split(',') {
            let forms = forms
                .split("; ")
                .flat_map(|form| overloads_of(form, is_member));
            all.entry(name).or_default().extend(forms);
        }
    }
    all
});

/// Returns the forms of a function.
pub(super) fn overloads(function: &str) -> Option<&'static [Overload]> {
    FUNCTIONS.get(function).map(Vec::as_slice)
}

/// Reads a form such as `name:string,int=bool`, in which `A` and `B` are any types. One with `T` or `N` is a form for
/// each type that can be compared or summed.
fn overloads_of(form: &'static str, is_member: bool) -> Vec<Overload> {
    let (name, form) = form.split_once(':').unwrap_or(("", form));
    let each: &[&str] = match form {
        form if form.contains('T') => &COMPARABLE,
        form if form.contains('N') => &COMPARABLE[..4],
        _ => &[""],
    };
    let forms = each.iter().map(|each| {
        let (arguments, result) = form.split_once('=').unwrap_or(("", form));
        Overload {
            name,
            is_member,
            arguments: split(arguments)
                .into_iter()
                .map(|argument| read(argument, each))
                .collect(),
            result: read(result, each),
        }
    });
    forms.collect()
}

/// Types whose values have an order; the first four have sums.
const COMPARABLE: [&str; 8] = [
    "int",
    "uint",
    "double",
    "duration",
    "bool",
    "timestamp",
    "string",
    "bytes",
];

/// Splits types at the commas between them.
fn split(types: &str) -> Vec<&str> {
    let (mut parts, mut depth, mut from) = (Vec::new(), 0, 0);
    for (at, letter) in types.char_indices() {
        match letter {
            '(' => depth += 1,
            ')' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(&types[from..at]);
                from = at + 1;
            }
            _ => {}
        }
    }
    if from < types.len() {
        parts.push(&types[from..]);
    }
    parts
}

/// Reads a type, in which `T` and `N` are `each`.
fn read(text: &str, each: &str) -> Type {
    if let Some((name, inner)) = text.strip_suffix(')').and_then(|text| text.split_once('(')) {
        let inner = split(inner).into_iter().map(|inner| read(inner, each));
        let inner: Vec<Type> = inner.collect();
        return match (name, inner.as_slice()) {
            ("map", [key, value]) => Type::map(key.clone(), value.clone()),
            ("list", [element]) => Type::list(element.clone()),
            ("optional", [value]) => Type::optional(value.clone()),
            (_, [of, ..]) => Type::of_type(of.clone()),
            _ => Type::Dyn,
        };
    }
    match text {
        "A" => Type::Variable(0),
        "B" => Type::Variable(1),
        "T" | "N" => read(each, ""),
        "duration" => Type::Duration,
        "timestamp" => Type::Timestamp,
        name => basic(name).unwrap_or_else(|| Type::library(name)),
    }
}

/// Returns the type of a name without parameters that expressions may use as a value.
pub(super) fn basic(name: &str) -> Option<Type> {
    Some(match name {
        "dyn" => Type::Dyn,
        "null_type" => Type::Null,
        "bool" => Type::Bool,
        "int" => Type::Int,
        "uint" => Type::Uint,
        "double" => Type::Double,
        "string" => Type::String,
        "bytes" => Type::Bytes,
        "google.protobuf.Duration" => Type::Duration,
        "google.protobuf.Timestamp" => Type::Timestamp,
        "net.IP" | "net.CIDR" => Type::library(name),
        _ => return None,
    })
}

/// Returns the name of a library's type, which the declarations shorten.
pub(super) fn full_name(name: &str) -> &str {
    match name {
        "IP" => "net.IP",
        "Cidr" => "net.CIDR",
        "Url" => "kubernetes.URL",
        "Quantity" => "kubernetes.Quantity",
        "Semver" => "kubernetes.Semver",
        "Format" => "kubernetes.NamedFormat",
        "Authorizer" => "kubernetes.authorization.Authorizer",
        "PathCheck" => "kubernetes.authorization.PathCheck",
        "GroupCheck" => "kubernetes.authorization.GroupCheck",
        "ResourceCheck" => "kubernetes.authorization.ResourceCheck",
        "Decision" => "kubernetes.authorization.Decision",
        other => other,
    }
}

// === impl Overload ===

impl Overload {
    /// Returns the types of the arguments and of the result for one call.
    pub(super) fn instantiate(&self, bindings: &mut Bindings) -> (Vec<Type>, Type) {
        let mut variables = [None, None];
        let arguments = self.arguments.iter();
        let arguments = arguments
            .map(|of| instance(of, &mut variables, bindings))
            .collect();
        (arguments, instance(&self.result, &mut variables, bindings))
    }
}

/// Replaces the parameters of a declaration by variables.
fn instance(of: &Type, variables: &mut [Option<Type>; 2], bindings: &mut Bindings) -> Type {
    match of {
        Type::Variable(number) => variables[*number]
            .get_or_insert_with(|| bindings.variable())
            .clone(),
        other => other.with_parameters(|inner| instance(inner, variables, bindings)),
    }
}

/// Functions that have the same forms a line, members with a dot; then their forms.
const DECLARATIONS: &str = "
_?_:_ conditional:bool,A,A=A
_&&_ logical_and:bool,bool=bool
_||_ logical_or:bool,bool=bool
!_ bool=bool
@not_strictly_false bool=bool
-_ int=int; double=double
_==_ equals:A,A=bool
_!=_ not_equals:A,A=bool
_<_,_<=_,_>_,_>=_ bool,bool=bool; int,int=bool; int,double=bool; int,uint=bool; uint,uint=bool; uint,double=bool; uint,int=bool; double,double=bool; double,int=bool; double,uint=bool; compare:string,string=bool; compare:bytes,bytes=bool; timestamp,timestamp=bool; duration,duration=bool
_+_ add_bytes:bytes,bytes=bytes; double,double=double; duration,duration=duration; duration,timestamp=timestamp; timestamp,duration=timestamp; int,int=int; add_list:list(A),list(A)=list(A); add_string:string,string=string; uint,uint=uint
_-_ double,double=double; duration,duration=duration; int,int=int; timestamp,duration=timestamp; timestamp,timestamp=duration; uint,uint=uint
_*_,_/_ double,double=double; int,int=int; uint,uint=uint
_%_ int,int=int; uint,uint=uint
_[_] index_list:list(A),int=A; index_map:map(A,B),A=B; optional(list(A)),int=optional(A); optional(map(A,B)),A=optional(B)
_[?_] list(A),int=optional(A); optional(list(A)),int=optional(A); map(A,B),A=optional(B); optional(map(A,B)),A=optional(B)
_?._ dyn,string=optional(A)
@in in_list:A,list(A)=bool; A,map(A,B)=bool
size bytes=int; list(A)=int; map(A,B)=int; string=int
.size bytes=int; list(A)=int; map(A,B)=int; string=int
type A=type(A)
dyn A=dyn
bool bool=bool; string=bool
bytes bytes=bytes; string_to_bytes:string=bytes
double double=double; int=double; string=double; uint=double
duration duration=duration; int=duration; string=duration
int int=int; double=int; duration=int; string=int; timestamp=int; uint=int
string string=string; bool=string; bytes_to_string:bytes=string; double=string; duration=string; int=string; timestamp=string; uint=string; IP=string; Cidr=string
timestamp timestamp=timestamp; int=timestamp; string=timestamp
uint uint=uint; double=uint; int=uint; string=uint
matches string,string=bool
.matches matches_string:string,string=bool
.contains contains_string:string,string=bool
.endsWith,startsWith affix_string:string,string=bool
.getFullYear,getMonth,getDayOfYear,getDayOfMonth,getDate,getDayOfWeek timestamp=int; timestamp,string=int
.getHours,getMinutes,getSeconds,getMilliseconds timestamp=int; timestamp,string=int; duration=int
optional.of,optional.ofNonZeroValue A=optional(A)
optional.none =optional(A)
optional.unwrap list(optional(A))=list(A)
.unwrapOpt list(optional(A))=list(A)
.value optional(A)=A
.hasValue optional(A)=bool
.or optional(A),optional(A)=optional(A)
.orValue optional(A),A=A
.charAt string,int=string
.indexOf,lastIndexOf string,string=int; string,string,int=int; list(A),A=int
.lowerAscii,upperAscii,trim string=string
.replace string,string,string=string; string,string,string,int=string
.split string,string=list(string); string,string,int=list(string)
.substring string,int=string; string,int,int=string
.format string_format:string,list(dyn)=string
strings.quote strings_quote:string=string
.join list(string)=string; list(string),string=string
.slice list_slice:list(A),int,int=list(A)
.flatten list_flatten:list(list(A))=list(A); list_flatten:list(dyn),int=list(dyn)
.sort list_sort:list(T)=list(T)
.@sortByAssociatedKeys list_sort_by:list(A),list(T)=list(A)
lists.range lists_range:int=list(int)
.reverse list_reverse:list(A)=list(A)
.distinct list_distinct:list(A)=list(A)
.first,last list(A)=optional(A)
.isSorted list(T)=bool
.sum list(N)=N
.max,min list(T)=T
cel.@mapInsert map(A,B),A,B=map(A,B); map(A,B),map(A,B)=map(A,B)
sets.contains,sets.intersects sets_once:list(A),list(A)=bool
sets.equivalent sets_twice:list(A),list(A)=bool
.find string,string=string
.findAll string,string=list(string); string,string,int=list(string)
url string=Url
isURL string=bool
.getScheme,getHost,getHostname,getPort,getEscapedPath Url=string
.getQuery Url=map(string,list(string))
ip string=IP
.ip cidr_ip:Cidr=IP
isIP,isCIDR,isQuantity,ip.isCanonical string=bool
.family IP=int
.isUnspecified,isLoopback,isLinkLocalMulticast,isLinkLocalUnicast,isGlobalUnicast IP=bool
cidr string=Cidr
.containsIP contains_text:Cidr,string=bool; Cidr,IP=bool
.containsCIDR contains_text:Cidr,string=bool; Cidr,Cidr=bool
.prefixLength Cidr=int
.masked Cidr=Cidr
quantity string=Quantity
sign Quantity=int
.isGreaterThan,isLessThan Quantity,Quantity=bool; Semver,Semver=bool
.compareTo Quantity,Quantity=int; Semver,Semver=int
.asApproximateFloat Quantity=double
.asInteger Quantity=int
.isInteger Quantity=bool
.add,sub Quantity,Quantity=Quantity; Quantity,int=Quantity
semver string=Semver; string,bool=Semver
isSemver string=bool; string,bool=bool
.major,minor,patch Semver=int
format.dns1123Label,format.dns1123Subdomain,format.dns1035Label,format.qualifiedName,format.dns1123LabelPrefix,format.dns1123SubdomainPrefix,format.dns1035LabelPrefix,format.labelValue,format.uri,format.uuid,format.byte,format.date,format.datetime =Format
format.named string=optional(Format)
.validate Format,string=optional(list(string))
jsonpatch.escapeKey string=string
.path Authorizer,string=PathCheck
.group Authorizer,string=GroupCheck
.serviceAccount Authorizer,string,string=Authorizer
.resource GroupCheck,string=ResourceCheck
.subresource,namespace,name,fieldSelector,labelSelector ResourceCheck,string=ResourceCheck
.check PathCheck,string=Decision; ResourceCheck,string=Decision
.errored,allowed Decision=bool
.error,reason Decision=string
";
