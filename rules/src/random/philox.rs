//! Random numbers without a state: a function of a key and a counter.

/// Philox-4×32 with ten rounds (Salmon, Moraes, Dror and Shaw, *Parallel random numbers: as easy as 1, 2, 3*, 2011): a bijection of the
/// counter for each key. Its output passes the statistical tests of Crush.
pub(crate) fn philox(mut counter: [u32; 4], mut key: [u32; 2]) -> [u32; 4] {
    /// By what the words are multiplied, and what the key grows by: the golden ratio and √3 − 1, as fractions of 2³².
    const FACTORS: [u32; 2] = [0xd251_1f53, 0xcd9e_8d57];
    const STEPS: [u32; 2] = [0x9e37_79b9, 0xbb67_ae85];
    for round in 0..10 {
        if round > 0 {
            key = [key[0].wrapping_add(STEPS[0]), key[1].wrapping_add(STEPS[1])];
        }
        let product = |i: usize| u64::from(FACTORS[i]) * u64::from(counter[2 * i]);
        let (high, low) = ([0, 1].map(|i| (product(i) >> 32) as u32), [0, 1].map(|i| product(i) as u32));
        counter = [high[1] ^ counter[1] ^ key[0], low[1], high[0] ^ counter[3] ^ key[1], low[0]];
    }
    counter
}

#[cfg(test)]
mod tests {
    use super::philox;

    /// The vectors that its authors publish with Random123.
    #[test]
    fn known_answers() {
        assert_eq!(philox([0; 4], [0; 2]), [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]);
        let ones = u32::MAX;
        assert_eq!(philox([ones; 4], [ones; 2]), [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd]);
        let (counter, key) =
            ([0x243f_6a88, 0x85a3_08d3, 0x1319_8a2e, 0x0370_7344], [0xa409_3822, 0x299f_31d0]);
        assert_eq!(philox(counter, key), [0xd16c_fe09, 0x94fd_cceb, 0x5001_e420, 0x2412_6ea1]);
    }
}
