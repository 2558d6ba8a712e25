use judge::quinn::Quinn;
use quinn_proto::congestion::BbrConfig;

judge::export!(
    Quinn<true>,
    c"quinn_bbr",
    c"quinn-proto's BBR, version 1",
    Quinn::new(BbrConfig::default())
);
