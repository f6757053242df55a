__pb::derived::<
    predators,
    _,
    _,
    _,
    _,
>(
    (__pb::Stack::new(),),
    |(stack,), (prey, predators, rate, steps)| {
        let (mut p, mut q) = (prey, predators);
        {
            let indices = 0..steps;
            let mut stack = stack.room(&indices);
            for _ in indices {
                let p_in = p;
                let q_in = q;
                let (dp, dq) = (rate * p - p * q, p * q - rate * q);
                let (half_p, half_q) = (p + 0.05 * dp, q + 0.05 * dq);
                p += 0.1 * (rate * half_p - half_p * half_q);
                q += 0.1 * (half_p * half_q - rate * half_q);
                stack.push((q_in, p_in));
            }
        }
        (p + q, ())
    },
    |(stack,), (), (prey, predators, rate, steps), (_, _, _, _), d| {
        let mut d_p = d;
        let mut d_q = d;
        let mut d_rate = 0.0;
        if __pb::are_few(0..steps) {
            for (_, (q_in, p_in)) in stack.unwind((0..steps).rev()) {
                let d_10 = d_q * 0.1;
                let dq_2 = p_in * q_in - rate * q_in;
                let half_q_2 = q_in + 0.05 * dq_2;
                let mut d_half_p = d_10 * half_q_2;
                let dp_2 = rate * p_in - p_in * q_in;
                let half_p_2 = p_in + 0.05 * dp_2;
                let mut d_half_q = d_10 * half_p_2;
                let d_11 = -d_10;
                d_rate += d_11 * half_q_2;
                d_half_q += d_11 * rate;
                let d_12 = d_p * 0.1;
                d_rate += d_12 * half_p_2;
                d_half_p += d_12 * rate;
                let d_13 = -d_12;
                d_half_p += d_13 * half_q_2;
                d_half_q += d_13 * half_p_2;
                d_q += d_half_q;
                let mut d_dq = d_half_q * 0.05;
                d_p += d_half_p;
                let mut d_dp = d_half_p * 0.05;
                d_p += d_dq * q_in;
                d_q += d_dq * p_in;
                let d_14 = -d_dq;
                d_rate += d_14 * q_in;
                d_q += d_14 * rate;
                d_rate += d_dp * p_in;
                d_p += d_dp * rate;
                let d_15 = -d_dp;
                d_p += d_15 * q_in;
                d_q += d_15 * p_in;
            }
        } else {
            let mut common = __pb::Common::new();
            let kept = stack.all(&(0..steps));
            let mut kept = kept.as_slice();
            let mut behind = __pb::row_of_block();
            let mut behind_2 = __pb::row_of_block();
            let mut slopes = __pb::row_of_block();
            let mut slopes_2 = __pb::row_of_block();
            let mut slopes_3 = __pb::row_of_block();
            let mut slopes_4 = __pb::row_of_block();
            let mut slopes_5 = __pb::row_of_block();
            let mut slopes_6 = __pb::row_of_block();
            for (first, len) in __pb::blocks_backward(
                0..__pb::count(0..steps),
            ) {
                let kept_row;
                (kept, kept_row) = kept.split_at(kept.len() - len);
                for lane in 0..len {
                    let (q_in, p_in) = kept_row[lane];
                    let d_2 = 1.0 * 0.1;
                    let dq = p_in * q_in - rate * q_in;
                    let half_q = q_in + 0.05 * dq;
                    let dp = rate * p_in - p_in * q_in;
                    let half_p = p_in + 0.05 * dp;
                    let d_3 = -d_2;
                    let slope = d_2 * half_q;
                    let slope_2 = d_2 * half_p;
                    let slope_3 = d_3 * half_q;
                    let slope_4 = d_3 * rate;
                    let slope_5 = slope_2 + slope_4;
                    let d_4 = 1.0 * 0.1;
                    let d_5 = -d_4;
                    let slope_6 = d_4 * half_p;
                    let slope_7 = d_4 * rate;
                    let slope_8 = d_5 * half_q;
                    let slope_9 = d_5 * half_p;
                    let slope_10 = slope_7 + slope_8;
                    let slope_11 = 1.0 * 0.05;
                    let slope_12 = slope_9 * slope_11;
                    let slope_13 = slope_5 * slope_11;
                    let slope_14 = 1.0 * 0.05;
                    let slope_15 = slope_10 * slope_14;
                    let slope_16 = slope * slope_14;
                    let d_6 = -1.0;
                    let slope_17 = 1.0 * q_in;
                    let slope_18 = 1.0 * p_in;
                    let slope_19 = d_6 * q_in;
                    let slope_20 = d_6 * rate;
                    let slope_21 = slope_18 + slope_20;
                    let slope_22 = slope_12 * slope_19;
                    let slope_23 = slope_13 * slope_19;
                    let slope_24 = slope_12 * slope_17;
                    let slope_25 = slope_13 * slope_17;
                    let slope_26 = slope_12 * slope_21;
                    let slope_27 = slope_13 * slope_21;
                    let d_7 = -1.0;
                    let slope_28 = 1.0 * p_in;
                    let slope_29 = 1.0 * rate;
                    let slope_30 = d_7 * q_in;
                    let slope_31 = d_7 * p_in;
                    let slope_32 = slope_29 + slope_30;
                    let slope_33 = slope_15 * slope_28;
                    let slope_34 = slope_16 * slope_28;
                    let slope_35 = slope_15 * slope_32;
                    let slope_36 = slope_16 * slope_32;
                    let slope_37 = slope_15 * slope_31;
                    let slope_38 = slope_16 * slope_31;
                    let slope_39 = 1.0 + slope_10 + slope_24 + slope_35;
                    let slope_40 = slope + slope_25 + slope_36;
                    let slope_41 = slope_9 + slope_26 + slope_37;
                    let slope_42 = 1.0 + slope_5 + slope_27 + slope_38;
                    let slope_43 = slope_6 + slope_22 + slope_33;
                    let slope_44 = slope_3 + slope_23 + slope_34;
                    slopes[lane] = slope_39;
                    slopes_2[lane] = slope_40;
                    slopes_3[lane] = slope_41;
                    slopes_4[lane] = slope_42;
                    slopes_5[lane] = slope_43;
                    slopes_6[lane] = slope_44;
                }
                for lane in (0..len).rev() {
                    behind[lane] = d_p;
                    behind_2[lane] = d_q;
                    let d_8 = slopes[lane] * d_p + slopes_2[lane] * d_q;
                    let d_9 = slopes_3[lane] * d_p + slopes_4[lane] * d_q;
                    d_p = d_8;
                    d_q = d_9;
                }
                for lane in 0..len {
                    let mut sum = slopes_5[lane] * behind[lane]
                        + slopes_6[lane] * behind_2[lane];
                    common.sums[lane] = sum;
                }
                common.gather(len);
            }
            d_rate += common.total();
        }
        let mut d_predators = d_q;
        let mut d_prey = d_p;
        (d_prey, d_predators, d_rate, __pb::zero())
    },
)
