//! A match against a program on the desktop, over a WebSocket.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use evenstep_netcode::game::{Arena, Buttons};
use evenstep_netcode::packets::{Carrier, Packets};
use evenstep_netcode::rollback::Peer;
use js_sys::{ArrayBuffer, Uint8Array};
use wasm_bindgen::prelude::*;
use web_sys::{BinaryType, HtmlCanvasElement, MessageEvent, WebSocket};

use crate::arena::{ARROWS, clear, context, draw, held_keys};
use crate::clock::{PageClock, each_frame, on};
use crate::panics::report_panics;

/// The timeout allows for a page that loads slowly, and for a short visit to another tab.
const DISCONNECT: Duration = Duration::from_secs(10);

/// A table for matches of two, seen from above. The page is the second player, who uses the arrow keys.
#[wasm_bindgen]
pub struct Match {
    state: Rc<RefCell<State>>,
}

/// The state of a table.
enum State {
    /// The other player is not connected.
    Waiting,
    Playing(Box<Peer<Arena>>),
    /// The match cannot continue, for this reason.
    Failed(String),
}

#[wasm_bindgen]
impl Match {
    /// Creates a table that is drawn on a canvas. With `by_script` the example's script plays.
    #[wasm_bindgen(constructor)]
    pub fn new(canvas: HtmlCanvasElement, by_script: bool) -> Result<Self, JsValue> {
        report_panics();
        let state = Rc::new(RefCell::new(State::Waiting));
        let held = held_keys(ARROWS);
        let context = context(&canvas)?;
        let (simulation, arena) = Arena::start();
        draw(&context, &canvas, &simulation, &arena)?;
        let (mut clock, playing) = (PageClock::new(), Rc::clone(&state));
        each_frame(move |stamp| {
            let frame_time = clock.frame(stamp);
            let state = &mut *playing.borrow_mut();
            let State::Playing(peer) = state else {
                return;
            };
            let buttons = |tick| match by_script {
                true => Buttons::of_script(1, tick),
                false => Buttons(held.get()),
            };
            match peer.frame(frame_time, buttons) {
                Ok(_) => {
                    let player = &peer.player;
                    clear(&context, &canvas);
                    draw(&context, &canvas, &player.simulation, player.game()).unwrap();
                }
                Err(error) => *state = State::Failed(error.to_string()),
            }
        });
        Ok(Self { state })
    }

    /// Starts a match against the program at the other end of an open WebSocket.
    pub fn join(&self, socket: WebSocket) -> Result<(), JsValue> {
        let packets = Packets::new(Socket::new(socket), evenstep::saving::fingerprint());
        let peer = Peer::new(Arena::start(), 1, packets, DISCONNECT);
        let peer = peer.map_err(|error| error.to_string())?;
        self.state.replace(State::Playing(Box::new(peer)));
        Ok(())
    }

    /// Ends the match, because the other player has left. The picture stays, and so does the reason of a failure.
    pub fn leave(&self) {
        let state = &mut *self.state.borrow_mut();
        if matches!(state, State::Playing(_)) {
            *state = State::Waiting;
        }
    }

    /// Returns why the match cannot continue.
    #[wasm_bindgen(getter)]
    pub fn failure(&self) -> Option<String> {
        match &*self.state.borrow() {
            State::Failed(reason) => Some(reason.clone()),
            _ => None,
        }
    }

    /// Returns the number of steps so far, if a match is played.
    #[wasm_bindgen(getter)]
    pub fn tick(&self) -> Option<f64> {
        self.of_peer(|peer| Some(peer.player.simulation.physics.tick() as f64))
    }

    /// Returns how many checksums differed from the other peer's, if a match is played.
    #[wasm_bindgen(getter)]
    pub fn desyncs(&self) -> Option<usize> {
        self.of_peer(|peer| Some(peer.desyncs))
    }

    /// Returns the checksum of the state before a step, in hexadecimal digits, once it can no longer change.
    pub fn checksum(&self, tick: f64) -> Option<String> {
        let sum = self.of_peer(|peer| peer.confirmed_checksum(tick as u64));
        sum.map(|sum| format!("{sum:016x}"))
    }

    fn of_peer<T>(&self, property: impl Fn(&Peer<Arena>) -> Option<T>) -> Option<T> {
        match &*self.state.borrow() {
            State::Playing(peer) => property(peer),
            _ => None,
        }
    }
}

/// The page's end of a WebSocket.
struct Socket {
    socket: WebSocket,
    received: Rc<RefCell<Vec<Vec<u8>>>>,
}

impl Socket {
    fn new(socket: WebSocket) -> Self {
        socket.set_binary_type(BinaryType::Arraybuffer);
        let received = Rc::new(RefCell::new(Vec::new()));
        let inbox = Rc::clone(&received);
        on(&socket, "message", move |event: MessageEvent| {
            if let Ok(packet) = event.data().dyn_into::<ArrayBuffer>() {
                inbox.borrow_mut().push(Uint8Array::new(&packet).to_vec());
            }
        });
        Self { socket, received }
    }
}

impl Carrier for Socket {
    fn send(&mut self, packet: Vec<u8>) {
        // If the socket is not open, the packet is lost, as on a bad connection.
        if self.socket.ready_state() == WebSocket::OPEN {
            let _ = self.socket.send_with_u8_array(&packet);
        }
    }

    fn receive(&mut self) -> Vec<Vec<u8>> {
        self.received.take()
    }
}
