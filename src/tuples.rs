//! What is implemented for lists of parameters of every length.

/// Implements a macro's argument list `A 0, B 1, …` for every length up to sixteen.
macro_rules! for_tuples {
    ($macro:ident) => {
        for_tuples!($macro: A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9, K 10, L 11, M 12, N 13, O 14, P 15;);
    };
    // Takes one item after the other from the list on the left to that on the right, and implements every list it passes.
    ($macro:ident: ; $($T:ident $i:tt),*) => {
        $macro!($($T $i),*);
    };
    ($macro:ident: $Head:ident $head:tt $(, $Tail:ident $tail:tt)*; $($T:ident $i:tt),*) => {
        $macro!($($T $i),*);
        for_tuples!($macro: $($Tail $tail),*; $($T $i,)* $Head $head);
    };
}
