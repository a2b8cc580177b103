import { fileURLToPath } from 'node:url'

/**
 * The folder of this installation, with its `.env` and by default its data. It does not depend on the working
 * directory.
 */
export const projectDir = fileURLToPath(new URL('../../..', import.meta.url))
