import { createHash } from 'node:crypto'
import type { Challenge } from './altcha.ts'

/** Solves our own captcha, as the widget does in a browser. */
export function solutionOf({ maxNumber, ...challenge }: Challenge): string {
  for (let number = 0; number <= maxNumber; number++) {
    const hash = createHash('sha256').update(`${challenge.salt}${number}`).digest('hex')
    if (hash === challenge.challenge) return Buffer.from(JSON.stringify({ ...challenge, number })).toString('base64')
  }
  throw new Error('the challenge has no solution')
}
