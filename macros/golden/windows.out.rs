__pb::derived::<
    windows,
    _,
    _,
    _,
    _,
>(
        (__pb::Fresh::new(),),
        |(fresh,), (x,)| {
            __pb::apart1(
                x,
                |x| {
                    let mut total = 0.0;
                    for i in 0..x.len().saturating_sub(1) {
                        let w = &x[i..i + 2];
                        total += (w[1] - w[0]).powi(2);
                    }
                    (total, ())
                },
            )
        },
        |(fresh,), (), (x,), (d_x,), d| {
            __pb::apart1(
                x,
                |x| {
                    let d_x = d_x.as_long_as(x);
                    let mut d_total = d;
                    let set = fresh.get();
                    d_x.clear_around(
                        set,
                        if 0 < x.len().saturating_sub(1) {
                            0..x.len().saturating_sub(1) + 1
                        } else {
                            0..0
                        },
                    );
                    let mut carry = 0.0;
                    for i in 0..x.len().saturating_sub(1) {
                        let t = x[i + 1] - x[i];
                        let (d_2, _) = t.powi_pullback(2, || t.powi(2), d_total);
                        let mut sum = d_2;
                        let mut sum_2 = -d_2;
                        d_x.put(set, |d| &d[i], sum_2 + carry);
                        carry = sum;
                    }
                    if 0 < x.len().saturating_sub(1) {
                        d_x.put(set, |d| &d[x.len().saturating_sub(1)], carry);
                    }
                    (__pb::zero(),)
                },
            )
        },
    )
    .fused(|(fresh,), (x,), (d_x,), d| {
        __pb::apart1(
            x,
            |x| {
                let d_x = d_x.as_long_as(x);
                let x = x;
                let mut total = 0.0;
                let mut d_total = d;
                let set = fresh.get();
                d_x.clear_around(
                    set,
                    if 0 < x.len().saturating_sub(1) {
                        0..x.len().saturating_sub(1) + 1
                    } else {
                        0..0
                    },
                );
                let mut carry = 0.0;
                for i in 0..x.len().saturating_sub(1) {
                    let i = i;
                    let w = &x[i..i + 2];
                    total += (w[1] - w[0]).powi(2);
                    let t = x[i + 1] - x[i];
                    let (d_2, _) = t.powi_pullback(2, || t.powi(2), d_total);
                    let mut sum = d_2;
                    let mut sum_2 = -d_2;
                    d_x.put(set, |d| &d[i], sum_2 + carry);
                    carry = sum;
                }
                if 0 < x.len().saturating_sub(1) {
                    d_x.put(set, |d| &d[x.len().saturating_sub(1)], carry);
                }
                let value = total;
                let gradients = { (__pb::zero(),) };
                (value, gradients)
            },
        )
    })
    .passing_on(|(fresh,), request| match request {
        __pb::Request::Overwrite(0usize) => fresh.overwrite(),
        __pb::Request::Overwrite(__pb::OF_LOOPS) => fresh.overwrite(),
        _ => false,
    })
