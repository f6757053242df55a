__pb::derived::<
    rosenbrock,
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
                    for i in 0..x.len() - 1 {
                        let a = x[i + 1] - x[i] * x[i];
                        let b = 1.0 - x[i];
                        total += 100.0 * a * a + b * b;
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
                        if 0 < x.len() - 1 { 0..(x.len() - 1) + 1 } else { 0..0 },
                    );
                    let mut carry = 0.0;
                    for i in 0..x.len() - 1 {
                        let a = x[i + 1] - x[i] * x[i];
                        let mut d_a = 2.0 * 100.0 * d_total * a;
                        let b = 1.0 - x[i];
                        let mut d_b = 2.0 * d_total * b;
                        let mut sum = -d_b;
                        let mut sum_2 = d_a;
                        let d_2 = -d_a;
                        sum += 2.0 * d_2 * x[i];
                        d_x.put(set, |d| &d[i], sum + carry);
                        carry = sum_2;
                    }
                    if 0 < x.len() - 1 {
                        d_x.put(set, |d| &d[x.len() - 1], carry);
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
                    if 0 < x.len() - 1 { 0..(x.len() - 1) + 1 } else { 0..0 },
                );
                let mut carry = 0.0;
                for i in 0..x.len() - 1 {
                    let i = i;
                    let a = x[i + 1] - x[i] * x[i];
                    let b = 1.0 - x[i];
                    total += 100.0 * a * a + b * b;
                    let mut d_a = 2.0 * 100.0 * d_total * a;
                    let mut d_b = 2.0 * d_total * b;
                    let mut sum = -d_b;
                    let mut sum_2 = d_a;
                    let d_2 = -d_a;
                    sum += 2.0 * d_2 * x[i];
                    d_x.put(set, |d| &d[i], sum + carry);
                    carry = sum_2;
                }
                if 0 < x.len() - 1 {
                    d_x.put(set, |d| &d[x.len() - 1], carry);
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
