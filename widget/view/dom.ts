type Attributes = Record<string, string | number | boolean | undefined>

/**
 * Makes an element without `innerHTML`, which pages with Trusted Types forbid. `true` sets an empty attribute, `false`
 * sets none.
 */
export function h<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Attributes = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[Tag] {
  const element = document.createElement(tag)
  for (const [name, value] of Object.entries(attributes)) setAttribute(element, name, value)
  element.append(...children)
  return element
}

export function setAttribute(element: Element, name: string, value: Attributes[string]) {
  if (value === false || value === undefined) element.removeAttribute(name)
  else element.setAttribute(name, value === true ? '' : String(value))
}

export function button(className: string, onClick: () => void, ...children: (Node | string)[]): HTMLButtonElement {
  const element = h('button', { class: className, type: 'button' }, ...children)
  element.addEventListener('click', onClick)
  return element
}

/** Does not set equal text again, because screen readers would read it again. */
export function setText(element: Element, text: string) {
  if (element.textContent !== text) element.textContent = text
}

const CIRCLE = 'M2.8 10a7.2 7.2 0 1 0 14.4 0 7.2 7.2 0 1 0-14.4 0z'

/** Paths on a grid of 20 px, drawn with a line of 1.5 px. */
const icons = {
  phone: 'M8 2.5h4a2 2 0 0 1 2 2v11a2 2 0 0 1-2 2H8a2 2 0 0 1-2-2v-11a2 2 0 0 1 2-2zM9 15h2',
  SMS: 'M3 5.5a2 2 0 0 1 2-2h10a2 2 0 0 1 2 2V12a2 2 0 0 1-2 2H8.5L5 17v-3a2 2 0 0 1-2-2zM6.8 8.8h.01M10 8.8h.01M13.2 8.8h.01',
  FLASHCALL:
    'M7.6 3.6 6 3a1.4 1.4 0 0 0-1.6.5L3.4 5A2.6 2.6 0 0 0 3 7.1c1.2 4.8 5 8.6 9.8 9.8a2.6 2.6 0 0 0 2.1-.4l1.5-1a1.4 1.4 0 0 0 .5-1.6l-.6-1.6a1.4 1.4 0 0 0-1.5-.9l-1.5.2a1.4 1.4 0 0 0-1 .7 9.5 9.5 0 0 1-4.5-4.5 1.4 1.4 0 0 0 .7-1l.2-1.5a1.4 1.4 0 0 0-1.1-1.7z',
  VOICECODE: 'M3 8v4M6.5 5.5v9M10 3v14M13.5 6.5v7M17 8.5v3',
  TELEGRAM: 'M17.2 3.2 2.8 8.7l4.8 2 1.9 5.6 2.6-3.3 3.3 2.4zM7.6 10.7l5.2-3.6',
  WHATSAPP:
    'M10 3a7 7 0 0 0-6 10.5L3 17l3.6-.9A7 7 0 1 0 10 3zM7.8 7.5c0 2.5 2.2 4.7 4.7 4.7l.5-1.3-1.5-.8-.7.6a3 3 0 0 1-1.5-1.5l.6-.7-.8-1.5z',
  VIBER:
    'M10 2.8c-4.4 0-7 2-7 5.8 0 2.4 1 4.1 2.8 5v3.6l3.2-3h1c4.4 0 7-1.9 7-5.6s-2.6-5.8-7-5.8zM10 6a3.2 3.2 0 0 1 3.4 3.2M7 6.4c.2 2.6 1.9 4.4 4.4 4.8',
  next: 'm8 5 5 5-5 5',
  back: 'M16 10H4M9 5l-5 5 5 5',
  check: 'm4 10.5 4 4 8-9',
  alert: `${CIRCLE}M10 6.3v4.4M10 13.6h.01`,
  clock: `${CIRCLE}M10 6v4.2l2.7 1.6`,
  lock: 'M6 9h8a2 2 0 0 1 2 2v4a2 2 0 0 1-2 2H6a2 2 0 0 1-2-2v-4a2 2 0 0 1 2-2zM6.8 9V6.2a3.2 3.2 0 0 1 6.4 0V9',
  offline:
    'M3.5 3.5l13 13M2.5 8.4a10.6 10.6 0 0 1 3.6-2.3M9.3 5.2a10.6 10.6 0 0 1 8.2 3.2M6 12a6 6 0 0 1 2.6-1.5M13.2 11.3l.8.7M10 15.6h.01',
  shield: 'M10 2.5 4 4.8v4.4c0 3.8 2.5 6.7 6 8.3 3.5-1.6 6-4.5 6-8.3V4.8zM10 7v3.4M10 13h.01',
}

export type Icon = keyof typeof icons

export function icon(name: Icon): SVGSVGElement {
  const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg')
  const path = document.createElementNS('http://www.w3.org/2000/svg', 'path')
  svg.setAttribute('viewBox', '0 0 20 20')
  svg.setAttribute('aria-hidden', 'true')
  path.setAttribute('d', icons[name])
  svg.append(path)
  return svg
}
