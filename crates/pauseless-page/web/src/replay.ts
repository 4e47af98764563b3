// The network as it was at an instant: queues, stopped senders, and the cycle of a deadlock.

import cytoscape from "cytoscape";
import uPlot from "uplot";
import { SHARED } from "./curves";
import { deadlocksAt, instantAt, outagesAt } from "./data";
import type { Film, NetworkData, RunData, Scene } from "./data";
import { colour, element, onSchemeChange } from "./dom";
import { layout, portPlace } from "./layout";
import type { Point } from "./layout";
import type { Stage } from "./stage";
import { bytes, list } from "./words";

const BOX = { x: 24, y: 15 };
const HOST = { x: 17, y: 11 };
const NAMES_MAX = 6;
/** Okabe and Ito's; vermilion is kept for what is stopped. */
const SLOWED = "#E69F00";
const MOVING = "#0072B2";
const REROUTED = "#009E73";

/** Shows `run` in `place` and keeps it with the stage. */
export class Replay {
  private readonly cy: cytoscape.Core;
  private readonly canvas = element("div", { class: "network", role: "img" });
  private readonly state = element("p", { class: "state" });
  private readonly detail = element("div", { class: "detail", hidden: "" });
  private readonly chooser = element("select", { "aria-label": "port" });
  private chosen: number | null = null;
  private plot: uPlot | null = null;
  private shown = { instant: -1, deadlocks: "", outages: "" };
  /** The ports whose link is down at the instant that is shown. */
  private down = new Set<number>();

  constructor(
    private readonly place: HTMLElement,
    private readonly scene: Scene,
    private readonly run: RunData,
    private readonly film: Film,
    private readonly stage: Stage,
  ) {
    const canvas = this.canvas;
    canvas.setAttribute("aria-label", `the network of ${run.name}`);
    canvas.classList.toggle("large", this.network.nodes.length > 60);
    place.append(canvas, this.legend(), this.state, this.detail);
    this.cy = cytoscape({
      container: canvas,
      elements: this.elements(),
      style: this.style(),
      layout: { name: "preset" },
      autoungrabify: true,
      boxSelectionEnabled: false,
      userZoomingEnabled: false,
      minZoom: 0.05,
      maxZoom: 6,
    });
    this.arrange();
    this.cy.style(this.style());
    // Who has no mouse chooses by name.
    this.chooser.append(element("option", { value: "" }, ["queue of .."]), ...this.network.ports.map(({ name }, index) => element("option", { value: String(index) }, [name])));
    this.chooser.addEventListener("change", () => this.choose(this.chooser.value === "" ? null : Number(this.chooser.value)));
    this.cy.on("tap", "node.port, edge", (event) => {
      const port = Number(event.target.data("port"));
      this.choose(port === this.chosen ? null : port);
    });
    this.cy.on("mouseover", "node.port, edge", (event) => canvas.setAttribute("title", this.words(Number(event.target.data("port")))));
    // The wheel scrolls the page; with a key it zooms.
    canvas.addEventListener("wheel", (event) => this.cy.userZoomingEnabled(event.ctrlKey || event.metaKey), { capture: true, passive: true });
    canvas.addEventListener("dblclick", () => this.cy.fit(undefined, 12));
    new ResizeObserver(() => {
      this.cy.resize();
      this.cy.fit(undefined, 12);
    }).observe(canvas);
    onSchemeChange(() => this.cy.style(this.style()));
    stage.watch({ onTime: () => this.show(), onWindow: () => this.plot?.setScale("x", { min: stage.from, max: stage.to }) });
    this.show();
  }

  /** How large the whole network is drawn. */
  private get zoom(): number {
    const box = this.cy?.elements().boundingBox() ?? { w: 1, h: 1 };
    const { clientWidth, clientHeight } = this.canvas;
    return Math.min(clientWidth / Math.max(box.w, 1), clientHeight / Math.max(box.h, 1));
  }

  private get network(): NetworkData {
    return this.run.network as NetworkData;
  }

  private elements(): cytoscape.ElementDefinition[] {
    const nodes = this.network.nodes.map((node, index) => ({
      data: { id: `n${index}`, label: node.name },
      classes: node.host ? "host" : "switch",
      selectable: false,
    }));
    const ports = this.network.ports.map((_, index) => ({
      data: { id: `p${index}`, port: index, fill: 0 },
      classes: "port",
      selectable: false,
    }));
    const wires = this.network.ports.map((port, index) => ({
      data: { id: `e${index}`, port: index, source: `p${index}`, target: `p${port.peer}`, busy: 0, bend: 0 },
      selectable: false,
    }));
    return [...wires, ...nodes, ...ports];
  }

