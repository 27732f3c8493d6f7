//! Headless browsers that open the built pages.

use std::io::{BufRead, BufReader, Lines};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use fantoccini::actions::{InputSource, KeyAction, KeyActions, PointerAction, TouchActions};
use fantoccini::wd::{Capabilities, WebDriverCompatibleCommand};
use fantoccini::{Client, ClientBuilder};
use http::Method;
use hyper_util::client::legacy::connect::HttpConnector;
use image::{Rgb, RgbImage};
use serde_json::{Value, json};
use url::{ParseError, Url};

/// Long enough for a software renderer on a busy machine.
const PATIENCE: Duration = Duration::from_secs(300);

/// A program that is killed with its owner, and the address that it printed.
pub struct Server {
    program: Child,
    lines: Lines<BufReader<ChildStdout>>,
    /// The address of the program.
    pub address: String,
}

impl Server {
    /// Starts a program, and waits until it prints `before` and an address.
    pub fn start(command: &mut Command, before: &str) -> Self {
        let program = command.stdout(Stdio::piped()).spawn();
        let mut program = program.unwrap_or_else(|error| panic!("{command:?}: {error}"));
        let lines = BufReader::new(program.stdout.take().unwrap()).lines();
        let mut server = Self {
            program,
            lines,
            address: String::new(),
        };
        server.address = server.said(before);
        server
    }

    /// Returns the rest of the next line that begins with `before`.
    pub fn said(&mut self, before: &str) -> String {
        let mut lines = self.lines.by_ref().map_while(Result::ok);
        let said = lines.find_map(|line| Some(line.split_once(before)?.1.to_owned()));
        said.unwrap_or_else(|| panic!("the program did not print `{before}`"))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.program.kill();
        let _ = self.program.wait();
    }
}

/// A line of the platformer's log: one frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Row {
    pub frame: u64,
    pub time: f64,
    pub tick: u64,
    pub hero: [f64; 3],
    pub real_time: f64,
    pub score: u32,
}

impl Row {
    /// Reads a line. Returns `None` for the head of the table.
    fn read(line: &str) -> Option<Self> {
        let cells: Vec<f64> = line
            .split(',')
            .map_while(|cell| cell.parse().ok())
            .collect();
        Some(Self {
            frame: *cells.first()? as u64,
            time: cells[1],
            tick: cells[2] as u64,
            hero: [cells[4], cells[5], cells[6]],
            real_time: cells[13],
            score: cells[14] as u32,
        })
    }
}

/// Returns the path of a file for a test.
pub fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

/// The browser. It and its driver must be installed.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    Chromium,
    Firefox,
}

impl Kind {
    fn start_driver(self) -> Server {
        let (program, before) = match self {
            Self::Chromium => ("chromedriver", "started successfully on port "),
            Self::Firefox => ("geckodriver", "Listening on 127.0.0.1:"),
        };
        Server::start(Command::new(program).arg("--port=0"), before)
    }

    /// Returns the options of the browser. For WebGPU they select a software renderer, because test machines have no
    /// graphics card.
    fn options(self, has_webgpu: bool) -> (&'static str, Value) {
        match self {
            Self::Chromium => {
                let mut arguments = vec![
                    "--headless=new",
                    "--no-sandbox",
                    "--disable-dev-shm-usage",
                    "--window-size=800,640",
                    "--touch-events=enabled",
                ];
                if has_webgpu {
                    arguments.extend([
                        "--enable-unsafe-webgpu",
                        "--use-webgpu-adapter=swiftshader",
                        // Without these three options WebGPU draws, but the result is not displayed.
                        "--enable-features=Vulkan",
                        "--use-vulkan=swiftshader",
                        "--use-angle=swiftshader",
                    ]);
                }
                // The driver lets hidden pages continue, unlike a user's browser.
                let excluded = ["disable-background-timer-throttling"];
                let options = json!({ "args": arguments, "excludeSwitches": excluded });
                ("goog:chromeOptions", options)
            }
            Self::Firefox => {
                let arguments = ["-headless", "--width=800", "--height=640"];
                let preferences = json!({
                    "dom.webgpu.enabled": has_webgpu,
                    "gfx.webgpu.ignore-blocklist": has_webgpu,
                });
                let options = json!({ "args": arguments, "prefs": preferences });
                ("moz:firefoxOptions", options)
            }
        }
    }
}

/// A page in the browser.
pub struct Browser {
    kind: Kind,
    client: Client,
}

/// Opens a page, and runs a test with it.
pub fn run(kind: Kind, page: &str, test: impl AsyncFnOnce(&Browser)) {
    run_with(kind, true, page, test);
}

