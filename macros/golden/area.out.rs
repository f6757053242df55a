__pb::derived::<
    area,
    _,
    _,
    _,
    _,
>(
    (
        g_has_no_rule_mark_it_differentiable::rule(),
        integrate_has_no_rule_mark_it_differentiable::rule().forgoing(1usize),
    ),
    |(g_rule, integrate_rule), (p, k, n)| {
        __pb::apart1(
            p,
            |p| {
                let scale = k * k;
                let (value, integrate_residual) = integrate::takes_no_function_put_constant_around_it(
                    integrate_rule,
                    |t: f64| p[0] * t + scale * g(t * k),
                    |(t,)| {
                        let g_residual;
                        let value_2;
                        let value = p[0] * t
                            + scale
                                * {
                                    value_2 = {
                                        let (value, pending) = g_rule
                                            .forward(g::args_for(&*g_rule, t * k));
                                        g_residual = pending;
                                        value
                                    };
                                    value_2
                                };
                        (value, (value_2, g_residual))
                    },
                    0.0,
                    k,
                    n,
                );
                let value = value;
                (value, integrate_residual)
            },
        )
    },
    |
        (g_rule, integrate_rule),
        integrate_residual,
        (p, k, n),
        (d_p, _, _),
        d|
    {
        __pb::apart1(
            p,
            |p| {
                let d_p = d_p.as_long_as(p);
                let mut d_scale = 0.0;
                let scale = k * k;
                let cells = __pb::shadow_of(&scale, &mut d_scale);
                let mut d_k = 0.0;
                let cells_2 = __pb::shadow_of(&k, &mut d_k);
                let (_, _, d_6, _) = integrate::pullback_with(
                    integrate_rule,
                    integrate_residual,
                    0,
                    |(value_2, g_residual), (t,), (_,), d_2| {
                        d_p.accumulate(|d| &d[0], d_2 * t);
                        let mut d_t = d_2 * p[0];
                        let (d_3, d_4) = __pb::pull_both(
                            || scale,
                            || value_2,
                            d_2,
                            __pb::operator::Mul,
                        );
                        cells.accumulate(|d| *d, d_3);
                        let t_2 = t * k;
                        let (d_5,) = g_rule
                            .pullback(
                                g_residual,
                                g::args_for(&*g_rule, t_2),
                                (__pb::none(),),
                                d_4,
                            );
                        d_t += d_5 * k;
                        cells_2.accumulate(|d| *d, d_5 * t);
                        (d_t,)
                    },
                    0.0,
                    k,
                    n,
                    (__pb::none(), __pb::none(), __pb::none(), __pb::none()),
                    d,
                );
                d_k += d_6;
                d_k += 2.0 * d_scale * k;
                (__pb::zero(), d_k, __pb::zero())
            },
        )
    },
)
