// The pages that the program writes, opened in a real browser, clicked and read.
//
// PAUSELESS is the program; CHROMIUM may name a browser other than Debian's.

import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const PROGRAM = process.env.PAUSELESS ?? "pauseless";
const FLAGS = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];
const ALARM = [213, 94, 0];
const SKY = [0, 114, 178];
const GREEN = [0, 158, 115];
const CYCLE = "deadlocked: S1:S2, S2:S3, S3:S1";

// Everything in it that could break out of where it stands, and a network in layers.
const HOSTILE = `
title = "</script><script>window.broken = 1</script>"
duration = "2 ms"

[topology]
kind = "fat-tree"
k = 4
rate = "10 Gbps"
delay = "1 us"

[switch]
buffer = "300 KB"

[flow_control]
kind = "pfc"
xoff = "200 KB"
xon = "197 KB"

[[flow]]
name = "</script><b>F</b>"
source = "H0"
target = "H15"

[[flow]]
name = "F2"
source = "H4"
target = "H15"

[probe]
resolution = "10 us"
flows = true
`;

// Two groups of flows, all of one completion time: each curve is one step.
const STEPS = `
duration = "1 ms"

[topology]
kind = "leaf-spine"
leaves = 1
spines = 1
hosts_per_leaf = 80
rate = "10 Gbps"
delay = "1 us"

[switch]
buffer = "3 MB"

[flow_control]
kind = "pfc"
${Array.from({ length: 40 }, (_, n) => `[[flow]]\nname = "f${n}"\nsource = "H${2 * n}"\ntarget = "H${2 * n + 1}"\nsize = "${n % 2 === 0 ? "1500 B" : "60 KB"}"\n`).join("")}
`;

// A link of a ring fails and returns, and the switches learn of it one after the other; then a switch fails.
const EVENTS = `
duration = "2 ms"
mtu = "1000 B"

[topology]
kind = "ring"
switches = 5
hosts_per_switch = 1
rate = "40 Gbps"
delay = "1 us"

[switch]
buffer = "200 KB"

[flow_control]
kind = "pfc"
xoff = "40 KB"
xon = "38 KB"

[[flow]]
name = "rerouted"
source = "H1"
target = "H5"
rate = "10 Gbps"

[[event]]
kind = "link-down"
at = "430 us"
link = ["S1", "S5"]

[[event]]
kind = "link-up"
at = "1 ms"
link = ["S1", "S5"]

[[event]]
kind = "switch-down"
at = "1.5 ms"
switch = "S3"

[converge]
delay = "100 us"

[probe]
resolution = "5 us"
flows = true
`;

/** A ring of three switches that deadlocks under PFC; its flows start when they are told to. */
function ring(switches, hosts, start) {
  const [a, b, c] = switches;
  const pairs = [[a, b], [b, c], [c, a], ...switches.map((name, n) => [name, hosts[n]])];
  const node = (kind) => (name) => `[[topology.node]]\nname = "${name}"\nkind = "${kind}"\n`;
  const flow = (n) => `[[flow]]
source = "${hosts[n]}"
target = "${hosts[(n + 2) % 3]}"
path = ["${switches[n]}", "${switches[(n + 1) % 3]}", "${switches[(n + 2) % 3]}"]
start = "${start}"
`;
  return {
    nodes: switches.map(node("switch")).join("") + hosts.map(node("host")).join(""),
    links: pairs.map(([from, to]) => `[[topology.link]]\nbetween = ["${from}", "${to}"]\n`).join(""),
    flows: [0, 1, 2].map(flow).join(""),
  };
}

/** Two rings by themselves, the second of which deadlocks later. */
function rings(mitigation) {
  const parts = [ring(["S1", "S2", "S3"], ["H1", "H2", "H3"], "0 ms"), ring(["T1", "T2", "T3"], ["G1", "G2", "G3"], "5 ms")];
  const all = (name) => parts.map((part) => part[name]).join("");
  return `
duration = "20 ms"

[topology]
kind = "custom"
rate = "10 Gbps"
delay = "1 us"
${all("nodes")}${all("links")}[[topology.link]]
between = ["S1", "T1"]

[switch]
buffer = "1012 KB"
processing = "85 us"

[flow_control]
kind = "pfc"
xoff = "800 KB"
xon = "797 KB"

${mitigation}
${all("flows")}`;
}

