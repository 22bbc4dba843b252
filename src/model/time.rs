//! Times: of the event that a node records, and of a commit.
//!
//! Knows no clock and no local zone: both come in as values.

use chrono::format::ParseErrorKind;
use chrono::{DateTime, Datelike, FixedOffset, Offset, TimeZone, Timelike, Utc};
use std::fmt;

/// Why something is no time.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TimeError {
    /// Not of the form that RFC 3339 gives.
    #[error("a time is written in RFC 3339, such as 2024-05-06T07:08:09Z")]
    Syntax(#[source] chrono::ParseError),
    /// A day, hour or offset of the right form that no calendar or clock has.
    #[error("there is no such date, time of day or offset")]
    NotReal,
    /// No offset, or one with a sign other than `+` and `-`.
    #[error("a time needs an offset: Z, +hh:mm or -hh:mm")]
    NoOffset,
    /// So many fraction digits.
    #[error("a time may have at most nine fraction digits, this one has {0}")]
    Fraction(usize),
    /// A second 60 at another time than leap seconds have.
    #[error("a leap second is at 23:59:60 UTC on 30 June or 31 December")]
    LeapSecond,
    /// The local year does not have four digits.
    #[error("a time may not lie outside the years 0000 to 9999")]
    Year,
    /// So many minutes are a day or more.
    #[error("an offset may be at most 23:59, this one has {0} minutes")]
    Offset(i16),
    /// A time, but not as commits spell it.
    #[error("the time of a commit is written YYYY-MM-DDTHH:MM:SS.mmm±HH:MM")]
    NotCanonical,
}

/// When something happened, as the caller spelled it: RFC 3339 with an offset.
///
/// `t` or a space may stand for `T` and `z` for `Z`, and `-00:00` is an offset of zero, all as RFC 3339 has it. Two are
/// equal when spelled the same; order them by [`Timestamp::instant`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Timestamp {
    text: String,
    instant: DateTime<FixedOffset>,
}

impl Timestamp {
    /// Checks `text` and keeps it as it is.
    pub fn parse(text: &str) -> Result<Self, TimeError> {
        Ok(Self { text: text.to_owned(), instant: parse_rfc3339(text)? })
    }

    /// The caller's spelling.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The instant, ordered and compared in UTC; a leap second comes before the second that follows it.
    pub fn instant(&self) -> DateTime<FixedOffset> {
        self.instant
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Reads RFC 3339; refuses what chrono lets pass beyond it: digits that it drops, any second 60, U+2212 for a minus.
fn parse_rfc3339(text: &str) -> Result<DateTime<FixedOffset>, TimeError> {
    let instant = DateTime::parse_from_rfc3339(text).map_err(|error| {
        if error.kind() == ParseErrorKind::OutOfRange {
            TimeError::NotReal
        } else if DateTime::parse_from_rfc3339(&format!("{text}Z")).is_ok() {
            TimeError::NoOffset
        } else {
            TimeError::Syntax(error)
        }
    })?;
    if !text.is_ascii() {
        return Err(TimeError::NoOffset);
    }
    let fraction = text.split_once('.').map_or("", |(_, rest)| rest);
    let digits = fraction.bytes().take_while(u8::is_ascii_digit).count();
    if digits > 9 {
        return Err(TimeError::Fraction(digits));
    }
    let utc = instant.to_utc();
    let last_minute = matches!((utc.month(), utc.day()), (6, 30) | (12, 31)) && (utc.hour(), utc.minute()) == (23, 59);
    if is_leap_second(&utc) && !last_minute {
        return Err(TimeError::LeapSecond);
    }
    Ok(instant)
}

/// Chrono tells a leap second as second 59 with a whole second or more of nanoseconds.
fn is_leap_second<Z: TimeZone>(instant: &DateTime<Z>) -> bool {
    instant.nanosecond() >= 1_000_000_000
}

/// When a commit was made: milliseconds, and the offset of the place. Ordered by the instant, then by the offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CommitTime {
    unix_ms: i64,
    offset_minutes: i16,
}

impl CommitTime {
    /// From 0000-01-01T00:00:00.000 to 9999-12-31T23:59:59.999.
    const LOCAL_MS: std::ops::RangeInclusive<i64> = -62_167_219_200_000..=253_402_300_799_999;

    /// Takes milliseconds since the Unix epoch, and minutes east of UTC.
    pub fn new(unix_ms: i64, offset_minutes: i16) -> Result<Self, TimeError> {
        if !(-1439..=1439).contains(&offset_minutes) {
            return Err(TimeError::Offset(offset_minutes));
        }
        if !Self::LOCAL_MS.contains(&unix_ms.saturating_add(offset_ms(offset_minutes))) {
            return Err(TimeError::Year);
        }
        Ok(Self { unix_ms, offset_minutes })
    }

