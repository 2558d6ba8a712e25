//! The calls that a QUIC connection makes of its controller, derived from the calls of Kneepoint's
//! transports.

use std::collections::VecDeque;
use std::time::Duration;

use crate::interface::{Ack, Loss, MARKED, TIMED_OUT};

/// Bytes of a packet. Stacks count bytes, and Kneepoint packets: the initial window of RFC 9002 is
/// ten packets of this size.
pub const PACKET_BYTES: u16 = 1200;

/// A congestion controller as a connection uses it. Times count from the start of the flow.
pub trait Stack {
    /// The controller's data about a packet in flight.
    type Kept: Copy;

    /// Whether the controller paces, by [`Stack::pacing_us`].
    const PACES: bool;

    fn sent(&mut self, path: &Path, number: u64) -> Self::Kept;

    /// `packets` were delivered, of which `newest` left last; `in_flight` are still in flight.
    /// `is_app_limited`: the application, and not the window, bounded the flight (RFC 9002, section
    /// 7.8).
    fn acknowledged(
        &mut self,
        path: &Path,
        newest: &Packet<Self::Kept>,
        packets: u64,
        in_flight: u64,
        is_app_limited: bool,
    );

    /// Packets were lost: at least one, in the order of their numbers.
    fn lost(&mut self, path: &Path, packets: &[Packet<Self::Kept>], is_persistent: bool);

    /// A packet was marked with CE.
    fn marked(&mut self, path: &Path);

    /// A packet left the flight for an unknown reason.
    fn discarded(&mut self) {}

    fn window_bytes(&self) -> u64;

    /// Microseconds between two packets.
    fn pacing_us(&self) -> f64 {
        0.0
    }
}

#[derive(Clone, Copy)]
pub struct Packet<Kept> {
    pub number: u64,
    pub sent: Duration,
    sequence: Option<u64>, // unknown for TCP's retransmissions
    kept: Kept,
}

impl<Kept: Copy> Packet<Kept> {
    pub fn kept(&self) -> Kept {
        self.kept
    }
}

/// The time and the RTT by section 5 of RFC 9002, without a delay of acknowledgments.
#[derive(Clone, Copy, Default)]
pub struct Path {
    pub now: Duration,
    pub rtt: Option<Rtt>,
}

#[derive(Clone, Copy)]
pub struct Rtt {
    pub latest: Duration,
    pub smoothed: Duration,
    pub variation: Duration,
    pub least: Duration,
}

impl Rtt {
    fn first(latest: Duration) -> Self {
        Self { latest, smoothed: latest, variation: latest / 2, least: latest }
    }

    fn then(self, latest: Duration) -> Self {
        Self {
            latest,
            smoothed: (7 * self.smoothed + latest) / 8,
            variation: (3 * self.variation + self.smoothed.abs_diff(latest)) / 4,
            least: self.least.min(latest),
        }
    }

    /// The duration of section 7.6.1 of RFC 9002, with the default of max_ack_delay.
    fn persistent_congestion(&self) -> Duration {
        let granularity = Duration::from_millis(1);
        3 * (self.smoothed + granularity.max(4 * self.variation) + Duration::from_millis(25))
    }
}

/// A flow of packets. As in QUIC, every transmission has a number of its own, which for datagrams
/// is also the sequence number. TCP's retransmissions become known with the next acknowledgment.
pub struct Flow<S: Stack> {
    stack: S,
    path: Path,
    packets: VecDeque<Packet<S::Kept>>,
    next_number: u64,
    lost: u64,
}

impl<S: Stack> Flow<S> {
    pub fn new(stack: S) -> Self {
        Self { stack, path: Path::default(), packets: VecDeque::new(), next_number: 0, lost: 0 }
    }

    pub fn window(&self) -> f64 {
        self.stack.window_bytes() as f64 / f64::from(PACKET_BYTES)
    }

    pub fn pacing_us(&self) -> f64 {
        self.stack.pacing_us()
    }

    pub fn on_sent(&mut self, sequence: u64, now: Duration) {
        // Kneepoint reports sending times in whole milliseconds, and time does not go back.
        self.path.now = self.path.now.max(now);
        self.send(Some(sequence));
    }

    fn send(&mut self, sequence: Option<u64>) {
        let number = self.next_number;
        self.next_number += 1;
        let kept = self.stack.sent(&self.path, number);
        let sent = self.path.now;
        self.packets.push_back(Packet { number, sent, sequence, kept });
    }

    pub fn on_ack(&mut self, ack: &Ack) {
        self.path.now = self.path.now.max(Duration::from_micros(ack.now_us as u64));
        if ack.rtt_us >= 0 {
            let sample = Duration::from_micros(ack.rtt_us.max(1) as u64);
            self.path.rtt = Some(self.path.rtt.map_or(Rtt::first(sample), |rtt| rtt.then(sample)));
        }
        let newest = self.deliver(ack);
        self.lose(ack.lost.saturating_sub(self.lost), false);
        self.lost = self.lost.max(ack.lost);
        if let Some(newest) = newest {
            let (path, stack) = (&self.path, &mut self.stack);
            let is_app_limited = ack.is_cwnd_limited == 0;
            stack.acknowledged(path, &newest, ack.acknowledged, ack.in_flight, is_app_limited);
        }
        while self.packets.len() as u64 > ack.in_flight {
            self.packets.pop_front();
            self.stack.discarded();
        }
        while (self.packets.len() as u64) < ack.in_flight {
            self.send(None);
        }
    }

    /// Removes the packets that an acknowledgment delivers and returns the newest of them.
    fn deliver(&mut self, ack: &Ack) -> Option<Packet<S::Kept>> {
        let is_told = |packet: &Packet<_>| packet.sequence == Some(ack.sequence_number);
        let packets = &mut self.packets;
        let newest = packets.iter().rposition(is_told);
        let newest = newest.or_else(|| packets.iter().position(|each| each.sequence.is_none()))?;
        let first = (newest + 1).saturating_sub(ack.acknowledged as usize);
        packets.drain(first..=newest).last()
    }

    /// The loss of a datagram is reported by the acknowledgment that finds it. TCP's timeout, which
    /// QUIC does not have, counts as persistent congestion.
    pub fn on_loss(&mut self, loss: &Loss) {
        self.path.now = self.path.now.max(Duration::from_micros(loss.now_us as u64));
        match loss.kind {
            TIMED_OUT => {
                let all = self.packets.len() as u64;
                self.lose(all, true);
                self.lost += all;
            }
            MARKED => self.stack.marked(&self.path),
            _ => {}
        }
    }

    /// Declares `count` packets lost, first the oldest that were sent only once.
    fn lose(&mut self, count: u64, has_timed_out: bool) {
        let mut packets = Vec::new();
        while (packets.len() as u64) < count && !self.packets.is_empty() {
            let once = self.packets.iter().position(|packet| packet.sequence.is_some());
            packets.extend(self.packets.remove(once.unwrap_or(0)));
        }
        if let (Some(first), Some(last)) = (packets.first(), packets.last()) {
            let span = last.sent.saturating_sub(first.sent);
            let is_long = self.path.rtt.is_some_and(|rtt| span > rtt.persistent_congestion());
            self.stack.lost(&self.path, &packets, is_long || has_timed_out);
        }
    }
}
