/** Our icons: a grid of 20 units, strokes of 1.5 pixels, round ends. */
const drawings = {
  arrow: 'M4 10h12M11.5 5.5 16 10l-4.5 4.5',
  back: 'm12 5-5 5 5 5',
  book: 'M10 5.5C8.5 4.3 6.3 4 3.5 4v11c2.8 0 5 .3 6.5 1.5 1.5-1.2 3.7-1.5 6.5-1.5V4c-2.8 0-5 .3-6.5 1.5zM10 5.5v11',
  bubble:
    'M4.2 4h11.6c.7 0 1.2.5 1.2 1.2v7.6c0 .7-.5 1.2-1.2 1.2H9.5L6 17v-3H4.2C3.5 14 3 13.5 3 12.8V5.2C3 4.5 3.5 4 4.2 4z',
  building:
    'M4.5 17V4a1 1 0 0 1 1-1h6a1 1 0 0 1 1 1v13M12.5 8h2a1 1 0 0 1 1 1v8M3 17h14M7.5 6.5h2M7.5 9.5h2M7.5 12.5h2',
  check: 'm4.5 10.5 3.7 3.7 7.3-8',
  copy: 'M7.5 7.5h8v8h-8zM4.5 12.5v-8h8',
  cross: 'm5.5 5.5 9 9M14.5 5.5l-9 9',
  dots: 'M4.5 10h.01M10 10h.01M15.5 10h.01',
  download: 'M10 3.5v9M6.3 9 10 12.7 13.7 9M3.5 16.5h13',
  eye: 'M2.5 10C4.5 6.5 7 4.8 10 4.8s5.5 1.7 7.5 5.2c-2 3.5-4.5 5.2-7.5 5.2S4.5 13.5 2.5 10zM12.3 10a2.3 2.3 0 1 1-4.6 0 2.3 2.3 0 0 1 4.6 0z',
  eyeCrossed:
    'M2.5 10C4.5 6.5 7 4.8 10 4.8s5.5 1.7 7.5 5.2c-2 3.5-4.5 5.2-7.5 5.2S4.5 13.5 2.5 10zM12.3 10a2.3 2.3 0 1 1-4.6 0 2.3 2.3 0 0 1 4.6 0zM4 16 16 4',
  key: 'M10.5 13a3.5 3.5 0 1 1-7 0 3.5 3.5 0 0 1 7 0zM9.5 10.5l7-7M13.5 6.5l2 2',
  moon: 'M16.5 11.7A6.8 6.8 0 1 1 8.3 3.5a5.5 5.5 0 0 0 8.2 8.2z',
  out: 'M12 4.5V4a1 1 0 0 0-1-1H5a1 1 0 0 0-1 1v12a1 1 0 0 0 1 1h6a1 1 0 0 0 1-1v-.5M8 10h9M14 7l3 3-3 3',
  person: 'M10 10a3.2 3.2 0 1 0 0-6.4 3.2 3.2 0 0 0 0 6.4zM4 16.7c.6-2.7 3-4.2 6-4.2s5.4 1.5 6 4.2',
  plus: 'M10 4v12M4 10h12',
  replay: 'M4 8a6.5 6.5 0 1 1-.3 3.7M3.7 3.8V8H8',
  search: 'M14.25 9a5.25 5.25 0 1 1-10.5 0 5.25 5.25 0 0 1 10.5 0zM13 13l3.75 3.75',
  shield: 'M10 3 4 5.2v4.6c0 3.6 2.5 6 6 7.2 3.5-1.2 6-3.6 6-7.2V5.2zM7.4 9.9l1.9 1.9 3.4-3.6',
  sun: 'M13 10a3 3 0 1 1-6 0 3 3 0 0 1 6 0zM10 2.5V4M10 16v1.5M4.7 4.7l1 1M14.3 14.3l1 1M2.5 10H4M16 10h1.5M4.7 15.3l1-1M14.3 5.7l1-1',
  turn: 'm6 8 4-4 4 4M6 12l4 4 4-4',
  users:
    'M10.3 7a2.8 2.8 0 1 1-5.6 0 2.8 2.8 0 0 1 5.6 0zM2.5 16.2c.4-2.7 2.4-4.2 5-4.2s4.6 1.5 5 4.2M13 4.5a2.6 2.6 0 0 1 0 5M14.5 12.3c1.7.5 2.7 1.9 3 3.9',
  warn: 'M10 3.7 17 16H3zM10 8.3v3.4M10 13.8h.01',
  // Statuses are drawn into a circle.
  fail: 'M16.75 10a6.75 6.75 0 1 1-13.5 0 6.75 6.75 0 0 1 13.5 0zM7.7 7.7l4.6 4.6M12.3 7.7l-4.6 4.6',
  ok: 'M16.75 10a6.75 6.75 0 1 1-13.5 0 6.75 6.75 0 0 1 13.5 0zM7 10.2l2.1 2.1L13.2 8',
  sent: 'M16.75 10a6.75 6.75 0 1 1-13.5 0 6.75 6.75 0 0 1 13.5 0zM7 10h5.8M10.5 7.5 13 10l-2.5 2.5',
  slash: 'M16.75 10a6.75 6.75 0 1 1-13.5 0 6.75 6.75 0 0 1 13.5 0zM5.3 5.3l9.4 9.4',
  wait: 'M16.75 10a6.75 6.75 0 1 1-13.5 0 6.75 6.75 0 0 1 13.5 0zM10 6.2V10l2.5 1.7',
}

export type IconName = keyof typeof drawings

/** The word beside it says the same: readers of a screen hear only the word. */
export const Icon = ({ name, size = 16 }: { name: IconName; size?: number }) => (
  <svg
    className="icon"
    width={size}
    height={size}
    viewBox="0 0 20 20"
    fill="none"
    stroke="currentColor"
    strokeWidth="1.5"
    strokeLinecap="round"
    strokeLinejoin="round"
    aria-hidden="true"
  >
    <path d={drawings[name]} vectorEffect="non-scaling-stroke" />
  </svg>
)
