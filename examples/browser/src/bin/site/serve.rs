//! A server of the built files, for this machine alone.

use std::error::Error;
use std::fs::File;
use std::net::Ipv4Addr;
use std::path::{Component, Path};

use tiny_http::{Header, Request, Response, Server};

/// Serves a folder until the program is stopped.
pub fn serve(folder: &Path, port: u16) -> Result<(), Box<dyn Error>> {
    let server = Server::http((Ipv4Addr::LOCALHOST, port)).map_err(|error| error.to_string())?;
    println!("serving at http://{}/", server.server_addr());
    for request in server.incoming_requests() {
        // A browser that has gone needs no answer.
        let _ = answer(request, folder);
    }
    Ok(())
}

fn answer(request: Request, folder: &Path) -> std::io::Result<()> {
    let url = request.url().split(['?', '#']).next().unwrap_or_default();
    let name = url.trim_start_matches('/').to_owned();
    let name = Path::new(if name.is_empty() { "index.html" } else { &name });
    let is_inside = name
        .components()
        .all(|part| matches!(part, Component::Normal(_)));
    let file = if is_inside {
        File::open(folder.join(name))
    } else {
        File::open("")
    };
    let Ok(file) = file else {
        return request.respond(Response::empty(404));
    };
    let kind = match name.extension().and_then(|extension| extension.to_str()) {
        Some("html") => "text/html; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("wasm") => "application/wasm",
        _ => "application/octet-stream",
    };
    let kind = Header::from_bytes("Content-Type", kind).expect("the header is plain ASCII");
    request.respond(Response::from_file(file).with_header(kind))
}
