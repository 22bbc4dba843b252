//! Times and durations as people write them in options.
//!
//! Asks no clock and no environment: now and the local zone come in.

use crate::model::{CommitTime, TimeError, Timestamp};
use chrono::{DateTime, Datelike, Months, NaiveDateTime, TimeDelta, TimeZone, Timelike};
use std::time::Duration;

/// Why an option's text is no time or no duration.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WhenError {
    /// In none of the forms.
    #[error("cannot read '{0}' as a time")]
    Unknown(String),
    /// In one of the forms, but no time.
    #[error("cannot use '{text}' as a time")]
    Refused {
        /// What was written.
        text: String,
        /// What is wrong with it.
        source: TimeError,
    },
    /// A wall-clock time that the local zone leaps over, or a leap second without an offset.
    #[error("there is no '{0}' in the local zone")]
    NotLocal(String),
    /// Not a number with a unit of time.
    #[error("cannot read '{0}' as a duration such as 10s, 500ms, 2m or 1h")]
    Duration(String),
}

/// Reads a time: RFC 3339; `YYYY-MM-DD`, alone or with ` HH:MM` or ` HH:MM:SS`, in the local zone; `@UNIX` in seconds;
/// `now`; `yesterday`; `36h` and the like with s, m, h, d or w; `2 days ago` and the like from seconds to years.
///
/// The offset is the caller's in RFC 3339, zero for `@UNIX`, and otherwise that of the local zone at that instant.
///
/// - A day is 24 hours and a week seven days, so `yesterday` is `24h`. Months and years go back in the local calendar,
///   to the last day of a month that is too short, and on by whole minutes from a time that the zone leaps over.
/// - A wall-clock time that occurs twice is the first of the two; one that the zone leaps over is an error. A day alone
///   is its first minute, which is not midnight everywhere.
/// - A leap second, in RFC 3339 only, is the start of the second that follows it.
pub fn parse(text: &str, now: CommitTime, local: &impl TimeZone) -> Result<CommitTime, WhenError> {
    let refused = |source| WhenError::Refused { text: text.to_owned(), source };
    let unknown = || WhenError::Unknown(text.to_owned());
    if let Some(span) = Span::parse(text) {
        return span.before(now, local).and_then(|instant| CommitTime::at(&instant)).map_err(refused);
    }
    if let Some(seconds) = text.strip_prefix('@') {
        let seconds = unix_seconds(seconds).ok_or_else(unknown)?;
        return CommitTime::new(seconds.saturating_mul(1000), 0).map_err(refused);
    }
    if !begins_with_a_year(text) {
        return Err(unknown());
    }
    let wall = |rest| Timestamp::parse(&format!("{text}{rest}")).map(|time| time.instant().naive_local());
    let instant = match text.len() {
        10 => first_from(wall("T00:00:00Z").map_err(refused)?, local),
        16 => exactly_at(wall(":00Z").map_err(refused)?, local),
        19 => exactly_at(wall("Z").map_err(refused)?, local),
        _ => return Timestamp::parse(text).and_then(|time| CommitTime::at(&time.instant())).map_err(refused),
    };
    CommitTime::at(&instant.ok_or_else(|| WhenError::NotLocal(text.to_owned()))?).map_err(refused)
}

/// Reads a duration: a number of `ms`, `s`, `m` or `h`, or of seconds when it stands alone.
pub fn parse_duration(text: &str) -> Result<Duration, WhenError> {
    let seconds = |count: u64, each| count.checked_mul(each).map(Duration::from_secs);
    leading_number(text)
        .and_then(|(count, unit)| match unit {
            "ms" => Some(Duration::from_millis(count)),
            "" | "s" => seconds(count, 1),
            "m" => seconds(count, 60),
            "h" => seconds(count, 3600),
            _ => None,
        })
        .ok_or_else(|| WhenError::Duration(text.to_owned()))
}

/// How long ago.
enum Span {
    Seconds(u64),
    Months(u64),
}

