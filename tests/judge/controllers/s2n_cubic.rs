use judge::s2n::S2n;
use s2n_quic_core::recovery::bandwidth::Bandwidth;
use s2n_quic_core::recovery::cubic::{CubicCongestionController, Endpoint};

judge::export!(
    S2n<CubicCongestionController, false>,
    c"s2n_cubic",
    c"s2n-quic's CUBIC",
    S2n::new(Endpoint::default(), |_| Bandwidth::INFINITY)
);
