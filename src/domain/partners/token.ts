import { createHash } from 'node:crypto'

/** Tokens are random, so a fast hash is enough; only it is kept. */
export const hashToken = (token: string) => createHash('sha256').update(token).digest()