let folder;
let browser;
let demo;
let hostile;

before(async () => {
  folder = mkdtempSync(join(tmpdir(), "pauseless-page-"));
  demo = join(folder, "demo.html");
  hostile = join(folder, "hostile.html");
  const scenario = join(folder, "hostile.toml");
  writeFileSync(scenario, HOSTILE);
  execFileSync(PROGRAM, ["demo", "--out", demo], { stdio: "pipe" });
  execFileSync(PROGRAM, ["run", scenario, "--quiet", "--html", hostile], { stdio: "pipe" });
  browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: FLAGS });
});

after(async () => {
  await browser?.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Opens a page; what it complains about or asks for fails the test. */
async function open(t, file, options = {}) {
  const page = await browser.newPage({ viewport: { width: 1400, height: 900 }, ...options });
  const heard = [];
  page.on("console", (message) => heard.push(`console: ${message.text()}`));
  page.on("pageerror", (error) => heard.push(`error: ${error}`));
  page.on("request", (request) => request.url().startsWith("file:") || heard.push(`request: ${request.url()}`));
  t.after(async () => {
    await page.close();
    assert.deepEqual(heard, []);
  });
  await page.goto(pathToFileURL(file).href);
  if (options.javaScriptEnabled !== false) {
    await page.waitForSelector("html[data-alive]");
    await readable(page);
  }
  return page;
}

/** Lets the browser copy canvases before they are read, which it would complain about. */
async function readable(page) {
  await page.evaluate(() => {
    window.imageOf = (canvas) => {
      const copy = document.createElement("canvas");
      [copy.width, copy.height] = [canvas.width, canvas.height];
      const context = copy.getContext("2d", { willReadFrequently: true });
      context.drawImage(canvas, 0, 0);
      return context.getImageData(0, 0, copy.width, copy.height);
    };
  });
}

/** How many pixels of an element's canvases have this colour, and the first of them. */
function pixels(locator, colour) {
  return locator.evaluate(
    (element, [red, green, blue]) => {
      let count = 0;
      let first = null;
      for (const canvas of element.querySelectorAll("canvas")) {
        const { data, width } = window.imageOf(canvas);
        for (let at = 0; at < data.length; at += 4) {
          const distance = Math.abs(data[at] - red) + Math.abs(data[at + 1] - green) + Math.abs(data[at + 2] - blue);
          if (data[at + 3] > 128 && distance < 60) {
            count += 1;
            first ??= { x: (at / 4) % width, y: Math.floor(at / 4 / width), scale: width / canvas.clientWidth };
          }
        }
      }
      return { count, first };
    },
    colour,
  );
}

const card = (page, name) => page.locator("section").filter({ has: page.locator(`h2:text-matches("^${name}\\\\s")`) });
const state = (page, name) => card(page, name).locator(".state").innerText();
const readout = async (page) => Number.parseFloat(await page.locator(".instant").innerText());

async function slide(page, share) {
  await page.locator(".stage input").evaluate((slider, share) => {
    slider.value = String(Math.round(share * Number(slider.max)));
    slider.dispatchEvent(new Event("input"));
    // The page draws in the next frame; the one after that shows it.
    return new Promise((shown) => requestAnimationFrame(() => requestAnimationFrame(() => shown())));
  }, share);
}

/** Drags over the part of a curve between two shares of its width. */
async function drag(page, plot, from, to) {
  await plot.scrollIntoViewIfNeeded();
  const box = await plot.boundingBox();
  const y = box.y + box.height / 2;
  await page.mouse.move(box.x + box.width * from, y);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * to, y, { steps: 5 });
  await page.mouse.up();
}

function sceneOf(file) {
  return JSON.parse(readFileSync(file, "utf8").match(/id="scene">(.*?)<\/script>/s)[1]);
}

function deadlockOf(file, name) {
  return sceneOf(file).runs.find((run) => run.name === name).deadlocks[0].from;
}

/** The page of a scenario. */
function pageOf(name, scenario) {
  const [file, page] = [join(folder, `${name}.toml`), join(folder, `${name}.html`)];
  writeFileSync(file, scenario);
  // A deadlock is an exit status of its own.
  const done = spawnSync(PROGRAM, ["run", file, "--quiet", "--html", page], { encoding: "utf8" });
  assert.ok(existsSync(page), done.stderr);
  return page;
}

test("the demo is one small file with six live runs", async (t) => {
  assert.ok(statSync(demo).size < 1_500_000, `${statSync(demo).size} bytes`);
  const page = await open(t, demo);
  assert.equal(await page.locator("section").count(), 6);
  // Nothing that was drawn before is left, and every figure has curves in it.
  assert.equal(await page.locator("section svg").count(), 0);
  const plots = await page.locator("figure[data-panel] .live").all();
  assert.equal(plots.length, 18);
  for (const plot of plots) {
    const drawn = await plot.locator("canvas").evaluate((canvas) => {
      const { data } = window.imageOf(canvas);
      // Colours as opposed to greys.
      return data.filter((_, at) => at % 4 === 0 && data[at + 3] > 128 && Math.abs(data[at] - data[at + 2]) > 60).length;
    });
    assert.ok(drawn > 300, `${drawn} coloured pixels`);
  }
});

test("the pause wave travels, the cycle closes, and only then ports are deadlocked", async (t) => {
  const page = await open(t, demo);
  const deadlock = deadlockOf(demo, "pfc");
  // Look closer: the first 1/50 of the time is some 5 ms.
  await drag(page, page.locator(".u-over").first(), 0, 0.02);
  const seen = new Map();
  for (let share = 0; share <= 1; share += 0.02) {
    await slide(page, share);
    seen.set(await readout(page), await state(page, "pfc"));
  }
  const times = [...seen.keys()];
  assert.ok(times.at(-1) < 10 && times.at(-1) > deadlock + 0.1, `looks at ${times[0]} to ${times.at(-1)} ms`);
  const grain = 0.02;
  for (const [time, words] of seen) {
    if (Math.abs(time - deadlock) > grain) {
      assert.equal(words.startsWith(CYCLE), time > deadlock, `at ${time} ms: ${words}`);
    }
  }
  assert.equal(seen.get(times[0]), "nobody is held back");
  const first = [...seen].find(([, words]) => words.includes("stopped: H1:S1"));
  assert.ok(first[0] > 1 && first[0] < deadlock, `hosts are stopped first, at ${first[0]} ms`);
  assert.equal(first[1], "stopped: H1:S1, H2:S2, H3:S3");
});

test("a moment leads to its instant, where PFC is frozen and GFC flows on", async (t) => {
  const page = await open(t, demo);
  const network = card(page, "pfc").locator(".network");
  await slide(page, 0);
  assert.equal((await pixels(network, ALARM)).count, 0, "nothing is stopped at first");
  assert.equal(await state(page, "pfc"), "nobody is held back");
  await card(page, "pfc").getByRole("button", { name: "deadlock" }).click();
  assert.ok(Math.abs((await readout(page)) - deadlockOf(demo, "pfc")) < 0.1);
  assert.ok((await state(page, "pfc")).startsWith(CYCLE));
  await page.waitForTimeout(100);
  assert.ok((await pixels(network, ALARM)).count > 500, "the cycle is drawn");
  for (const name of ["cbfc", "gfc-buffer", "gfc-time", "gfc-buffer-cycle-aware"]) {
    assert.ok(!(await state(page, name)).includes("deadlocked"), name);
  }
  assert.ok((await pixels(card(page, "gfc-buffer-cycle-aware").locator(".network"), SKY)).count > 500, "it sends");
  await slide(page, 1);
  assert.ok((await state(page, "pfc")).startsWith(CYCLE), "for ever");
  assert.equal(await state(page, "gfc-buffer"), "nobody is held back");
});

test("dragging zooms all curves, and a double click shows everything", async (t) => {
  const page = await open(t, demo);
  const other = card(page, "gfc-time").locator("figure[data-panel] canvas").first();
  const picture = () => other.evaluate((canvas) => canvas.toDataURL());
  const whole = await picture();
  const button = page.getByRole("button", { name: "whole run" });
  assert.ok(await button.isDisabled());
  await drag(page, page.locator(".u-over").first(), 0.2, 0.6);
  assert.match(await page.locator(".stage .note").innerText(), /^(49|50|51)\.\d* ms to 1(49|50|51)\.\d* ms$|^(49|50|51) ms to 1(49|50|51) ms$/);
  assert.notEqual(await picture(), whole, "another card zooms too");
  // A moment outside of the window takes it along, and leaves it as wide as it was.
  const width = async () => {
    const [from, to] = (await page.locator(".stage .note").innerText()).split(" to ").map(Number.parseFloat);
    return to - from;
  };
  const before = await width();
  for (const name of ["end", "deadlock", "end"]) {
    await card(page, "pfc").getByRole("button", { name }).click();
    assert.ok(Math.abs((await width()) - before) < 2, `${await width()} ms, not ${before}`);
  }
  await page.locator(".u-over").first().dblclick();
  assert.ok(await button.isDisabled());
  await page.mouse.move(5, 5);
  assert.equal(await picture(), whole);
  // Once more, where there is nothing to be shown, and over a queue.
  await page.locator(".u-over").first().dblclick();
  await card(page, "pfc").getByLabel("port").selectOption("S1:S3");
  await card(page, "pfc").locator(".detail .u-over").dblclick();
  await page.mouse.move(5, 5);
  await page.waitForTimeout(100);
  assert.equal(await picture(), whole, "curves stay with the slider");
});

test("the steps of a distribution are drawn from bottom to top", async (t) => {
  const page = await open(t, pageOf("steps", STEPS));
  const heights = await page.locator("figure[data-panel] .live").first().evaluate((live) => {
    const { data, width, height } = window.imageOf(live.querySelector("canvas"));
    const rows = (near) => {
      const found = [...Array(height).keys()].filter((y) => [...Array(width).keys()].some((x) => data[4 * (y * width + x) + 3] > 128 && near(data.subarray(4 * (y * width + x)))));
      return found.length;
    };
    const colours = JSON.parse(document.getElementById("scene").textContent).palette.slice(0, 3).map((hex) => [1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16)));
    return { height, rows: colours.map(([r, g, b]) => rows((it) => Math.abs(it[0] - r) + Math.abs(it[1] - g) + Math.abs(it[2] - b) < 60)) };
  });
  // The first is all flows; the others are one step each, as high as the plot.
  for (const rows of heights.rows.slice(1)) {
    assert.ok(rows > heights.height * 0.6, JSON.stringify(heights));
  }
});

