__pb::derived::<
    chain,
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
                    let mut total = -0.0;
                    for i in 0..x.len() {
                        let v = &x[i];
                        total += v * v;
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
                    let mut d_total_1 = d;
                    let set = fresh.get();
                    d_x.clear_around(set, 0..x.len());
                    for i in 0..x.len() {
                        let mut sum = 2.0 * d_total_1 * x[i];
                        d_x.put(set, |d| &d[i], sum);
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
                let mut total = -0.0;
                let mut d_total_1 = d;
                let set = fresh.get();
                d_x.clear_around(set, 0..x.len());
                for i in 0..x.len() {
                    let i = i;
                    let v = &x[i];
                    total += v * v;
                    let mut sum = 2.0 * d_total_1 * x[i];
                    d_x.put(set, |d| &d[i], sum);
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
