//! Random numbers that are the same in each run.

use getrandom::Error;

/// Knuth's linear congruential generator.
pub struct Numbers(pub u64);

impl Numbers {
    pub fn fill(&mut self, bytes: &mut [u8]) {
        for byte in bytes {
            self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            *byte = (self.0 >> 56) as u8;
        }
    }
}

/// The system's random numbers for the getrandom crate: quinn's BBR seeds its generator with them
/// and draws the first phase of a gain cycle from it.
#[unsafe(no_mangle)]
unsafe extern "Rust" fn __getrandom_v03_custom(first: *mut u8, count: usize) -> Result<(), Error> {
    // The caller's bytes may be uninitialized.
    unsafe { first.write_bytes(0, count) };
    Numbers(1).fill(unsafe { std::slice::from_raw_parts_mut(first, count) });
    Ok(())
}
