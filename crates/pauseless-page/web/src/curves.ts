// Curves that can be looked into: drag to zoom, double-click to see all, click a name to hide it.

import uPlot from "uplot";
import type { PanelData, RunData, Scene } from "./data";
import { colour, element, onSchemeChange } from "./dom";
import type { Stage, Viewer } from "./stage";

const HEIGHT = 200;
const FONT = "11px system-ui, sans-serif";

/** Curves over time share where the mouse is; what is selected, and a double click, go by the stage. */
export const SHARED: uPlot.Cursor = {
  sync: { key: "time", setSeries: false, filters: { pub: (type) => type === "mousemove" || type === "mouseleave" } },
  bind: { dblclick: () => null },
};

/** Puts live curves into `place`; those over time follow the stage. */
export function draw(place: HTMLElement, scene: Scene, run: RunData, panel: PanelData, stage: Stage): void {
  const isTime = panel.axis === "time";
  const options: uPlot.Options = {
    width: width(place),
    height: HEIGHT,
    cursor: {
      drag: { x: true, y: false, setScale: !isTime },
      ...(isTime ? SHARED : {}),
    },
    legend: { live: true },
    scales: {
      x: {
        time: false,
        distr: panel.axis === "decades" ? 3 : 1,
        ...(isTime ? {} : { range: panel.range }),
      },
      y: { range: [0, panel.max] },
    },
    axes: [axis(isTime ? "ms" : ""), axis("")],
    series: [
      { label: isTime ? "time (ms)" : "at" },
      ...panel.curves.map((curve) => ({
        label: curve.label,
        stroke: scene.palette[curve.colour % scene.palette.length] ?? "gray",
        width: curve.stroke === "dashed" ? 1 : 1.75,
        ...(curve.stroke === "dashed" ? { dash: [5, 4] } : {}),
        points: { show: curve.stroke === "marked" },
        spanGaps: true,
        value: (_: uPlot, value: number | null) => (value === null ? "" : String(Number(value.toPrecision(4)))),
      })),
    ],
    hooks: { draw: [(plot) => marks(plot, scene, panel)] },
  };
  const plot = new uPlot(options, aligned(run, panel), place);
  plot.root.setAttribute("role", "img");
  plot.root.setAttribute("aria-label", panel.description);
  reachable(plot);
  if (isTime) {
    stage.watch(follow(plot, stage));
  }
  new ResizeObserver(() => plot.setSize({ width: width(place), height: HEIGHT })).observe(place);
  onSchemeChange(() => plot.redraw(false, true));
}

function width(place: HTMLElement): number {
  return Math.max(place.clientWidth, 200);
}

function axis(unit: string): uPlot.Axis {
  const line = { stroke: () => colour("--line"), width: 1 };
  return {
    stroke: () => colour("--soft"),
    grid: line,
    ticks: { ...line, size: 5 },
    font: FONT,
    size: unit === "" ? 44 : 28,
    gap: 3,
  };
}

function aligned(run: RunData, panel: PanelData): uPlot.AlignedData {
  const first = panel.curves[0]?.axis;
  const isShared = panel.curves.every((curve) => curve.axis === first);
  const over = (axis: number) => run.axes[axis] ?? [];
  if (isShared && first !== undefined) {
    return [over(first), ...panel.curves.map((curve) => curve.values)];
  }
  // Places rise strictly within each, so that nothing is lost.
  const tables = panel.curves.map((curve): uPlot.AlignedData => [over(curve.axis), curve.values]);
  return uPlot.join(tables);
}

