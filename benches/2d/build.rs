//! Selects the two-dimensional half of the sources.

fn main() {
    println!("cargo::rustc-check-cfg=cfg(dim2)");
    println!("cargo::rustc-cfg=dim2");
    println!("cargo::rerun-if-changed=build.rs");
}
