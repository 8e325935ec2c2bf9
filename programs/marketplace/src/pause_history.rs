//! How long a listing was paused within the last 30 days, in 14 bytes and at a constant cost.
//!
//! The paused seconds of a listing are counted in order; each 43,200 of them (half a day) are one unit. A unit is
//! dated by the half day of the calendar in which its last second lies. Each of the 61 half days up to the latest has
//! one bit. It says whether a unit was completed in that half day: a half day has room for one unit only. The
//! seconds after the last unit are kept as a number.
//!
//! At any time the count is at least the pauses of the last 30 days. It is less than the pauses of the last 30.5 days
//! plus half a day. A second is in a unit (dated no earlier than the second), in the remainder, or in the pause that
//! goes on. Only the oldest unit can hold seconds from before the half day of 30 days ago. Where there is no unit, only
//! the remainder can.

/// The time within which pauses are added up, in seconds: 30 days.
pub const PAUSE_WINDOW_SECONDS: u64 = 2_592_000;
/// The unit in which they are, in seconds: half a day. The count exceeds the truth by less than one.
pub const PAUSE_UNIT_SECONDS: u64 = 43_200;

/// How many half days before the present one reach back 30 days.
const WINDOW_UNITS: u64 = PAUSE_WINDOW_SECONDS / PAUSE_UNIT_SECONDS;
/// The bits of the present half day and of those before it that count.
const KEPT: u64 = (1 << (WINDOW_UNITS + 1)) - 1;

/// The ended pauses. All zeros: none.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct PauseHistory {
    /// Bit `i`: a unit was completed in the half day `latest - i`.
    pub units: u64,
    /// The half day in which the last pause ended, counted from 1970.
    pub latest: u32,
    /// The paused seconds since the last unit was completed, less than one unit.
    pub remainder: u16,
}

/// The half day that a time lies in. Times before 1970 count as 1970, and the number stays within 32 bits.
#[inline(always)]
fn half_day(seconds: u64) -> u32 {
    (seconds / PAUSE_UNIT_SECONDS).min(u32::MAX as u64) as u32
}

#[inline(always)]
fn since_1970(time: i64) -> u64 {
    time.max(0) as u64
}

impl PauseHistory {
    /// The history without the units that are too old for every 30 days from `now` on.
    #[inline(always)]
    fn aged(self, now: u64) -> Self {
        // A clock never goes back; where one did, the history would stay as it is.
        let latest = half_day(now).max(self.latest);
        let age = (latest - self.latest) as u64;
        if age > WINDOW_UNITS {
            return PauseHistory { units: 0, latest, remainder: 0 };
        }
        PauseHistory { units: (self.units << age) & KEPT, latest, remainder: self.remainder }
    }

    /// The history with a pause that began at `from` and ended at `to`, Unix seconds.
    pub fn with_pause(self, from: i64, to: i64) -> Self {
        let to = since_1970(to);
        let PauseHistory { mut units, latest, remainder } = self.aged(to);
        // No overflow: a time is below 2^63, a remainder below 2^16.
        let seconds = remainder as u64 + to.saturating_sub(since_1970(from));
        let completed = seconds / PAUSE_UNIT_SECONDS;
        let remainder = seconds % PAUSE_UNIT_SECONDS;
        // The last unit was completed `remainder` seconds ago, in this half day or the one before; the others half a day
        // apart before it.
        let age = half_day(to) - half_day(to.saturating_sub(remainder));
        let run = if completed > WINDOW_UNITS { KEPT } else { (1 << completed) - 1 };
        units |= (run << age) & KEPT;
        PauseHistory { units, latest, remainder: remainder as u16 }
    }