test("of two deadlocks at one time both are marked", async (t) => {
  const file = pageOf("rings", rings('[recovery]\nkind = "drain"\ndelay = "10 ms"\n'));
  const { deadlocks, end } = sceneOf(file).runs[0];
  assert.ok(deadlocks[1].from < deadlocks[0].to, "they overlap");
  const page = await open(t, file);
  await slide(page, (deadlocks[0].from + deadlocks[1].from) / 2 / end);
  assert.equal(await page.locator(".state").innerText().then((words) => words.split(";")[0]), "deadlocked: S1:S2, S2:S3, S3:S1");
  await slide(page, (deadlocks[1].from + deadlocks[0].to) / 2 / end);
  assert.match(await page.locator(".state").innerText(), /^deadlocked: S1:S2, S2:S3, S3:S1, T1:T2, T2:T3, T3:T1/);
});

test("a deadlock that is broken at once is seen, and found before it is broken", async (t) => {
  const file = pageOf("broken", rings('[recovery]\nkind = "drain"\n'));
  const [first] = sceneOf(file).runs[0].deadlocks;
  assert.equal(first.from, first.to);
  const page = await open(t, file);
  const names = await page.locator(".moments button").allInnerTexts();
  assert.deepEqual(names.map((name) => name.split(" ")[0]).filter((name) => ["deadlock", "broken"].includes(name)).slice(0, 2), ["deadlock", "broken"]);
  await page.getByRole("button", { name: "deadlock" }).first().click();
  assert.match(await page.locator(".state").innerText(), /^deadlocked: S1:S2, S2:S3, S3:S1/);
  await slide(page, 1);
  assert.ok(!(await page.locator(".state").innerText()).includes("S1:S2, S2:S3, S3:S1"));
});

