//! A server of the built files, for this machine alone.

use std::error::Error;
use std::fs::File;
use std::io;
use std::net::Ipv4Addr;
use std::path::{Component, Path};

use tiny_http::{Header, Request, Response, Server};

use crate::compress::{ENCODINGS, copy_of};

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

fn answer(request: Request, folder: &Path) -> io::Result<()> {
    let url = request.url().split(['?', '#']).next().unwrap_or_default();
    let name = url.trim_start_matches('/');
    let name = Path::new(if name.is_empty() { "index.html" } else { name });
    let is_inside = name
        .components()
        .all(|part| matches!(part, Component::Normal(_)));
    let kind = match name.extension().and_then(|extension| extension.to_str()) {
        Some("html") => "text/html; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("wasm") => "application/wasm",
        Some("gif") => "image/gif",
        _ => "application/octet-stream",
    };
    let found = is_inside.then(|| open(&request, &folder.join(name)));
    let Some((file, encoding)) = found.flatten() else {
        return request.respond(Response::empty(404));
    };
    let header =
        |name: &str, value| Header::from_bytes(name, value).expect("the header is plain ASCII");
    let mut response = Response::from_file(file).with_header(header("Content-Type", kind));
    if let Some(encoding) = encoding {
        response.add_header(header("Content-Encoding", encoding));
    }
    request.respond(response)
}

/// Opens the smallest copy of a file that the browser accepts. Returns it with its encoding, unless that is plain.
fn open(request: &Request, path: &Path) -> Option<(File, Option<&'static str>)> {
    let accepted = ENCODINGS
        .into_iter()
        .filter(|(encoding, _)| accepts(request, encoding));
    let mut copies = accepted.filter_map(|(encoding, end)| {
        let copy = File::open(copy_of(path, end));
        Some((copy.ok()?, Some(encoding)))
    });
    let plain = || Some((File::open(path).ok()?, None));
    copies.next().or_else(plain)
}

/// Returns whether the browser accepts an encoding. Browsers list all that they accept.
fn accepts(request: &Request, encoding: &str) -> bool {
    let mut headers = request.headers().iter();
    let accepted = headers.find(|header| header.field.equiv("Accept-Encoding"));
    let mut listed = accepted
        .iter()
        .flat_map(|header| header.value.as_str().split(','));
    listed.any(|name| name.trim() == encoding)
}
