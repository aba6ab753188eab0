//! Resource quantities: decimal numbers with a suffix, and the canonical form in which the API server prints them.

use std::{
    cmp::Ordering,
    fmt,
    ops::{AddAssign, Neg, SubAssign},
    str::FromStr,
};

/// An amount of a resource, such as `500m` or `1Gi`; exact to a billionth.
///
/// A quantity prints as the API server prints it: without a fraction, with the largest suffix that leaves an integer, of the
/// family of its text; or unchanged, if the text looks canonical to Go.
#[derive(Debug, Clone)]
#[doc(alias = "resource.Quantity")]
pub struct Quantity {
    /// The value is `mantissa * 10^scale`.
    mantissa: i128,
    scale: i64,
    family: Family,
    /// The original text, if it is printed unchanged.
    text: Option<Box<str>>,
}

/// The text is no quantity; the messages are the API server's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum QuantityError {
    /// The text is no number with a suffix.
    #[error(
        "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
    )]
    Format,
    /// No such suffix.
    #[error("unable to parse quantity's suffix")]
    Suffix,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Family {
    DecimalSi,
    DecimalExponent,
    BinarySi,
}

const DECIMAL: [(&str, i64); 10] = [
    ("n", -9),
    ("u", -6),
    ("m", -3),
    ("", 0),
    ("k", 3),
    ("M", 6),
    ("G", 9),
    ("T", 12),
    ("P", 15),
    ("E", 18),
];
const BINARY: [(&str, i32); 6] = [
    ("Ki", 10),
    ("Mi", 20),
    ("Gi", 30),
    ("Ti", 40),
    ("Pi", 50),
    ("Ei", 60),
];
/// Digits that surely fit 64 bits; more are rounded up to a billionth.
const PRECISION_MAX: usize = 18;
const NANO: i64 = -9;
const MILLI: i64 = -3;

// === impl Quantity ===

impl Quantity {
    /// Returns whether the amount is zero.
    pub fn is_zero(&self) -> bool {
        self.mantissa == 0
    }

    /// Returns whether the amount is less than zero.
    pub fn is_negative(&self) -> bool {
        self.mantissa < 0
    }

    /// Returns the value as an integer; `None` if it has a fraction or is too large.
    pub fn as_integer(&self) -> Option<i128> {
        if self.scale >= 0 {
            return self.mantissa.checked_mul(power_of_ten(self.scale)?);
        }
        let unit = power_of_ten(-self.scale)?;
        (self.mantissa % unit == 0).then_some(self.mantissa / unit)
    }

    /// Returns the amount in units of `10^scale`, rounded away from zero; the largest or the least number if it does not
    /// fit.
    pub fn in_units_of(&self, scale: i64) -> i64 {
        let units = self.units_of(scale);
        let bound = if units < 0 { i64::MIN } else { i64::MAX };
        i64::try_from(units).unwrap_or(bound)
    }

    fn units_of(&self, scale: i64) -> i128 {
        if self.scale >= scale {
            return self.mantissa_at(scale);
        }
        // A unit beyond 128 bits is larger than any mantissa.
        let unit = power_of_ten(scale - self.scale).unwrap_or(i128::MAX);
        let has_rest = self.mantissa % unit != 0;
        self.mantissa / unit + self.mantissa.signum() * i128::from(has_rest)
    }

    /// Returns the amount without a fraction, rounded away from zero.
    #[must_use]
    pub fn rounded_up(self) -> Quantity {
        self.rounded_to(0)
    }

    /// Returns the amount in whole thousandths, rounded away from zero.
    pub fn rounded_to_milli(self) -> Self {
        self.rounded_to(MILLI)
    }

    /// Returns the amount in whole units of `10^scale`, rounded away from zero.
    fn rounded_to(self, scale: i64) -> Self {
        if self.scale >= scale {
            return self;
        }
        Self {
            mantissa: self.units_of(scale),
            scale,
            text: None,
            ..self
        }
    }

