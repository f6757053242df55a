//! Random numbers that are the same in every run.

/// The splitmix64 generator.
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Random(seed)
    }

    pub(super) fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    /// A number below `limit`.
    pub(super) fn below(&mut self, limit: usize) -> usize {
        (self.bits() % limit as u64) as usize
    }

    /// 1 or −1
    pub(super) fn sign(&mut self) -> f64 {
        if self.bits() >> 63 == 0 { 1.0 } else { -1.0 }
    }

    /// Of either sign and of magnitude ½ to 1½, so that no weight makes its term vanish; an `f32` holds it exactly.
    pub(super) fn weight(&mut self) -> f64 {
        self.sign() * (0.5 + (self.bits() >> 42) as f64 / (1 << 22) as f64)
    }

    pub(super) fn weights(&mut self, len: usize) -> Vec<f64> {
        (0..len).map(|_| self.weight()).collect()
    }
}