test("a link and a switch are drawn as down while they are, and events are marked in curves", async (t) => {
  const file = pageOf("events", EVENTS);
  const { outages, panels, moments, end } = sceneOf(file).runs[0];
  assert.deepEqual(outages.switches.map(({ from, to }) => [from, to]), [[1.5, null]]);
  assert.deepEqual(outages.links.map(({ from, to }) => [from, to])[0], [0.43, 1]);
  assert.equal(outages.links.length, 4, "the link, and three with the switch");
  const names = ["link-down S1-S5", "link-up S1-S5", "switch-down S3"];
  assert.deepEqual(panels[0].instants.map(({ label }) => label), names);
  assert.deepEqual(moments.map(({ label }) => label).filter((label) => names.includes(label)), names);
  const page = await open(t, file);
  const state = page.locator(".state");
  const network = page.locator(".network");
  await slide(page, 0);
  assert.equal(await state.innerText(), "nobody is held back");
  await page.waitForTimeout(100);
  assert.equal((await pixels(network, GREEN)).count, 0, "every switch has its first table");
  await slide(page, 0.45 / end);
  assert.equal(await state.innerText(), "down: S1-S5; nobody is held back");
  await page.getByLabel("port").selectOption("S1:S5");
  assert.match(await page.locator(".detail p").innerText(), /its link is down$/);
  await slide(page, 0.7 / end);
  await page.waitForTimeout(100);
  assert.ok((await pixels(network, GREEN)).count > 100, "tables have changed");
  await slide(page, 1.05 / end);
  assert.equal(await state.innerText(), "nobody is held back", "it is back");
  await slide(page, 1.8 / end);
  assert.match(await state.innerText(), /^down: S3;/);
  assert.deepEqual(await page.locator(".keys .key").allInnerTexts().then((keys) => keys.filter((key) => /down|table/.test(key))), ["down", "has another table than at first"]);
  // A line from top to bottom where the link fails, and none beside it.
  const plot = page.locator("figure[data-panel] .live").last();
  const drawn = (time) =>
    plot.evaluate((live, share) => {
      const canvas = live.querySelector("canvas");
      const [over, whole] = [live.querySelector(".u-over"), canvas].map((it) => it.getBoundingClientRect());
      const scale = canvas.width / whole.width;
      const { data, width } = window.imageOf(canvas);
      const x = Math.round((over.left - whole.left + over.width * share) * scale);
      const from = Math.round((over.top - whole.top) * scale) * width;
      const height = Math.round(over.height * scale * 0.4);
      // The upper part, where no curve is; the line may lie between two columns.
      const filled = (column) => Array.from({ length: height }, (_, y) => data[(from + y * width + column) * 4 + 3] > 60).filter(Boolean).length;
      return Math.max(filled(x - 1), filled(x), filled(x + 1)) / height;
    }, time / end);
  assert.ok((await drawn(0.43)) > 0.25, `a dotted line: ${await drawn(0.43)}`);
  assert.ok((await drawn(0.41)) < 0.15, `nothing before it: ${await drawn(0.41)}`);
});