    /// Cuts `instant` to the millisecond before it, and its offset to minutes. A leap second becomes the start of the
    /// second that follows, as Unix time has no place for it; so the order of two instants is never reversed.
    pub fn at<Z: TimeZone>(instant: &DateTime<Z>) -> Result<Self, TimeError> {
        let unix_ms =
            if is_leap_second(instant) { (instant.timestamp() + 1) * 1000 } else { instant.timestamp_millis() };
        let minutes = instant.offset().fix().local_minus_utc() / 60;
        Self::new(unix_ms, i16::try_from(minutes).expect("chrono's offsets are shorter than a day"))
    }

    /// Reads the one form that `Display` writes.
    pub fn parse(text: &str) -> Result<Self, TimeError> {
        let time = Self::at(&parse_rfc3339(text)?)?;
        if time.to_string() == text { Ok(time) } else { Err(TimeError::NotCanonical) }
    }

    /// Milliseconds since the Unix epoch.
    pub fn unix_ms(self) -> i64 {
        self.unix_ms
    }

    /// Minutes east of UTC.
    pub fn offset_minutes(self) -> i16 {
        self.offset_minutes
    }

    /// The instant, to be compared with that of a [`Timestamp`].
    pub fn instant(self) -> DateTime<FixedOffset> {
        let offset = FixedOffset::east_opt(i32::from(self.offset_minutes) * 60).expect("checked when it was made");
        utc(self.unix_ms).with_timezone(&offset)
    }
}

impl fmt::Display for CommitTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let local = utc(self.unix_ms + offset_ms(self.offset_minutes));
        let sign = if self.offset_minutes < 0 { '-' } else { '+' };
        let offset = self.offset_minutes.unsigned_abs();
        write!(f, "{:04}-{:02}-{:02}", local.year(), local.month(), local.day())?;
        write!(f, "T{:02}:{:02}:{:02}", local.hour(), local.minute(), local.second())?;
        write!(f, ".{:03}{sign}{:02}:{:02}", local.timestamp_subsec_millis(), offset / 60, offset % 60)
    }
}

fn offset_ms(minutes: i16) -> i64 {
    i64::from(minutes) * 60_000
}

