__pb::derived::<
    logistic,
    _,
    _,
    _,
    _,
>(
    (__pb::Stack::new(),),
    |(stack,), (start, rate, steps)| {
        let mut p = start;
        {
            let indices = 0..steps;
            let mut stack = stack.room(&indices);
            for _ in indices {
                let p_in = p;
                let growth = rate * p * (1.0 - p);
                p += 0.1 * growth;
                stack.push(p_in);
            }
        }
        (p, ())
    },
    |(stack,), (), (start, rate, steps), (_, _, _), d| {
        let mut d_p = d;
        let mut d_rate = 0.0;
        for (_, p_in) in stack.unwind((0..steps).rev()) {
            let slope = 1.0 * 0.1;
            let t = 1.0 - p_in;
            let d_2 = 1.0 * t;
            let t_2 = rate * p_in;
            let slope_2 = d_2 * p_in;
            let slope_3 = d_2 * rate;
            let slope_4 = -1.0 * t_2;
            let slope_5 = slope_3 + slope_4;
            let slope_6 = slope * slope_2;
            let slope_7 = slope * slope_5;
            let slope_8 = 1.0 + slope_7;
            let d_3 = slope_8 * d_p;
            d_rate += slope_6 * d_p;
            d_p = d_3;
        }
        let mut d_start = d_p;
        (d_start, d_rate, __pb::zero())
    },
)
