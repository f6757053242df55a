__pb::derived::<
    ring,
    _,
    _,
    _,
    _,
>(
    (__pb::Stack::new(),),
    |(overwritten,), (u, next, rate)| {
        __pb::apart2(
            u,
            next,
            |u, next| {
                let n = u.len();
                let branch_2;
                if n > 0 {
                    let i: usize = 0;
                    let left = (n - 1);
                    let old_2 = next[i];
                    next[i] = u[i]
                        + rate * (u[left] - 2.0 * u[i] + u[(i + 1) % n]);
                    branch_2 = __pb::Branch::Then(old_2);
                } else {
                    branch_2 = __pb::Branch::Else(());
                }
                let branch;
                let value = if n > 1 {
                    overwritten.keep(1..n - 1, || 0, &next[..]);
                    for i in 1..n - 1 {
                        let left = (i - 1);
                        next[i] = u[i] + rate * (u[left] - 2.0 * u[i] + u[(i + 1)]);
                    }
                    let i = n - 1;
                    let left = (i - 1);
                    let old = next[i];
                    next[i] = u[i] + rate * (u[left] - 2.0 * u[i] + u[0]);
                    branch = __pb::Branch::Then(old);
                } else {
                    branch = __pb::Branch::Else(());
                };
                (value, (branch, branch_2))
            },
        )
    },
    |
        (overwritten,),
        (branch, branch_2),
        (u, next, rate),
        (d_u, d_next, _),
        d|
    {
        __pb::apart2(
            u,
            next,
            |u, next| {
                let d_u = d_u.as_long_as(u);
                let n = u.len();
                let mut d_rate = 0.0;
                match branch {
                    __pb::Branch::Then(old) => {
                        let i_2 = n - 1;
                        next[i_2] = old;
                        let d_2 = d_next.take(|d| &d[i_2]);
                        let sum_4 = d_2;
                        let left_2 = (i_2 - 1);
                        let t = u[left_2] - 2.0 * u[i_2] + u[0];
                        d_rate += d_2 * t;
                        let d_3 = d_2 * rate;
                        d_u.accumulate(|d| &d[left_2], d_3);
                        d_u.accumulate(|d| &d[i_2], sum_4 + -d_3 * 2.0);
                        d_u.accumulate(|d| &d[0], d_3);
                        let mut carry_2 = 0.0;
                        let mut carry = 0.0;
                        overwritten.bring_back(1..n - 1, || 0, &mut next[..]);
                        for i_1 in (1..n - 1).rev() {
                            let d_4 = d_next.take(|d| &d[i_1]);
                            let mut sum = d_4;
                            let left_1 = (i_1 - 1);
                            let t_2 = u[left_1] - 2.0 * u[i_1] + u[(i_1 + 1)];
                            d_rate += d_4 * t_2;
                            let d_5 = d_4 * rate;
                            let mut sum_2 = d_5;
                            sum += -d_5 * 2.0;
                            let mut sum_3 = d_5;
                            d_u.accumulate(|d| &d[i_1 + 1], sum_3 + carry);
                            carry = sum + carry_2;
                            carry_2 = sum_2;
                        }
                        if 1 < n - 1 {
                            d_u.accumulate(|d| &d[1 - 1], carry_2);
                            d_u.accumulate(|d| &d[1], carry);
                        }
                    }
                    __pb::Branch::Else(()) => {}
                }
                match branch_2 {
                    __pb::Branch::Then(old_2) => {
                        let i: usize = 0;
                        next[i] = old_2;
                        let d_6 = d_next.take(|d| &d[i]);
                        let sum_5 = d_6;
                        let left = (n - 1);
                        let t_3 = u[left] - 2.0 * u[i] + u[(i + 1) % n];
                        d_rate += d_6 * t_3;
                        let d_7 = d_6 * rate;
                        d_u.accumulate(|d| &d[left], d_7);
                        d_u.accumulate(|d| &d[i], sum_5 + -d_7 * 2.0);
                        d_u.accumulate(|d| &d[(i + 1) % n], d_7);
                    }
                    __pb::Branch::Else(()) => {}
                }
                (__pb::zero(), __pb::zero(), d_rate)
            },
        )
    },
)