/// Does the same without WebGPU.
pub fn run_without_webgpu(kind: Kind, page: &str, test: impl AsyncFnOnce(&Browser)) {
    run_with(kind, false, page, test);
}

fn run_with(kind: Kind, has_webgpu: bool, page: &str, test: impl AsyncFnOnce(&Browser)) {
    let site = Server::start(
        Command::new(env!("CARGO_BIN_EXE_site")).args(["--serve-only", "--port", "0"]),
        "serving at ",
    );
    let driver = kind.start_driver();
    let port = driver.address.trim_end_matches('.');
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let runtime = runtime.unwrap();
    let browser = runtime.block_on(Browser::open(kind, has_webgpu, port));
    let result = catch_unwind(AssertUnwindSafe(|| {
        runtime.block_on(async {
            let url = format!("{}{page}", site.address);
            browser.client.goto(&url).await.unwrap();
            test(&browser).await;
            assert_eq!(browser.failure().await, None);
        });
    }));
    // The browser would continue if only its driver ended.
    runtime.block_on(browser.client.close()).unwrap();
    if let Err(panic) = result {
        resume_unwind(panic);
    }
}

/// A command of Chromium's own protocol, for features that drivers lack.
#[derive(Debug)]
struct DevTools(&'static str, Value);

impl WebDriverCompatibleCommand for DevTools {
    fn endpoint(&self, base: &Url, session: Option<&str>) -> Result<Url, ParseError> {
        base.join(&format!(
            "session/{}/goog/cdp/execute",
            session.expect("the session is open")
        ))
    }

    fn method_and_body(&self, _: &Url) -> (Method, Option<String>) {
        let body = json!({ "cmd": self.0, "params": self.1 });
        (Method::POST, Some(body.to_string()))
    }
}

impl Browser {
    async fn open(kind: Kind, has_webgpu: bool, port: &str) -> Self {
        let (name, options) = kind.options(has_webgpu);
        let mut capabilities = Capabilities::new();
        capabilities.insert(name.into(), options);
        let mut builder = ClientBuilder::new(HttpConnector::new());
        builder.capabilities(capabilities);
        let client = builder.connect(&format!("http://127.0.0.1:{port}")).await;
        Self {
            kind,
            client: client.unwrap(),
        }
    }

    /// Opens another page.
    pub async fn open_page(&self, url: &str) {
        self.client.goto(url).await.unwrap();
    }

    /// Returns the result of a function in the page, given by its body.
    pub async fn script(&self, body: &str) -> Value {
        self.client.execute(body, Vec::new()).await.unwrap()
    }

    /// Runs a module in the page, which shares the page's modules. Scripts of Firefox's driver do not.
    pub async fn module(&self, code: &str) {
        let script = format!(
            "const script = document.createElement('script');
            script.type = 'module';
            script.textContent = {};
            document.body.append(script);",
            json!(code)
        );
        self.script(&script).await;
    }

    /// Returns what a function in the page, given by its body, passes to its first argument.
    pub async fn script_async(&self, body: &str) -> Value {
        self.client.execute_async(body, Vec::new()).await.unwrap()
    }

    /// Waits until the function with this body returns true.
    pub async fn wait_for(&self, body: &str) {
        self.wait(body, async || {
            (self.script(body).await == json!(true)).then_some(())
        })
        .await;
    }

    #[expect(clippy::disallowed_methods, reason = "a browser uses the wall clock")]
    async fn wait<T>(&self, what: &str, mut look: impl AsyncFnMut() -> Option<T>) -> T {
        let start = Instant::now();
        loop {
            if let Some(found) = look().await {
                return found;
            }
            let failure = self.failure().await;
            assert!(
                start.elapsed() < PATIENCE && failure.is_none(),
                "{what}: {failure:?}"
            );
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    /// Returns the failure message of the page, if any.
    async fn failure(&self) -> Option<String> {
        let text = self
            .script("return document.getElementById('failure')?.textContent")
            .await;
        text.as_str().map(str::to_owned)
    }

    /// Waits until the page has drawn this many more frames.
    pub async fn wait_for_frames(&self, count: usize) {
        let seen = self.script("return frameTimes.length").await;
        let more = format!("return frameTimes.length >= {seen} + {count}");
        self.wait_for(&more).await;
    }

    /// Returns the platformer's log of displayed frames.
    pub async fn rows(&self) -> Vec<Row> {
        let lines = self.script("return motionLog").await;
        let lines = lines.as_array().unwrap().iter();
        lines
            .filter_map(|line| Row::read(line.as_str().unwrap()))
            .collect()
    }

    /// Returns the next frame of the platformer that fulfils a condition.
    pub async fn wait_for_row(&self, is_so: impl Fn(&Row) -> bool) -> Row {
        let seen = self.rows().await.len().saturating_sub(1);
        let look = async || self.rows().await.into_iter().skip(seen).find(&is_so);
        self.wait("a frame", look).await
    }

    /// Presses a key, or releases it.
    pub async fn key(&self, value: char, is_down: bool) {
        let action = if is_down {
            KeyAction::Down { value }
        } else {
            KeyAction::Up { value }
        };
        let keyboard = KeyActions::new("keyboard".into()).then(action);
        self.client.perform_actions(keyboard).await.unwrap();
    }

    /// Taps with a finger at a position in pixels of the page.
    pub async fn tap(&self, [x, y]: [f64; 2]) {
        let duration = None;
        let finger = TouchActions::new("finger".into())
            .then(PointerAction::MoveTo { duration, x, y })
            .then(PointerAction::Down { button: 0 })
            .then(PointerAction::Up { button: 0 });
        self.client.perform_actions(finger).await.unwrap();
    }

    /// Moves a finger with Chromium's own protocol, because the driver's actions do not move the hero. Without a
    /// position the finger goes up.
    pub async fn finger(&self, way: &str, at: Option<[i32; 2]>) {
        let points: Vec<_> = at
            .map(|[x, y]| json!({ "x": x, "y": y }))
            .into_iter()
            .collect();
        let event = json!({ "type": way, "touchPoints": points });
        let command = DevTools("Input.dispatchTouchEvent", event);
        self.client.issue_cmd(command).await.unwrap();
    }

    /// Shows another tab for a while. Returns how long that hid the page, in seconds.
    pub async fn hide_for(&self, time: Duration) -> f64 {
        let note = "document.addEventListener('visibilitychange', ({ timeStamp }) => {
            window.hidden = document.hidden ? -timeStamp : window.hidden + timeStamp;
        });";
        self.script(note).await;
        let page = self.client.window().await.unwrap();
        let other = self.client.new_window(true).await.unwrap().handle;
        self.client.switch_to_window(other).await.unwrap();
        tokio::time::sleep(time).await;
        self.client.close_window().await.unwrap();
        self.client.switch_to_window(page).await.unwrap();
        self.wait_for("return window.hidden > 0").await;
        self.script("return window.hidden").await.as_f64().unwrap() / 1000.0
    }

    /// Returns a screenshot, and stores it in a file for inspection.
    pub async fn picture(&self, name: &str) -> RgbImage {
        let bytes = match self.kind {
            // Chromium's driver gives up after 10 s, in which a software renderer may draw no frame of a game.
            Kind::Chromium => {
                let command = DevTools("Page.captureScreenshot", json!({}));
                let answer = self.client.issue_cmd(command).await.unwrap();
                let data = answer["data"].as_str().unwrap();
                BASE64_STANDARD.decode(data).unwrap()
            }
            Kind::Firefox => self.client.screenshot().await.unwrap(),
        };
        std::fs::write(file(&format!("{name}.png")), &bytes).unwrap();
        image::load_from_memory(&bytes).unwrap().into_rgb8()
    }
}

/// A part of the screen, as fractions of its width and height.
#[derive(Clone, Copy, Debug)]
pub struct Part {
    pub columns: [f64; 2],
    pub rows: [f64; 2],
}

impl Part {
    /// Returns the pixels of a picture that are in this part.
    fn pixels(self, picture: &RgbImage) -> impl Iterator<Item = (u32, u32)> {
        let range = |shares: [f64; 2], size: u32| {
            let [from, to] = shares.map(|share| (share * f64::from(size)) as u32);
            from..to
        };
        let columns = range(self.columns, picture.width());
        range(self.rows, picture.height()).flat_map(move |y| columns.clone().map(move |x| (x, y)))
    }
}

/// Returns the fraction of the pixels of a part that fulfil a condition.
pub fn share(picture: &RgbImage, part: Part, is_so: impl Fn(&Rgb<u8>) -> bool) -> f64 {
    let count = part
        .pixels(picture)
        .filter(|(x, y)| is_so(picture.get_pixel(*x, *y)));
    count.count() as f64 / part.pixels(picture).count() as f64
}

/// Returns the fraction of the pixels of a part that differ between two pictures.
pub fn differing([one, other]: [&RgbImage; 2], part: Part) -> f64 {
    assert_eq!(one.dimensions(), other.dimensions());
    let count = part
        .pixels(one)
        .filter(|(x, y)| one.get_pixel(*x, *y) != other.get_pixel(*x, *y));
    count.count() as f64 / part.pixels(one).count() as f64
}
