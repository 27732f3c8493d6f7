//! Selects the two-dimensional half of the sources. Each package for 2D uses this script.

fn main() {
    println!("cargo::rustc-check-cfg=cfg(dim2)");
    println!("cargo::rustc-cfg=dim2");
    // Nothing that could change this. The file is in the folder of each package.
    println!("cargo::rerun-if-changed=Cargo.toml");
}
