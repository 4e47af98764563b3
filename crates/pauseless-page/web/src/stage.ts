// The instant that is shown and the part of time that is looked at, the same for all runs.

import { button, element } from "./dom";
import { instant } from "./words";

export interface Viewer {
  /** Another instant is shown. */
  onTime?(time: number): void;
  /** Another part of time is looked at. */
  onWindow?(from: number, to: number): void;
}

/** How long the whole window plays, in seconds. */
const PLAY_S = 15;
const STEPS = 2000;

export class Stage {
  time = 0;
  from = 0;
  to: number;
  private readonly viewers: Viewer[] = [];
  private readonly slider = element("input", {
    type: "range",
    min: "0",
    max: String(STEPS),
    step: "1",
    "aria-label": "instant",
  });
  private readonly readout = element("output", { class: "instant" });
  private readonly span = element("span", { class: "note" });
  private readonly player: HTMLButtonElement;
  private readonly speed = element("select", { "aria-label": "speed", title: "speed" });
  private readonly whole: HTMLButtonElement;
  private frame: number | null = null;

  constructor(private readonly end: number) {
    this.to = end;
    this.player = button("▶", "play (space)", () => this.toggle());
    this.player.classList.add("play");
    this.whole = button("whole run", "show all of the time", () => this.look(0, this.end));
    for (const speed of ["0.1", "0.25", "1", "4"]) {
      this.speed.append(element("option", { value: speed }, [`${speed}×`]));
    }
    this.speed.value = "1";
    this.slider.addEventListener("input", () => {
      this.stop();
      this.go(this.from + (this.slider.valueAsNumber / STEPS) * (this.to - this.from));
    });
    document.addEventListener("keydown", (event) => this.onKey(event));
  }

  /** The bar with the slider. */
  bar(): HTMLElement {
    return element("div", { class: "stage", role: "group", "aria-label": "replay" }, [
      this.player,
      this.slider,
      this.readout,
      this.speed,
      this.whole,
      this.span,
    ]);
  }

  watch(viewer: Viewer): void {
    this.viewers.push(viewer);
  }

  go(time: number): void {
    this.time = Math.min(Math.max(time, 0), this.end);
    // A moment outside of the window would be shown without its place on the slider.
    if (this.time < this.from || this.time > this.to) {
      const width = this.to - this.from;
      const from = Math.min(Math.max(this.time - width / 2, 0), this.end - width);
      this.look(from, from + width);
    }
    this.show();
    this.viewers.forEach((viewer) => viewer.onTime?.(this.time));
  }

  /** Looks at a part of time. */
  look(from: number, to: number): void {
    from = Math.max(from, 0);
    to = Math.min(to, this.end);
    if (!(to - from > this.end * 1e-6) || (from === this.from && to === this.to)) {
      return;
    }
    this.from = from;
    this.to = to;
    this.viewers.forEach((viewer) => viewer.onWindow?.(from, to));
    this.go(Math.min(Math.max(this.time, from), to));
  }

  private show(): void {
    const width = this.to - this.from;
    this.slider.value = String(Math.round(((this.time - this.from) / width) * STEPS));
    this.readout.value = instant(this.time, width / 1000);
    this.slider.setAttribute("aria-valuetext", this.readout.value);
    const isWhole = this.from === 0 && this.to === this.end;
    this.whole.disabled = isWhole;
    const ends = [this.from, this.to].map((time) => instant(time, width / 100));
    this.span.textContent = isWhole ? "drag over a curve to look closer" : ends.join(" to ");
  }

  private toggle(): void {
    if (this.frame !== null) {
      this.stop();
      return;
    }
    if (this.time >= this.to) {
      this.go(this.from);
    }
    this.player.textContent = "❚❚";
    this.player.title = "pause (space)";
    let last = performance.now();
    const step = (now: number) => {
      const share = ((now - last) / 1000 / PLAY_S) * Number(this.speed.value);
      last = now;
      const next = Math.min(this.time + share * (this.to - this.from), this.to);
      this.frame = requestAnimationFrame(step);
      this.go(next);
      if (next >= this.to) {
        this.stop();
      }
    };
    this.frame = requestAnimationFrame(step);
  }

  private stop(): void {
    if (this.frame !== null) {
      cancelAnimationFrame(this.frame);
      this.frame = null;
    }
    this.player.textContent = "▶";
    this.player.title = "play (space)";
  }

  private onKey(event: KeyboardEvent): void {
    const isOwn = event.target === document.body || event.target === this.slider;
    if (event.key === " " && isOwn) {
      event.preventDefault();
      this.toggle();
    }
  }
}