test("a page without events has no keys for them", async (t) => {
  const page = await open(t, demo);
  const keys = await page.locator(".keys .key").allInnerTexts();
  assert.equal(keys.filter((key) => /down|table/.test(key)).length, 0);
});

test("where the script fails the figures stay", async (t) => {
  const page = await browser.newPage();
  t.after(() => page.close());
  await page.addInitScript(() => delete window.DecompressionStream);
  const complaint = page.waitForEvent("console");
  await page.goto(pathToFileURL(demo).href);
  assert.match((await complaint).text(), /the figures stand still/);
  assert.equal(await page.locator("section svg").count(), 24);
  assert.equal(await page.locator(".stage, .live").count(), 0);
});

test("curves are hidden and shown by their names", async (t) => {
  const page = await open(t, demo);
  const plot = card(page, "pfc").locator("figure[data-panel] .live").first();
  const shown = (await pixels(plot, SKY)).count;
  assert.ok(shown > 200);
  const name = plot.locator(".u-legend th", { hasText: "S1:H1" });
  await name.click();
  assert.ok((await pixels(plot, SKY)).count < shown / 5, "hidden");
  await name.focus();
  await page.keyboard.press("Enter");
  assert.equal((await pixels(plot, SKY)).count, shown, "shown again, without a mouse");
});

test("hovering reads values off", async (t) => {
  const page = await open(t, demo);
  const plot = card(page, "gfc-buffer-cycle-aware").locator("figure[data-panel]").last();
  await plot.scrollIntoViewIfNeeded();
  const box = await plot.locator(".u-over").boundingBox();
  await page.mouse.move(box.x + box.width * 0.3, box.y + 30);
  const value = plot.locator(".u-series", { hasText: "F1" }).locator(".u-value");
  assert.ok(Math.abs(Number(await value.innerText()) - 5) < 0.3, await value.innerText());
});

