__pb::derived::<
    kepler,
    _,
    _,
    _,
    _,
>(
        (
            zero_has_no_rule_mark_it_differentiable::rule()
                .forgoing(1usize)
                .forgoing(2usize)
                .forgoing(3usize),
            __pb::Stack::new(),
        ),
        |(zero_rule, stack), (anomalies, eccentricity)| {
            __pb::apart1(
                anomalies,
                |anomalies| {
                    let mut total = 0.0;
                    {
                        let indices = 0..anomalies.len();
                        let mut stack = stack.room(&indices);
                        for i in indices {
                            let squared = eccentricity * eccentricity;
                            let (e, zero_residual) = zero::calls_functions_in_one_pass_remove_recompute(
                                zero_rule,
                                |e| e - squared * e.sin() - anomalies[i],
                                0.0,
                                7.0,
                                1e-15,
                            );
                            total += e * e;
                            stack.push((e, zero_residual));
                        }
                    }
                    (total, ())
                },
            )
        },
        |
            (zero_rule, stack),
            (),
            (anomalies, eccentricity),
            (d_anomalies, _),
            d|
        {
            __pb::apart1(
                anomalies,
                |anomalies| {
                    let d_anomalies = d_anomalies.as_long_as(anomalies);
                    let mut d_total = d;
                    let mut d_eccentricity = 0.0;
                    for (i, (e_1_out, zero_residual)) in stack
                        .unwind((0..anomalies.len()).rev())
                    {
                        let (d_2, d_3) = __pb::pull_both(
                            || e_1_out,
                            || e_1_out,
                            d_total,
                            __pb::operator::Mul,
                        );
                        let mut d_e_1 = d_2;
                        __pb::accumulate(&mut d_e_1, d_3);
                        let mut d_squared = 0.0;
                        let squared = eccentricity * eccentricity;
                        let cells = __pb::shadow_of(&squared, &mut d_squared);
                        zero::pullback_of_both(
                            zero_rule,
                            zero_residual,
                            |(e,)| {
                                let anomalies = anomalies;
                                let i = i;
                                let squared = squared;
                                {
                                    __pb::read_only(&e);
                                    e - squared * e.sin() - anomalies[i]
                                }
                            },
                            |mut again| {
                                let (value, residual) = {
                                    let anomalies = anomalies;
                                    let i = i;
                                    let squared = squared;
                                    again
                                        .forward(|(e,)| {
                                            __pb::read_only(&e);
                                            let value_2;
                                            let operand;
                                            let value = ({
                                                let (left, right) = (
                                                    e,
                                                    squared
                                                        * {
                                                            value_2 = e.sin();
                                                            value_2
                                                        },
                                                );
                                                operand = (&__pb::Operands(&left, &right)).right();
                                                left - right
                                            }) - anomalies[i];
                                            (value, (operand, value_2))
                                        })
                                };
                                let d_anomalies = again.wanted(d_anomalies);
                                let cells = again.wanted(cells);
                                (
                                    value,
                                    again
                                        .pullback(
                                            residual,
                                            |(operand, value_2), (e,), (view,), d_4| {
                                                let mut room = __pb::Either::room(&view, &e);
                                                let d_e = __pb::Either::view(view, &e, &mut room);
                                                let (d_5, d_6) = __pb::pull_both(
                                                    || e,
                                                    operand,
                                                    d_4,
                                                    __pb::operator::Sub,
                                                );
                                                d_e.accumulate(|d| *d, d_5);
                                                let (d_7, d_8) = __pb::pull_both(
                                                    || squared,
                                                    || value_2,
                                                    d_6,
                                                    __pb::operator::Mul,
                                                );
                                                cells.accumulate(|d| *d, d_7);
                                                d_e.accumulate(|d| *d, e.sin_pullback(|| value_2, d_8));
                                                d_anomalies.accumulate(|d| &d[i], -d_4);
                                                (room,)
                                            },
                                        ),
                                )
                            },
                            0.0,
                            7.0,
                            1e-15,
                            (__pb::none(), __pb::none(), __pb::none(), __pb::none()),
                            d_e_1,
                        );
                        d_eccentricity += 2.0 * d_squared * eccentricity;
                    }
                    (__pb::zero(), d_eccentricity)
                },
            )
        },
    )
    .fused(|
        (zero_rule, stack),
        (anomalies, eccentricity),
        (d_anomalies, _),
        d|
    {
        __pb::apart1(
            anomalies,
            |anomalies| {
                let d_anomalies = d_anomalies.as_long_as(anomalies);
                let anomalies = anomalies;
                let eccentricity = eccentricity;
                let mut total = 0.0;
                let mut d_total = d;
                let mut d_eccentricity = 0.0;
                for i in 0..anomalies.len() {
                    let i = i;
                    let squared = eccentricity * eccentricity;
                    let (e, zero_residual) = zero::calls_functions_in_one_pass_remove_recompute(
                        zero_rule,
                        |e| e - squared * e.sin() - anomalies[i],
                        0.0,
                        7.0,
                        1e-15,
                    );
                    total += e * e;
                    let e_1_out = e;
                    let (d_2, d_3) = __pb::pull_both(
                        || e_1_out,
                        || e_1_out,
                        d_total,
                        __pb::operator::Mul,
                    );
                    let mut d_e_1 = d_2;
                    __pb::accumulate(&mut d_e_1, d_3);
                    let mut d_squared = 0.0;
                    let cells = __pb::shadow_of(&squared, &mut d_squared);
                    zero::pullback_of_both(
                        zero_rule,
                        zero_residual,
                        |(e,)| {
                            let anomalies = anomalies;
                            let i = i;
                            let squared = squared;
                            {
                                __pb::read_only(&e);
                                e - squared * e.sin() - anomalies[i]
                            }
                        },
                        |mut again| {
                            let (value, residual) = {
                                let anomalies = anomalies;
                                let i = i;
                                let squared = squared;
                                again
                                    .forward(|(e,)| {
                                        __pb::read_only(&e);
                                        let value_2;
                                        let operand;
                                        let value = ({
                                            let (left, right) = (
                                                e,
                                                squared
                                                    * {
                                                        value_2 = e.sin();
                                                        value_2
                                                    },
                                            );
                                            operand = (&__pb::Operands(&left, &right)).right();
                                            left - right
                                        }) - anomalies[i];
                                        (value, (operand, value_2))
                                    })
                            };
                            let d_anomalies = again.wanted(d_anomalies);
                            let cells = again.wanted(cells);
                            (
                                value,
                                again
                                    .pullback(
                                        residual,
                                        |(operand, value_2), (e,), (view,), d_4| {
                                            let mut room = __pb::Either::room(&view, &e);
                                            let d_e = __pb::Either::view(view, &e, &mut room);
                                            let (d_5, d_6) = __pb::pull_both(
                                                || e,
                                                operand,
                                                d_4,
                                                __pb::operator::Sub,
                                            );
                                            d_e.accumulate(|d| *d, d_5);
                                            let (d_7, d_8) = __pb::pull_both(
                                                || squared,
                                                || value_2,
                                                d_6,
                                                __pb::operator::Mul,
                                            );
                                            cells.accumulate(|d| *d, d_7);
                                            d_e.accumulate(|d| *d, e.sin_pullback(|| value_2, d_8));
                                            d_anomalies.accumulate(|d| &d[i], -d_4);
                                            (room,)
                                        },
                                    ),
                            )
                        },
                        0.0,
                        7.0,
                        1e-15,
                        (__pb::none(), __pb::none(), __pb::none(), __pb::none()),
                        d_e_1,
                    );
                    d_eccentricity += 2.0 * d_squared * eccentricity;
                }
                let value = total;
                let gradients = { (__pb::zero(), d_eccentricity) };
                (value, gradients)
            },
        )
    })
