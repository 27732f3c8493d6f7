//! A match between two machines in one page, over a simulated connection.
//!
//! Each machine has a simulation and a GGRS session, and draws its own arena. The connection between them is late and
//! loses packets.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;
use std::time::Duration;

use evenstep::rapier::math::Vector;
use evenstep_netcode::game::{Arena, Buttons};
use evenstep_netcode::line::{Line, Quality};
use evenstep_netcode::packets::{Carrier, Packets};
use evenstep_netcode::rollback::Peer;
use wasm_bindgen::prelude::*;
use web_sys::{CanvasRenderingContext2d, HtmlCanvasElement, PointerEvent};

use crate::arena::{
    ARROWS, COLOURS, HALF, Trails, clear, context, draw, draw_without_correction, held_keys,
};
use crate::clock::{PageClock, each_frame, on};
use crate::panics::report_panics;

/// The machines cannot lose each other. While the page is hidden, neither of them runs.
const DISCONNECT: Duration = Duration::from_secs(1 << 30);
/// The keys of the player on the left, as [`ARROWS`].
const LETTERS: [&str; 4] = ["KeyD", "KeyA", "KeyS", "KeyW"];
/// The number of frames in the timeline.
const TIMELINE: usize = 300;
/// The height of the timeline, in steps of a rollback.
const HIGHEST: f64 = 9.0;

/// A match of two machines. A script plays for each player until they press a key or their arena.
#[wasm_bindgen]
pub struct Duel {
    state: Rc<RefCell<State>>,
}

struct State {
    connection: Rc<RefCell<Connection>>,
    peers: [Peer<Arena>; 2],
    /// The number of resimulated steps of each machine in the latest frames, newest first.
    timeline: VecDeque<[u64; 2]>,
    failure: Option<String>,
}

/// Both directions of a connection, which has the time of the page's frames.
struct Connection {
    now: Duration,
    lines: [Line<Vec<u8>>; 2],
}

/// A machine's end of the connection.
struct End {
    connection: Rc<RefCell<Connection>>,
    number: usize,
}

impl Carrier for End {
    fn send(&mut self, packet: Vec<u8>) {
        let Connection { now, lines } = &mut *self.connection.borrow_mut();
        lines[self.number].send(*now, packet);
    }

    fn receive(&mut self) -> Vec<Vec<u8>> {
        let Connection { now, lines } = &mut *self.connection.borrow_mut();
        lines[1 - self.number].receive(*now).collect()
    }
}

/// A player's controls: keys, a finger or the mouse, and a script before the first press.
struct Controls {
    number: usize,
    keys: Rc<Cell<u8>>,
    /// Where the arena is pressed, in metres from its centre.
    pressed: Rc<Cell<Option<[f64; 2]>>>,
    has_pressed: bool,
}

impl Controls {
    fn new(number: usize, keys: [&'static str; 4], canvas: &HtmlCanvasElement) -> Self {
        let pressed = Rc::new(Cell::new(None));
        for name in ["pointerdown", "pointermove", "pointerup", "pointercancel"] {
            let (pressed, canvas) = (Rc::clone(&pressed), canvas.clone());
            on(&canvas.clone(), name, move |event: PointerEvent| {
                let is_down = event.buttons() != 0;
                let middle = f64::from(canvas.client_width()) / 2.0;
                let metres = |offset: i32| (f64::from(offset) - middle) * HALF / middle;
                let position = [event.offset_x(), event.offset_y()].map(metres);
                pressed.set(is_down.then_some(position));
            });
        }
        Self {
            number,
            keys: held_keys(keys),
            pressed,
            has_pressed: false,
        }
    }

    /// Returns the buttons that are held in a tick. A press on the arena pushes the player at `position` towards it.
    fn buttons(&mut self, tick: u64, position: Vector) -> Buttons {
        let [mut right, mut down] = [0.0, 0.0];
        if let Some([x, y]) = self.pressed.get() {
            [right, down] = [x - f64::from(position.x), y - f64::from(position.z)];
        }
        // Nearer than half a metre, there is no direction.
        let by_pointer = [right, -right, down, -down].into_iter().rev();
        let by_pointer = by_pointer.fold(0, |bits, towards| bits << 1 | u8::from(towards > 0.5));
        let held = self.keys.get() | by_pointer;
        self.has_pressed |= held > 0;
        match self.has_pressed {
            true => Buttons(held),
            false => Buttons::of_script(self.number, tick),
        }
    }
}

#[wasm_bindgen]
impl Duel {
    /// Starts a match that is drawn on three canvases: both arenas, and a timeline of rollbacks. The connection is good
    /// until [`connect`](Self::connect) changes it.
    #[wasm_bindgen(constructor)]
    pub fn new(
        left: HtmlCanvasElement,
        right: HtmlCanvasElement,
        timeline: HtmlCanvasElement,
    ) -> Result<Self, JsValue> {
        report_panics();
        let state = Rc::new(RefCell::new(State::new()?));
        let canvases = [left, right];
        let contexts = [context(&canvases[0])?, context(&canvases[1])?];
        let marks = context(&timeline)?;
        let mut controls =
            [(0, LETTERS), (1, ARROWS)].map(|(i, keys)| Controls::new(i, keys, &canvases[i]));
        let (mut clock, playing) = (PageClock::new(), Rc::clone(&state));
        let mut trails = [Trails::default(), Trails::default()];
        each_frame(move |stamp| {
            let frame_time = clock.frame(stamp);
            let state = &mut *playing.borrow_mut();
            state.frame(frame_time, &mut controls);
            for (i, peer) in state.peers.iter().enumerate() {
                let (simulation, arena) = (&peer.player.simulation, peer.player.game());
                let (context, canvas) = (&contexts[i], &canvases[i]);
                clear(context, canvas);
                trails[i].draw(context, canvas, simulation, arena);
                draw(context, canvas, simulation, arena).unwrap();
                draw_without_correction(context, canvas, simulation, arena).unwrap();
            }
            draw_timeline(&marks, &timeline, &state.timeline);
        });
        Ok(Self { state })
    }

