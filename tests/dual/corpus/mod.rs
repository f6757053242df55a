//! Second derivatives of code as people write it: all that `check_second_order` and `check_pushforward` ask for.

mod control;
mod memory;
mod models;