impl Span {
    fn parse(text: &str) -> Option<Self> {
        match text {
            "now" => return Some(Self::Seconds(0)),
            "yesterday" => return Some(Self::Seconds(86_400)),
            _ => {}
        }
        let (count, unit) = leading_number(text)?;
        match unit {
            "s" | " second ago" | " seconds ago" => Some(Self::Seconds(count)),
            "m" | " minute ago" | " minutes ago" => Some(Self::Seconds(count.saturating_mul(60))),
            "h" | " hour ago" | " hours ago" => Some(Self::Seconds(count.saturating_mul(3600))),
            "d" | " day ago" | " days ago" => Some(Self::Seconds(count.saturating_mul(86_400))),
            "w" | " week ago" | " weeks ago" => Some(Self::Seconds(count.saturating_mul(7 * 86_400))),
            " month ago" | " months ago" => Some(Self::Months(count)),
            " year ago" | " years ago" => Some(Self::Months(count.saturating_mul(12))),
            _ => None,
        }
    }

    fn before<Z: TimeZone>(&self, now: CommitTime, local: &Z) -> Result<DateTime<Z>, TimeError> {
        match *self {
            Self::Seconds(count) => {
                let unix_ms = now.unix_ms().saturating_sub_unsigned(count.saturating_mul(1000));
                Ok(CommitTime::new(unix_ms, now.offset_minutes())?.instant().with_timezone(local))
            }
            Self::Months(count) => {
                let months = Months::new(u32::try_from(count).unwrap_or(u32::MAX));
                let wall = now.instant().with_timezone(local).naive_local().checked_sub_months(months);
                let in_range = wall.filter(|wall| wall.year() >= 0);
                in_range.and_then(|wall| first_from(wall, local)).ok_or(TimeError::Year)
            }
        }
    }
}

/// The digits that `text` begins with, and the rest; nothing without a digit or when the number is too large.
fn leading_number(text: &str) -> Option<(u64, &str)> {
    let end = text.bytes().take_while(u8::is_ascii_digit).count();
    let (digits, rest) = text.split_at(end);
    Some((digits.parse().ok()?, rest))
}

fn unix_seconds(text: &str) -> Option<i64> {
    if text.starts_with('+') { None } else { text.parse().ok() }
}

fn begins_with_a_year(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.get(4) == Some(&b'-') && bytes[..4].iter().all(u8::is_ascii_digit)
}

/// The first instant at which clocks of the zone show `wall`. Chrono's answer is only a proposal: `chrono::Local` may
/// order the two of a repeated hour either way, and finds the first instant of a skipped one.
fn exactly_at<Z: TimeZone>(wall: NaiveDateTime, local: &Z) -> Option<DateTime<Z>> {
    let proposed = local.from_local_datetime(&wall);
    let is_leap_second = wall.nanosecond() >= 1_000_000_000;
    [proposed.clone().earliest(), proposed.latest()]
        .into_iter()
        .flatten()
        .filter(|instant| !is_leap_second && instant.with_timezone(local).naive_local() == wall)
        .min()
}

/// The first whole minute after `wall`, itself included, that the zone has. Zones have leapt over a day, not over two.
fn first_from<Z: TimeZone>(wall: NaiveDateTime, local: &Z) -> Option<DateTime<Z>> {
    (0..=2 * 24 * 60).find_map(|minutes| exactly_at(wall + TimeDelta::minutes(minutes), local))
}

#[cfg(test)]
mod tests {
    use super::*;
    use chrono::{FixedOffset, MappedLocalTime, NaiveDate, Utc};
    use proptest::prelude::*;

    /// +01:00, and +02:00 in three summers; one begins at two, one at midnight, one before midnight.
    /// It errs as `chrono::Local` does: the later of two instants comes first, and a skipped hour has its first minute.
    #[derive(Clone)]
    struct Summers;

    const SUMMERS: [(&str, &str); 3] = [
        ("2024-03-31T01:00:00Z", "2024-10-27T01:00:00Z"),
        ("2018-03-31T23:00:00Z", "2018-10-27T23:00:00Z"),
        ("2000-03-31T22:30:00Z", "2000-10-27T23:00:00Z"),
    ];

    fn hours_east(hours: i32) -> FixedOffset {
        FixedOffset::east_opt(hours * 3600).unwrap()
    }

    impl TimeZone for Summers {
        type Offset = FixedOffset;

        fn from_offset(_: &FixedOffset) -> Self {
            Self
        }

        fn offset_from_local_date(&self, _: &NaiveDate) -> MappedLocalTime<FixedOffset> {
            unreachable!("deprecated in favour of times")
        }

