import { fileURLToPath } from 'node:url'

/** The folder of this installation: its `.env` and, unless told otherwise, its data are here, wherever it is run from. */
export const projectDir = fileURLToPath(new URL('../..', import.meta.url))
