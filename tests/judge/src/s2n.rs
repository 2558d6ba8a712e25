//! s2n-quic's controllers.

use std::net::SocketAddr;
use std::time::Duration;

use s2n_quic_core::event::builder::{BbrState, SlowStartExitCause};
use s2n_quic_core::inet::SocketAddress;
use s2n_quic_core::packet::number::PacketNumberSpace;
use s2n_quic_core::path;
use s2n_quic_core::random::Generator;
use s2n_quic_core::recovery::bandwidth::{Bandwidth, RateSample};
use s2n_quic_core::recovery::congestion_controller::{Endpoint, PathInfo, Publisher};
use s2n_quic_core::recovery::{CongestionController, RttEstimator};
use s2n_quic_core::time::Timestamp;

use crate::flow::{PACKET_BYTES, Packet, Path, Stack};
use crate::random::Numbers;

/// s2n-quic's CUBIC paces its bursts by the window, which is left out; with `PACES` a controller's
/// rate paces. BBR then never is app-limited, and CUBIC judges by the flight.
pub struct S2n<C, const PACES: bool> {
    controller: C,
    rate: fn(&C) -> Bandwidth,
    rtt: RttEstimator,
    random: Numbers,
}

impl<C: CongestionController, const PACES: bool> S2n<C, PACES> {
    pub fn new(
        mut endpoint: impl Endpoint<CongestionController = C>,
        rate: fn(&C) -> Bandwidth,
    ) -> Self {
        let remote: SocketAddress = SocketAddr::from(([127, 0, 0, 1], 1)).into();
        let mut info = PathInfo::new(&path::Config::default(), &remote);
        info.max_datagram_size = PACKET_BYTES;
        Self {
            controller: endpoint.new_congestion_controller(info),
            rate,
            rtt: RttEstimator::default(),
            random: Numbers(1),
        }
    }
}

impl<C: CongestionController, const PACES: bool> Stack for S2n<C, PACES> {
    type Kept = C::PacketInfo;
    const PACES: bool = PACES;

    fn sent(&mut self, path: &Path, _number: u64) -> C::PacketInfo {
        let is_app_limited = PACES.then_some(false);
        let (rtt, bytes) = (&self.rtt, PACKET_BYTES.into());
        self.controller.on_packet_sent(at(path.now), bytes, is_app_limited, rtt, &mut Nobody)
    }

    fn acknowledged(
        &mut self,
        path: &Path,
        newest: &Packet<C::PacketInfo>,
        packets: u64,
        _in_flight: u64,
        _is_app_limited: bool,
    ) {
        let (now, sent) = (at(path.now), at(newest.sent));
        if let Some(rtt) = path.rtt {
            let space = PacketNumberSpace::ApplicationData;
            self.rtt.update_rtt(Duration::ZERO, rtt.latest, now, true, space);
            self.controller.on_rtt_update(sent, now, &self.rtt, &mut Nobody);
        }
        self.controller.on_ack(
            sent,
            packets as usize * usize::from(PACKET_BYTES),
            newest.kept(),
            &self.rtt,
            &mut self.random,
            now,
            &mut Nobody,
        );
    }

    fn lost(&mut self, path: &Path, packets: &[Packet<C::PacketInfo>], is_persistent: bool) {
        for (index, packet) in packets.iter().enumerate() {
            self.controller.on_packet_lost(
                PACKET_BYTES.into(),
                packet.kept(),
                is_persistent,
                index == 0,
                &mut self.random,
                at(path.now),
                &mut Nobody,
            );
        }
    }

    fn marked(&mut self, path: &Path) {
        self.controller.on_explicit_congestion(1, at(path.now), &mut Nobody);
    }

    fn discarded(&mut self) {
        self.controller.on_packet_discarded(PACKET_BYTES.into(), &mut Nobody);
    }

    fn window_bytes(&self) -> u64 {
        self.controller.congestion_window().into()
    }

    fn pacing_us(&self) -> f64 {
        match (self.rate)(&self.controller).as_bytes_per_second() {
            0 => 0.0,
            rate => f64::from(PACKET_BYTES) * 1e6 / rate as f64,
        }
    }
}

/// The clock of s2n-quic starts at 1 us.
fn at(time: Duration) -> Timestamp {
    // Only a source of time may construct a timestamp.
    unsafe { Timestamp::from_duration(time + Duration::from_micros(1)) }
}

impl Generator for Numbers {
    fn public_random_fill(&mut self, bytes: &mut [u8]) {
        self.fill(bytes);
    }

    fn private_random_fill(&mut self, bytes: &mut [u8]) {
        self.fill(bytes);
    }
}

struct Nobody;

impl Publisher for Nobody {
    fn on_slow_start_exited(&mut self, _cause: SlowStartExitCause, _window: u32) {}
    fn on_delivery_rate_sampled(&mut self, _sample: RateSample) {}
    fn on_pacing_rate_updated(&mut self, _rate: Bandwidth, _burst: u32, _gain: Gain) {}
    fn on_bbr_state_changed(&mut self, _state: BbrState) {}
}

type Gain = num_rational::Ratio<u64>;
