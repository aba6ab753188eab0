//! Declarations of the functions that expressions may call, those of 1.36.

use std::{collections::BTreeMap, sync::LazyLock};

use super::types::Type;

/// A form of a function.
#[derive(Clone, Debug)]
pub(super) struct Overload {
    pub(super) is_member: bool,
    /// The types of the arguments, that of the target first.
    pub(super) args: Vec<Type>,
    pub(super) result: Type,
    /// The number of type parameters, which are the variables from 0 on.
    pub(super) parameters: usize,
}

/// The forms of each function.
pub(super) static FUNCTIONS: LazyLock<BTreeMap<&'static str, Vec<Overload>>> =
    LazyLock::new(|| {
        let mut all: BTreeMap<&'static str, Vec<Overload>> = BTreeMap::new();
        for line in DECLARATIONS.lines().filter(|line| !line.is_empty()) {
            let Some((head, results)) = line.split_once(' ') else {
                continue;
            };
            let (is_member, name) = match head.strip_prefix('.') {
                Some(name) => (true, name),
                None => (false, head),
            };
            for form in results.split("; ") {
                all.entry(name).or_default().push(overload(form, is_member));
            }
        }
        all
    });

/// Reads a form such as `string,int=bool`, in which `A` and `B` are parameters.
fn overload(form: &str, is_member: bool) -> Overload {
    let (args, result) = form.split_once('=').unwrap_or(("", form));
    let parameters = if form.contains('B') {
        2
    } else {
        usize::from(form.contains('A'))
    };
    Overload {
        is_member,
        args: split(args).into_iter().map(read).collect(),
        result: read(result),
        parameters,
    }
}

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

fn read(text: &str) -> Type {
    if let Some((name, inner)) = text.strip_suffix(')').and_then(|text| text.split_once('(')) {
        let inner: Vec<Type> = split(inner).into_iter().map(read).collect();
        return match (name, inner.as_slice()) {
            ("map", [key, value]) => Type::map(key.clone(), value.clone()),
            ("list", [element]) => Type::list(element.clone()),
            ("optional", [value]) => Type::optional(value.clone()),
            (_, [of, ..]) => Type::Type(of.clone().into()),
            _ => Type::Dyn,
        };
    }
    match text {
        "A" => Type::Variable(0),
        "B" => Type::Variable(1),
        name => basic(name).unwrap_or_else(|| Type::Opaque(full_name(name).into())),
    }
}

/// Returns the type of a name that expressions may use as a value.
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
        "duration" | "google.protobuf.Duration" => Type::Duration,
        "timestamp" | "google.protobuf.Timestamp" => Type::Timestamp,
        "list" => Type::list(Type::Dyn),
        "map" => Type::map(Type::Dyn, Type::Dyn),
        "optional_type" => Type::optional(Type::Dyn),
        "type" => Type::Type(Type::Dyn.into()),
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