/** Thresholds across and instants from top to bottom, with their names. */
function marks(plot: uPlot, scene: Scene, panel: PanelData): void {
  const { ctx, bbox } = plot;
  const scale = devicePixelRatio;
  const right = bbox.left + bbox.width;
  const bottom = bbox.top + bbox.height;
  ctx.save();
  ctx.font = `${11 * scale}px system-ui, sans-serif`;
  ctx.lineWidth = scale;
  ctx.textAlign = "right";
  for (const group of grouped(plot, panel)) {
    const [first] = group;
    const shade = first?.colour == null ? colour("--soft") : (scene.palette[first.colour] ?? "gray");
    ctx.strokeStyle = ctx.fillStyle = shade;
    ctx.setLineDash([2 * scale, 3 * scale]);
    const heights = group.map((level) => plot.valToPos(level.value, "y", true));
    heights.forEach((y) => line(ctx, [bbox.left, y], [right, y]));
    // Below the lines, or above them where there is no room.
    const low = Math.max(...heights);
    const fits = low + 15 * scale < bottom;
    ctx.textBaseline = fits ? "top" : "bottom";
    const names = group.map((level) => level.label).join(", ");
    ctx.fillText(names, right - 4 * scale, fits ? low + 2 * scale : Math.min(...heights) - 2 * scale);
  }
  // The end of the last name in each row.
  const rows: number[] = [];
  for (const moment of [...panel.instants].sort((a, b) => a.at - b.at)) {
    const x = plot.valToPos(moment.at, "x", true);
    if (x < bbox.left || x > right) {
      continue;
    }
    ctx.strokeStyle = ctx.fillStyle = moment.alarm ? scene.alarm : colour("--soft");
    ctx.setLineDash(moment.alarm ? [] : [2 * scale, 3 * scale]);
    line(ctx, [x, bbox.top], [x, bottom]);
    const width = ctx.measureText(moment.label).width + 4 * scale;
    const fits = x + width + 4 * scale < right;
    const from = fits ? x : x - width;
    const free = rows.findIndex((end) => end <= from);
    const row = free === -1 ? rows.length : free;
    rows[row] = fits ? x + width : x;
    ctx.textAlign = fits ? "left" : "right";
    ctx.textBaseline = "top";
    ctx.fillText(moment.label, x + (fits ? 4 : -4) * scale, bbox.top + (3 + 13 * row) * scale);
  }
  ctx.restore();
}

type Level = PanelData["levels"][number];

/** Levels within the plot; those of one colour that are too close for two names stay together. */
function grouped(plot: uPlot, panel: PanelData): Level[][] {
  const height = (level: Level) => plot.valToPos(level.value, "y");
  const groups: Level[][] = [];
  for (const level of [...panel.levels].sort((a, b) => b.value - a.value)) {
    const isInside = height(level) >= 0 && height(level) <= plot.over.clientHeight;
    const last = groups.at(-1)?.at(-1);
    const isNear = last !== undefined && last.colour === level.colour && height(level) - height(last) < 14;
    if (isInside && isNear) {
      groups.at(-1)?.push(level);
    } else if (isInside) {
      groups.push([level]);
    }
  }
  return groups;
}

function line(ctx: CanvasRenderingContext2D, from: [number, number], to: [number, number]): void {
  ctx.beginPath();
  ctx.moveTo(...from);
  ctx.lineTo(...to);
  ctx.stroke();
}

/** Keeps a plot over time with the stage: its window, its instant, and what is clicked in it. */
function follow(plot: uPlot, stage: Stage): Viewer {
  const needle = element("div", { class: "needle" });
  plot.over.append(needle);
  const place = () => {
    const isShown = stage.time >= stage.from && stage.time <= stage.to;
    needle.style.display = isShown ? "" : "none";
    needle.style.transform = `translateX(${plot.valToPos(stage.time, "x")}px)`;
  };
  const look = (from: number, to: number) => plot.setScale("x", { min: from, max: to });
  let down = 0;
  plot.over.addEventListener("mousedown", (event) => (down = event.clientX));
  plot.over.addEventListener("click", (event) => {
    if (Math.abs(event.clientX - down) < 4) {
      stage.go(plot.posToVal(event.clientX - plot.over.getBoundingClientRect().left, "x"));
    }
  });
  plot.over.addEventListener("dblclick", () => stage.look(0, Infinity));
  const hooks = plot.hooks as Record<"setSelect" | "setScale" | "setSize", (() => void)[] | undefined>;
  (hooks.setSelect ??= []).push(() => {
    const { left, width } = plot.select;
    if (width > 4) {
      stage.look(plot.posToVal(left, "x"), plot.posToVal(left + width, "x"));
      plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
    }
  });
  // A plot takes a new scale over when it likes, so the needle waits for it.
  (hooks.setScale ??= []).push(place);
  (hooks.setSize ??= []).push(place);
  look(stage.from, stage.to);
  return {
    onTime: place,
    onWindow: look,
  };
}

/** Lets the names in a legend be reached and pressed without a mouse. */
function reachable(plot: uPlot): void {
  plot.root.querySelectorAll<HTMLElement>(".u-legend .u-series:not(:first-child) th").forEach((name) => {
    name.tabIndex = 0;
    name.setAttribute("role", "button");
    name.title = "click to hide or show";
    name.addEventListener("keydown", (event) => {
      if (event.key === "Enter" || event.key === " ") {
        event.preventDefault();
        name.click();
      }
    });
  });
}
