//! When two JSON texts are the same value, however each is spelled.
//!
//! Numbers are compared as the decimals that they are, never as floating point; strings by the UTF-16 that they spell,
//! so that a lone surrogate is the same as itself in any spelling; objects without order, where of duplicate keys the
//! last counts. Nothing recurses, so depth costs no stack.

use crate::model::pieces;
use std::collections::BTreeMap;

/// Whether two JSON texts spell the same value.
pub fn same_value(a: &str, b: &str) -> bool {
    let mut values = Values::default();
    values.read(a) == values.read(b)
}

/// A value whose parts are known by their numbers in [`Values`].
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Value {
    /// `null`, `true`, `false`.
    Word(String),
    Number(Decimal),
    /// Units of UTF-16.
    String(Vec<u16>),
    Array(Vec<usize>),
    Object(BTreeMap<Vec<u16>, usize>),
}

/// All values that were met, each with one number, so that equal values have equal numbers.
#[derive(Default)]
struct Values {
    numbers: BTreeMap<Value, usize>,
}

/// An array or object that is being read.
enum Open {
    Array(Vec<usize>),
    /// With the key whose value comes next.
    Object(BTreeMap<Vec<u16>, usize>, Option<Vec<u16>>),
}

impl Values {
    fn number(&mut self, value: Value) -> usize {
        let next = self.numbers.len();
        *self.numbers.entry(value).or_insert(next)
    }

    /// The number of a value; `None` for what is no JSON.
    fn read(&mut self, json: &str) -> Option<usize> {
        let mut open: Vec<Open> = Vec::new();
        for piece in pieces(json) {
            let value = match (piece.as_bytes().first()?, open.last_mut()) {
                (b'"', Some(Open::Object(_, key @ None))) => {
                    *key = Some(units(piece));
                    continue;
                }
                (b'[', _) => {
                    open.push(Open::Array(Vec::new()));
                    continue;
                }
                (b'{', _) => {
                    open.push(Open::Object(BTreeMap::new(), None));
                    continue;
                }
                (b']' | b'}', _) => match open.pop()? {
                    Open::Array(elements) => Value::Array(elements),
                    Open::Object(members, _) => Value::Object(members),
                },
                (b'"', _) => Value::String(units(piece)),
                (b'-' | b'0'..=b'9', _) => Value::Number(Decimal::read(piece)),
                (_, _) => Value::Word(piece.to_owned()),
            };
            let number = self.number(value);
            match open.last_mut() {
                None => return Some(number),
                Some(Open::Array(elements)) => elements.push(number),
                Some(Open::Object(members, key)) => {
                    members.insert(key.take()?, number);
                }
            }
        }
        None
    }
}

/// What a JSON string spells.
fn units(spelled: &str) -> Vec<u16> {
    let mut units = Vec::with_capacity(spelled.len());
    let mut rest = spelled.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(spelled);
    while let Some((before, escape)) = rest.split_once('\\') {
        units.extend(before.encode_utf16());
        let mut behind = escape.chars();
        let unit = match behind.next() {
            Some('u') => {
                let (digits, tail) = behind.as_str().split_at_checked(4).unwrap_or_default();
                behind = tail.chars();
                u16::from_str_radix(digits, 16).unwrap_or_default()
            }
            Some('b') => 0x08,
            Some('f') => 0x0c,
            Some('n') => 0x0a,
            Some('r') => 0x0d,
            Some('t') => 0x09,
            // A quotation mark or a slash of either kind.
            Some(itself) => itself as u16,
            None => 0,
        };
        units.push(unit);
        rest = behind.as_str();
    }
    units.extend(rest.encode_utf16());
    units
}

/// A decimal number: `0.DIGITS` times ten to the power of the exponent. Zero has no digits.
#[derive(Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Decimal {
    is_negative: bool,
    /// Without a zero at either end.
    digits: String,
    exponent: Integer,
}

