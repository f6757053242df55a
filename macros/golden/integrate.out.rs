__pb::derived::<
    integrate<FnF>,
    _,
    _,
    _,
    _,
>(
    (__pb::Stack::new(),),
    |(stack,), (__pb::Callback { primal: f, derivative: d_f }, a, b, n)| {
        let f = move |a0: f64| f((a0,));
        let h = (b - a) / n as f64;
        let mut total = 0.0;
        {
            let indices = 0..n;
            let mut stack = stack.room(&indices);
            for i in indices {
                let f_residual;
                total
                    += {
                        let (value, pending) = d_f.forward((a + h * i as f64,));
                        f_residual = pending;
                        value
                    };
                stack.push(f_residual);
            }
        }
        let total_out = total;
        let value = h * total;
        (value, total_out)
    },
    |
        (stack,),
        total_out,
        (__pb::Callback { primal: f, derivative: d_f }, a, b, n),
        (_, _, _, _),
        d|
    {
        let mut d_h = d * total_out;
        let h = (b - a) / n as f64;
        let mut d_total = d * h;
        let mut d_a = 0.0;
        for (i, f_residual) in stack.unwind((0..n).rev()) {
            let t = a + h * i as f64;
            let (d_2,) = d_f
                .pullback(f_residual, (t,), (__pb::none(),), d_total);
            d_a += d_2;
            let t_2 = i as f64;
            d_h += d_2 * t_2;
        }
        let t_3 = n as f64;
        let d_3 = d_h * (1.0 / t_3);
        let mut d_b = d_3;
        d_a += -d_3;
        (__pb::zero(), d_a, d_b, __pb::zero())
    },
)
