//! Who has shown wrong tokens lately, and waits before they may show another one.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Wrong tokens in a row, before one has to wait.
const FREE: u32 = 10;

/// After how long another one is forgiven.
const FORGIVEN: Duration = Duration::from_secs(6);

/// Addresses that are remembered at once.
const REMEMBERED: usize = 20_000;

/// Wrong tokens by address; a `/64` of IPv6 is one.
#[derive(Default)]
pub(crate) struct Attempts(Mutex<BTreeMap<Option<IpAddr>, (u32, Instant)>>);

/// What an address counts as.
fn counted(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => {
            Ipv6Addr::from_bits(address.to_bits() & !u128::from(u64::MAX)).into()
        }
        address @ IpAddr::V4(_) => address,
    }
}

/// How many are left of `wrong`, so long after the last one.
fn left(wrong: u32, since: Duration) -> u32 {
    let forgiven = since.as_millis() / FORGIVEN.as_millis();
    wrong.saturating_sub(u32::try_from(forgiven).unwrap_or(u32::MAX))
}

impl Attempts {
    /// How long whoever comes from this address has to wait, in seconds; none where they need not.
    pub(crate) fn wait(&self, address: Option<IpAddr>) -> Option<u64> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (wrong, last) = all.get(&address.map(counted))?;
        let over = left(*wrong, last.elapsed()).checked_sub(FREE)?;
        Some(u64::from(over + 1) * FORGIVEN.as_secs())
    }

    /// A wrong token was shown.
    pub(crate) fn wrong(&self, address: Option<IpAddr>) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() >= REMEMBERED {
            all.retain(|_, (wrong, last)| left(*wrong, last.elapsed()) > 0);
        }
        if all.len() >= REMEMBERED {
            return;
        }
        let entry = all.entry(address.map(counted)).or_insert((0, Instant::now()));
        *entry = (left(entry.0, entry.1.elapsed()).saturating_add(1), Instant::now());
    }

    /// A right one was.
    pub(crate) fn right(&self, address: Option<IpAddr>) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.remove(&address.map(counted));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_waits_after_ten_wrong_tokens_and_no_other_does() {
        let attempts = Attempts::default();
        let (one, other) = ("192.0.2.1".parse().ok(), "192.0.2.2".parse().ok());
        for _ in 0..FREE {
            assert_eq!(attempts.wait(one), None);
            attempts.wrong(one);
        }
        assert_eq!(attempts.wait(one), Some(6));
        assert_eq!(attempts.wait("::ffff:192.0.2.1".parse().ok()), Some(6), "written otherwise");
        assert_eq!(attempts.wait(other), None);
        attempts.right(one);
        assert_eq!(attempts.wait(one), None);
        let network = ["2001:db8::1", "2001:db8::2"].map(|text| text.parse().ok());
        (0..FREE).for_each(|_| attempts.wrong(network[0]));
        assert!(attempts.wait(network[1]).is_some());
    }

    #[test]
    fn each_six_seconds_forgive_one() {
        assert_eq!(left(12, Duration::from_secs(5)), 12);
        assert_eq!(left(12, Duration::from_secs(13)), 10);
        assert_eq!(left(12, Duration::from_hours(1)), 0);
    }
}
