//! Boxes that variables and fields get one after the other: trees that grow by insertion, lists that get longer in a loop.

use pullback::prelude::*;
use pullback::testing::check_rule;

#[derive(Clone, Debug, Differentiable)]
struct Node {
    value: f64,
    left: Option<Box<Node>>,
    right: Option<Box<Node>>,
}

#[derive(Clone, Debug, Differentiable)]
struct Cell {
    value: f64,
    next: Option<Box<Cell>>,
}

fn leaf(value: f64) -> Node {
    Node { value, left: None, right: None }
}

#[differentiable]
fn sum(node: &Option<Box<Node>>) -> f64 {
    match node {
        Some(n) => n.value * n.value + sum(&n.left) + 2.0 * sum(&n.right),
        None => 0.5,
    }
}

#[differentiable]
fn weighted(list: &Option<Box<Cell>>) -> f64 {
    match list {
        Some(cell) => cell.value * cell.value + 0.5 * weighted(&cell.next),
        None => 1.5,
    }
}

fn inputs() -> [(Vec<f64>,); 4] {
    [(vec![0.3, 0.7, 0.2],), (vec![0.4, -0.3, 0.1, 0.9, 0.2],), (vec![],), (vec![0.3],)]
}

#[differentiable]
impl Node {
    fn insert(&mut self, v: f64) {
        if v < self.value {
            match &mut self.left {
                Some(l) => l.insert(v),
                None => self.left = Some(Box::new(Node { value: v, left: None, right: None })),
            }
        } else if let Some(r) = self.right.as_mut() {
            r.insert(v)
        } else {
            self.right = Some(Box::new(Node::leaf(v * self.value)))
        }
    }

    fn by_side(&mut self, v: f64) {
        let side = if v < self.value { &mut self.left } else { &mut self.right };
        match side {
            Some(n) => n.by_side(v),
            None => *side = Some(Box::new(Node { value: v, left: None, right: None })),
        }
    }

    fn leaf(value: f64) -> Node {
        Node { value, left: None, right: None }
    }
}

#[test]
fn trees_by_insertion() {
    #[differentiable]
    fn grown(xs: &[f64]) -> f64 {
        let mut root = Node { value: 0.25, left: None, right: None };
        for x in xs {
            root.insert(x * x);
        }
        root.value + sum(&root.left) * sum(&root.right)
    }
    #[differentiable]
    fn by_side(xs: &[f64]) -> f64 {
        let mut root = Node::leaf(0.25);
        for x in xs {
            root.by_side(x * x);
        }
        root.value + sum(&root.left) * sum(&root.right)
    }
    #[differentiable]
    fn read_between(xs: &[f64], k: f64) -> f64 {
        let mut root = Node { value: k, left: None, right: None };
        for x in xs {
            root.insert(*x);
        }
        let before = sum(&root.left);
        root.insert(k * 0.5);
        before * sum(&root.left) * root.value
    }
    #[differentiable]
    fn behind(root: &mut Node, xs: &[f64]) {
        for x in xs {
            root.insert(x * x);
        }
    }
    let tree = || Node { value: 0.5, left: Some(Box::new(leaf(0.1))), right: None };
    check_rule(Node::insert_rule, [(leaf(0.3), 0.2), (leaf(0.3), 0.7), (tree(), 0.3)]);
    check_rule(Node::by_side_rule, [(leaf(0.3), 0.2), (leaf(0.3), 0.7), (tree(), 0.3)]);
    check_rule(grown::rule, inputs());
    check_rule(by_side::rule, inputs());
    check_rule(read_between::rule, inputs().map(|(xs,)| (xs, 0.35)));
    check_rule(behind::rule, inputs().map(|(xs,)| (tree(), xs)));
}

#[test]
fn trees_that_may_be_missing() {
    #[differentiable]
    fn insert(tree: &mut Option<Box<Node>>, v: f64) {
        match tree {
            Some(n) => {
                if v < n.value {
                    insert(&mut n.left, v)
                } else {
                    insert(&mut n.right, v * n.value)
                }
            }
            None => *tree = Some(Box::new(Node { value: v, left: None, right: None })),
        }
    }
    #[differentiable]
    fn grown(xs: &[f64]) -> f64 {
        let mut root: Option<Box<Node>> = None;
        for x in xs {
            insert(&mut root, x * x);
        }
        sum(&root)
    }
    check_rule(
        insert::rule,
        [(None, 0.3), (Some(Box::new(leaf(0.4))), 0.3), (Some(Box::new(leaf(0.1))), 0.3)],
    );
    check_rule(grown::rule, inputs());
}

