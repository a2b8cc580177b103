/**
 * The most numbers of one file. In a module of its own, because the module that reads the file contains the numbering
 * of all countries and runs in a worker.
 */
export const MOST_NUMBERS = 1_000_000