test("a port shows its queue when it is clicked", async (t) => {
  const page = await open(t, demo);
  await slide(page, 1);
  const network = card(page, "pfc").locator(".network");
  await network.scrollIntoViewIfNeeded();
  await page.waitForTimeout(100);
  // Of a frozen network nothing but full queues is blue; S1 and its host are on top.
  const { first } = await pixels(network, SKY);
  await network.click({ position: { x: first.x / first.scale, y: first.y / first.scale + 4 } });
  const detail = card(page, "pfc").locator(".detail");
  assert.match(await detail.locator("p").innerText(), /^S1:H1: its queue holds 9\d\d KB of 1\.01 MB/);
  assert.ok((await pixels(detail, SKY)).count > 100, "its curve");
  await slide(page, 0);
  assert.match(await detail.locator("p").innerText(), /^S1:H1: its queue holds 0 B/);
  // The same without a mouse.
  await card(page, "pfc").getByLabel("port").selectOption("S1:S3");
  assert.match(await detail.locator("p").innerText(), /^S1:S3: its queue holds 0 B/);
  assert.equal(await detail.locator("canvas").count(), 1);
});

test("the replay plays and pauses", async (t) => {
  const page = await open(t, demo);
  await slide(page, 0);
  await page.locator(".play").click();
  await page.waitForFunction(() => Number.parseFloat(document.querySelector(".instant").textContent) > 5);
  await page.locator(".play").click();
  const time = await readout(page);
  await page.waitForTimeout(200);
  assert.equal(await readout(page), time);
  await page.locator(".stage input").focus();
  // The read-out is rounded to about a step, so one of them may not show.
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowRight");
  assert.ok((await readout(page)) > time, "an arrow key goes on");
});

test("nothing from a scenario becomes part of the page", async (t) => {
  const page = await open(t, hostile);
  assert.equal(await page.evaluate(() => window.broken), undefined);
  assert.equal(await page.locator("section b").count(), 0);
  assert.equal(await page.title(), "</script><script>window.broken = 1</script>");
  assert.equal(await page.locator(".u-legend th", { hasText: "</script><b>F</b>" }).count(), 1);
  assert.ok((await pixels(page.locator(".network"), SKY)).count > 100, "a tree is drawn");
});

test("without scripts the figures are still there", async (t) => {
  const page = await open(t, demo, { javaScriptEnabled: false });
  assert.equal(await page.locator("section svg").count(), 24);
  assert.equal(await page.locator(".stage").count(), 0);
  const tree = await open(t, hostile, { javaScriptEnabled: false });
  assert.equal(await tree.locator("figure:visible", { hasText: "the network" }).count(), 0, "no figure without a drawing");
});

test("small and dark screens", async (t) => {
  const page = await open(t, demo, { viewport: { width: 390, height: 800 }, colorScheme: "dark" });
  const width = await page.evaluate(() => document.documentElement.scrollWidth);
  assert.ok(width <= 390, `${width} pixels wide`);
  assert.ok((await pixels(card(page, "pfc").locator(".network"), ALARM)).count > 300);
});

test("an experiment's page has its claims, its figures and its runs", async (t) => {
  execFileSync(PROGRAM, ["repro", "hotnets-fig4", "--quiet", "--out", folder], { stdio: "pipe" });
  const file = join(folder, "hotnets-fig4", "report.html");
  assert.ok(statSync(file).size < 5e6);
  const page = await open(t, file);
  const rows = await page.locator(".claims tr:has(td)").count();
  assert.ok(rows >= 5, `${rows} claims`);
  assert.equal(await page.locator(".claims .badge").count(), rows);
  assert.ok((await page.locator(".claims").innerText()).includes("deadlock, in every run"));
  const figure = await page.locator("figure.paper svg").first().boundingBox();
  assert.ok(figure.width > 300 && figure.height > 100);
  const last = await page.locator(".claims td:last-child").first().boundingBox();
  assert.ok(last.x + last.width <= 1400, "what was measured can be read without scrolling");
  const run = "PFC/output-queued, seed 1";
  await slide(page, 0);
  assert.ok(!(await state(page, run)).includes("deadlocked"));
  await slide(page, 1);
  assert.ok((await state(page, run)).includes("deadlocked"));
  assert.ok(!(await state(page, "PFC/virtual-output-queued, seed 1")).includes("deadlocked"));
});