  /** Puts nodes to their places, and ports on the edges of nodes. */
  private arrange(): void {
    const { nodes, bend } = layout(this.network);
    if (nodes === null) {
      this.force();
    }
    const place = (index: number): Point => nodes?.[index] ?? this.cy.getElementById(`n${index}`).position();
    const beside = new Map<string, number>();
    this.network.ports.forEach((port, index) => {
      const peer = this.network.ports[port.peer];
      const key = `${port.node} ${peer?.node}`;
      const parallel = beside.get(key) ?? 0;
      beside.set(key, parallel + 1);
      const reach = this.network.nodes[port.node]?.host ? HOST : BOX;
      // Both ends of a link move to the same side.
      const side = port.node < (peer?.node ?? 0) ? 1 : -1;
      const aside = side * (parallel % 2 === 0 ? 1 : -1) * Math.ceil(parallel / 2) * 9;
      const [from, to] = [place(port.node), place(peer?.node ?? 0)];
      this.cy.getElementById(`p${index}`).position(portPlace(from, to, { ...reach, aside }));
      this.cy.getElementById(`e${index}`).data("bend", bend(Math.hypot(to.x - from.x, to.y - from.y)));
    });
    nodes?.forEach((at, index) => this.cy.getElementById(`n${index}`).position(at));
    this.cy.fit(undefined, 12);
  }

  /** A force layout over nodes alone: ports would be pulled about. */
  private force(): void {
    const links = this.network.ports.flatMap((port, index) => {
      const isFirst = index < port.peer;
      const peer = this.network.ports[port.peer]?.node;
      return isFirst ? [{ data: { source: `n${port.node}`, target: `n${peer}` } }] : [];
    });
    const bare = cytoscape({
      headless: true,
      styleEnabled: true,
      elements: [...this.network.nodes.map((_, index) => ({ data: { id: `n${index}` } })), ...links],
    });
    bare.layout({ name: "cose", animate: false, randomize: false, idealEdgeLength: () => 90, nodeRepulsion: () => 40000, boundingBox: { x1: 0, y1: 0, w: 900, h: 560 } }).run();
    bare.nodes().forEach((node) => {
      this.cy.getElementById(node.id()).position(node.position());
    });
    bare.destroy();
  }

  private style(): cytoscape.StylesheetStyle[] {
    const ink = colour("--ink");
    const many = this.network.ports.length > 160;
    // What is drawn small has to be drawn bolder.
    const bold = Math.min(Math.max(1, 0.45 / this.zoom), 6);
    const box = { "min-zoomed-font-size": 5, shape: "round-rectangle", label: "data(label)", color: ink, "text-valign": "center", "font-size": 12, "border-width": 1.5 };
    return [
      { selector: "node", style: { events: "no" } },
      { selector: "node.switch", style: { ...box, width: 2 * BOX.x, height: 2 * BOX.y, "background-color": colour("--box"), "border-color": colour("--soft") } },
      { selector: "node.host", style: { ...box, width: 2 * HOST.x, height: 2 * HOST.y, "font-size": 10, "background-color": colour("--card"), "border-color": colour("--line") } },
      {
        selector: "node.port",
        style: {
          events: "yes",
          shape: "ellipse",
          width: 11 * bold ** 0.5,
          height: 11 * bold ** 0.5,
          "border-width": 1.5,
          "border-color": colour("--soft"),
          "background-color": `mapData(fill, 0, 1, ${colour("--card")}, ${MOVING})`,
        },
      },
      { selector: "node.port.full", style: { width: 14 * bold ** 0.5, height: 14 * bold ** 0.5 } },
      { selector: "node.port.chosen", style: { "border-color": ink, "border-width": 3 } },
      {
        selector: "edge",
        style: {
          "curve-style": "unbundled-bezier",
          "control-point-distances": "data(bend)",
          "control-point-weights": [0.5],
          width: `mapData(busy, 0, 100, ${bold}, ${(many ? 3 : 4.5) * bold})`,
          "line-color": colour("--line"),
          "target-arrow-color": colour("--line"),
          "target-arrow-shape": many ? "none" : "triangle",
          "arrow-scale": 0.8,
        },
      },
      { selector: "edge.moving", style: { "line-color": MOVING, "target-arrow-color": MOVING } },
      { selector: "edge.slowed", style: { "line-color": SLOWED, "target-arrow-color": SLOWED, "line-style": "dotted" } },
      { selector: "edge.stopped", style: { width: 2.5 * bold, "line-color": this.scene.alarm, "target-arrow-color": this.scene.alarm, "target-arrow-shape": "tee", "arrow-scale": 1.2, "line-style": "dashed", "z-index": 5 } },
      { selector: "edge.deadlocked", style: { width: 3 * bold, "line-style": "solid", "target-arrow-shape": "triangle-tee", "z-index": 8 } },
      { selector: "edge.down", style: { width: 1.5 * bold, "line-color": colour("--soft"), "line-style": "dashed", "line-dash-pattern": [2, 6], "target-arrow-shape": "none", opacity: 0.7, "z-index": 4 } },
      { selector: "node.switch.rerouted", style: { "border-color": REROUTED, "border-width": 4 } },
      { selector: "node.switch.down", style: { color: colour("--soft"), "background-opacity": 0.25, "border-color": colour("--soft"), "border-style": "dashed", "border-width": 1.5, "text-opacity": 0.6 } },
      { selector: "edge.cycle", style: { width: 5 * bold, "underlay-color": this.scene.alarm, "underlay-opacity": 0.25, "underlay-padding": 6 * bold, "z-index": 9 } },
    ] as unknown as cytoscape.StylesheetStyle[];
  }

