use judge::s2n::S2n;
use s2n_quic_core::recovery::bbr::{BbrCongestionController, Endpoint};

judge::export!(
    S2n<BbrCongestionController, true>,
    c"s2n_bbr2",
    c"s2n-quic's BBR, version 2",
    S2n::new(Endpoint::default(), BbrCongestionController::pacing_rate)
);
