__pb::derived::<
    cholesky,
    _,
    _,
    _,
    _,
>(
    (__pb::Stack::new(),),
    |(stack,), (l, n)| {
        __pb::apart1(
            l,
            |l| {
                let mut log_determinant = 0.0;
                for i in 0..n {
                    {
                        let indices = 0..=i;
                        let mut stack = stack.room(&indices);
                        for j in indices {
                            let mut s = l[i * n + j];
                            let whole_rows = (|| ::core::option::Option::Some((
                                __pb::whole_row(&l[..], || i * n, j)?,
                                __pb::whole_row(&l[..], || j * n, j)?,
                            )))();
                            for k in 0..j {
                                s
                                    -= (match whole_rows {
                                        ::core::option::Option::Some(whole_rows) => whole_rows.0[k],
                                        ::core::option::Option::None => l[i * n + k],
                                    })
                                        * (match whole_rows {
                                            ::core::option::Option::Some(whole_rows) => whole_rows.1[k],
                                            ::core::option::Option::None => l[j * n + k],
                                        });
                            }
                            let s_out = s;
                            let branch;
                            let old = l[i * n + j];
                            l[i * n + j] = if i == j {
                                let slope;
                                let value = {
                                    let (arg,) = (s.clone(),);
                                    let value = arg.sqrt();
                                    slope = arg.sqrt_pullback(|| value, 1.0);
                                    value
                                };
                                branch = __pb::Branch::Then(slope);
                                value
                            } else {
                                let value = s / l[j * n + j];
                                branch = __pb::Branch::Else(());
                                value
                            };
                            stack.push((old, s_out, branch));
                        }
                    }
                    log_determinant += l[i * n + i].ln();
                }
                (log_determinant, ())
            },
        )
    },
    |(stack,), (), (l, n), (d_l, _), d| {
        __pb::apart1(
            l,
            |l| {
                let mut d_log_determinant = d;
                for i in (0..n).rev() {
                    d_l.accumulate(
                        |d| &d[i * n + i],
                        l[i * n + i]
                            .ln_pullback(|| l[i * n + i].ln(), d_log_determinant),
                    );
                    for (j, (old, s_out, branch)) in stack.unwind((0..=i).rev())
                    {
                        l[i * n + j] = old;
                        let d_2 = d_l.take(|d| &d[i * n + j]);
                        let mut d_s = 0.0;
                        match branch {
                            __pb::Branch::Then(slope) => {
                                d_s += __pb::where_seen(d_2, d_2 * slope);
                            }
                            __pb::Branch::Else(()) => {
                                let d_3 = d_2 * (1.0 / l[j * n + j]);
                                let t = s_out / l[j * n + j];
                                d_s += __pb::where_seen(d_2, d_3);
                                d_l.accumulate(
                                    |d| &d[j * n + j],
                                    __pb::where_seen(d_2, -d_3 * t),
                                );
                            }
                        }
                        let l_row = __pb::row_of(&l[..], || j * n, j);
                        let d_l_row = d_l.map(|d| __pb::row_of(d, || i * n, j));
                        let l_row_2 = __pb::row_of(&l[..], || i * n, j);
                        let d_l_row_2 = d_l.map(|d| __pb::row_of(d, || j * n, j));
                        for k in 0..j {
                            let d_4 = -d_s;
                            d_l_row.accumulate(|d| &d[k], d_4 * l_row[k]);
                            d_l_row_2.accumulate(|d| &d[k], d_4 * l_row_2[k]);
                        }
                        d_l.accumulate(|d| &d[i * n + j], d_s);
                    }
                }
                (__pb::zero(), __pb::zero())
            },
        )
    },
)
