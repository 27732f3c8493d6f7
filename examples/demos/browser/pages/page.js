// What all pages have: the download with its progress, the times of their frames, and a message if something fails.

// The lengths of the frames, in milliseconds, by the stamps of requestAnimationFrame.
globalThis.frameTimes = [];
const MOST = 60 * 60 * 10;
let last = null;
function frame(stamp) {
    if (last !== null && frameTimes.length < MOST) {
        frameTimes.push(stamp - last);
    }
    last = document.hidden ? null : stamp;
    requestAnimationFrame(frame);
}
requestAnimationFrame(frame);

// What a game shows in each frame, as lines, for a page that is opened with `?log`.
if (new URLSearchParams(location.search).has("log")) {
    globalThis.motionLog = [];
}

// They are saved in PresentMon's format, which the stepping report reads.
const link = document.getElementById("times");
link.addEventListener("click", () => {
    const lines = frameTimes.map((time) => time.toFixed(3));
    const file = new Blob([["MsBetweenPresents", ...lines, ""].join("\n")], { type: "text/csv" });
    link.href = URL.createObjectURL(file);
});

const loading = document.getElementById("loading");

function fail(reason) {
    loading.remove();
    const text = document.getElementById("failure") ?? document.createElement("p");
    text.id = "failure";
    const message = globalThis.panicMessage ?? reason?.message ?? reason;
    text.textContent = `This page has failed: ${message}`;
    document.body.prepend(text);
}
addEventListener("error", (event) => fail(event.error ?? event.message));
addEventListener("unhandledrejection", (event) => fail(event.reason));

// The book and the repository are beside these pages on the published site only.
for (const links of document.querySelectorAll(".site")) {
    links.hidden = !location.pathname.includes("/browser/");
}

// What file.js says about a page without its WebAssembly. The page then does nothing more.
function unbuilt(file) {
    explain(`${file} is missing.`);
    return new Promise(() => {});
}

// Loads the WebAssembly with this name, shows the progress, and returns what it exports. The clock of the page sends
// the event after which the picture is there.
export async function load(name) {
    const [word, bar] = loading.childNodes;
    const module = await import(`./${name}.js`).catch(() => unbuilt(`${name}.js`));
    const { default: init, size, ...exported } = module;
    const response = await fetch(`${name}_bg.wasm`);
    if (!response.ok) {
        await unbuilt(response.url);
    }
    let received = 0;
    const counter = new TransformStream({
        transform(bytes, rest) {
            received += bytes.length;
            bar.value = received / size;
            rest.enqueue(bytes);
        },
        flush() {
            word.data = "Starting ";
            bar.removeAttribute("value");
        },
    });
    const headers = { "Content-Type": "application/wasm" };
    const counted = new Response(response.body.pipeThrough(counter), { headers });
    document.addEventListener("firstframe", () => requestAnimationFrame(() => loading.remove()));
    await init({ module_or_path: counted });
    return exported;
}

// The same for a game in three dimensions. Kiss3d's shaders read storage buffers, which WebGL does not have.
export async function loadGame(name) {
    if (await navigator.gpu?.requestAdapter()) {
        await load(name);
    } else {
        loading.remove();
        link.hidden = true;
        document.getElementById("without").hidden = false;
        document.getElementById("canvas").hidden = true;
    }
}

// Keeps the line of a match up to date: its text, and whether it is being played.
export function report(text, isPlaying) {
    const line = document.getElementById("state");
    setInterval(() => {
        line.textContent = text();
        line.classList.toggle("playing", isPlaying());
    }, 200);
}