    /// Returns whether Go takes the amount for an integer: it counts thousandths, and the greatest number of them, which
    /// stands for all greater ones, is no integer.
    pub fn is_counted_whole(&self) -> bool {
        let thousandths = i64::try_from(self.units_of(MILLI));
        thousandths.is_ok_and(|thousandths| thousandths % 1000 == 0)
    }

    /// Returns the amount as a number, with the precision of that.
    #[expect(
        clippy::cast_precision_loss,
        reason = "Go loses the same digits where it divides amounts"
    )]
    pub fn as_float(&self) -> f64 {
        let scale = i32::try_from(self.scale).unwrap_or(i32::MAX);
        self.mantissa as f64 * 10_f64.powi(scale)
    }

    /// Returns the mantissa, the exponent of ten and the name of the family, as Go's struct has them.
    pub(super) fn parts(&self) -> (i128, i64, &'static str) {
        let family = match self.family {
            Family::DecimalSi => "DecimalSI",
            Family::DecimalExponent => "DecimalExponent",
            Family::BinarySi => "BinarySI",
        };
        (self.mantissa, self.scale, family)
    }

    /// Returns the text that Go keeps beside the amount: the original one if it is canonical.
    pub(super) fn kept_text(&self) -> &str {
        self.text.as_deref().unwrap_or_default()
    }

    /// Returns whether Go holds the amount as a big number.
    pub(super) fn is_big(&self) -> bool {
        self.scale == NANO || i64::try_from(self.mantissa).is_err()
    }

    /// Returns the mantissa at a scale that is not larger than its own; the largest or the least one if it does not fit.
    fn mantissa_at(&self, scale: i64) -> i128 {
        // A factor beyond 128 bits saturates the product, which is what an overflow has to do anyway.
        let factor = power_of_ten(self.scale - scale).unwrap_or(i128::MAX);
        self.mantissa.saturating_mul(factor)
    }

    fn new(parts: &QuantityParts<'_>, magnitude: i128, scale: i64, family: Family) -> Quantity {
        Quantity {
            mantissa: if parts.negative {
                -magnitude
            } else {
                magnitude
            },
            scale,
            family,
            text: None,
        }
    }

    /// Reads an amount of few digits, which Go keeps in 64 bits and prints as written if that looks canonical.
    fn small(
        text: &str,
        parts: &QuantityParts<'_>,
        base: Base,
        family: Family,
    ) -> Option<Quantity> {
        let whole_digits = parts.whole.len().max(1);
        let digits = parts.digits()?;
        let (mut quantity, is_canonical) = match base {
            Base::Ten(exponent) => {
                let scale = exponent - i64::try_from(parts.fraction.len()).ok()?;
                // Such an amount may overflow 64 bits or is finer than a billionth: Go leaves its fast path here.
                if whole_digits + parts.fraction.len() > PRECISION_MAX || scale < NANO {
                    return None;
                }
                // The text looks canonical to Go if its exponent has a suffix and no factor of 1000 is left. Go then prints it unchanged.
                let is_canonical = scale % 3 == 0 && digits % 1000 != 0 && !parts.whole.is_empty();
                (Self::new(parts, digits, scale, family), is_canonical)
            }
            Base::Two(exponent) => {
                // A factor of 2^10 has about three digits.
                let factor_digits = usize::try_from(exponent * 3 / 10).ok()?;
                if !parts.fraction.is_empty() || whole_digits + factor_digits + 1 > 15 {
                    return None;
                }
                (
                    Self::new(parts, digits << exponent, 0, family),
                    digits % 8 != 0,
                )
            }
        };
        quantity.text = is_canonical.then(|| text.into());
        Some(quantity)
    }

    /// Reads any other amount, which Go calculates with big numbers and rounds up to a billionth.
    fn large(text: &str, parts: &QuantityParts<'_>, base: Base, family: Family) -> Quantity {
        const BINARY_MAX: i128 = i64::MAX as i128;
        const ONE: i128 = 1_000_000_000;
        match (parts.billionths(base), family) {
            (Some(value), Family::BinarySi) if value <= BINARY_MAX * ONE => {
                // Less than one byte makes no sense in powers of two.
                let family = if value < ONE {
                    Family::DecimalSi
                } else {
                    family
                };
                Self::new(parts, value, NANO, family)
            }
            (_, Family::BinarySi) => Self::new(parts, BINARY_MAX, 0, family),
            (Some(value), _) => Self::new(parts, value, NANO, family),
            // Beyond what we calculate with; it is the largest there is, and printed as written.
            (None, _) => Quantity {
                text: Some(text.into()),
                ..Self::new(parts, i128::MAX, 0, family)
            },
        }
    }

    fn print_decimal(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (mut number, mut exponent) = (self.mantissa, self.scale);
        while number % 10 == 0 {
            number /= 10;
            exponent += 1;
        }
        while exponent % 3 != 0 {
            number *= 10;
            exponent -= 1;
        }
        let suffix = DECIMAL.iter().find(|(_, power)| *power == exponent);
        match (suffix, self.family) {
            (_, Family::DecimalExponent) if exponent != 0 => write!(f, "{number}e{exponent}"),
            // Beyond the largest suffix Go prints no suffix at all. The number is then too small by factors of 1000, as in Go.
            (suffix, _) => write!(f, "{number}{}", suffix.map_or("", |(suffix, _)| suffix)),
        }
    }
}

