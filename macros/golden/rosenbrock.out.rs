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
                    let mut d_total = d;
                    let set = fresh.get();
                    let mut near = __pb::Near::<_, 2usize>::new();
                    d_x.clear_around(
                        set,
                        if 0 < x.len() - 1 { 0..(x.len() - 1) + 1 } else { 0..0 },
                    );
                    for (first, len) in __pb::blocks(0..x.len() - 1) {
                        let x_row = __pb::row_of(x, || first + 1, len);
                        let x_row_2 = __pb::row_of(x, || first, len);
                        for lane in 0..len {
                            let i = first + lane;
                            let a = x_row[lane] - x_row_2[lane] * x_row_2[lane];
                            let mut d_a = d_total * a * 100.0;
                            let t = 100.0 * a;
                            d_a += d_total * t;
                            let b = 1.0 - x_row_2[lane];
                            let mut d_b = 2.0 * d_total * b;
                            let mut sum = -d_b;
                            let mut sum_2 = d_a;
                            let d_2 = -d_a;
                            sum += 2.0 * d_2 * x_row_2[lane];
                            near.sums[0][lane] = sum;
                            near.sums[1][lane] = sum_2;
                        }
                        near.spread(
                            d_x.map(|d| __pb::row_of(d, || first, len)),
                            set,
                            len,
                        );
                    }
                    if 0 < x.len() - 1 {
                        near.finish(
                            d_x.map(|d| __pb::row_of(d, || x.len() - 1, 1usize)),
                            set,
                        );
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
                    let mut d_a = d_total * a * 100.0;
                    let t = 100.0 * a;
                    d_a += d_total * t;
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
                (value, { (__pb::zero(),) })
            },
        )
    })
    .overwriting(|(fresh,), parameter| match parameter {
        0usize => fresh.overwrite(),
        __pb::OF_LOOPS => fresh.overwrite(),
        _ => false,
    })