fn utc(unix_ms: i64) -> DateTime<Utc> {
    DateTime::from_timestamp_millis(unix_ms).expect("chrono reaches far beyond the year 9999")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn instant(text: &str) -> DateTime<FixedOffset> {
        Timestamp::parse(text).unwrap().instant()
    }

    fn commit_time(text: &str) -> Result<CommitTime, TimeError> {
        CommitTime::at(&instant(text))
    }

    #[test]
    fn an_event_time_keeps_its_spelling() {
        for text in [
            "2024-05-06T07:08:09Z",
            "2024-05-06t07:08:09z",
            "2024-05-06 07:08:09+00:00",
            "2024-05-06T07:08:09-00:00",
            "2024-05-06T07:08:09.123456789Z",
            "2024-05-06T07:08:09.100Z",
            "2024-02-29T23:59:59+23:59",
            "2024-05-06T07:08:09-23:59",
            "0000-01-01T00:00:00+23:59",
            "9999-12-31T23:59:59.999999999-23:59",
            "2016-12-31T23:59:60Z",
            "2015-06-30T23:59:60.999999999Z",
            "2017-01-01T05:29:60+05:30",
            "2016-12-31T15:59:60-08:00",
            "9999-12-31T23:59:60Z",
        ] {
            assert_eq!(Timestamp::parse(text).map(|time| time.to_string()), Ok(text.to_owned()));
        }
    }

    #[test]
    fn what_is_not_quite_an_event_time_is_refused() {
        let no_leap_second = [
            "2016-12-31T22:59:60Z",
            "2016-12-31T23:58:60Z",
            "2016-12-30T23:59:60Z",
            "2016-06-29T23:59:60Z",
            "2016-11-30T23:59:60Z",
            "2016-12-31T23:59:60+05:30",
        ];
        let unreal = [
            "2023-02-29T00:00:00Z",
            "2024-13-01T00:00:00Z",
            "2024-00-01T00:00:00Z",
            "2024-01-00T00:00:00Z",
            "2024-01-02T24:00:00Z",
            "2024-01-02T03:60:00Z",
            "2024-01-02T03:04:61Z",
            "2024-01-02T03:04:05+24:00",
            "2024-01-02T03:04:05+05:60",
        ];
        let no_offset = [
            "2024-01-02T03:04:05",
            "2024-01-02T03:04:05.5",
            "2024-01-02T03:04:05\u{2212}05:00",
            "2024-01-02T03:04:05.0000000000\u{2212}05:00",
        ];
        let syntax = [
            "",
            " ",
            "now",
            "1704164645",
            "@1704164645",
            "2024-01-02",
            "2024-01-02T03:04Z",
            "2024-01-02T03:04:05.Z",
            "2024-01-02T03:04:05,5Z",
            "2024-01-02T03:04:05 Z",
            "2024-01-02T03:04:05UTC",
            "2024-01-02T03:04:05+0530",
            "2024-01-02T03:04:05+05",
            "2024-01-02T03:04:05+5:30",
            "2024-01-02T03:04:05+05:30:00",
            "2024-01-02T03:04:05Zx",
            "2024-01-02T03:04:05Z ",
            "2024-01-02T03:04:05Z\n",
            " 2024-01-02T03:04:05Z",
            "2024-01-02  03:04:05Z",
            "2024-01-02_03:04:05Z",
            "2024-1-02T03:04:05Z",
            "20240102T030405Z",
            "+2024-01-02T03:04:05Z",
            "+12024-01-01T00:00:00Z",
            "12024-01-01T00:00:00Z",
            "-0044-03-15T00:00:00Z",
            "٢٠٢٤-01-02T03:04:05Z",
            "2024-01-02T03:04:05é",
        ];
        for text in no_leap_second {
            assert_eq!(Timestamp::parse(text), Err(TimeError::LeapSecond), "{text}");
        }
        for text in unreal {
            assert_eq!(Timestamp::parse(text), Err(TimeError::NotReal), "{text}");
        }
        for text in no_offset {
            assert_eq!(Timestamp::parse(text), Err(TimeError::NoOffset), "{text}");
        }
        for text in syntax {
            assert!(matches!(Timestamp::parse(text), Err(TimeError::Syntax(_))), "{text}");
        }
        assert_eq!(Timestamp::parse("2024-05-06T07:08:09.1234567890Z"), Err(TimeError::Fraction(10)));
    }

    #[test]
    fn event_times_are_equal_by_spelling_and_ordered_by_instant() {
        let [zulu, zero] = ["2024-05-06T07:08:09Z", "2024-05-06T07:08:09+00:00"].map(|t| Timestamp::parse(t).unwrap());
        assert_ne!(zulu, zero);
        assert_eq!(zulu.instant(), zero.instant());
        let ascending = [
            "0000-01-01T00:00:00+23:59",
            "0000-01-01T00:00:00Z",
            "2016-12-31T23:59:59.999999999Z",
            "2016-12-31T23:59:60Z",
            "2017-01-01T05:29:60.5+05:30",
            "2016-12-31T23:59:60.999999999Z",
            "2017-01-01T00:00:00Z",
            "2024-03-10T01:30:00+05:30",
            "2024-03-09T20:00:00.000000001Z",
            "9999-12-31T23:59:59Z",
            "9999-12-31T23:59:59-00:01",
        ];
        assert!(ascending.is_sorted_by(|a, b| instant(a) < instant(b)));
    }

    #[test]
    fn milliseconds_are_cut_before_1970_as_after() {
        for (text, cut) in [
            ("2024-05-06T07:08:09.123999999Z", "2024-05-06T07:08:09.123+00:00"),
            ("1969-12-31T23:59:59.999999999Z", "1969-12-31T23:59:59.999+00:00"),
            ("1969-12-31T23:59:59.0001-00:30", "1969-12-31T23:59:59.000-00:30"),
            ("0000-01-01T00:00:00.0009+23:59", "0000-01-01T00:00:00.000+23:59"),
            ("9999-12-31t23:59:59.9999-23:59", "9999-12-31T23:59:59.999-23:59"),
        ] {
            assert_eq!(commit_time(text).unwrap().to_string(), cut);
        }
        assert_eq!(commit_time("1969-12-31T23:59:59.9999Z").unwrap().unix_ms(), -1);
    }

    #[test]
    fn a_leap_second_becomes_the_start_of_the_second_that_follows() {
        for text in ["2016-12-31T23:59:60Z", "2016-12-31T23:59:60.999999999Z"] {
            assert_eq!(commit_time(text).unwrap().to_string(), "2017-01-01T00:00:00.000+00:00");
        }
        assert_eq!(commit_time("2017-01-01T05:29:60.5+05:30").unwrap().to_string(), "2017-01-01T05:30:00.000+05:30");
        assert_eq!(commit_time("9999-12-31T23:59:60Z"), Err(TimeError::Year));
    }

    #[test]
    fn seconds_of_an_offset_are_cut_and_the_instant_stays() {
        for (seconds, minutes) in [(1172, 19), (-1172, -19), (59, 0), (-59, 0)] {
            let moment = utc(5).with_timezone(&FixedOffset::east_opt(seconds).unwrap());
            assert_eq!(CommitTime::at(&moment), CommitTime::new(5, minutes));
        }
    }

    #[test]
    fn a_commit_time_has_a_local_year_of_four_digits_and_an_offset_under_a_day() {
        let (first, last) = (-62_167_219_200_000, 253_402_300_799_999);
        for (unix_ms, offset, expected) in [
            (first, 0, Ok("0000-01-01T00:00:00.000+00:00")),
            (first - 1, 0, Err(TimeError::Year)),
            (first - 60_000, 1, Ok("0000-01-01T00:00:00.000+00:01")),
            (first, -1, Err(TimeError::Year)),
            (last, 0, Ok("9999-12-31T23:59:59.999+00:00")),
            (last + 1, 0, Err(TimeError::Year)),
            (last + 60_000, -1, Ok("9999-12-31T23:59:59.999-00:01")),
            (last, 1, Err(TimeError::Year)),
            (i64::MIN, -1, Err(TimeError::Year)),
            (i64::MAX, 1, Err(TimeError::Year)),
            (0, 1439, Ok("1970-01-01T23:59:00.000+23:59")),
            (0, 1440, Err(TimeError::Offset(1440))),
            (0, -1439, Ok("1969-12-31T00:01:00.000-23:59")),
            (0, -1440, Err(TimeError::Offset(-1440))),
            (0, i16::MIN, Err(TimeError::Offset(i16::MIN))),
        ] {
            assert_eq!(CommitTime::new(unix_ms, offset).map(|t| t.to_string()), expected.map(str::to_owned));
        }
    }

    #[test]
    fn a_commit_time_is_read_in_one_form_only() {
        for text in [
            "2024-05-06T07:08:09.123Z",
            "2024-05-06T07:08:09.123-00:00",
            "2024-05-06t07:08:09.123+00:00",
            "2024-05-06 07:08:09.123+00:00",
            "2024-05-06T07:08:09+00:00",
            "2024-05-06T07:08:09.12+00:00",
            "2024-05-06T07:08:09.1230+00:00",
            "2016-12-31T23:59:60.000+00:00",
        ] {
            assert_eq!(CommitTime::parse(text), Err(TimeError::NotCanonical), "{text}");
        }
        assert_eq!(CommitTime::parse("2023-02-29T00:00:00.000+00:00"), Err(TimeError::NotReal));
        assert_eq!(CommitTime::parse("2024-05-06T07:08:09.123"), Err(TimeError::NoOffset));
        assert!(matches!(CommitTime::parse(""), Err(TimeError::Syntax(_))));
    }

    #[test]
    fn commit_times_are_ordered_by_instant_first() {
        let [early, late] = [(0, 1), (1, -1)].map(|(ms, offset)| CommitTime::new(ms, offset).unwrap());
        assert!(early < late && early.instant() < late.instant());
    }

    proptest! {
        #[test]
        fn a_commit_time_round_trips(
            unix_ms in -62_167_000_000_000_i64..253_402_000_000_000,
            offset in -1439_i16..=1439,
        ) {
            let time = CommitTime::new(unix_ms, offset).unwrap();
            prop_assert_eq!((time.unix_ms(), time.offset_minutes()), (unix_ms, offset));
            prop_assert_eq!(CommitTime::parse(&time.to_string()), Ok(time));
            prop_assert_eq!(CommitTime::at(&time.instant()), Ok(time));
            prop_assert_eq!(instant(&time.to_string()), time.instant());
        }

        #[test]
        fn no_text_makes_parsing_panic(
            date in "[0-9]{4}-[01][0-9]-[0-3][0-9][Tt ]",
            time in "[0-2][0-9]:[0-6][0-9]:[0-6][0-9](\\.[0-9]{0,10})?",
            offset in "[Zz]|[+-][0-2][0-9]:[0-5][0-9]|\\PC{0,6}",
        ) {
            let text = date + &time + &offset;
            if let Ok(time) = Timestamp::parse(&text) {
                prop_assert_eq!(time.as_str(), &text);
                prop_assert!(CommitTime::at(&time.instant()).is_ok() || text.starts_with("9999-12-31"));
            }
            if let Ok(time) = CommitTime::parse(&text) {
                prop_assert_eq!(time.to_string(), text);
            }
        }
    }
}
