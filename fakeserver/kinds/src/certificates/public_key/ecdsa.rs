//! Signatures of ECDSA on the curves of NIST.

use x509_parser::{
    asn1_rs::{FromDer, Integer, Sequence},
    num_bigint::BigUint,
    oid_registry::{OID_EC_P256, OID_NIST_EC_P384, OID_NIST_EC_P521, Oid},
};

/// A curve of NIST.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Curve {
    P256,
    P384,
    P521,
}

/// The parameters of the curve y² = x³ - 3x + b over the integers modulo p.
struct Parameters {
    p: BigUint,
    b: BigUint,
    /// The order of the generator.
    order: BigUint,
    generator: Point,
}

/// A point in Jacobian coordinates: (x/z², y/z³), or the point at infinity if z is 0.
#[derive(Clone)]
struct Point {
    x: BigUint,
    y: BigUint,
    z: BigUint,
}

/// Verifies the signature of a digest by the key `point`.
pub(super) fn verify(curve: Curve, point: &[u8], digest: &[u8], signature: &[u8]) -> bool {
    let parameters = curve.parameters();
    is_valid(&parameters, point, digest, signature).unwrap_or_default()
}

fn is_valid(curve: &Parameters, point: &[u8], digest: &[u8], signature: &[u8]) -> Option<bool> {
    let [r, s] = halves(signature)?;
    let zero = BigUint::ZERO;
    let is_half = |half: &BigUint| *half > zero && *half < curve.order;
    if !is_half(&r) || !is_half(&s) {
        return Some(false);
    }
    let key = curve.point(point)?;
    let digest_bits = u64::try_from(digest.len()).ok()? * 8;
    let hash = BigUint::from_bytes_be(digest) >> digest_bits.saturating_sub(curve.order.bits());
    let inverse = s.modinv(&curve.order)?;
    let of_generator = hash * &inverse % &curve.order;
    let of_key = &r * inverse % &curve.order;
    let sum = curve.sum_of_products(&of_generator, &key, &of_key);
    let x = curve.affine_x(&sum)?;
    Some(x % &curve.order == r)
}

/// Returns the two numbers of a signature.
fn halves(signature: &[u8]) -> Option<[BigUint; 2]> {
    let (rest, sequence) = Sequence::from_der(signature).ok()?;
    let (behind, r) = Integer::from_der(&sequence.content).ok()?;
    let (end, s) = Integer::from_der(behind).ok()?;
    let number = |integer: Integer<'_>| {
        let octets = integer.as_ref();
        let is_positive = octets.first().is_some_and(u8::is_ascii);
        is_positive.then(|| BigUint::from_bytes_be(octets))
    };
    let halves = [number(r)?, number(s)?];
    (rest.is_empty() && end.is_empty()).then_some(halves)
}

// === impl Curve ===

impl Curve {
    pub(super) fn named(oid: &Oid<'_>) -> Option<Self> {
        [
            (OID_EC_P256, Self::P256),
            (OID_NIST_EC_P384, Self::P384),
            (OID_NIST_EC_P521, Self::P521),
        ]
        .into_iter()
        .find_map(|(named, curve)| (named == *oid).then_some(curve))
    }

    fn parameters(self) -> Parameters {
        match self {
            Self::P256 => Parameters::new(
                "ffffffff00000001000000000000000000000000ffffffffffffffffffffffff",
                "5ac635d8aa3a93e7b3ebbd55769886bc651d06b0cc53b0f63bce3c3e27d2604b",
                "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551",
                [
                    "6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296",
                    "4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5",
                ],
            ),
            Self::P384 => Parameters::new(
                "fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffeffffffff0000000000000000\
                 ffffffff",
                "b3312fa7e23ee7e4988e056be3f82d19181d9c6efe8141120314088f5013875ac656398d8a2ed19d2a85c8ed\
                 d3ec2aef",
                "ffffffffffffffffffffffffffffffffffffffffffffffffc7634d81f4372ddf581a0db248b0a77aecec196a\
                 ccc52973",
                [
                    "aa87ca22be8b05378eb1c71ef320ad746e1d3b628ba79b9859f741e082542a385502f25dbf55296c3a545e38\
                     72760ab7",
                    "3617de4a96262c6f5d9e98bf9292dc29f8f41dbd289a147ce9da3113b5f0b8c00a60b1ce1d7e819d7a431d7c\
                     90ea0e5f",
                ],
            ),
            Self::P521 => Parameters::new(
                "1ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff\
                 ffffffffffffffffffffffffffffffffffffffffff",
                "51953eb9618e1c9a1f929a21a0b68540eea2da725b99b315f3b8b489918ef109e156193951ec7e937b1652c0\
                 bd3bb1bf073573df883d2c34f1ef451fd46b503f00",
                "1fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffa51868783bf2f966b7fcc01\
                 48f709a5d03bb5c9b8899c47aebb6fb71e91386409",
                [
                    "c6858e06b70404e9cd9e3ecb662395b4429c648139053fb521f828af606b4d3dbaa14b5e77efe75928fe1dc1\
                     27a2ffa8de3348b3c1856a429bf97e7e31c2e5bd66",
                    "11839296a789a3bc0045c8a5fb42c7d1bd998f54449579b446817afbd17273e662c97ee72995ef42640c550b\
                     9013fad0761353c7086a272c24088be94769fd16650",
                ],
            ),
        }
    }
}

