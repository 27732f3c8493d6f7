//! The golden values as a program: it panics if a bit differs.

#[path = "../../golden.rs"]
mod golden;

fn main() {
    golden::compare();
    println!("all bits are those of the other platforms");
}
