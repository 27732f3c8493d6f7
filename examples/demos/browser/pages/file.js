// For a page that is opened as a file, from which a browser loads no module.
if (location.protocol === "file:") {
    document.getElementById("loading").textContent = "This page needs a server. In a clone of the repository, run "
        + "cargo run --manifest-path examples/demos/browser/Cargo.toml, and open the address that it prints.";
}
