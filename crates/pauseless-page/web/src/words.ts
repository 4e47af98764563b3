// Quantities as people write them.

export function duration(ms: number): string {
  if (ms === 0) {
    return "0 ms";
  }
  if (ms >= 1000) {
    return `${digits(ms / 1000)} s`;
  }
  return ms >= 1 ? `${digits(ms)} ms` : `${digits(ms * 1000)} us`;
}

/** A time on a scale on which a difference of `grain` is to be seen. */
export function instant(ms: number, grain: number): string {
  const places = Math.min(6, Math.max(0, Math.ceil(-Math.log10(grain))));
  return `${ms.toFixed(places)} ms`;
}

export function bytes(count: number): string {
  if (count >= 1e6) {
    return `${digits(count / 1e6)} MB`;
  }
  return count >= 1e3 ? `${digits(count / 1e3)} KB` : `${Math.round(count)} B`;
}

/** A few names, and how many more there are. */
export function list(names: string[], most: number): string {
  const shown = names.slice(0, most).join(", ");
  return names.length > most ? `${shown} and ${names.length - most} more` : shown;
}

function digits(value: number): string {
  return Number(value.toPrecision(3)).toString();
}
