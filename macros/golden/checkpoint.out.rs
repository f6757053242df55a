__pb::derived::<
    checkpoint,
    _,
    _,
    _,
    _,
>(
    (__pb::Snapshots::new(), __pb::Stack::new(), __pb::Stack::new()),
    |(snapshots, states, stack), (u, rate, steps)| {
        __pb::apart1(
            u,
            |u| {
                let mut total = 0.0;
                let mut count = 0_usize;
                let every = __pb::spacing(10);
                for step in 0..steps {
                    if count % every == 0 {
                        states.push((total,));
                        snapshots.save(&*u);
                    }
                    count += 1;
                    u[0] *= rate * u[step % u.len()];
                    total += u[0].sin();
                }
                let value = total;
                (value, count)
            },
        )
    },
    |(snapshots, states, stack), count, (u, rate, steps), (d_u, _, _), d| {
        __pb::apart1(
            u,
            |u| {
                let mut d_total = d;
                let mut d_rate = 0.0;
                for segment in __pb::segments(count, 10) {
                    {
                        let indices = (0..steps)
                            .clone()
                            .skip(segment.start)
                            .take(segment.len());
                        snapshots.restore(u);
                        let (mut total,) = states.pop();
                        let u = &mut *u;
                        let rate = rate;
                        let mut stack = stack.room(&indices);
                        for step in indices {
                            let old = u[0];
                            u[0] *= rate * u[step % u.len()];
                            let slope;
                            total
                                += {
                                    let (arg,) = (u[0].clone(),);
                                    let value = arg.sin();
                                    slope = arg.sin_pullback(|| value, 1.0);
                                    value
                                };
                            stack.push((step, (slope, old)));
                        }
                    }
                    for (_, (step, (slope, old))) in stack.unwind(segment) {
                        d_u.accumulate(|d| &d[0], d_total * slope);
                        u[0] = old;
                        let d_2 = d_u.take(|d| &d[0]);
                        let t = rate * u[step % u.len()];
                        d_u.accumulate(|d| &d[0], d_2 * t);
                        let d_3 = d_2 * u[0];
                        d_rate += d_3 * u[step % u.len()];
                        d_u.accumulate(|d| &d[step % u.len()], d_3 * rate);
                    }
                }
                (__pb::zero(), d_rate, __pb::zero())
            },
        )
    },
)
