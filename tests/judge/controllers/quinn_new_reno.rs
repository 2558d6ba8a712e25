use judge::quinn::Quinn;
use quinn_proto::congestion::NewRenoConfig;

judge::export!(
    Quinn<false>,
    c"quinn_new_reno",
    c"quinn-proto's NewReno",
    Quinn::new(NewRenoConfig::default())
);