impl From<i64> for Quantity {
    fn from(count: i64) -> Quantity {
        Quantity {
            mantissa: count.into(),
            scale: 0,
            family: Family::DecimalSi,
            text: None,
        }
    }
}

impl FromStr for Quantity {
    type Err = QuantityError;

    fn from_str(text: &str) -> Result<Quantity, QuantityError> {
        let parts = QuantityParts::split(text)?;
        let (base, family) = suffix(parts.suffix)?;
        let small = Self::small(text, &parts, base, family);
        Ok(small.unwrap_or_else(|| Self::large(text, &parts, base, family)))
    }
}

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(text) = &self.text {
            return f.write_str(text);
        }
        if self.is_zero() {
            return f.write_str("0");
        }
        // Less than 1024 has no binary suffix, and a fraction cannot have one: both print in the decimal family.
        let integer = self.as_integer().filter(|value| value.abs() >= 1024);
        let (Some(mut number), Family::BinarySi) = (integer, self.family) else {
            return self.print_decimal(f);
        };
        let mut exponent = 0;
        while number % 1024 == 0 && exponent < 60 {
            number /= 1024;
            exponent += 10;
        }
        let suffix = BINARY.iter().find(|(_, power)| *power == exponent);
        write!(f, "{number}{}", suffix.map_or("", |(suffix, _)| suffix))
    }
}

impl PartialEq for Quantity {
    fn eq(&self, other: &Quantity) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Quantity {}

impl PartialOrd for Quantity {
    fn partial_cmp(&self, other: &Quantity) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Quantity {
    /// Compares by amount: `1` is `1000m`.
    fn cmp(&self, other: &Quantity) -> Ordering {
        let (high, low, flip) = if self.scale >= other.scale {
            (self, other, false)
        } else {
            (other, self, true)
        };
        let scaled = power_of_ten(high.scale - low.scale)
            .and_then(|factor| high.mantissa.checked_mul(factor));
        let ordering = match scaled {
            Some(mantissa) => mantissa.cmp(&low.mantissa),
            // The exponents differ so much that the sign of the larger number decides.
            None => high.mantissa.cmp(&0),
        };
        if flip { ordering.reverse() } else { ordering }
    }
}

impl AddAssign<&Quantity> for Quantity {
    /// Adds an amount, in the family of the left side, or in that of the right side if the left one is zero. Beyond 128
    /// bits the result is the largest or the least amount there is.
    fn add_assign(&mut self, other: &Quantity) {
        // A sum begins at zero. Go gives it the family of its first term.
        if self.is_zero() {
            self.family = other.family;
        }
        let scale = self.scale.min(other.scale);
        self.mantissa = self
            .mantissa_at(scale)
            .saturating_add(other.mantissa_at(scale));
        self.scale = scale;
        self.text = None;
    }
}

impl SubAssign<&Quantity> for Quantity {
    /// Subtracts an amount, by the rules of addition.
    fn sub_assign(&mut self, other: &Quantity) {
        *self += &-other.clone();
    }
}

impl Neg for Quantity {
    type Output = Quantity;

