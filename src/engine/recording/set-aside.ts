/** The database does not take this status report, and never will: nobody needs to bring it again. */
export class SetAside extends Error {}

/** What can never be written was logged; to bring it again and again would be worse than to leave it. */
export function unlessSetAside(error: unknown) {
  if (!(error instanceof SetAside)) throw error
}