        fn offset_from_local_datetime(&self, wall: &NaiveDateTime) -> MappedLocalTime<FixedOffset> {
            let [winter, summer] = [1, 2].map(hours_east);
            let is_right = |offset: &FixedOffset| {
                let utc = wall.checked_sub_offset(*offset).unwrap();
                self.offset_from_utc_datetime(&utc) == *offset
            };
            match (is_right(&winter), is_right(&summer)) {
                (true, true) => MappedLocalTime::Ambiguous(winter, summer),
                (true, false) => MappedLocalTime::Single(winter),
                (false, true) => MappedLocalTime::Single(summer),
                (false, false) if wall.minute() == 0 => MappedLocalTime::Single(winter),
                (false, false) => MappedLocalTime::None,
            }
        }

        fn offset_from_utc_date(&self, _: &NaiveDate) -> FixedOffset {
            unreachable!("deprecated in favour of times")
        }

        fn offset_from_utc_datetime(&self, utc: &NaiveDateTime) -> FixedOffset {
            let at = |text: &str| text.parse::<DateTime<Utc>>().unwrap().naive_utc();
            let is_summer = SUMMERS.iter().any(|(start, end)| (at(start)..at(end)).contains(utc));
            hours_east(if is_summer { 2 } else { 1 })
        }
    }

    const NOW: &str = "2024-05-31T12:00:00.250+02:00";

    fn read_at(now: &str, text: &str) -> Result<String, WhenError> {
        parse(text, CommitTime::parse(now).unwrap(), &Summers).map(|time| time.to_string())
    }

    fn read(text: &str) -> Result<String, WhenError> {
        read_at(NOW, text)
    }

    fn refused(text: &str, source: TimeError) -> Result<String, WhenError> {
        Err(WhenError::Refused { text: text.to_owned(), source })
    }

    #[test]
    fn each_form_is_read() {
        for (text, expected) in [
            ("2024-05-06T07:08:09.123456789-05:30", "2024-05-06T07:08:09.123-05:30"),
            ("2024-05-06 07:08:09z", "2024-05-06T07:08:09.000+00:00"),
            ("2016-12-31T23:59:60.5Z", "2017-01-01T00:00:00.000+00:00"),
            ("2024-05-06", "2024-05-06T00:00:00.000+02:00"),
            ("2024-01-06", "2024-01-06T00:00:00.000+01:00"),
            ("2024-01-06 07:08", "2024-01-06T07:08:00.000+01:00"),
            ("2024-05-06T07:08", "2024-05-06T07:08:00.000+02:00"),
            ("2024-05-06 07:08:09", "2024-05-06T07:08:09.000+02:00"),
            ("2024-01-06T07:08:09", "2024-01-06T07:08:09.000+01:00"),
            ("0000-01-01", "0000-01-01T00:00:00.000+01:00"),
            ("@0", "1970-01-01T00:00:00.000+00:00"),
            ("@1715000000", "2024-05-06T12:53:20.000+00:00"),
            ("@-1", "1969-12-31T23:59:59.000+00:00"),
            ("now", "2024-05-31T12:00:00.250+02:00"),
            ("yesterday", "2024-05-30T12:00:00.250+02:00"),
            ("1 second ago", "2024-05-31T11:59:59.250+02:00"),
            ("30 seconds ago", "2024-05-31T11:59:30.250+02:00"),
            ("1 minute ago", "2024-05-31T11:59:00.250+02:00"),
            ("90 minutes ago", "2024-05-31T10:30:00.250+02:00"),
            ("1 hour ago", "2024-05-31T11:00:00.250+02:00"),
            ("12 hours ago", "2024-05-31T00:00:00.250+02:00"),
            ("1 day ago", "2024-05-30T12:00:00.250+02:00"),
            ("0 days ago", "2024-05-31T12:00:00.250+02:00"),
            ("2 days ago", "2024-05-29T12:00:00.250+02:00"),
            ("1 week ago", "2024-05-24T12:00:00.250+02:00"),
            ("2 weeks ago", "2024-05-17T12:00:00.250+02:00"),
            ("1 month ago", "2024-04-30T12:00:00.250+02:00"),
            ("3 months ago", "2024-02-29T12:00:00.250+01:00"),
            ("1 year ago", "2023-05-31T12:00:00.250+01:00"),
            ("2024 years ago", "0000-05-31T12:00:00.250+01:00"),
            ("30s", "2024-05-31T11:59:30.250+02:00"),
            ("5m", "2024-05-31T11:55:00.250+02:00"),
            ("36h", "2024-05-30T00:00:00.250+02:00"),
            ("62d", "2024-03-30T11:00:00.250+01:00"),
            ("1w", "2024-05-24T12:00:00.250+02:00"),
        ] {
            assert_eq!(read(text), Ok(expected.to_owned()), "{text}");
        }
    }

