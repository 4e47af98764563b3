// Making elements.

type Attributes = Record<string, string>;

export function element<K extends keyof HTMLElementTagNameMap>(
  name: K,
  attributes: Attributes = {},
  children: (Node | string)[] = [],
): HTMLElementTagNameMap[K] {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    made.setAttribute(key, value);
  }
  made.append(...children);
  return made;
}

export function button(label: string, title: string, onClick: () => void): HTMLButtonElement {
  const made = element("button", { type: "button", title }, [label]);
  made.addEventListener("click", onClick);
  return made;
}

/** A colour of the style sheet as it is in the scheme of the moment. */
export function colour(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

export function onSchemeChange(call: () => void): void {
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", call);
}
