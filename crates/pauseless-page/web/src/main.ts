// Brings a page to life: its figures were drawn by the program and are replaced one by one.

import "uplot/dist/uPlot.min.css";
import "./page.css";

import { draw } from "./curves";
import { decode, readScene } from "./data";
import type { Film, RunData, Scene } from "./data";
import { button, element } from "./dom";
import { Replay } from "./replay";
import { Stage } from "./stage";
import { duration } from "./words";

async function start(scene: Scene): Promise<void> {
  const stage = new Stage(Math.max(...scene.runs.map((run) => run.end)));
  const hasTime = scene.runs.some((run) => run.network !== null || run.panels.some(({ axis }) => axis === "time"));
  if (hasTime) {
    document.querySelector("main")?.before(stage.bar());
  }
  const films = await Promise.all(scene.runs.map((run, index) => enliven(scene, run, { index, stage })));
  // The last of the first deadlocks, when all have frozen that will; or the worst; or the end.
  const deadlocks = scene.runs.flatMap(({ deadlocks }) => deadlocks.slice(0, 1).map(({ from }) => from));
  const worst = films.flatMap((film) => (film === null ? [] : [busiest(film)])).sort((a, b) => b.count - a.count)[0];
  const isHeld = worst !== undefined && worst.count > 0;
  stage.go(deadlocks.length > 0 ? Math.max(...deadlocks) : isHeld ? worst.time : stage.to);
  document.documentElement.dataset["alive"] = "true";
}

async function enliven(scene: Scene, run: RunData, { index, stage }: { index: number; stage: Stage }): Promise<Film | null> {
  const film = run.network === null ? null : await decode(run.network, run.end);
  run.panels.forEach((panel, number) => {
    const figure = document.querySelector<HTMLElement>(`figure[data-panel="${index}.${number}"]`);
    if (figure !== null) {
      draw(cleared(figure), scene, run, panel, stage);
    }
  });
  const figure = document.querySelector<HTMLElement>(`figure[data-replay="${index}"]`);
  if (figure !== null && film !== null) {
    figure.hidden = false;
    const place = cleared(figure);
    const caption = figure.querySelector("figcaption");
    if (caption !== null) {
      caption.textContent = "the network over time; a click on a port shows its queue";
    }
    new Replay(place, scene, run, film, stage);
    place.append(moments(run, stage));
  }
  return film;
}

/** The first instant at which most senders were held back. */
function busiest(film: Film): { time: number; count: number } {
  let found = { time: 0, count: 0 };
  film.times.forEach((time, instant) => {
    const count = film.ports.filter(({ allowed }) => (allowed[instant] ?? 100) < 100).length;
    found = count > found.count ? { time, count } : found;
  });
  return found;
}

/** Takes the still drawing out of a figure. */
function cleared(figure: HTMLElement): HTMLElement {
  figure.querySelectorAll("svg").forEach((drawn) => drawn.remove());
  const place = element("div", { class: "live" });
  figure.append(place);
  return place;
}

/** What happened when; each leads there. */
function moments(run: RunData, stage: Stage): HTMLElement {
  const buttons = run.moments.map(({ label, at, alarm }) => {
    const made = button(`${label} ${duration(at)}`, "show this instant", () => stage.go(at));
    made.classList.toggle("alarm", alarm);
    return made;
  });
  return element("p", { class: "moments" }, buttons);
}

/** Starts; if that fails, the figures stand still as they were drawn. */
async function begin(): Promise<void> {
  const figures = [...document.querySelectorAll("figure[data-panel], figure[data-replay]")];
  const stills = figures.map((figure) => ({ figure, still: figure.cloneNode(true) }));
  try {
    const scene = readScene();
    if (scene !== null && scene.runs.length > 0) {
      await start(scene);
    }
  } catch (error) {
    document.querySelector(".stage")?.remove();
    stills.forEach(({ figure, still }) => figure.replaceWith(still));
    console.error("the figures stand still:", error);
  }
}

void begin();
