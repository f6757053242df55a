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
            for i in 0..x.len() {
                let mut sum = x[i].sin_pullback(|| x[i].sin(), d_total);
                d_x.accumulate(|d| &d[i], sum);
            }
            (__pb::zero(),)
        },
    )
    .fused(|(), (x,), (d_x,), d| {
        let x = x;
        let mut total = 0.0;
        let mut d_total = d;
        for i in 0..x.len() {
            let i = i;
            total += x[i].sin();
            let mut sum = x[i].sin_pullback(|| x[i].sin(), d_total);
            d_x.accumulate(|d| &d[i], sum);
        }
        let value = total;
        (value, { (__pb::zero(),) })
    })
