// Where nodes and ports stand.

import type { NetworkData } from "./data";

export interface Point {
  x: number;
  y: number;
}

export interface Layout {
  /** One place per node; `null` leaves them to the force layout. */
  nodes: Point[] | null;
  /** How far a link of this length bends. */
  bend(length: number): number;
}

const GAP = 90;
const BEND = 8;
/** More links than this keep a force layout busy for seconds. */
const FORCE_LINKS_MAX = 300;

/** Circles for rings, layers for trees; for the rest forces do better, if it is not too large. */
export function layout(network: NetworkData): Layout {
  const links = neighbours(network);
  const bend = () => BEND;
  const switches = indices(network, false);
  const layers = new Set(switches.map((node) => network.nodes[node]?.layer));
  if (layers.size > 1) {
    return { nodes: inLayers(network, links), bend };
  }
  const grid = onGrid(network, links, switches);
  if (grid !== null) {
    // What closes a row goes round what stands in it.
    return { nodes: grid, bend: (length) => (length > 2.5 * GAP ? 0.5 * GAP : BEND) };
  }
  const trunks = (node: number) => links[node]?.filter((peer) => !network.nodes[peer]?.host) ?? [];
  const isRing = switches.every((node) => new Set(trunks(node)).size <= 2);
  if (isRing || network.ports.length / 2 > FORCE_LINKS_MAX) {
    return { nodes: onCircle(network, links, walk(switches, trunks)), bend };
  }
  return { nodes: null, bend };
}

function neighbours(network: NetworkData): number[][] {
  const links: number[][] = network.nodes.map(() => []);
  for (const port of network.ports) {
    const peer = network.ports[port.peer]?.node;
    if (peer !== undefined) {
      links[port.node]?.push(peer);
    }
  }
  return links;
}

function indices(network: NetworkData, host: boolean): number[] {
  return [...network.nodes.keys()].filter((node) => network.nodes[node]?.host === host);
}

/** A mesh or a torus says by its names where its switches stand: `S1_0`. */
function onGrid(network: NetworkData, links: number[][], switches: number[]): Point[] | null {
  const places: Point[] = network.nodes.map(() => ({ x: 0, y: 0 }));
  for (const node of switches) {
    const found = /^S(\d+)_(\d+)$/.exec(network.nodes[node]?.name ?? "");
    if (found === null) {
      return null;
    }
    const at = { x: Number(found[1]) * 2.2 * GAP, y: Number(found[2]) * 1.5 * GAP };
    places[node] = at;
    const hosts = links[node]?.filter((peer) => network.nodes[peer]?.host) ?? [];
    hosts.forEach((host, index) => {
      const angle = ((index + 1) / (hosts.length + 1)) * (Math.PI / 2);
      places[host] = { x: at.x + 0.85 * GAP * Math.cos(angle), y: at.y + 0.65 * GAP * Math.sin(angle) };
    });
  }
  return places;
}

/** The switches of rings and lines, one after the other. */
function walk(switches: number[], trunks: (node: number) => number[]): number[] {
  const order: number[] = [];
  const seen = new Set<number>();
  // A line is walked from one of its ends.
  const ends = switches.filter((node) => new Set(trunks(node)).size < 2);
  for (const start of [...ends, ...switches]) {
    let at: number | undefined = seen.has(start) ? undefined : start;
    while (at !== undefined) {
      seen.add(at);
      order.push(at);
      at = trunks(at).find((peer) => !seen.has(peer));
    }
  }
  return order;
}

function onCircle(network: NetworkData, links: number[][], order: number[]): Point[] {
  const places: Point[] = network.nodes.map(() => ({ x: 0, y: 0 }));
  const hosts = order.map((node) => links[node]?.filter((peer) => network.nodes[peer]?.host) ?? []);
  const most = Math.max(1, ...hosts.map((some) => some.length));
  const count = order.length;
  // Wider than high, as cards are; one switch stands alone in the middle.
  const radius = count === 1 ? 0 : Math.max(GAP * 0.9, (count * GAP * Math.max(1, most * 0.5)) / (2 * Math.PI));
  const outer = Math.max(radius + GAP, (count * most * GAP * 0.55) / (2 * Math.PI));
  const at = (angle: number, size: number) => ({ x: 1.35 * size * Math.cos(angle), y: size * Math.sin(angle) });
  order.forEach((node, index) => {
    const start = count === 2 ? Math.PI : -Math.PI / 2;
    const step = (2 * Math.PI) / count;
    const angle = start + step * index;
    places[node] = at(angle, radius);
    const own = hosts[index] ?? [];
    const gap = (count === 1 ? step : step * 0.85) / own.length;
    own.forEach((host, place) => {
      places[host] = at(angle + (place - (own.length - 1) / 2) * gap, outer);
    });
  });
  return places;
}

function inLayers(network: NetworkData, links: number[][]): Point[] {
  const layer = (node: number) => (network.nodes[node]?.host ? 0 : (network.nodes[node]?.layer ?? 1));
  const rows = new Map<number, number[]>();
  for (const node of network.nodes.keys()) {
    const row = rows.get(layer(node)) ?? [];
    row.push(node);
    rows.set(layer(node), row);
  }
  const heights = [...rows.keys()].sort((a, b) => a - b);
  const widest = Math.max(...[...rows.values()].map((row) => row.length));
  // Where rows are long they need more height, or lines between them are all but level.
  const height = Math.max(GAP, widest * GAP * 0.11);
  const places: Point[] = network.nodes.map(() => ({ x: 0, y: 0 }));
  for (const [rank, key] of heights.entries()) {
    const row = rows.get(key) ?? [];
    const gap = (widest * GAP * 0.62) / row.length;
    const x = (index: number) => (index - (row.length - 1) / 2) * gap;
    const lower = (node: number) => (links[node] ?? []).filter((peer) => layer(peer) < key).map((peer) => places[peer]?.x ?? 0);
    ordered(row, lower, x).forEach((node, index) => {
      places[node] = { x: x(index), y: -rank * height };
    });
  }
  return places;
}

/** A row in the order of the file, or above what it is joined to where that is much shorter. */
function ordered(row: number[], lower: (node: number) => number[], x: (index: number) => number): number[] {
  const mean = (node: number) => lower(node).reduce((sum, at) => sum + at, 0) / Math.max(lower(node).length, 1);
  const sorted = row.map((node) => ({ node, at: mean(node) })).sort((a, b) => a.at - b.at || a.node - b.node);
  const pulled = sorted.map(({ node }) => node);
  const length = (order: number[]) =>
    order.reduce((sum, node, index) => sum + lower(node).reduce((part, at) => part + Math.abs(at - x(index)), 0), 0);
  return length(pulled) < 0.8 * length(row) ? pulled : row;
}

/** Where a port stands: on its node's edge, towards its peer, beside those of parallel links. */
export function portPlace(from: Point, to: Point, reach: { x: number; y: number; aside: number }): Point {
  const length = Math.hypot(to.x - from.x, to.y - from.y) || 1;
  const dx = (to.x - from.x) / length;
  const dy = (to.y - from.y) / length;
  // The edge of a rectangle.
  const out = Math.min(reach.x / Math.max(Math.abs(dx), 1e-6), reach.y / Math.max(Math.abs(dy), 1e-6));
  return { x: from.x + dx * out - dy * reach.aside, y: from.y + dy * out + dx * reach.aside };
}
