__pb::derived::<
    sum_of_sines,
    _,
    _,
    _,
    _,
>(
        (),
        |(), (x,)| {
            let mut total = 0.0;
            for i in 0..x.len() {
                total += x[i].sin();
            }
            (total, ())
        },
        |(), (), (x,), (d_x,), d| {
            let mut d_total = d;
            for i in (0..x.len()).rev() {
                d_x.accumulate(
                    |d| &d[i],
                    x[i].sin_pullback(|| x[i].sin(), d_total),
                );
            }
            (__pb::zero(),)
        },
    )
    .fused(|(), (x,), (d_x,), d| {
        let x = x;
        let mut total = 0.0;
        let mut d_total = d;
        for i in 0..x.len() {
            total += x[i].sin();
            let i = i;
            d_x.accumulate(
                |d| &d[i],
                x[i].sin_pullback(|| x[i].sin(), d_total),
            );
        }
        let value = total;
        (value, { (__pb::zero(),) })
    })
