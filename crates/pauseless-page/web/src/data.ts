// What the program writes into a page: crates/pauseless-report/src/scene.rs.

export interface Scene {
  palette: string[];
  alarm: string;
  runs: RunData[];
}

export interface RunData {
  name: string;
  /** In milliseconds, as are all times here. */
  end: number;
  /** What curves lie over, each list once. */
  axes: number[][];
  panels: PanelData[];
  moments: Moment[];
  deadlocks: DeadlockData[];
  network: NetworkData | null;
  outages: OutagesData;
}

/** What was not as at the beginning, and when. */
export interface OutagesData {
  /** Links that were down, by the places of both ports in `NetworkData.ports`. */
  links: OutageData[];
  /** Switches that were down, by their places in `NetworkData.nodes`. */
  switches: OutageData[];
  /** Switches that had another table than at first. */
  tables: OutageData[];
}

export interface OutageData {
  from: number;
  /** When it was over, if it was before the end. */
  to: number | null;
  places: number[];
}

export interface PanelData {
  description: string;
  axis: "time" | "values" | "decades";
  range: [number, number];
  /** The end of the other axis. */
  max: number;
  curves: CurveData[];
  levels: { label: string; value: number; colour: number | null }[];
  instants: Moment[];
}

export interface CurveData {
  label: string;
  colour: number;
  stroke: "solid" | "marked" | "dashed";
  /** A place in `RunData.axes`. */
  axis: number;
  values: number[];
}

export interface Moment {
  label: string;
  at: number;
  alarm: boolean;
}

export interface DeadlockData {
  from: number;
  /** When it was broken, if it was. */
  to: number | null;
  /** Ports that could never send again when its cycle closed, by their place in `NetworkData.ports`. */
  members: number[];
  cycle: number[];
}

export interface NetworkData {
  nodes: { name: string; host: boolean; layer: number }[];
  ports: PortData[];
  /** Traffic classes of a port. */
  classes: number;
  /** The time between two instants; the last one is the end of the run. */
  step: number;
  instants: number;
  /** For each port its held, its allowed and its busy column; see `decode`. */
  columns: string;
}

export interface PortData {
  name: string;
  node: number;
  /** The other end of the link. */
  peer: number;
  /** Bytes at which its ingress queue is full. */
  full: number;
  gbps: number;
}

/** The states of all ports over time. */
export interface Film {
  times: Float64Array;
  ports: PortFilm[];
}

export interface PortFilm {
  /** The ingress queue, in 65,535ths of `full`. */
  held: Uint16Array;
  /** What the far end allows its egress, in percent of the line: 0 when stopped. */
  allowed: Uint8Array;
  /** What its egress has sent since the last instant, in percent of the line. */
  busy: Uint8Array;
}

export function readScene(): Scene | null {
  const element = document.getElementById("scene");
  return element === null ? null : (JSON.parse(element.textContent ?? "null") as Scene);
}

/** Unpacks the columns of a network. */
export async function decode(network: NetworkData, end: number): Promise<Film> {
  const packed = Uint8Array.from(atob(network.columns), (char) => char.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  const count = network.instants;
  const times = Float64Array.from({ length: count }, (_, index) => index * network.step);
  times[count - 1] = end;
  // Low bytes and high bytes of a queue are columns of their own, which packs better.
  const ports = network.ports.map((_, port) => {
    const at = port * 4 * count;
    const column = (number: number) => bytes.subarray(at + number * count, at + (number + 1) * count);
    const low = column(0);
    const high = column(1);
    return {
      held: Uint16Array.from(low, (value, index) => value + 256 * (high[index] ?? 0)),
      allowed: column(2),
      busy: column(3),
    };
  });
  return { times, ports };
}

/** The last instant that is not after `time`. */
export function instantAt(times: Float64Array, time: number): number {
  let low = 0;
  let high = times.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((times[middle] ?? Infinity) <= time) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return low;
}

/** What is caught at one instant. */
export interface Caught {
  members: Set<number>;
  cycle: Set<number>;
  /** Says which deadlocks hold. */
  key: string;
}

/** The deadlocks that hold at `time`. One that is broken at once lasts to the next instant of the film. */
export function deadlocksAt(run: RunData, times: Float64Array, time: number): Caught {
  const open = [...run.deadlocks.entries()].filter(([, { from, to }]) => {
    const next = times[instantAt(times, from) + 1] ?? Infinity;
    return from <= time && (to === null || time < Math.max(to, next));
  });
  return {
    members: new Set(open.flatMap(([, { members }]) => members)),
    cycle: new Set(open.flatMap(([, { cycle }]) => cycle)),
    key: open.map(([number]) => number).join(" "),
  };
}

/** What is not as at the beginning at `time`: the places of outages that last then. */
export function outagesAt(outages: OutageData[], time: number): Set<number> {
  const open = outages.filter(({ from, to }) => from <= time && (to === null || time < to));
  return new Set(open.flatMap(({ places }) => places));
}
