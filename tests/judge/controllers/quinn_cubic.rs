use judge::quinn::Quinn;
use quinn_proto::congestion::CubicConfig;

judge::export!(
    Quinn<false>,
    c"quinn_cubic",
    c"quinn-proto's CUBIC",
    Quinn::new(CubicConfig::default())
);
