__pb::derived::<
    triangle,
    _,
    _,
    _,
    _,
>(
    (),
    |(), (l, x)| {
        __pb::apart2(
            l,
            x,
            |l, x| {
                let mut total = 0.0;
                let mut k = 0;
                for i in 0..x.len() {
                    for j in i + 1..x.len() {
                        total += l[k] * x[i] * x[j];
                        k += 1;
                    }
                }
                let total_out = total;
                let k_out = k;
                let value = total * total;
                (value, (total_out, k_out))
            },
        )
    },
    |(), (total_out, k_out), (l, x), (d_l, d_x), d| {
        __pb::apart2(
            l,
            x,
            |l, x| {
                let d_l = d_l.as_long_as(l);
                let d_x = d_x.as_long_as(x);
                let mut d_total = 2.0 * d * total_out;
                let mut k_back = k_out;
                for i in (0..x.len()).rev() {
                    k_back = __pb::counted(
                        k_back,
                        __pb::iterations(&(i + 1..x.len())),
                        -1,
                    );
                    let k_in = k_back;
                    let d_l_row = d_l
                        .map(|d| __pb::row_of(
                            d,
                            || k_in,
                            __pb::iterations(&(i + 1..x.len())) as usize,
                        ));
                    let l_row = __pb::row_of(
                        l,
                        || k_in,
                        __pb::iterations(&(i + 1..x.len())) as usize,
                    );
                    let mut sum_2 = 0.0;
                    for j in i + 1..x.len() {
                        let d_2 = d_total * x[j];
                        d_l_row
                            .accumulate(
                                |d| &d[__pb::since(i + 1, j) as usize],
                                d_2 * x[i],
                            );
                        sum_2 += d_2 * l_row[__pb::since(i + 1, j) as usize];
                        let t = l_row[__pb::since(i + 1, j) as usize] * x[i];
                        let mut sum = d_total * t;
                        d_x.accumulate(|d| &d[j], sum);
                    }
                    if sum_2 != 0.0 {
                        d_x.accumulate(|d| &d[i], sum_2);
                    }
                }
                (__pb::zero(), __pb::zero())
            },
        )
    },
)
