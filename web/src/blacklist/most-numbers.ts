/** Of one file. Apart from the reading, which brings the numbering of all countries and runs in a worker. */
export const MOST_NUMBERS = 1_000_000
