//! The server's side of Agones' protocol, which the crate `agones` does not have.

fn main() -> std::io::Result<()> {
    tonic_build::configure()
        .build_client(false)
        .compile_protos(&["proto/sdk.proto", "proto/beta.proto"], &["proto"])
}
