//! How often an address may ask.

use std::collections::HashMap;
use std::net::IpAddr;
use std::time::{Duration, Instant};

use headway_page::Limits;

/// A bucket for every address that fills up steadily; a request takes from it.
pub(crate) struct Rates {
    per_second: f64,
    burst: f64,
    buckets: HashMap<IpAddr, Bucket>,
}

struct Bucket {
    left: f64,
    at: Instant,
}

/// More addresses than this are not remembered one by one.
const MAX_ADDRESSES: usize = 4_096;

impl Rates {
    pub(crate) fn new(limits: &Limits) -> Rates {
        Rates {
            per_second: limits.requests_per_second,
            burst: limits.request_burst,
            buckets: HashMap::new(),
        }
    }

    /// Takes the price of a request.
    ///
    /// # Errors
    ///
    /// How long to wait when it is not there; then nothing is taken.
    pub(crate) fn take(
        &mut self,
        address: IpAddr,
        price: f64,
        now: Instant,
    ) -> Result<(), Duration> {
        let address = household(address);
        if self.buckets.len() >= MAX_ADDRESSES && !self.buckets.contains_key(&address) {
            self.forget(now);
        }
        let (per_second, burst) = (self.per_second, self.burst);
        let bucket = self.buckets.entry(address).or_insert(Bucket {
            left: burst,
            at: now,
        });
        let passed = now.saturating_duration_since(bucket.at).as_secs_f64();
        bucket.left = (bucket.left + passed * per_second).min(burst);
        bucket.at = now;
        let price = price.min(burst);
        if bucket.left < price {
            let missing = (price - bucket.left) / per_second;
            return Err(Duration::from_secs_f64(missing));
        }
        bucket.left -= price;
        Ok(())
    }

    /// Forgets full buckets, which are like new ones, or else the oldest.
    fn forget(&mut self, now: Instant) {
        let (per_second, burst) = (self.per_second, self.burst);
        self.buckets.retain(|_, bucket| {
            let passed = now.saturating_duration_since(bucket.at).as_secs_f64();
            bucket.left + passed * per_second < burst
        });
        if self.buckets.len() >= MAX_ADDRESSES {
            let oldest = self.buckets.iter().min_by_key(|(_, bucket)| bucket.at);
            if let Some(address) = oldest.map(|(&address, _)| address) {
                self.buckets.remove(&address);
            }
        }
    }
}

/// One household has a whole /64 of addresses of version 6.
fn household(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V6(v6) => match v6.to_ipv4_mapped() {
            Some(v4) => IpAddr::V4(v4),
            None => {
                let bits = v6.to_bits() >> 64 << 64;
                IpAddr::V6(bits.into())
            }
        },
        v4 @ IpAddr::V4(_) => v4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rates() -> Rates {
        Rates::new(&Limits {
            requests_per_second: 2.0,
            request_burst: 4.0,
            ..Limits::default()
        })
    }

    #[test]
    fn a_bucket_empties_and_fills() {
        let (mut rates, start) = (rates(), Instant::now());
        let one = IpAddr::from([127, 0, 0, 1]);
        for _ in 0..4 {
            assert_eq!(rates.take(one, 1.0, start), Ok(()));
        }
        assert_eq!(rates.take(one, 1.0, start), Err(Duration::from_millis(500)));
        assert_eq!(rates.take(IpAddr::from([127, 0, 0, 2]), 1.0, start), Ok(()));
        let later = start + Duration::from_millis(500);
        assert_eq!(rates.take(one, 1.0, later), Ok(()));
        assert!(rates.take(one, 1.0, later).is_err());
    }

    #[test]
    fn neighbours_in_one_network_of_version_6_share() {
        let (mut rates, now) = (rates(), Instant::now());
        let address = |last| IpAddr::from([0x2001, 0xdb8, 0, 0, 0, 0, 0, last]);
        assert_eq!(rates.take(address(1), 4.0, now), Ok(()));
        assert!(rates.take(address(2), 1.0, now).is_err());
        assert_eq!(
            household("::ffff:10.0.0.1".parse().unwrap()),
            IpAddr::from([10, 0, 0, 1])
        );
    }

    #[test]
    fn the_number_of_buckets_is_bounded() {
        let (mut rates, now) = (rates(), Instant::now());
        for number in 0..20_000_u32 {
            let _ = rates.take(IpAddr::from(number.to_be_bytes()), 1.0, now);
        }
        assert!(rates.buckets.len() <= MAX_ADDRESSES);
    }
}
