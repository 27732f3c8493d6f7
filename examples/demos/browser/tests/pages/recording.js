// A module that plays the match on canvases of its own, and stores every other frame of its second part as a data URL in
// `recording`, with a name for each machine.
import { default as init, Duel } from "./canvas.js";

const FRAME = 20; // milliseconds
const [SKIPPED, RECORDED] = [250, 200]; // frames
const [WIDTH, HEIGHT, SIDE, TOP] = [640, 400, 314, 34]; // of the picture and of an arena, in pixels
// How many frames each player holds a key, and the keys in turn: green runs in circles, and violet to and fro, which is
// harder to predict.
const KEYS = [[19, ["KeyD", "KeyS", "KeyA", "KeyW"]], [24, ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown"]]];
const FONT = "system-ui, sans-serif";

const canvas = (width, height) => Object.assign(document.createElement("canvas"), { width, height });
const arenas = [canvas(SIDE, SIDE), canvas(SIDE, SIDE)];
const names = [["Green's machine", "#1f7a41"], ["Violet's machine", "#6a3fb5"]];
const picture = canvas(WIDTH, HEIGHT);
const context = picture.getContext("2d", { willReadFrequently: true });

function hold(frame) {
    for (const [length, keys] of KEYS) {
        if (frame % length === 0) {
            const turn = frame / length;
            const press = (name, turn) => document.dispatchEvent(new KeyboardEvent(name, { code: keys[turn % 4] }));
            press("keyup", turn + 3);
            press("keydown", turn);
        }
    }
}

// Writes words of several colours.
function write(words, x, y, font) {
    context.font = font;
    for (const [text, colour] of words) {
        context.fillStyle = colour;
        context.fillText(text, x, y);
        x += context.measureText(text).width;
    }
}

function draw() {
    context.fillStyle = "#fff";
    context.fillRect(0, 0, WIDTH, HEIGHT);
    arenas.forEach((arena, i) => {
        const x = i * (WIDTH - SIDE);
        write([names[i]], x + 2, 24, `bold 21px ${FONT}`);
        context.fillStyle = "#d9eefb";
        context.fillRect(x, TOP, SIDE, SIDE);
        context.drawImage(arena, x, TOP);
    });
    const line = [
        ["Orange rings", "#b34a12"], [" jump after a rollback. ", "#000"],
        ["evenstep", "#1f5fa8"], ["'s discs glide.", "#000"],
    ];
    write(line, 2, TOP + SIDE + 22, `bold 18px ${FONT}`);
    write([["200 ms there and back, 20 % of all packets lost", "#000"]], 2, TOP + SIDE + 44, `18px ${FONT}`);
}

async function record() {
    await init();
    const request = requestAnimationFrame;
    let call;
    globalThis.requestAnimationFrame = (next) => call = next;
    const duel = new Duel(...arenas, canvas(1, 1));
    globalThis.requestAnimationFrame = request;
    duel.connect(90, 20, 200);
    const start = document.timeline.currentTime;
    let last = performance.now();
    const frames = [];
    for (let frame = 1; frame <= SKIPPED + RECORDED; frame += 1) {
        // GGRS has a clock of its own, so frames never follow each other faster, even after a long one. Timers and repaints
        // of a headless browser may take far longer, so this does not wait for them.
        while (performance.now() < last + FRAME);
        last = performance.now();
        hold(frame);
        call(start + frame * FRAME);
        if (frame > SKIPPED && frame % 2 === 0) {
            draw();
            frames.push(context.getImageData(0, 0, WIDTH, HEIGHT));
        }
    }
    const urls = [];
    for (const frame of frames) {
        context.putImageData(frame, 0, 0);
        urls.push(picture.toDataURL());
        // Lets the driver ask whether this is done.
        await new Promise((next) => request(next));
    }
    return urls;
}
globalThis.recording = await record();
