__pb::derived::<
    last_call,
    _,
    _,
    _,
    _,
>(
        (scaled_has_no_rule_mark_it_differentiable::rule(),),
        |(scaled_rule,), (x, w, k)| {
            __pb::apart2(
                x,
                w,
                |x, w| {
                    let factor = 2.0 * k;
                    let (value, scaled_residual) = scaled_rule
                        .forward(scaled::args_for(&*scaled_rule, w, x, w, factor));
                    let value = value;
                    (value, scaled_residual)
                },
            )
        },
        |(scaled_rule,), scaled_residual, (x, w, k), (d_x, d_w, _), d| {
            __pb::apart2(
                x,
                w,
                |x, w| {
                    let factor = 2.0 * k;
                    let (_, _, _, d_2) = scaled_rule
                        .pullback(
                            scaled_residual,
                            scaled::args_for(&*scaled_rule, w, x, w, factor),
                            (d_w.into(), d_x.into(), d_w.into(), __pb::none()),
                            d,
                        );
                    let mut d_factor = d_2;
                    let mut d_k = d_factor * 2.0;
                    (__pb::zero(), __pb::zero(), d_k)
                },
            )
        },
    )
    .fused(|(scaled_rule,), (x, w, k), (d_x, d_w, _), d| {
        __pb::apart2(
            x,
            w,
            |x, w| {
                let x = x;
                let w = w;
                let k = k;
                let factor = 2.0 * k;
                let value;
                let gradients = {
                    let factor = 2.0 * k;
                    let (output, (_, _, _, d_2)) = scaled_rule
                        .value_and_pullback(
                            scaled::args_for(&*scaled_rule, w, x, w, factor),
                            (d_w.into(), d_x.into(), d_w.into(), __pb::none()),
                            d,
                        );
                    let mut d_factor = d_2;
                    value = output;
                    let mut d_k = d_factor * 2.0;
                    (__pb::zero(), __pb::zero(), d_k)
                };
                (value, gradients)
            },
        )
    })
    .passing_on(|(scaled_rule,), request| match request {
        __pb::Request::Overwrite(0usize) => scaled_rule.overwrite(1usize),
        _ => false,
    })
