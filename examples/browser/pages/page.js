// What all pages have: the times of their frames, a message if something fails, and what those in three dimensions need.

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
const link = document.createElement("a");
link.id = "times";
link.textContent = "save frame times";
link.download = "frame-times.csv";
link.href = "#";
link.addEventListener("click", () => {
    const lines = frameTimes.map((time) => time.toFixed(3));
    const file = new Blob([["MsBetweenPresents", ...lines, ""].join("\n")], { type: "text/csv" });
    link.href = URL.createObjectURL(file);
});
document.body.append(link);

function fail(reason) {
    const text = document.getElementById("failure") ?? document.createElement("p");
    text.id = "failure";
    const message = globalThis.panicMessage ?? reason?.message ?? reason;
    text.textContent = `This page has failed: ${message}`;
    document.body.append(text);
}
addEventListener("error", (event) => fail(event.error ?? event.message));
addEventListener("unhandledrejection", (event) => fail(event.reason));

// Kiss3d's shaders need more than WebGL has.
export async function requireWebGpu() {
    if (!await navigator.gpu?.requestAdapter()) {
        throw new Error("it draws by WebGPU, which this browser or its graphics driver does not have");
    }
}
