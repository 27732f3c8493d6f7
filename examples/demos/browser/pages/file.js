// Says how to build and serve a page that cannot run yet: one that is opened as a file, from which a browser loads no
// module, or one without its WebAssembly. This is a classic script, because only those run in a file.
function explain(reason) {
    const note = document.createElement("div");
    note.id = "failure";
    note.innerHTML = "<p><b></b> In a clone of the repository, run this command, and open the address that it prints:</p>"
        + "<pre>cargo run --manifest-path examples/demos/<wbr>browser/Cargo.toml</pre>";
    note.querySelector("b").textContent = reason;
    const main = document.querySelector("main");
    main.hidden = false;
    main.prepend(note);
    // Hides the parts that would be dead.
    document.body.classList.add("unbuilt");
}
if (location.protocol === "file:") {
    explain("This page needs a server.");
}