    #[test]
    fn unreadable_text_is_an_error() {
        for text in [
            "",
            " ",
            "Now",
            "now ",
            " now",
            "today",
            "tomorrow",
            "yesterday ago",
            "1704164645",
            "2024",
            "36",
            "36 h",
            "36H",
            "h",
            "-36h",
            "+36h",
            "36hh",
            "1.5h",
            "6M",
            "1y",
            "500ms",
            "days ago",
            "a day ago",
            "2 days",
            "2days ago",
            "2  days ago",
            "2 days  ago",
            "2 days ago ",
            " 2 days ago",
            "2 Days ago",
            "2 fortnights ago",
            "-2 days ago",
            "+2 days ago",
            "in 2 days",
            "2.days.ago",
            "99999999999999999999h",
            "@",
            "@-",
            "@+5",
            "@ 5",
            "@5 ",
            "@1.5",
            "@x",
            "@--5",
            "@99999999999999999999",
            "24-05-06",
            "20x4-05-06",
            "06.05.2024",
            "+12024-01-01T00:00:00Z",
            "-0044-03-15",
            "20240506",
            "٢٠-05-06",
            "٣h",
            "10:30",
            "next-week",
        ] {
            assert_eq!(read(text), Err(WhenError::Unknown(text.to_owned())), "{text}");
        }
        for text in [
            "2023-02-29",
            "2024-13-01",
            "2024-01-02 24:00",
            "2024-01-02 03:60",
            "2024-01-02 03:04:61",
            "2023-02-29T00:00:00Z",
        ] {
            assert_eq!(read(text), refused(text, TimeError::NotReal), "{text}");
        }
        for text in [
            "2024-",
            "2024-1-2",
            "2024-01-0x",
            "2024-01-02 ",
            "2024-01-02T",
            "2024-01-02 3:04",
            "2024-01-02_03:04",
            "2024-01-02  03:04",
            "2024-01-02 03:04:5",
            "2024-01-02T03:04:05Zx",
            "2024-01-02T03:04Z",
            "2024-01-02Z",
            "2024-01-02 03:04é",
        ] {
            let Err(WhenError::Refused { text: found, source: TimeError::Syntax(_) }) = read(text) else {
                panic!("'{text}' is not refused for its syntax");
            };
            assert_eq!(found, text);
        }
        let fraction_without_offset = "2024-01-02 03:04:05.5";
        assert_eq!(read(fraction_without_offset), refused(fraction_without_offset, TimeError::NoOffset));
    }

    #[test]
    fn a_time_outside_four_digit_years_is_an_error() {
        for text in [
            "@253402300800",
            "@-62167219201",
            "@9223372036854775807",
            "@-9223372036854775808",
            "2025 years ago",
            "24296 months ago",
            "2147483647 months ago",
            "2147483648 months ago",
            "4294967296 months ago",
            "18446744073709551615 years ago",
            "18446744073709551615 months ago",
            "18446744073709551615w",
            "18446744073709551615d",
            "18446744073709551615h",
            "18446744073709551615m",
            "18446744073709551615s",
            "18446744073709552s",
            "307445734561825861m",
            "5124095576030432h",
            "213503982334602d",
            "30500568904944w",
            "1537228672809129302 years ago",
            "9223372036854775s",
            "800000d",
            "9999-12-31T23:59:60Z",
        ] {
            assert_eq!(read(text), refused(text, TimeError::Year), "{text}");
        }
        let last = "9999-12-31T23:30:00.000-01:00";
        assert_eq!(read_at(last, "now"), refused("now", TimeError::Year), "the local year is 10000");
        assert_eq!(read_at(last, "3h"), Ok("9999-12-31T22:30:00.000+01:00".to_owned()));
    }

    #[test]
    fn a_wall_clock_time_that_is_leapt_over_is_an_error() {
        for text in ["2024-03-31 02:00", "2024-03-31 02:30", "2024-03-31T02:59:59", "2018-04-01 00:00"] {
            assert_eq!(read(text), Err(WhenError::NotLocal(text.to_owned())));
        }
        assert_eq!(read("2024-03-31 01:59:59"), Ok("2024-03-31T01:59:59.000+01:00".to_owned()));
        assert_eq!(read("2024-03-31 03:00"), Ok("2024-03-31T03:00:00.000+02:00".to_owned()));
    }

