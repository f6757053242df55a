__pb::derived::<
    smooth,
    _,
    _,
    _,
    _,
>(
        (__pb::Stack::new(), __pb::Fresh::new()),
        |(overwritten, fresh), (u, next, k)| {
            __pb::apart2(
                u,
                next,
                |u, next| {
                    overwritten.keep(1..u.len() - 1, || 0, &next[..]);
                    for i in 1..u.len() - 1 {
                        let left = u[i - 1];
                        let right = u[i + 1];
                        let slope = right - left;
                        let reaction = u[i] * (1.0 - u[i]) * (u[i] - 0.3);
                        let viscosity = (slope * slope + 0.01).sqrt();
                        let bend = left - 2.0 * u[i] + right;
                        let flux = bend * viscosity - slope * slope * u[i];
                        next[i] = u[i] + k * (flux + reaction / (1.0 + u[i] * u[i]))
                            - 0.1 * bend * bend * slope;
                    }
                    ((), ())
                },
            )
        },
        |(overwritten, fresh), (), (u, next, k), (d_u, d_next, _), d| {
            __pb::apart2(
                u,
                next,
                |u, next| {
                    let d_u = d_u.as_long_as(u);
                    let mut d_k = 0.0;
                    let set = fresh.get();
                    let mut near = __pb::Near::<_, 3usize>::new();
                    d_u.clear_around(
                        set,
                        if 1 < u.len() - 1 {
                            1 - 1..(u.len() - 1) + 1
                        } else {
                            0..0
                        },
                    );
                    let mut common = __pb::Common::new();
                    overwritten.bring_back(1..u.len() - 1, || 0, &mut next[..]);
                    for (first, len) in __pb::blocks(1..u.len() - 1) {
                        let d_next_row = d_next
                            .map(|d| __pb::row_of(d, || first, len));
                        let u_row = __pb::row_of(u, || first - 1, len);
                        let u_row_2 = __pb::row_of(u, || first, len);
                        let u_row_3 = __pb::row_of(u, || first + 1, len);
                        for lane in 0..len {
                            let i = first + lane;
                            let d_2 = d_next_row.take(|d| &d[lane]);
                            let mut sum = d_2;
                            let left = u_row[lane];
                            let right = u_row_3[lane];
                            let bend = left - 2.0 * u_row_2[lane] + right;
                            let slope = right - left;
                            let viscosity = (slope * slope + 0.01).sqrt();
                            let flux = bend * viscosity - slope * slope * u_row_2[lane];
                            let reaction = u_row_2[lane] * (1.0 - u_row_2[lane])
                                * (u_row_2[lane] - 0.3);
                            let t = flux
                                + reaction / (1.0 + u_row_2[lane] * u_row_2[lane]);
                            let mut sum_2 = d_2 * t;
                            let d_3 = d_2 * k;
                            let mut d_flux = d_3;
                            let t_2 = 1.0 + u_row_2[lane] * u_row_2[lane];
                            let d_4 = d_3 * (1.0 / t_2);
                            let t_3 = reaction / t_2;
                            let mut d_reaction = __pb::where_seen(d_2, d_4);
                            let d_5 = -d_4 * t_3;
                            sum += __pb::where_seen(d_2, 2.0 * d_5 * u_row_2[lane]);
                            let d_6 = -d_2;
                            let d_7 = d_6 * slope;
                            let mut d_bend = 2.0 * 0.1 * d_7 * bend;
                            let t_4 = 0.1 * bend * bend;
                            let mut d_slope = d_6 * t_4;
                            d_bend += d_flux * viscosity;
                            let mut d_viscosity = d_flux * bend;
                            let d_8 = -d_flux;
                            let d_9 = d_8 * u_row_2[lane];
                            d_slope += 2.0 * d_9 * slope;
                            let t_5 = slope * slope;
                            sum += d_8 * t_5;
                            let mut d_left = d_bend;
                            sum += -d_bend * 2.0;
                            let mut d_right = d_bend;
                            let t_6 = slope * slope + 0.01;
                            let d_10 = t_6.sqrt_pullback(|| t_6.sqrt(), d_viscosity);
                            d_slope += 2.0 * d_10 * slope;
                            let t_7 = 1.0 - u_row_2[lane];
                            let t_8 = u_row_2[lane] - 0.3;
                            let t_9 = u_row_2[lane] * t_7;
                            sum
                                += d_reaction * (((t_7 + (-u_row_2[lane])) * t_8) + t_9);
                            d_right += d_slope;
                            d_left += -d_slope;
                            let mut sum_3 = d_right;
                            let mut sum_4 = d_left;
                            near.put(0, lane, sum_4);
                            near.put(1, lane, sum);
                            near.put(2, lane, sum_3);
                            common.sums[lane] = sum_2;
                        }
                        near.spread(
                            d_u.map(|d| __pb::row_of(d, || first - 1, len)),
                            set,
                            len,
                        );
                        common.gather(len);
                    }
                    if 1 < u.len() - 1 {
                        near.finish(
                            d_u.map(|d| __pb::row_of(d, || (u.len() - 1) - 1, 2usize)),
                            set,
                        );
                    }
                    d_k += common.total();
                    (__pb::zero(), __pb::zero(), d_k)
                },
            )
        },
    )
    .passing_on(|(overwritten, fresh), request| match request {
        __pb::Request::Overwrite(0usize) => fresh.overwrite(),
        __pb::Request::Overwrite(__pb::OF_LOOPS) => fresh.overwrite(),
        _ => false,
    })