#[test]
fn fields() {
    #[differentiable]
    fn behind(n: &mut Node, v: f64) {
        n.left = Some(Box::new(Node { value: v * n.value, left: None, right: None }));
        n.value *= v;
    }
    #[differentiable]
    fn of_a_local(x: f64, v: f64) -> f64 {
        let mut n =
            Node { value: x, left: Some(Box::new(Node { value: v, left: None, right: None })), right: None };
        let before = sum(&n.left);
        n.left = Some(Box::new(Node {
            value: v * x,
            left: None,
            right: Some(Box::new(Node { value: v, left: None, right: None })),
        }));
        n.value = x * v;
        let after = sum(&n.left) * n.value;
        after + before * n.value * sum(&n.left)
    }
    #[differentiable]
    fn put_below(xs: &[f64]) -> f64 {
        let mut n = Node { value: 0.5, left: None, right: None };
        for x in xs {
            n.left = Some(Box::new(Node { value: x * x, left: n.left.take(), right: None }));
        }
        sum(&n.left)
    }
    let tree = Node { value: 0.5, left: Some(Box::new(leaf(0.1))), right: None };
    check_rule(behind::rule, [(leaf(0.3), 0.3), (tree, 0.7)]);
    check_rule(of_a_local::rule, [(0.3, 0.7)]);
    check_rule(put_below::rule, inputs());
}

#[test]
fn lists_of_a_loop() {
    #[differentiable]
    fn by_name(xs: &[f64]) -> f64 {
        let mut head: Option<Box<Cell>> = None;
        for x in xs {
            head = Some(Box::new(Cell { value: x * x, next: head }));
        }
        weighted(&head)
    }
    #[differentiable]
    fn taken(xs: &[f64]) -> f64 {
        let mut head: Option<Box<Cell>> = None;
        for (i, x) in xs.iter().enumerate() {
            head = Some(Box::new(Cell { value: x * i as f64, next: head.take() }));
        }
        let rest = head.take();
        weighted(&head) * weighted(&rest)
    }
    #[differentiable]
    fn without_types(xs: &[f64]) -> f64 {
        let mut head = None;
        for x in xs {
            let cell = Cell { value: x * x, next: head };
            head = Some(Box::new(cell));
        }
        weighted(&head)
    }
    #[differentiable]
    fn read_between(xs: &[f64]) -> f64 {
        let mut head: Option<Box<Cell>> = None;
        let mut t = 1.0;
        for x in xs {
            let next = head.take();
            t += weighted(&next) * 0.1;
            head = Some(Box::new(Cell { value: x * t, next }));
            t += weighted(&head);
        }
        weighted(&head) * t
    }
    #[differentiable]
    fn begun_anew(xs: &[f64]) -> f64 {
        let mut t = 0.0;
        for i in 1..4 {
            let mut head: Option<Box<Cell>> = None;
            for x in &xs[..xs.len() / i] {
                head = Some(Box::new(Cell { value: x * x, next: head }));
                if weighted(&head) > 1.7 {
                    break;
                }
            }
            t += weighted(&head);
            head = None;
            t *= weighted(&head);
        }
        t
    }
    #[differentiable]
    fn in_branches(xs: &[f64]) -> f64 {
        let mut root = Some(Box::new(Node { value: 0.5, left: None, right: None }));
        for x in xs {
            if *x > 0.25 {
                let right = Some(Box::new(Node { value: *x, left: None, right: None }));
                root = Some(Box::new(Node { value: x * x, left: root, right }));
            } else {
                root = Some(Box::new(Node { value: x * x, left: None, right: root }));
            }
        }
        sum(&root)
    }
    #[differentiable]
    fn two(xs: &[f64]) -> f64 {
        let mut head: Option<Box<Cell>> = None;
        let mut other: Option<Box<Cell>> = None;
        for x in xs {
            head = Some(Box::new(Cell { value: x * x, next: head }));
            std::mem::swap(&mut head, &mut other);
        }
        weighted(&head) * weighted(&other)
    }
    check_rule(by_name::rule, inputs());
    check_rule(taken::rule, inputs());
    check_rule(without_types::rule, inputs());
    check_rule(read_between::rule, inputs());
    check_rule(begun_anew::rule, inputs());
    check_rule(in_branches::rule, inputs());
    check_rule(two::rule, inputs());
}

#[test]
fn lists_with_a_first_field() {
    #[derive(Clone, Debug, Differentiable)]
    struct List {
        head: Option<Box<Cell>>,
        len: usize,
    }
    #[differentiable]
    impl List {
        fn push(&mut self, value: f64) {
            let old = self.head.take();
            self.head = Some(Box::new(Cell { value, next: old }));
            self.len += 1;
        }
        fn push_twice(&mut self, value: f64) {
            self.head = Some(Box::new(Cell { value, next: self.head.take() }));
            self.head = Some(Box::new(Cell { value: value * value, next: std::mem::take(&mut self.head) }));
        }
        fn total(&self) -> f64 {
            self.len as f64 * weighted(&self.head)
        }
    }
    #[differentiable]
    fn pushed(xs: &[f64]) -> f64 {
        let mut list = List { head: None, len: 0 };
        let mut t = 0.0;
        for x in xs {
            list.push(x * x);
            t += list.total();
            list.push_twice(*x);
        }
        t * list.total()
    }
    #[differentiable]
    fn behind(list: &mut Option<Box<Cell>>, xs: &[f64]) {
        for x in xs {
            *list = Some(Box::new(Cell { value: x * x, next: list.take() }));
        }
    }
    #[differentiable]
    fn made_behind(xs: &[f64]) -> f64 {
        let mut list: Option<Box<Cell>> = None;
        behind(&mut list, xs);
        weighted(&list)
    }
    let list = || List { head: Some(Box::new(Cell { value: 0.4, next: None })), len: 1 };
    check_rule(List::push_rule, [(List { head: None, len: 0 }, 0.3), (list(), 0.7)]);
    check_rule(List::push_twice_rule, [(List { head: None, len: 0 }, 0.3), (list(), 0.7)]);
    check_rule(pushed::rule, inputs());
    check_rule(behind::rule, inputs().map(|(xs,)| (list().head, xs)));
    check_rule(behind::rule, inputs().map(|(xs,)| (None, xs)));
    check_rule(made_behind::rule, inputs());
}

