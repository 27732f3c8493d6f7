//! Builds the server side of Agones' protocol, which the crate `agones` lacks.

fn main() -> std::io::Result<()> {
    tonic_build::configure()
        .build_client(false)
        .compile_protos(&["proto/sdk.proto", "proto/beta.proto"], &["proto"])
}