impl Decimal {
    fn read(spelled: &str) -> Self {
        let (mantissa, exponent) = spelled.split_once(['e', 'E']).unwrap_or((spelled, "0"));
        let (is_negative, mantissa) = signed(mantissa);
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let all = format!("{whole}{fraction}");
        let significant = all.trim_start_matches('0');
        let digits = significant.trim_end_matches('0');
        if digits.is_empty() {
            return Self::default();
        }
        let leading = all.len() - significant.len();
        let point = i128::try_from(whole.len()).unwrap_or_default() - i128::try_from(leading).unwrap_or_default();
        Self { is_negative, digits: digits.to_owned(), exponent: Integer::read(exponent).plus(point) }
    }
}

/// A whole number of any length.
#[derive(Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Integer {
    is_negative: bool,
    /// Without a zero at the start; none at all for 0.
    digits: String,
}

impl Integer {
    fn read(spelled: &str) -> Self {
        let (is_negative, digits) = signed(spelled);
        Self::of(is_negative, digits)
    }

    fn of(is_negative: bool, digits: &str) -> Self {
        let digits = digits.trim_start_matches('0');
        Self { is_negative: is_negative && !digits.is_empty(), digits: digits.to_owned() }
    }

    /// The sum with a number that is small beside an [`i128`].
    fn plus(&self, small: i128) -> Self {
        if self.digits.len() <= 30 {
            let digits: i128 = self.digits.parse().unwrap_or_default();
            let sum = if self.is_negative { small - digits } else { small + digits };
            return Self::of(sum < 0, &sum.unsigned_abs().to_string());
        }
        // The sign stays, for the digits outweigh what is added to them.
        let mut carry = if self.is_negative { -small } else { small };
        let mut sum: Vec<char> = Vec::with_capacity(self.digits.len());
        for digit in self.digits.bytes().rev() {
            let here = i128::from(digit - b'0') + carry;
            sum.push(char::from(b'0' + u8::try_from(here.rem_euclid(10)).unwrap_or_default()));
            carry = here.div_euclid(10);
        }
        let above = if carry > 0 { carry.to_string() } else { String::new() };
        Self::of(self.is_negative, &above.chars().chain(sum.into_iter().rev()).collect::<String>())
    }
}