  private legend(): HTMLElement {
    const key = (name: string, label: string) => element("span", { class: "key" }, [element("i", { class: `wire ${name}` }), label]);
    const dot = element("span", { class: "key" }, [element("i", { class: "dots" }), "ingress queue, empty to full"]);
    return element("p", { class: "note keys" }, [
      key("moving", "sends"),
      key("slowed", "slowed"),
      key("stopped", "stopped"),
      key("deadlocked", "deadlocked"),
      key("cycle", "its cycle"),
      ...this.outageKeys(key),
      dot,
      this.chooser,
    ]);
  }

  /** What of the network changes in this run, if anything does. */
  private outageKeys(key: (name: string, label: string) => HTMLElement): HTMLElement[] {
    const { links, switches, tables } = this.run.outages;
    const down = links.length + switches.length > 0 ? [key("down", "down")] : [];
    const box = element("span", { class: "key" }, [element("i", { class: "rerouted" }), "has another table than at first"]);
    return tables.length > 0 ? [...down, box] : down;
  }

  /** Shows the instant of the stage. */
  private show(): void {
    const instant = instantAt(this.film.times, this.stage.time);
    const { members, cycle, key } = deadlocksAt(this.run, this.film.times, this.stage.time);
    const { links, switches, tables } = this.run.outages;
    const down = outagesAt(links, this.stage.time);
    const off = outagesAt(switches, this.stage.time);
    const rerouted = outagesAt(tables, this.stage.time);
    const outages = [down, off, rerouted].map((places) => [...places].join(" ")).join(";");
    const isSame = instant === this.shown.instant && key === this.shown.deadlocks && outages === this.shown.outages;
    if (isSame) {
      return;
    }
    this.shown = { instant, deadlocks: key, outages };
    this.down = down;
    this.cy.batch(() => {
      this.network.nodes.forEach((_, index) => {
        const node = this.cy.getElementById(`n${index}`);
        node.toggleClass("down", off.has(index));
        node.toggleClass("rerouted", rerouted.has(index));
      });
      this.film.ports.forEach((port, index) => {
        const fill = (port.held[instant] ?? 0) / 65535;
        const node = this.cy.getElementById(`p${index}`);
        node.data("fill", fill);
        node.toggleClass("full", fill > 0.5);
        const busy = port.busy[instant] ?? 0;
        const isDown = down.has(index);
        const isStopped = !isDown && (port.allowed[instant] === 0 || members.has(index));
        const isSlowed = !isStopped && !isDown && (port.allowed[instant] ?? 100) < 100;
        const wire = this.cy.getElementById(`e${index}`);
        wire.data("busy", busy);
        wire.toggleClass("stopped", isStopped);
        wire.toggleClass("slowed", isSlowed);
        wire.toggleClass("down", isDown);
        wire.toggleClass("moving", !isStopped && !isSlowed && !isDown && busy > 0);
        wire.toggleClass("deadlocked", members.has(index));
        wire.toggleClass("cycle", cycle.has(index));
      });
    });
    this.state.textContent = this.summary(instant, members, off);
    if (this.chosen !== null) {
      this.tell(this.chosen);
    }
  }