// === impl Parameters ===

impl Parameters {
    /// Reads the parameters, which are written in hexadecimal.
    fn new(p: &str, b: &str, order: &str, generator: [&str; 2]) -> Self {
        let read = |text: &str| {
            BigUint::parse_bytes(text.as_bytes(), 16).expect("the constants are hexadecimal")
        };
        let [x, y] = generator.map(read);
        Self {
            p: read(p),
            b: read(b),
            order: read(order),
            generator: Point::affine(x, y),
        }
    }

    /// Reads a point in uncompressed form. A point beside the curve is none.
    fn point(&self, encoded: &[u8]) -> Option<Point> {
        let (form, coordinates) = encoded.split_first()?;
        let size = usize::try_from(self.p.bits().div_ceil(8)).ok()?;
        if *form != 4 || coordinates.len() != 2 * size {
            return None;
        }
        let (x, y) = coordinates.split_at(size);
        let [x, y] = [x, y].map(BigUint::from_bytes_be);
        let cube = self.times(&self.times(&x, &x), &x);
        let right = self.minus(&(cube + &self.b), &(3_u8 * &x));
        let is_on_curve = x < self.p && y < self.p && self.times(&y, &y) == right;
        is_on_curve.then(|| Point::affine(x, y))
    }

    fn times(&self, left: &BigUint, right: &BigUint) -> BigUint {
        left * right % &self.p
    }

    fn minus(&self, left: &BigUint, right: &BigUint) -> BigUint {
        (left % &self.p + &self.p - right % &self.p) % &self.p
    }

    /// Returns `of_generator` times the generator plus `of_key` times `key`.
    fn sum_of_products(&self, of_generator: &BigUint, key: &Point, of_key: &BigUint) -> Point {
        let both = self.add(&self.generator, key);
        let mut sum = Point::infinity();
        for bit in (0..self.order.bits()).rev() {
            sum = self.double(&sum);
            let added = match (of_generator.bit(bit), of_key.bit(bit)) {
                (false, false) => continue,
                (true, false) => &self.generator,
                (false, true) => key,
                (true, true) => &both,
            };
            sum = self.add(&sum, added);
        }
        sum
    }

    fn double(&self, point: &Point) -> Point {
        let Point { x, y, z } = point;
        let delta = self.times(z, z);
        let gamma = self.times(y, y);
        let beta = self.times(x, &gamma);
        let alpha = self.times(&(3_u8 * self.minus(x, &delta)), &(x + &delta));
        let x3 = self.minus(&self.times(&alpha, &alpha), &(8_u8 * &beta));
        let y3 = self.times(&alpha, &self.minus(&(4_u8 * beta), &x3));
        let y3 = self.minus(&y3, &(8_u8 * self.times(&gamma, &gamma)));
        let z3 = self.times(&(2_u8 * y), z);
        Point {
            x: x3,
            y: y3,
            z: z3,
        }
    }

    fn add(&self, left: &Point, right: &Point) -> Point {
        if left.is_infinity() {
            return right.clone();
        }
        if right.is_infinity() {
            return left.clone();
        }
        let left_square = self.times(&left.z, &left.z);
        let right_square = self.times(&right.z, &right.z);
        let x1 = self.times(&left.x, &right_square);
        let x2 = self.times(&right.x, &left_square);
        let y1 = self.times(&left.y, &self.times(&right_square, &right.z));
        let y2 = self.times(&right.y, &self.times(&left_square, &left.z));
        if x1 == x2 {
            return if y1 == y2 {
                self.double(left)
            } else {
                Point::infinity()
            };
        }
        let width = self.minus(&x2, &x1);
        let height = self.minus(&y2, &y1);
        let square = self.times(&width, &width);
        let cube = self.times(&square, &width);
        let middle = self.times(&x1, &square);
        let x3 = self.minus(&self.times(&height, &height), &(&cube + 2_u8 * &middle));
        let y3 = self.times(&height, &self.minus(&middle, &x3));
        let y3 = self.minus(&y3, &self.times(&y1, &cube));
        let z3 = self.times(&self.times(&left.z, &right.z), &width);
        Point {
            x: x3,
            y: y3,
            z: z3,
        }
    }

    /// Returns the first coordinate of a point; the point at infinity has none.
    fn affine_x(&self, point: &Point) -> Option<BigUint> {
        let inverse = point.z.modinv(&self.p)?;
        Some(self.times(&point.x, &self.times(&inverse, &inverse)))
    }
}

// === impl Point ===

impl Point {
    fn affine(x: BigUint, y: BigUint) -> Self {
        let z = BigUint::from(1_u8);
        Self { x, y, z }
    }

    fn infinity() -> Self {
        Self {
            x: BigUint::from(1_u8),
            y: BigUint::from(1_u8),
            z: BigUint::ZERO,
        }
    }

    fn is_infinity(&self) -> bool {
        self.z == BigUint::ZERO
    }
}
