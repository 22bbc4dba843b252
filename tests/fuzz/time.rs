//! Times by RFC 3339 and as commits spell them, read the slow way.

/// The numbers of a time.
struct Parts {
    date: (u32, u32, u32),
    hour: u32,
    minute: u32,
    second: u32,
    /// Of a second, at most nine digits.
    fraction: String,
    /// East of UTC; the sign as it is spelled, `Z` for none.
    offset: (char, u32),
}

/// Whether it is an event time.
pub fn is_time(text: &str) -> bool {
    read(text).is_some()
}

/// Whether it is the time of a commit in its one spelling.
pub fn is_commit_time(text: &str) -> bool {
    read(text).is_some_and(|time| {
        let zone = match time.offset {
            ('-', 0) | ('Z', _) => false,
            (_, _) => true,
        };
        zone && time.second < 60 && time.fraction.len() == 3 && text.as_bytes()[10] == b'T'
    })
}

/// The time of a commit that an event time comes to: the Unix milliseconds at or before it, or those of the second behind
/// a leap second, and the offset in minutes. `None` where the local year has not four digits any more.
pub fn commit_time(text: &str) -> Option<(i64, i16)> {
    let time = read(text)?;
    let minutes = offset(&time);
    let (milliseconds, second) = match time.second {
        60 => (0, 60),
        second => (format!("{:0<3}", time.fraction)[..3].parse().expect("digits"), second),
    };
    let seconds = i64::from(time.hour) * 3600 + i64::from(time.minute) * 60 + i64::from(second);
    let local = (days(time.date) * 86400 + seconds) * 1000 + milliseconds;
    (local < days((10000, 1, 1)) * 86_400_000)
        .then(|| (local - i64::from(minutes) * 60_000, i16::try_from(minutes).expect("less than a day")))
}

fn offset(time: &Parts) -> i32 {
    let minutes = time.offset.1.cast_signed();
    if time.offset.0 == '-' { -minutes } else { minutes }
}

fn is_leap_year(year: u32) -> bool {
    year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
}

fn days_of(year: u32, month: u32) -> u32 {
    match month {
        2 => 28 + u32::from(is_leap_year(year)),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days since 1970-01-01.
fn days((year, month, day): (u32, u32, u32)) -> i64 {
    let before = |year: u32| -> i64 {
        let year = i64::from(year);
        // The year 0 is a leap year.
        year * 365 + (year + 3) / 4 - (year + 99) / 100 + (year + 399) / 400
    };
    let months: u32 = (1..month).map(|month| days_of(year, month)).sum();
    before(year) - before(1970) + i64::from(months + day - 1)
}

fn read(text: &str) -> Option<Parts> {
    let number = |at: usize, length: usize| -> Option<u32> {
        let digits = text.get(at..at + length)?;
        digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().expect("digits"))
    };
    let byte = |at: usize| text.as_bytes().get(at).copied();
    let date = (number(0, 4)?, number(5, 2)?, number(8, 2)?);
    let (hour, minute, second) = (number(11, 2)?, number(14, 2)?, number(17, 2)?);
    let dashes = byte(4)? == b'-' && byte(7)? == b'-' && matches!(byte(10)?, b'T' | b't' | b' ');
    let colons = byte(13)? == b':' && byte(16)? == b':';
    let mut at = 19;
    let mut fraction = String::new();
    if byte(at)? == b'.' {
        let digits = text.get(at + 1..)?;
        fraction = digits.chars().take_while(char::is_ascii_digit).collect();
        if fraction.is_empty() || fraction.len() > 9 {
            return None;
        }
        at += 1 + fraction.len();
    }
    let offset = match (byte(at)?, text.len() - at) {
        (b'Z' | b'z', 1) => ('Z', 0),
        (sign @ (b'+' | b'-'), 6) if byte(at + 3)? == b':' => {
            let (hours, minutes) = (number(at + 1, 2)?, number(at + 4, 2)?);
            (hours < 24 && minutes < 60).then_some((char::from(sign), hours * 60 + minutes))?
        }
        (_, _) => return None,
    };
    let (year, month, day) = date;
    let is_real = (1..=12).contains(&month) && (1..=days_of(year, month)).contains(&day) && hour < 24 && minute < 60;
    let time = Parts { date, hour, minute, second, fraction, offset };
    (dashes && colons && is_real && (second < 60 || is_leap_second(&time))).then_some(time)
}

/// Whether the second 60 is the last of 30 June or of 31 December in UTC.
fn is_leap_second(time: &Parts) -> bool {
    let of_day = (time.hour * 60 + time.minute).cast_signed() - offset(time);
    let tomorrow = days(time.date) + i64::from(of_day.div_euclid(1440)) + 1;
    let year = time.date.0;
    let begins_half = [(year, 1, 1), (year, 7, 1), (year + 1, 1, 1)].into_iter().any(|date| days(date) == tomorrow);
    time.second == 60 && of_day.rem_euclid(1440) == 1439 && begins_half
}
