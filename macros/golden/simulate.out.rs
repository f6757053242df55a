__pb::derived::<
    simulate,
    _,
    _,
    _,
    _,
>(
    (
        __pb::Stack::new(),
        step_has_no_rule_mark_it_differentiable::rule(),
        __pb::Stack::new(),
    ),
    |(overwritten, step_rule, stack), (start, p, steps, trace)| {
        __pb::apart1(
            trace,
            |trace| {
                let mut s = start;
                overwritten.keep(0..steps, || 0, &trace[..]);
                {
                    let indices = 0..steps;
                    let mut stack = stack.room(&indices);
                    for i in indices {
                        let s_in = s;
                        let step_residual;
                        (s, step_residual) = step_rule
                            .forward(step::args_for(&*step_rule, s, p));
                        let s_out_2 = s;
                        let taken = s > 1.0;
                        if taken {
                            s = s / p;
                        }
                        let s_out = s;
                        trace[i] = s * s;
                        stack.push((s_out, s_out_2, taken, step_residual, s_in));
                    }
                }
                (s + trace[0], ())
            },
        )
    },
    |
        (overwritten, step_rule, stack),
        (),
        (start, p, steps, trace),
        (_, _, _, d_trace),
        d|
    {
        __pb::apart1(
            trace,
            |trace| {
                let mut d_s = d;
                d_trace.accumulate(|d| &d[0], d);
                let mut d_p = 0.0;
                overwritten.bring_back(0..steps, || 0, &mut trace[..]);
                for (i, (s_out, s_out_2, taken, step_residual, s_in)) in stack
                    .unwind((0..steps).rev())
                {
                    let d_2 = d_trace.take(|d| &d[i]);
                    d_s += 2.0 * d_2 * s_out;
                    if taken {
                        let d_3 = __pb::take(&mut d_s);
                        let d_4 = d_3 * (1.0 / p);
                        let t = s_out_2 / p;
                        d_s += d_4;
                        d_p += -d_4 * t;
                    }
                    let d_5 = __pb::take(&mut d_s);
                    let (d_6, d_7) = step_rule
                        .pullback(
                            step_residual,
                            step::args_for(&*step_rule, s_in, p),
                            (__pb::none(), __pb::none()),
                            d_5,
                        );
                    d_s += d_6;
                    d_p += d_7;
                }
                let mut d_start = d_s;
                (d_start, d_p, __pb::zero(), __pb::zero())
            },
        )
    },
)
