__pb::derived::<
    log_sum_exp,
    _,
    _,
    _,
    _,
>(
        (__pb::Fresh::new(), __pb::Stack::new()),
        |(fresh, stack), (x,)| {
            __pb::apart1(
                x,
                |x| {
                    let mut m = x[0];
                    let mut last = ::core::option::Option::None;
                    for i in 1..x.len() {
                        let now = i;
                        if x[i] > m {
                            ::core::hint::cold_path();
                            last = ::core::option::Option::Some(now);
                            m = x[i];
                        }
                    }
                    let mut s = 0.0;
                    {
                        let indices = 0..x.len();
                        let mut stack = stack.room(&indices);
                        for i in indices {
                            let value_2;
                            s
                                += {
                                    value_2 = (x[i] - m).exp();
                                    value_2
                                };
                            stack.push(value_2);
                        }
                    }
                    let s_out = s;
                    let value = m + s.ln();
                    (value, (s_out, last))
                },
            )
        },
        |(fresh, stack), (s_out, last), (x,), (d_x,), d| {
            __pb::apart1(
                x,
                |x| {
                    let d_x = d_x.as_long_as(x);
                    let mut d_m = d;
                    let mut d_s = s_out.ln_pullback(|| s_out.ln(), d);
                    let set = fresh.get();
                    let mut near = __pb::Near::<_, 1usize>::new();
                    d_x.clear_around(set, 0..x.len());
                    let mut common = __pb::Common::new();
                    let kept = stack.all(&(0..x.len()));
                    let mut kept = kept.as_slice();
                    for (first, len) in __pb::blocks(0..x.len()) {
                        let kept_row;
                        (kept_row, kept) = kept.split_at(len);
                        for lane in 0..len {
                            let i_1 = first + lane;
                            let value_2 = kept_row[lane];
                            let d_2 = d_s * value_2;
                            let mut sum = d_2;
                            let mut sum_2 = -d_2;
                            near.put(0, lane, sum);
                            common.sums[lane] = sum_2;
                        }
                        near.spread(
                            d_x.map(|d| __pb::row_of(d, || first, len)),
                            set,
                            len,
                        );
                        common.gather(len);
                    }
                    d_m += common.total();
                    if let ::core::option::Option::Some(i) = last {
                        d_x.accumulate(|d| &d[i], d_m);
                        d_m = 0.0;
                    }
                    d_x.accumulate(|d| &d[0], d_m);
                    (__pb::zero(),)
                },
            )
        },
    )
    .passing_on(|(fresh, stack), request| match request {
        __pb::Request::Overwrite(0usize) => fresh.overwrite(),
        __pb::Request::Overwrite(__pb::OF_LOOPS) => fresh.overwrite(),
        _ => false,
    })