/// One function a line, members with a dot; then its forms.
const DECLARATIONS: &str = "
_?_:_ bool,A,A=A
_&&_ bool,bool=bool
_||_ bool,bool=bool
!_ bool=bool
-_ int=int; double=double
_==_ A,A=bool
_!=_ A,A=bool
_<_ bool,bool=bool; int,int=bool; int,double=bool; int,uint=bool; uint,uint=bool; uint,double=bool; uint,int=bool; double,double=bool; double,int=bool; double,uint=bool; string,string=bool; bytes,bytes=bool; timestamp,timestamp=bool; duration,duration=bool
_<=_ bool,bool=bool; int,int=bool; int,double=bool; int,uint=bool; uint,uint=bool; uint,double=bool; uint,int=bool; double,double=bool; double,int=bool; double,uint=bool; string,string=bool; bytes,bytes=bool; timestamp,timestamp=bool; duration,duration=bool
_>_ bool,bool=bool; int,int=bool; int,double=bool; int,uint=bool; uint,uint=bool; uint,double=bool; uint,int=bool; double,double=bool; double,int=bool; double,uint=bool; string,string=bool; bytes,bytes=bool; timestamp,timestamp=bool; duration,duration=bool
_>=_ bool,bool=bool; int,int=bool; int,double=bool; int,uint=bool; uint,uint=bool; uint,double=bool; uint,int=bool; double,double=bool; double,int=bool; double,uint=bool; string,string=bool; bytes,bytes=bool; timestamp,timestamp=bool; duration,duration=bool
_+_ bytes,bytes=bytes; double,double=double; duration,duration=duration; duration,timestamp=timestamp; timestamp,duration=timestamp; int,int=int; list(A),list(A)=list(A); string,string=string; uint,uint=uint
_-_ double,double=double; duration,duration=duration; int,int=int; timestamp,duration=timestamp; timestamp,timestamp=duration; uint,uint=uint
_*_ double,double=double; int,int=int; uint,uint=uint
_/_ double,double=double; int,int=int; uint,uint=uint
_%_ int,int=int; uint,uint=uint
_[_] list(A),int=A; map(A,B),A=B; optional(list(A)),int=optional(A); optional(map(A,B)),A=optional(B)
_[?_] list(A),int=optional(A); optional(list(A)),int=optional(A); map(A,B),A=optional(B); optional(map(A,B)),A=optional(B)
@in A,list(A)=bool; A,map(A,B)=bool
size bytes=int; list(A)=int; map(A,B)=int; string=int
.size bytes=int; list(A)=int; map(A,B)=int; string=int
type A=type(A)
dyn A=dyn
bool bool=bool; string=bool
bytes bytes=bytes; string=bytes
double double=double; int=double; string=double; uint=double
duration duration=duration; int=duration; string=duration
int int=int; double=int; duration=int; string=int; timestamp=int; uint=int
string string=string; bool=string; bytes=string; double=string; duration=string; int=string; timestamp=string; uint=string; IP=string; Cidr=string
timestamp timestamp=timestamp; int=timestamp; string=timestamp
uint uint=uint; double=uint; int=uint; string=uint
matches string,string=bool
.matches string,string=bool
.contains string,string=bool
.endsWith string,string=bool
.startsWith string,string=bool
.getFullYear timestamp=int; timestamp,string=int
.getMonth timestamp=int; timestamp,string=int
.getDayOfYear timestamp=int; timestamp,string=int
.getDayOfMonth timestamp=int; timestamp,string=int
.getDate timestamp=int; timestamp,string=int
.getDayOfWeek timestamp=int; timestamp,string=int
.getHours timestamp=int; timestamp,string=int; duration=int
.getMinutes timestamp=int; timestamp,string=int; duration=int
.getSeconds timestamp=int; timestamp,string=int; duration=int
.getMilliseconds timestamp=int; timestamp,string=int; duration=int
optional.of A=optional(A)
optional.ofNonZeroValue A=optional(A)
optional.none =optional(A)
.value optional(A)=A
.hasValue optional(A)=bool
.or optional(A),optional(A)=optional(A)
.orValue optional(A),A=A
.charAt string,int=string
.indexOf string,string=int; string,string,int=int; list(A),A=int
.lastIndexOf string,string=int; string,string,int=int; list(A),A=int
.lowerAscii string=string
.upperAscii string=string
.replace string,string,string=string; string,string,string,int=string
.split string,string=list(string); string,string,int=list(string)
.substring string,int=string; string,int,int=string
.trim string=string
.format string,list(dyn)=string
strings.quote string=string
.join list(string)=string; list(string),string=string
.slice list(A),int,int=list(A)
.flatten list(list(A))=list(A); list(dyn),int=list(dyn)
.sort list(int)=list(int); list(uint)=list(uint); list(double)=list(double); list(bool)=list(bool); list(duration)=list(duration); list(timestamp)=list(timestamp); list(string)=list(string); list(bytes)=list(bytes)
lists.range int=list(int)
.reverse list(A)=list(A)
.distinct list(A)=list(A)
.first list(A)=optional(A)
.last list(A)=optional(A)
.isSorted list(int)=bool; list(uint)=bool; list(double)=bool; list(bool)=bool; list(duration)=bool; list(timestamp)=bool; list(string)=bool; list(bytes)=bool
.sum list(int)=int; list(uint)=uint; list(double)=double; list(duration)=duration
.max list(int)=int; list(uint)=uint; list(double)=double; list(bool)=bool; list(duration)=duration; list(timestamp)=timestamp; list(string)=string; list(bytes)=bytes
.min list(int)=int; list(uint)=uint; list(double)=double; list(bool)=bool; list(duration)=duration; list(timestamp)=timestamp; list(string)=string; list(bytes)=bytes
sets.contains list(A),list(A)=bool
sets.equivalent list(A),list(A)=bool
sets.intersects list(A),list(A)=bool
.find string,string=string
.findAll string,string=list(string); string,string,int=list(string)
url string=Url
isURL string=bool
.getScheme Url=string
.getHost Url=string
.getHostname Url=string
.getPort Url=string
.getEscapedPath Url=string
.getQuery Url=map(string,list(string))
ip string=IP
.ip Cidr=IP
isIP string=bool
ip.isCanonical string=bool
.family IP=int
.isUnspecified IP=bool
.isLoopback IP=bool
.isLinkLocalMulticast IP=bool
.isLinkLocalUnicast IP=bool
.isGlobalUnicast IP=bool
cidr string=Cidr
isCIDR string=bool
.containsIP Cidr,string=bool; Cidr,IP=bool
.containsCIDR Cidr,string=bool; Cidr,Cidr=bool
.prefixLength Cidr=int
.masked Cidr=Cidr
quantity string=Quantity
isQuantity string=bool
.sign Quantity=int
.isGreaterThan Quantity,Quantity=bool; Semver,Semver=bool
.isLessThan Quantity,Quantity=bool; Semver,Semver=bool
.compareTo Quantity,Quantity=int; Semver,Semver=int
.asApproximateFloat Quantity=double
.asInteger Quantity=int
.isInteger Quantity=bool
.add Quantity,Quantity=Quantity; Quantity,int=Quantity
.sub Quantity,Quantity=Quantity; Quantity,int=Quantity
semver string=Semver; string,bool=Semver
isSemver string=bool; string,bool=bool
.major Semver=int
.minor Semver=int
.patch Semver=int
format.dns1123Label =Format
format.dns1123Subdomain =Format
format.dns1035Label =Format
format.qualifiedName =Format
format.dns1123LabelPrefix =Format
format.dns1123SubdomainPrefix =Format
format.dns1035LabelPrefix =Format
format.labelValue =Format
format.uri =Format
format.uuid =Format
format.byte =Format
format.date =Format
format.datetime =Format
format.named string=optional(Format)
.validate Format,string=optional(list(string))
jsonpatch.escapeKey string=string
.path Authorizer,string=PathCheck
.group Authorizer,string=GroupCheck
.serviceAccount Authorizer,string,string=Authorizer
.resource GroupCheck,string=ResourceCheck
.subresource ResourceCheck,string=ResourceCheck
.namespace ResourceCheck,string=ResourceCheck
.name ResourceCheck,string=ResourceCheck
.fieldSelector ResourceCheck,string=ResourceCheck
.labelSelector ResourceCheck,string=ResourceCheck
.check PathCheck,string=Decision; ResourceCheck,string=Decision
.errored Decision=bool
.error Decision=string
.allowed Decision=bool
.reason Decision=string
";
