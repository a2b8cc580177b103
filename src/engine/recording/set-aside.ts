/** The database refuses this status report and always will. The channel must not report it again. */
export class SetAside extends Error {}

/** For callers that would report again after an error: a status report that was set aside is already logged. */
export function ignoreSetAside(error: unknown) {
  if (!(error instanceof SetAside)) throw error
}