    /// Sets the delay of each packet, in milliseconds, the largest additional delay, and the number of packets per
    /// thousand that are lost.
    pub fn connect(&self, delay: u32, jitter: u32, loss: u32) {
        let [delay, jitter] = [delay, jitter].map(|ms| Duration::from_millis(ms.into()));
        let quality = Quality {
            delay,
            jitter,
            loss: loss.into(),
            ..Quality::default()
        };
        let state = self.state.borrow();
        for line in &mut state.connection.borrow_mut().lines {
            line.set_quality(quality.clone());
        }
    }

    /// Returns why the match cannot continue.
    #[wasm_bindgen(getter)]
    pub fn failure(&self) -> Option<String> {
        self.state.borrow().failure.clone()
    }

    /// Returns the number of steps so far of the machine that has run fewer.
    #[wasm_bindgen(getter)]
    pub fn tick(&self) -> f64 {
        let ticks = self.of_peers(|peer| peer.player.simulation.physics.tick());
        ticks[0].min(ticks[1]) as f64
    }

    /// Returns how many checksums differed between the machines.
    #[wasm_bindgen(getter)]
    pub fn desyncs(&self) -> usize {
        self.of_peers(|peer| peer.desyncs).iter().sum()
    }

    /// Returns the number of rollbacks of both machines.
    #[wasm_bindgen(getter)]
    pub fn rollbacks(&self) -> f64 {
        self.of_peers(|peer| peer.player.counts.rollbacks as f64)
            .iter()
            .sum()
    }

    /// Returns the number of steps that a machine dropped while it waited for packets from the other one.
    #[wasm_bindgen(getter)]
    pub fn waited(&self) -> f64 {
        self.of_peers(|peer| peer.player.counts.waited as f64)
            .iter()
            .sum()
    }

    /// Returns the checksums of the state before a step on both machines, in hexadecimal digits, once it can no longer
    /// change on either of them.
    pub fn checksums(&self, tick: f64) -> Option<Vec<String>> {
        let sums = self.of_peers(|peer| peer.confirmed_checksum(tick as u64));
        sums.into_iter()
            .map(|sum| Some(format!("{:016x}", sum?)))
            .collect()
    }

    fn of_peers<T>(&self, property: impl Fn(&Peer<Arena>) -> T) -> [T; 2] {
        self.state.borrow().peers.each_ref().map(property)
    }
}

impl State {
    fn new() -> Result<Self, JsValue> {
        let lines = [0, 1].map(|seed| Line::new(Quality::default(), seed));
        let connection = Rc::new(RefCell::new(Connection {
            now: Duration::ZERO,
            lines,
        }));
        let peer = |number| {
            let end = End {
                connection: Rc::clone(&connection),
                number,
            };
            let packets = Packets::new(end, evenstep::saving::fingerprint());
            let peer = Peer::new(Arena::start(), number, packets, DISCONNECT);
            peer.map_err(|error| error.to_string())
        };
        Ok(Self {
            peers: [peer(0)?, peer(1)?],
            connection,
            timeline: VecDeque::new(),
            failure: None,
        })
    }

    /// Runs a frame of both machines.
    fn frame(&mut self, time: Duration, controls: &mut [Controls; 2]) {
        if self.failure.is_some() {
            return;
        }
        self.connection.borrow_mut().now += time;
        let before = self.peers.each_ref().map(|peer| peer.player.counts.again);
        for (peer, controls) in self.peers.iter_mut().zip(controls) {
            let player = peer.player.game().players[controls.number];
            let position = peer
                .player
                .simulation
                .pose(player)
                .unwrap_or_default()
                .translation;
            let buttons = |tick| controls.buttons(tick, position);
            if let Err(error) = peer.frame(time, buttons) {
                self.failure = Some(error.to_string());
            }
        }
        let again = [0, 1].map(|i| self.peers[i].player.counts.again - before[i]);
        self.timeline.push_front(again);
        self.timeline.truncate(TIMELINE);
    }
}

/// Draws a bar for each frame with a rollback, as high as the rollback is long: upwards for the left machine, downwards
/// for the right one. The newest frame is at the right. Lines at four and eight steps are the scale.
fn draw_timeline(
    context: &CanvasRenderingContext2d,
    canvas: &HtmlCanvasElement,
    timeline: &VecDeque<[u64; 2]>,
) {
    let [width, height] = [canvas.width(), canvas.height()].map(f64::from);
    context.clear_rect(0.0, 0.0, width, height);
    let (step, middle) = (width / TIMELINE as f64, height / 2.0);
    for (age, lengths) in timeline.iter().enumerate() {
        let x = width - (age + 1) as f64 * step;
        for (i, length) in lengths.iter().enumerate() {
            let length = (*length as f64 / HIGHEST).min(1.0) * middle;
            context.set_fill_style_str(COLOURS[i]);
            context.fill_rect(x, middle, step, if i == 0 { -length } else { length });
        }
    }
    context.set_fill_style_str(COLOURS[2]);
    for steps in [-8.0, -4.0, 0.0, 4.0, 8.0] {
        let y = middle + steps / HIGHEST * middle;
        context.fill_rect(0.0, y - 0.5, width, 1.0);
    }
}