    /// The paused seconds that count at `now`: the pauses of the last 30 days, and a little more. `paused_at` is the start
    /// of a pause that goes on.
    pub fn counted(self, paused_at: Option<i64>, now: i64) -> u64 {
        let now = since_1970(now);
        let PauseHistory { units, remainder, .. } = self.aged(now);
        let ongoing = paused_at.map_or(0, |from| now.saturating_sub(since_1970(from)));
        // No overflow: at most 61 units of half a day beside a time.
        (units.count_ones() as u64).wrapping_mul(PAUSE_UNIT_SECONDS) + remainder as u64 + ongoing
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: i64 = 86_400;
    const UNIT: i64 = PAUSE_UNIT_SECONDS as i64;
    const WINDOW: i64 = PAUSE_WINDOW_SECONDS as i64;

    /// The simple rule: every pause of a listing, for ever.
    #[derive(Default)]
    struct EveryPause(Vec<(i64, i64)>);

    impl EveryPause {
        /// The seconds paused from `since` to `now`.
        fn seconds(&self, ongoing: Option<i64>, since: i64, now: i64) -> i64 {
            let all = self.0.iter().copied().chain(ongoing.map(|from| (from, now)));
            all.map(|(from, to)| (to.min(now) - from.max(since)).max(0)).sum()
        }
    }

    fn random(state: &mut u64) -> u64 {
        *state ^= *state << 13;
        *state ^= *state >> 7;
        *state ^= *state << 17;
        *state >> 11
    }

    /// A span of time: of any length up to about ten weeks, near the unit's multiples now and then.
    fn span(state: &mut u64) -> i64 {
        let magnitude = 1u64 << (random(state) % 23);
        let any = (random(state) % magnitude) as i64;
        match random(state) % 8 {
            0 => UNIT * (any % 70) + (random(state) % 3) as i64 - 1,
            1 => WINDOW - DAY + (random(state) as i64 % (2 * DAY)),
            _ => any,
        }
        .max(0)
    }

    /// The relation between the history and the plain rule at any time.
    fn check(history: PauseHistory, every: &EveryPause, paused_at: Option<i64>, now: i64) {
        let counted = history.counted(paused_at, now) as i64;
        let least = every.seconds(paused_at, now - WINDOW, now);
        let most = every.seconds(paused_at, now - WINDOW - UNIT, now);
        assert!(counted >= least, "counted {counted}, paused {least} within 30 days of {now}: {history:?}");
        let is_whole_pause = paused_at.is_some_and(|from| from < now - WINDOW);
        assert!(
            is_whole_pause || counted < most + UNIT,
            "counted {counted}, paused {most} within 30.5 days of {now}: {history:?}"
        );
        assert!(history.remainder < UNIT as u16);
        assert_eq!(history.units & !KEPT, 0);
    }

    #[test]
    fn counts_at_least_the_pauses_of_30_days_and_less_than_half_a_day_more() {
        let mut state = 0x9e3779b97f4a7c15u64;
        let (mut checks, mut reached) = (0u32, 0u32);
        for world in 0..4_000 {
            // Some worlds pause for moments alone, some for days.
            let scale = 1 << (world % 7);
            let (mut history, mut every) = (PauseHistory::default(), EveryPause::default());
            let mut now = 1_750_000_000 + (random(&mut state) % 100_000) as i64;
            for _ in 0..60 {
                now += span(&mut state) / scale;
                let paused_at = now;
                for _ in 0..random(&mut state) % 4 {
                    now += span(&mut state) / scale;
                    check(history, &every, Some(paused_at), now);
                    checks += 1;
                }
                history = history.with_pause(paused_at, now);
                every.0.push((paused_at, now));
                for later in [0, 1, UNIT - 1, UNIT, WINDOW - 1, WINDOW, WINDOW + 1, span(&mut state)] {
                    check(history, &every, None, now + later);
                    reached += (history.counted(None, now + later) >= 7 * DAY as u64) as u32;
                    checks += 1;
                }
            }
        }
        assert!(checks > 1_000_000 && reached > 100_000 && reached < checks / 2, "{reached} of {checks}");
    }

    #[test]
    fn is_exact_for_a_pause_within_the_window() {
        for seconds in [0, 1, UNIT - 1, UNIT, UNIT + 1, 7 * DAY - 1, 7 * DAY, WINDOW - UNIT, WINDOW] {
            let history = PauseHistory::default().with_pause(DAY, DAY + seconds);
            assert_eq!(history.counted(None, DAY + seconds), seconds as u64);
        }
    }

    #[test]
    fn does_not_depend_on_how_a_pause_is_cut_into_pieces() {
        let start = 1_750_000_123;
        for pieces in [1, 2, 7, 1_000, 86_399] {
            let mut history = PauseHistory::default();
            let length = 7 * DAY / pieces;
            for piece in 0..pieces {
                history = history.with_pause(start + piece * length, start + (piece + 1) * length);
            }
            assert_eq!(history.counted(None, start + 7 * DAY) as i64, pieces * length);
        }
    }

    #[test]
    fn forgets_a_pause_between_30_and_30_and_a_half_days_after_it() {
        for start in [1_750_000_000, 1_750_000_000 / UNIT * UNIT, 1_750_000_000 / UNIT * UNIT - 1] {
            let history = PauseHistory::default().with_pause(start, start + 3 * UNIT);
            let end = start + 3 * UNIT;
            assert_eq!(history.counted(None, end + WINDOW - 2 * UNIT) as i64, 3 * UNIT);
            assert_eq!(history.counted(None, end + WINDOW + UNIT), 0);
        }
    }

    #[test]
    fn takes_a_listing_without_a_history_and_times_at_the_ends_of_their_range() {
        let none = PauseHistory::default();
        assert_eq!(none.counted(Some(1_700_000_000), 1_700_604_800), 604_800);
        assert_eq!(none.counted(None, 1_700_000_000), 0);
        for from in [i64::MIN, -1, 0, 1, 1_750_000_000, i64::MAX - 1, i64::MAX] {
            for to in [i64::MIN, -1, 0, 1, 1_750_000_000, i64::MAX - 1, i64::MAX] {
                let history = none.with_pause(from, to).with_pause(from, to);
                for now in [i64::MIN, 0, 1_750_000_000, i64::MAX] {
                    assert!(history.counted(Some(from), now) <= i64::MAX as u64 + 62 * PAUSE_UNIT_SECONDS);
                }
            }
        }
    }
}