    #[test]
    fn a_wall_clock_time_that_occurs_twice_is_the_first() {
        for (text, expected) in [
            ("2024-10-27 01:59:59", "2024-10-27T01:59:59.000+02:00"),
            ("2024-10-27 02:30", "2024-10-27T02:30:00.000+02:00"),
            ("2024-10-27 03:00", "2024-10-27T03:00:00.000+01:00"),
            ("2018-10-28", "2018-10-28T00:00:00.000+02:00"),
        ] {
            assert_eq!(read(text), Ok(expected.to_owned()));
        }
    }

    #[test]
    fn a_day_without_midnight_is_its_first_minute() {
        assert_eq!(read("2018-04-01"), Ok("2018-04-01T01:00:00.000+02:00".to_owned()));
        assert_eq!(read("2000-04-01"), Ok("2000-04-01T00:30:00.000+02:00".to_owned()));
    }

    #[test]
    fn months_ago_moves_on_from_a_time_that_is_leapt_over() {
        let now = "2024-05-31T02:30:17.250+02:00";
        assert_eq!(read_at(now, "2 months ago"), Ok("2024-03-31T03:00:17.250+02:00".to_owned()));
    }

    #[test]
    fn relative_times_carry_the_local_offset_and_not_that_of_now() {
        let now = "2024-05-31T15:30:00.000+05:30";
        assert_eq!(read_at(now, "now"), Ok("2024-05-31T12:00:00.000+02:00".to_owned()));
        assert_eq!(read_at(now, "1 month ago"), Ok("2024-04-30T12:00:00.000+02:00".to_owned()));
    }

    #[test]
    fn a_leap_second_needs_an_offset() {
        let text = "2016-12-31 23:59:60";
        assert_eq!(read(text), Err(WhenError::NotLocal(text.to_owned())));
        let text = "2016-12-31 12:00:60";
        assert_eq!(read(text), refused(text, TimeError::LeapSecond));
    }

    #[test]
    fn a_duration_is_a_number_with_a_unit_or_of_seconds() {
        for (text, milliseconds) in [
            ("0", 0),
            ("0ms", 0),
            ("007", 7_000),
            ("10s", 10_000),
            ("500ms", 500),
            ("2m", 120_000),
            ("1h", 3_600_000),
            ("18446744073709551615ms", u64::MAX),
        ] {
            assert_eq!(parse_duration(text), Ok(Duration::from_millis(milliseconds)));
        }
        assert_eq!(parse_duration("18446744073709551615"), Ok(Duration::from_secs(u64::MAX)));
    }

    #[test]
    fn what_is_no_duration_is_an_error() {
        for text in [
            "",
            " ",
            "s",
            "ms",
            "-1",
            "+1",
            "-1s",
            "1.5s",
            "1 s",
            " 1",
            "1 ",
            "1S",
            "1d",
            "1w",
            "1us",
            "1m30s",
            "1e3",
            "10 seconds",
            "never",
            "٣",
            "18446744073709551616",
            "18446744073709551615m",
            "307445734561825861m",
            "5124095576030432h",
        ] {
            assert_eq!(parse_duration(text), Err(WhenError::Duration(text.to_owned())), "{text}");
        }
        assert!(parse_duration("307445734561825860m").is_ok());
        assert!(parse_duration("5124095576030431h").is_ok());
    }

    proptest! {
        #[test]
        fn no_text_makes_reading_panic(
            text in "\\PC{0,24}|[0-9]{1,20}( ?[a-z]{1,7}( ago)?)?|@-?[0-9]{1,20}|[0-9]{4}-[0-9T: -]{0,16}",
        ) {
            if let Ok(time) = parse(&text, CommitTime::parse(NOW).unwrap(), &Summers) {
                prop_assert_eq!(CommitTime::parse(&time.to_string()), Ok(time));
            }
            let _ = parse_duration(&text).is_ok();
        }

        #[test]
        fn what_is_written_in_rfc_3339_is_read_as_it_is(
            unix_ms in -62_000_000_000_000_i64..253_000_000_000_000,
            offset in -1439_i16..=1439,
        ) {
            let time = CommitTime::new(unix_ms, offset).unwrap();
            prop_assert_eq!(read(&time.to_string()), Ok(time.to_string()));
        }
    }
}
