import { SetAside } from './recorder.ts'

/** What can never be written was logged; to bring it again and again would be worse than to leave it. */
export function unlessSetAside(error: unknown) {
  if (!(error instanceof SetAside)) throw error
}
