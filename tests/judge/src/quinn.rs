//! quinn-proto's controllers.

use std::sync::Arc;
use std::time::{Duration, Instant};

use quinn_proto::RttEstimator;
use quinn_proto::congestion::{Controller, ControllerFactory};

use crate::flow::{PACKET_BYTES, Packet, Path, Rtt, Stack};

/// quinn paces in its connection, by the window; with `PACES` the controller's own rate paces.
pub struct Quinn<const PACES: bool> {
    controller: Box<dyn Controller>,
    start: Instant,
}

impl<const PACES: bool> Quinn<PACES> {
    pub fn new(factory: impl ControllerFactory) -> Self {
        let start = Instant::now();
        Self { controller: Arc::new(factory).build(start, PACKET_BYTES), start }
    }

    fn at(&self, time: Duration) -> Instant {
        self.start + time
    }
}

impl<const PACES: bool> Stack for Quinn<PACES> {
    type Kept = ();
    const PACES: bool = PACES;

    fn sent(&mut self, path: &Path, number: u64) {
        self.controller.on_sent(self.at(path.now), PACKET_BYTES.into(), number);
    }

    fn acknowledged(
        &mut self,
        path: &Path,
        newest: &Packet<()>,
        packets: u64,
        in_flight: u64,
        is_app_limited: bool,
    ) {
        let (now, sent) = (self.at(path.now), self.at(newest.sent));
        let bytes = packets * u64::from(PACKET_BYTES);
        if let Some(rtt) = path.rtt {
            self.controller.on_ack(now, sent, bytes, is_app_limited, &estimator(&rtt));
        }
        let in_flight = in_flight * u64::from(PACKET_BYTES);
        self.controller.on_end_acks(now, in_flight, is_app_limited, Some(newest.number));
    }

    fn lost(&mut self, path: &Path, packets: &[Packet<()>], is_persistent: bool) {
        let bytes = packets.len() as u64 * u64::from(PACKET_BYTES);
        let sent = self.at(packets.last().map_or(path.now, |packet| packet.sent));
        self.controller.on_congestion_event(self.at(path.now), sent, is_persistent, bytes);
    }

    fn marked(&mut self, path: &Path) {
        let now = self.at(path.now);
        self.controller.on_congestion_event(now, now, false, 0);
    }

    fn window_bytes(&self) -> u64 {
        self.controller.window()
    }

    fn pacing_us(&self) -> f64 {
        match self.controller.metrics().pacing_rate {
            Some(bits_per_s) if bits_per_s > 0 => f64::from(PACKET_BYTES) * 8e6 / bits_per_s as f64,
            _ => 0.0,
        }
    }
}

/// The members of quinn-proto's `RttEstimator`, which no other crate can construct.
struct Members {
    _latest: Duration,
    _smoothed: Option<Duration>,
    _variation: Duration,
    _least: Duration,
}

/// Two structs with the same members in the same order have the same layout with this compiler,
/// though the language does not promise it. So the size is checked at compile time, and the
/// estimator's values at run time.
fn estimator(rtt: &Rtt) -> RttEstimator {
    let members = Members {
        _latest: rtt.latest,
        _smoothed: Some(rtt.smoothed),
        _variation: rtt.variation,
        _least: rtt.least,
    };
    // transmute() compiles for types of equal size alone.
    let estimator: RttEstimator = unsafe { std::mem::transmute(members) };
    assert!(
        estimator.get() == rtt.smoothed
            && estimator.min() == rtt.least
            && estimator.conservative() == rtt.smoothed.max(rtt.latest),
        "quinn-proto's RttEstimator has other members than src/quinn.rs says"
    );
    estimator
}