#[test]
fn of_what_holds_vectors() {
    #[derive(Clone, Debug, Differentiable)]
    struct Block {
        xs: Vec<f64>,
        next: Option<Box<Block>>,
    }
    #[differentiable]
    fn total(block: &Option<Box<Block>>) -> f64 {
        match block {
            Some(b) => b.xs.iter().map(|x| x * x).sum::<f64>() + 0.5 * total(&b.next),
            None => 1.5,
        }
    }
    #[differentiable]
    fn made(xs: &[f64]) -> f64 {
        let mut head: Option<Box<Block>> = None;
        for x in xs {
            head = Some(Box::new(Block { xs: vec![*x; 3], next: head }));
        }
        total(&head)
    }
    #[differentiable]
    fn moved(xs: &[f64]) -> f64 {
        let mut head: Option<Box<Block>> = None;
        for x in xs {
            let mut xs = vec![*x, x * x];
            xs[0] *= 2.0;
            head = Some(Box::new(Block { xs, next: head }));
        }
        total(&head)
    }
    check_rule(made::rule, inputs());
    check_rule(moved::rule, inputs());
}

#[test]
fn taken_from_fields_of_locals() {
    #[differentiable]
    fn taken(x: f64, y: f64) -> f64 {
        let mut cell = Cell { value: x, next: Some(Box::new(Cell { value: y, next: None })) };
        let next: Option<Box<Cell>> = cell.next.take();
        let a = match &next {
            Some(c) => c.value * x,
            None => 0.0,
        };
        let b = if let Some(c) = next.as_ref() { c.value.sin() } else { 1.0 };
        a * b + cell.value + weighted(&cell.next)
    }
    #[differentiable]
    fn goes_elsewhere(x: f64, y: f64) -> f64 {
        let mut cell = Cell { value: x, next: Some(Box::new(Cell { value: y, next: None })) };
        let next: Option<Box<Cell>> = std::mem::take(&mut cell.next);
        let other = Cell { value: y * y, next };
        cell.next = Some(Box::new(Cell { value: x * y, next: None }));
        weighted(&cell.next) * cell.value + weighted(&other.next)
    }
    #[differentiable]
    fn replaced(x: f64, y: f64) -> f64 {
        let mut cell = Cell { value: x, next: Some(Box::new(Cell { value: y, next: None })) };
        let old = std::mem::replace(&mut cell.next, Some(Box::new(Cell { value: x * y, next: None })));
        let made: Option<Box<Cell>> = std::mem::replace(&mut cell.next, None);
        cell.value * weighted(&made) * weighted(&old) + weighted(&cell.next)
    }
    #[differentiable]
    fn swapped(x: f64, y: f64) -> f64 {
        let below = Some(Box::new(Cell { value: x, next: None }));
        let mut cell = Cell { value: x, next: Some(Box::new(Cell { value: y, next: below })) };
        let mut other = Cell { value: y, next: None };
        let mut next: Option<Box<Cell>> = cell.next.take();
        std::mem::swap(&mut other.next, &mut next);
        let again = next;
        weighted(&other.next) * cell.value + weighted(&again)
    }
    let inputs = [(0.4, 0.3), (0.1, -0.7)];
    check_rule(taken::rule, inputs);
    check_rule(goes_elsewhere::rule, inputs);
    check_rule(replaced::rule, inputs);
    check_rule(swapped::rule, inputs);
}

#[test]
fn replaced_behind_references() {
    #[differentiable]
    fn renewed(cell: &mut Cell, x: f64) -> f64 {
        let old = std::mem::replace(&mut cell.next, Some(Box::new(Cell { value: x, next: None })));
        let old = match &old {
            Some(c) => c.value * x,
            None => 0.0,
        };
        old + cell.value
    }
    #[differentiable]
    fn both(x: f64, y: f64) -> f64 {
        let mut cell = Cell { value: x, next: Some(Box::new(Cell { value: y, next: None })) };
        let old = renewed(&mut cell, x * y);
        old * cell.value + weighted(&cell.next)
    }
    let inputs = [(0.4, 0.3), (0.1, -0.7)];
    check_rule(both::rule, inputs);
    let filled = Cell { value: 0.4, next: Some(Box::new(Cell { value: 0.3, next: None })) };
    check_rule(renewed::rule, [(filled, 0.2), (Cell { value: 0.4, next: None }, 0.3)]);
}