  /** The links and switches that are down, by name; links of a switch that is down go without saying. */
  private downNames(off: Set<number>): string[] {
    const name = (node: number | undefined) => this.network.nodes[node ?? -1]?.name ?? "";
    const links = [...this.down].flatMap((index) => {
      const port = this.network.ports[index];
      const peer = this.network.ports[port?.peer ?? -1];
      const isOwn = port !== undefined && peer !== undefined && index < port.peer && !off.has(port.node) && !off.has(peer.node);
      return isOwn ? [`${name(port.node)}-${name(peer.node)}`] : [];
    });
    return [...[...off].map(name), ...links];
  }

  private summary(instant: number, members: Set<number>, off: Set<number>): string {
    const names = (is: (allowed: number, index: number) => boolean) =>
      this.network.ports
        .filter((_, index) => !this.down.has(index) && is(this.film.ports[index]?.allowed[instant] ?? 100, index))
        .map((port) => port.name);
    const stopped = names((allowed, index) => allowed === 0 && !members.has(index));
    const slowed = names((allowed) => allowed > 0 && allowed < 100);
    const stuck = [...members].map((index) => this.network.ports[index]?.name ?? "");
    const down = this.downNames(off);
    const parts = [];
    if (down.length > 0) {
      parts.push(`down: ${list(down, NAMES_MAX)}`);
    }
    if (stuck.length > 0) {
      parts.push(`deadlocked: ${list(stuck, NAMES_MAX)}`);
    }
    if (stopped.length > 0) {
      parts.push(`stopped: ${list(stopped, NAMES_MAX)}`);
    }
    if (slowed.length > 0) {
      parts.push(`slowed: ${list(slowed, NAMES_MAX)}`);
    }
    const isCalm = stuck.length + stopped.length + slowed.length === 0;
    return [...parts, ...(isCalm ? ["nobody is held back"] : [])].join("; ");
  }

  private held(index: number, instant: number): number {
    const full = this.network.ports[index]?.full ?? 0;
    return ((this.film.ports[index]?.held[instant] ?? 0) / 65535) * full;
  }

  /** A port at the instant that is shown, in a sentence. */
  private words(index: number): string {
    const port = this.network.ports[index];
    const { instant } = this.shown;
    if (port === undefined) {
      return "";
    }
    const allowed = this.film.ports[index]?.allowed[instant] ?? 100;
    const busy = this.film.ports[index]?.busy[instant] ?? 0;
    // What a port says is what its worst class says.
    const stopped = this.network.classes > 1 && busy > 0 ? "stopped in a class" : "stopped";
    if (this.down.has(index)) {
      return `${port.name}: its queue holds ${bytes(this.held(index, instant))} of ${bytes(port.full)}; its link is down`;
    }
    const gate = allowed === 0 ? stopped : allowed < 100 ? `slowed to ${allowed} % of the line` : "free to send";
    return `${port.name}: its queue holds ${bytes(this.held(index, instant))} of ${bytes(port.full)}; it is ${gate} and uses ${busy} % of the line`;
  }

  private tell(index: number): void {
    const line = this.detail.querySelector("p");
    if (line !== null) {
      line.textContent = this.words(index);
    }
  }

  /** Shows the queue of a port over time, or none. */
  private choose(index: number | null): void {
    this.cy.nodes(".chosen").removeClass("chosen");
    this.plot?.destroy();
    this.plot = null;
    this.detail.replaceChildren();
    this.detail.hidden = index === null;
    this.chosen = index;
    this.chooser.value = index === null ? "" : String(index);
    if (index === null) {
      return;
    }
    this.cy.getElementById(`p${index}`).addClass("chosen");
    this.detail.append(element("p", { class: "note" }));
    this.tell(index);
    const line = { stroke: () => colour("--line"), width: 1 };
    const axis = { stroke: () => colour("--soft"), grid: line, ticks: { ...line, size: 5 }, font: "11px system-ui, sans-serif" };
    const kb = Float64Array.from(this.film.times, (_, instant) => this.held(index, instant) / 1000);
    this.plot = new uPlot(
      {
        width: Math.max(this.place.clientWidth, 200),
        height: 150,
        cursor: { ...SHARED, drag: { x: false, y: false } },
        scales: { x: { time: false, range: () => [this.stage.from, this.stage.to] }, y: { range: (_, __, max) => [0, Math.max(max * 1.1, 1)] } },
        axes: [{ ...axis, size: 28 }, { ...axis, size: 44 }],
        series: [{ label: "time (ms)" }, { label: "queue (KB)", stroke: MOVING, width: 1.5, points: { show: false } }],
      },
      [this.film.times, kb] as unknown as uPlot.AlignedData,
      this.detail,
    );
    this.plot.over.addEventListener("dblclick", () => this.stage.look(0, Infinity));
  }
}