    fn neg(self) -> Quantity {
        Quantity {
            mantissa: self.mantissa.saturating_neg(),
            text: None,
            ..self
        }
    }
}

#[derive(Clone, Copy)]
enum Base {
    Ten(i64),
    Two(i32),
}

fn suffix(text: &str) -> Result<(Base, Family), QuantityError> {
    if let Some((_, exponent)) = BINARY.iter().find(|(name, _)| *name == text) {
        return Ok((Base::Two(*exponent), Family::BinarySi));
    }
    if let Some((_, exponent)) = DECIMAL.iter().find(|(name, _)| *name == text) {
        return Ok((Base::Ten(*exponent), Family::DecimalSi));
    }
    let exponent = text.strip_prefix(['e', 'E']).ok_or(QuantityError::Suffix)?;
    let exponent: i64 = exponent.parse().map_err(|_| QuantityError::Suffix)?;
    #[expect(
        clippy::cast_possible_truncation,
        reason = "Go cuts the exponent to 32 bits, too"
    )]
    let exponent = exponent as i32;
    Ok((Base::Ten(exponent.into()), Family::DecimalExponent))
}

/// The pieces of a quantity as written.
struct QuantityParts<'a> {
    negative: bool,
    /// Without leading zeros.
    whole: &'a str,
    fraction: &'a str,
    suffix: &'a str,
}

// === impl QuantityParts ===

impl<'a> QuantityParts<'a> {
    fn split(text: &'a str) -> Result<QuantityParts<'a>, QuantityError> {
        if text.is_empty() {
            return Err(QuantityError::Format);
        }
        let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
        let (whole, rest) = split_digits(unsigned.trim_start_matches('0'));
        let (fraction, suffix) = match rest.strip_prefix('.') {
            Some(rest) => split_digits(rest),
            None => ("", rest),
        };
        let exponent = suffix.trim_start_matches(|c| "eEinumkKMGTP".contains(c));
        let exponent = exponent.strip_prefix(['-', '+']).unwrap_or(exponent);
        if !split_digits(exponent).1.is_empty() {
            return Err(QuantityError::Format);
        }
        Ok(QuantityParts {
            negative: text.starts_with('-'),
            whole,
            fraction,
            suffix,
        })
    }

    /// All digits as one integer; `None` if there are more than fit.
    fn digits(&self) -> Option<i128> {
        let digits = [self.whole, self.fraction].concat();
        if digits.is_empty() {
            return Some(0);
        }
        digits.parse().ok()
    }

    /// The magnitude in billionths, rounded up; `None` if that is too large.
    fn billionths(&self, base: Base) -> Option<i128> {
        // Digits far behind the point only decide whether to round up.
        let kept = self.fraction.len().min(24);
        let (near, far) = self.fraction.split_at(kept);
        let sticky = i128::from(far.bytes().any(|digit| digit != b'0'));
        let near = QuantityParts {
            fraction: near,
            ..*self
        };
        let digits = near.digits()?;
        let places = i64::try_from(kept).ok()?;
        let (digits, exponent) = match base {
            Base::Ten(exponent) => (digits, exponent),
            Base::Two(exponent) => (digits.checked_mul(1 << exponent)?, 0),
        };
        let shift = exponent - places - NANO;
        if digits == 0 {
            return Some(sticky);
        }
        if shift >= 0 {
            return digits
                .checked_mul(power_of_ten(shift)?)?
                .checked_add(sticky);
        }
        let Some(unit) = power_of_ten(-shift) else {
            return Some(1);
        };
        let round_up = sticky == 1 || digits % unit != 0;
        Some(digits / unit + i128::from(round_up))
    }
}

/// Splits a text behind its leading digits.
fn split_digits(text: &str) -> (&str, &str) {
    let end = text.find(|c: char| !c.is_ascii_digit());
    text.split_at(end.unwrap_or(text.len()))
}

fn power_of_ten(exponent: i64) -> Option<i128> {
    10_i128.checked_pow(u32::try_from(exponent).ok()?)
}
