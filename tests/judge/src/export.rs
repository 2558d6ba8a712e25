//! The functions of the C interface. A panic becomes a failure with its message.

use std::any::Any;
use std::cell::RefCell;
use std::ffi::{CStr, CString, c_int, c_void};
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::{null, null_mut};
use std::time::Duration;

use crate::flow::{Flow, Stack};
use crate::interface::{Ack, Declaration, FAILED, Failure, Interface, Loss, Sent, VERSION};

/// Exports a controller from a shared object: the type of the stack, the name of the file, a
/// summary, and an expression for its state.
#[macro_export]
macro_rules! export {
    ($stack:ty, $name:expr, $summary:expr, $make:expr) => {
        struct Exported;
        impl $crate::export::Export for Exported {
            type Stack = $stack;
            const NAME: &std::ffi::CStr = $name;
            const SUMMARY: &std::ffi::CStr = $summary;
            fn make() -> $stack {
                $make
            }
        }
        #[unsafe(no_mangle)]
        pub extern "C" fn kneepoint_controller() -> *const $crate::interface::Interface {
            &$crate::export::Calls::<Exported>::INTERFACE
        }
    };
}

pub trait Export: 'static {
    type Stack: Stack;
    const NAME: &CStr;
    const SUMMARY: &CStr;
    fn make() -> Self::Stack;
}

/// The silence after which Kneepoint's datagrams send a keepalive: the default of its controllers.
const KEEPALIVE_MS: f64 = 1000.0;

struct Failed {
    _text: CString, // `failure` points to this text
    failure: Failure,
    is_new: bool,
}

thread_local! {
    static FAILED_CALL: RefCell<Option<Failed>> = const { RefCell::new(None) };
}

fn guarded<T>(otherwise: T, call: impl FnOnce() -> T) -> T {
    catch_unwind(AssertUnwindSafe(call)).unwrap_or_else(|panic| {
        let text = CString::new(message(panic.as_ref()).replace(['\0', '\n'], " "));
        let text = text.unwrap_or_default();
        let failure = Failure { kind: FAILED, text: text.as_ptr() };
        FAILED_CALL.set(Some(Failed { _text: text, failure, is_new: true }));
        otherwise
    })
}

fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or(panic.downcast_ref::<&str>().copied()).unwrap_or("it panicked").to_owned()
}

extern "C" fn failure() -> *const Failure {
    FAILED_CALL.with_borrow_mut(|failed| match failed {
        Some(failed) => match std::mem::take(&mut failed.is_new) {
            true => &raw const failed.failure,
            false => null(),
        },
        None => null(),
    })
}

pub struct Calls<E>(PhantomData<E>);

impl<E: Export> Calls<E> {
    const DECLARATION: Declaration = Declaration {
        name: E::NAME.as_ptr(),
        summary: E::SUMMARY.as_ptr(),
        source: E::SUMMARY.as_ptr(),
        parameter_count: 0,
        parameters: null(),
        needs: 0,
    };

    pub const INTERFACE: Interface = Interface {
        version: VERSION,
        declare: Self::declare,
        create: Self::create,
        destroy: Self::destroy,
        window: Self::window,
        keepalive_ms: Self::keepalive_ms,
        failure,
        on_sent: Some(Self::on_sent),
        on_ack: Some(Self::on_ack),
        on_keepalive: None,
        on_loss: Some(Self::on_loss),
        pacing_us: if E::Stack::PACES { Some(Self::pacing_us) } else { None },
        governs_recovery: 1,
        on_undo: None,
    };

    extern "C" fn declare() -> *const Declaration {
        const { &Self::DECLARATION }
    }

    extern "C" fn create(_values: *const f64, _count: usize) -> *mut c_void {
        guarded(null_mut(), || Box::into_raw(Box::new(Flow::new(E::make()))).cast())
    }

    unsafe extern "C" fn destroy(flow: *mut c_void) {
        drop(unsafe { Box::from_raw(flow.cast::<Flow<E::Stack>>()) });
    }

    /// `create` has made `flow`, and Kneepoint makes one call at a time.
    unsafe fn told(flow: *mut c_void, tell: impl FnOnce(&mut Flow<E::Stack>)) -> c_int {
        guarded(1, || {
            tell(unsafe { &mut *flow.cast::<Flow<E::Stack>>() });
            0
        })
    }

    unsafe fn asked(flow: *const c_void, ask: impl FnOnce(&Flow<E::Stack>) -> f64) -> f64 {
        guarded(f64::NAN, || ask(unsafe { &*flow.cast::<Flow<E::Stack>>() }))
    }

    unsafe extern "C" fn window(flow: *const c_void) -> f64 {
        unsafe { Self::asked(flow, Flow::window) }
    }

    unsafe extern "C" fn pacing_us(flow: *const c_void) -> f64 {
        unsafe { Self::asked(flow, Flow::pacing_us) }
    }

    unsafe extern "C" fn keepalive_ms(_flow: *const c_void) -> f64 {
        KEEPALIVE_MS
    }

    unsafe extern "C" fn on_sent(flow: *mut c_void, event: *const Sent) -> c_int {
        let event = unsafe { &*event };
        let now = Duration::from_millis(event.now_ms as u64);
        unsafe { Self::told(flow, |flow| flow.on_sent(event.sequence_number, now)) }
    }

    unsafe extern "C" fn on_ack(flow: *mut c_void, event: *const Ack) -> c_int {
        unsafe { Self::told(flow, |flow| flow.on_ack(&*event)) }
    }

    unsafe extern "C" fn on_loss(flow: *mut c_void, event: *const Loss) -> c_int {
        unsafe { Self::told(flow, |flow| flow.on_loss(&*event)) }
    }
}
