//! controllers/algorithms/interface.h, whose layout build.rs checks.

use std::ffi::{c_char, c_int, c_void};
use std::mem::{offset_of, size_of};

pub const VERSION: u32 = 2;
pub const TIMED_OUT: c_int = 2;
pub const MARKED: c_int = 3;
pub const FAILED: c_int = 1;

/// A struct: its name in C, its size, and the names and offsets of its members.
pub type Layout = (&'static str, usize, &'static [(&'static str, usize)]);

macro_rules! structs {
    ($($name:ident = $c_name:literal { $($member:ident: $type:ty),* $(,)? })*) => {
        $(
            #[repr(C)]
            pub struct $name {
                $(pub $member: $type),*
            }
        )*
        pub const LAYOUTS: &[Layout] = &[
            $(($c_name, size_of::<$name>(), &[$((stringify!($member), offset_of!($name, $member))),*])),*
        ];
    };
}

structs! {
    Declaration = "kneepoint_declaration" {
        name: *const c_char,
        summary: *const c_char,
        source: *const c_char,
        parameter_count: usize,
        parameters: *const c_void,
        needs: u32,
    }
    Sent = "kneepoint_sent" {
        sequence_number: u64,
        now_ms: i64,
    }
    Ack = "kneepoint_ack" {
        sequence_number: u64,
        sent_ms: i64,
        received_ms: i64,
        ack_received_ms: i64,
        now_us: i64,
        rtt_us: i64,
        acknowledged: u64,
        in_flight: u64,
        delivered: u64,
        lost: u64,
        marked: u64,
        is_recovering: c_int,
        is_cwnd_limited: c_int,
    }
    Loss = "kneepoint_loss" {
        now_ms: i64,
        now_us: i64,
        kind: c_int,
        in_flight: u64,
        is_repeated: c_int,
    }
    Failure = "kneepoint_failure" {
        kind: c_int,
        text: *const c_char,
    }
    Interface = "kneepoint_interface" {
        version: u32,
        declare: extern "C" fn() -> *const Declaration,
        create: extern "C" fn(*const f64, usize) -> *mut c_void,
        destroy: unsafe extern "C" fn(*mut c_void),
        window: unsafe extern "C" fn(*const c_void) -> f64,
        keepalive_ms: unsafe extern "C" fn(*const c_void) -> f64,
        failure: extern "C" fn() -> *const Failure,
        on_sent: Option<unsafe extern "C" fn(*mut c_void, *const Sent) -> c_int>,
        on_ack: Option<unsafe extern "C" fn(*mut c_void, *const Ack) -> c_int>,
        on_keepalive: Option<unsafe extern "C" fn(*mut c_void, *const c_void) -> c_int>,
        on_loss: Option<unsafe extern "C" fn(*mut c_void, *const Loss) -> c_int>,
        pacing_us: Option<unsafe extern "C" fn(*const c_void) -> f64>,
        governs_recovery: c_int,
        on_undo: Option<unsafe extern "C" fn(*mut c_void, *const c_void) -> c_int>,
    }
}
