__pb::derived::<
    chain,
    _,
    _,
    _,
    _,
>(
        (),
        |(), (x,)| {
            let mut total = -0.0;
            for i in 0..x.len() {
                let v = &x[i];
                total += v * v;
            }
            (total, ())
        },
        |(), (), (x,), (d_x,), d| {
            let mut d_total = d;
            for i in 0..x.len() {
                let mut sum = 2.0 * d_total * x[i];
                d_x.accumulate(|d| &d[i], sum);
            }
            (__pb::zero(),)
        },
    )
    .fused(|(), (x,), (d_x,), d| {
        let x = x;
        let mut total = -0.0;
        let mut d_total = d;
        for i in 0..x.len() {
            let i = i;
            let v = &x[i];
            total += v * v;
            let mut sum = 2.0 * d_total * x[i];
            d_x.accumulate(|d| &d[i], sum);
        }
        let value = total;
        (value, { (__pb::zero(),) })
    })
