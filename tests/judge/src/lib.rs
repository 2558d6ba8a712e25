//! Congestion controllers of QUIC stacks behind Kneepoint's C interface.
//!
//! A stack is a [`flow::Stack`]; a controller is a file in controllers/ that [`export!`]s a stack.

pub mod export;
pub mod flow;
pub mod interface;
pub mod quinn;
pub mod random;
pub mod s2n;