/// Splits the sign off.
fn signed(spelled: &str) -> (bool, &str) {
    match spelled.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, spelled.strip_prefix('+').unwrap_or(spelled)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn numbers_are_compared_by_value() {
        let groups: &[&[&str]] = &[
            &["0", "-0", "0.0", "-0.000", "0e5", "0E-5", "-0e99999999999999999999999999999999999999"],
            &["1", "1.0", "1e0", "1E+0", "10e-1", "0.1e1", "0.01e2", "100e-2", "1.000e-0"],
            &["-1", "-1.0", "-10e-1"],
            &["100", "1e2", "1E2", "1.0e+02", "0.1e3"],
            &["0.001", "1e-3", "0.1E-2"],
            &["1e400", "10e399", "0.1e401", "1E0400"],
            &["1e401"],
            &["-1e400"],
            &["340282366920938463463374607431768211457", "340282366920938463463374607431768211457.0"],
            &["340282366920938463463374607431768211456"],
            &["9007199254740993", "9007199254740993.0", "0.9007199254740993e16"],
            &["9007199254740992"],
            &["0.1"],
            &["0.1000000000000000055511151231257827"],
            &["1e1000000000000000000000000000000000000", "10e999999999999999999999999999999999999"],
            &["1e-1000000000000000000000000000000000000", "0.1e-999999999999999999999999999999999999"],
            &["1e1000000000000000000000000000000000001"],
        ];
        for (at, group) in groups.iter().enumerate() {
            for (other_at, other) in groups.iter().enumerate() {
                for (a, b) in group.iter().flat_map(|a| other.iter().map(move |b| (a, b))) {
                    assert_eq!(same_value(a, b), at == other_at, "{a} {b}");
                }
            }
        }
    }

    #[test]
    fn strings_are_what_they_spell() {
        for (a, b, same) in [
            (r#""a""#, r#""\u0061""#, true),
            (r#""\/\b\f\n\r\t\"\\""#, r#""/\u0008\u000C\u000a\u000d\u0009\u0022\u005C""#, true),
            (r#""😀é""#, r#""\ud83d\uDE00\u00e9""#, true),
            (r#""\ud83d""#, r#""\uD83D""#, true),
            (r#""\ud83d""#, r#""\\ud83d""#, false),
            (r#""\ud83d""#, r#""\ud83e""#, false),
            (r#""\ud83d ""#, r#""\ud83d\u0020""#, true),
            (r#""é""#, r#""e\u0301""#, false),
            (r#""1""#, "1", false),
            (r#""null""#, "null", false),
            (r#""""#, "[]", false),
        ] {
            assert_eq!(same_value(a, b), same, "{a} {b}");
        }
    }

    #[test]
    fn objects_have_no_order_and_the_last_of_duplicate_keys_counts() {
        for (a, b, same) in [
            (r#"{"a":1,"b":[2,{}]}"#, r#" { "b" : [ 2.0 , { } ] , "\u0061" : 1e0 } "#, true),
            (r#"{"a":1,"a":2}"#, r#"{"a":2}"#, true),
            (r#"{"a":1,"a":2}"#, r#"{"a":1}"#, false),
            (r#"{"a":1,"\u0061":{"b":1,"b":3}}"#, r#"{"a":{"b":3}}"#, true),
            (r#"{"\ud83d":1}"#, r#"{"\uD83D":1.0}"#, true),
            (r#"{"a":1}"#, r#"{"a":1,"b":null}"#, false),
            (r#"{"a":"b"}"#, r#"["a","b"]"#, false),
            ("[1,2]", "[2,1]", false),
            ("[1,2]", "[1,2,2]", false),
            ("[[],1]", "[[1]]", false),
            ("[]", "{}", false),
            ("true", "false", false),
            ("null", "null", true),
            ("null", "0", false),
        ] {
            assert_eq!(same_value(a, b), same, "{a} {b}");
            assert_eq!(same_value(b, a), same, "{b} {a}");
        }
    }

    #[test]
    fn depth_costs_no_stack() {
        let deep = |open: &str, inside: &str, close: &str| {
            format!("{}{inside}{}", open.repeat(100_000), close.repeat(100_000))
        };
        for (open, close) in [("[0,", "]"), (r#"{"a":"#, r#","b":0}"#)] {
            assert!(same_value(&deep(open, "1", close), &deep(open, "1.0", close)));
            assert!(!same_value(&deep(open, "1", close), &deep(open, "2", close)));
        }
    }

    #[test]
    fn what_is_no_json_breaks_nothing() {
        for text in ["", "]", "{\"a\"", "{1:2}", "\"\\", "\"\\u12", "\"", "-", "1e", "[,"] {
            same_value(text, "1");
        }
    }

    /// Whole digits, fraction, exponent: the number as digits with the point moved by hand.
    fn by_hand(is_negative: bool, whole: &str, fraction: &str, exponent: i32) -> (bool, String, String) {
        let mut before: std::collections::VecDeque<char> = whole.chars().collect();
        let mut behind: std::collections::VecDeque<char> = fraction.chars().collect();
        for _ in 0..exponent.max(0) {
            before.push_back(behind.pop_front().unwrap_or('0'));
        }
        for _ in exponent.min(0)..0 {
            behind.push_front(before.pop_back().unwrap_or('0'));
        }
        let before = before.into_iter().collect::<String>().trim_start_matches('0').to_owned();
        let behind = behind.into_iter().collect::<String>().trim_end_matches('0').to_owned();
        (is_negative && !(before.is_empty() && behind.is_empty()), before, behind)
    }

    /// A number as it may be spelled, and the same by hand.
    fn number() -> impl Strategy<Value = (String, (bool, String, String))> {
        let whole = prop_oneof![Just("0".to_owned()), "[12][01]{0,3}"];
        let parts = (any::<bool>(), whole, "[01]{0,3}", -6..6_i32, "e|E", "0{0,2}", any::<bool>());
        parts.prop_map(|(is_negative, whole, fraction, exponent, e, zeros, plus)| {
            let point = if fraction.is_empty() { "" } else { "." };
            let sign = if exponent < 0 { "-" } else { ["", "+"][usize::from(plus)] };
            let power =
                if exponent == 0 && plus { String::new() } else { format!("{e}{sign}{zeros}{}", exponent.abs()) };
            let minus = if is_negative { "-" } else { "" };
            let text = format!("{minus}{whole}{point}{fraction}{power}");
            (text, by_hand(is_negative, &whole, &fraction, exponent))
        })
    }

    /// A value built so that another spelling of it is known: both texts.
    fn spelled_twice() -> impl Strategy<Value = (String, String)> {
        let both = |text: &str| Just((text.to_owned(), text.to_owned()));
        let again = |a: &str, b: &str| Just((a.to_owned(), b.to_owned()));
        let leaf = prop_oneof![both("null"), both("true"), again("1.50", "15e-1"), again("\"a\"", r#""\u0061""#)];
        leaf.prop_recursive(4, 32, 4, |inner| {
            let list = |open: &str, items: Vec<String>, close: &str| format!("{open}{}{close}", items.join(" , "));
            let array = prop::collection::vec(inner.clone(), 0..4).prop_map(move |items| {
                let (a, b) = items.into_iter().unzip();
                (list("[", a, "]"), list("[ ", b, " ]"))
            });
            let object = prop::collection::btree_map("[ab]{1,2}", inner, 0..4).prop_map(move |members| {
                let member = |(key, (a, b)): (String, (String, String))| {
                    (format!("\"{key}\":{a}"), format!("\"{}\" : {b}", key.replace('a', "\\u0061")))
                };
                let (a, mut b): (Vec<_>, Vec<_>) = members.into_iter().map(member).unzip();
                b.reverse();
                (list("{", a, "}"), list("{", b, "}"))
            });
            prop_oneof![array, object]
        })
    }

    proptest! {
        #[test]
        fn two_numbers_are_the_same_where_their_digits_are((a, by_hand_a) in number(), (b, by_hand_b) in number()) {
            prop_assert_eq!(same_value(&a, &b), by_hand_a == by_hand_b, "{} {}", a, b);
            let shifted = |text: &str| format!("{text}{}", if text.contains(['e', 'E']) { "" } else { "e0" });
            prop_assert!(same_value(&a, &shifted(&a)));
        }

        #[test]
        fn a_long_exponent_is_added_to_as_a_short_one(base in 0..2_000_000_i64, small in -3000..3000_i128) {
            let long = Integer::read(&format!("1{base:040}")).plus(small);
            let sum = i128::from(base) + small;
            let borrowed = || format!("{}{:04}", "9".repeat(36), 10_000 + sum);
            let expected = if sum < 0 { borrowed() } else { format!("1{sum:040}") };
            prop_assert_eq!(&long.digits, &expected);
            let negative = Integer::read(&format!("-1{base:040}")).plus(-small);
            prop_assert_eq!((negative.is_negative, negative.digits), (true, long.digits));
        }

        #[test]
        fn another_spelling_is_the_same_value((a, b) in spelled_twice(), (c, d) in spelled_twice()) {
            prop_assert!(same_value(&a, &b));
            let parsed = |text: &str| serde_json::from_str::<serde_json::Value>(text).expect("JSON");
            prop_assert_eq!(same_value(&a, &d), parsed(&a) == parsed(&c), "{} {}", a, d);
        }
    }
}
