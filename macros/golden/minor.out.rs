__pb::derived::<
    minor,
    _,
    _,
    _,
    _,
>(
        (__pb::Recursive::<minor>::new(), __pb::Stack::new()),
        |(minor_rule, stack), (a, ell, row, columns)| {
            __pb::apart1(
                a,
                |a| {
                    let first = row * ell + columns.trailing_zeros() as usize;
                    if row + 1 == ell {
                        return (a[first], ());
                    }
                    let mut total = 0.0;
                    let mut sign = 1.0;
                    {
                        let indices = 0..ell;
                        let mut stack = stack.room(&indices);
                        for column in indices {
                            let sign_in = sign;
                            let branch;
                            if columns >> column & 1 == 1 {
                                let minor_residual;
                                let value_2;
                                total
                                    += sign * a[row * ell + column]
                                        * {
                                            value_2 = {
                                                let (value, pending) = minor_rule
                                                    .forward(
                                                        minor::args(a, ell, row + 1, columns ^ 1 << column),
                                                    );
                                                minor_residual = pending;
                                                value
                                            };
                                            value_2
                                        };
                                sign = -sign;
                                branch = __pb::Branch::Then((value_2, minor_residual));
                            } else {
                                branch = __pb::Branch::Else(());
                            };
                            stack.push((sign_in, branch));
                        }
                    }
                    let value = total;
                    (value, ())
                },
            )
        },
        |(minor_rule, stack), (), (a, ell, row, columns), (d_a, _, _, _), d| {
            __pb::apart1(
                a,
                |a| {
                    let d_a = d_a.as_long_as(a);
                    let first = row * ell + columns.trailing_zeros() as usize;
                    if row + 1 == ell {
                        d_a.accumulate(|d| &d[first], d);
                    } else {
                        let mut d_total = d;
                        for (column, (sign_in, branch)) in stack
                            .unwind((0..ell).rev())
                        {
                            match branch {
                                __pb::Branch::Then((value_2, minor_residual)) => {
                                    d_a.accumulate(
                                        |d| &d[row * ell + column],
                                        d_total * value_2 * sign_in,
                                    );
                                    let t = sign_in * a[row * ell + column];
                                    let t_2 = row + 1;
                                    let t_3 = columns ^ 1 << column;
                                    minor_rule
                                        .pullback(
                                            minor_residual,
                                            minor::args(a, ell, t_2, t_3),
                                            (d_a.into(), __pb::none(), __pb::none(), __pb::none()),
                                            d_total * t,
                                        );
                                }
                                __pb::Branch::Else(()) => {}
                            }
                        }
                    }
                    (__pb::zero(), __pb::zero(), __pb::zero(), __pb::zero())
                },
            )
        },
    )
    .fused(|(minor_rule, stack), (a, ell, row, columns), (d_a, _, _, _), d| {
        __pb::apart1(
            a,
            |a| {
                let d_a = d_a.as_long_as(a);
                let a = a;
                let ell = ell;
                let row = row;
                let columns = columns;
                let first = row * ell + columns.trailing_zeros() as usize;
                let first = row * ell + columns.trailing_zeros() as usize;
                let value = if row + 1 == ell {
                    let value = a[first];
                    d_a.accumulate(|d| &d[first], d);
                    value
                } else {
                    let mut total = 0.0;
                    let mut sign = 1.0;
                    let mut d_total = d;
                    for column in 0..ell {
                        let column = column;
                        let sign_in = sign;
                        if columns >> column & 1 == 1 {
                            sign = -sign;
                        }
                        if columns >> column & 1 == 1 {
                            let t = sign_in * a[row * ell + column];
                            let t_2 = row + 1;
                            let t_3 = columns ^ 1 << column;
                            let (output, (_, _, _, _)) = minor_rule
                                .value_and_pullback(
                                    minor::args(a, ell, t_2, t_3),
                                    (d_a.into(), __pb::none(), __pb::none(), __pb::none()),
                                    d_total * t,
                                );
                            d_a.accumulate(
                                |d| &d[row * ell + column],
                                d_total * output * sign_in,
                            );
                            total += t * output;
                        }
                    }
                    let value = total;
                    value
                };
                let gradients = {
                    (__pb::zero(), __pb::zero(), __pb::zero(), __pb::zero())
                };
                (value, gradients)
            },
        )
    })
