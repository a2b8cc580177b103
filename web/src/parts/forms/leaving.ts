import { useBlocker } from '@tanstack/react-router'

/** Stops links and Back while something is unsaved. A reload goes on: what was typed is kept. */
export const useLeaving = (isUnsaved: () => boolean) =>
  useBlocker({
    shouldBlockFn: ({ current, next }) => isUnsaved() && isElsewhere(current, next),
    enableBeforeUnload: false,
    withResolver: true,
  })

type Place = { routeId: string; pathname: string; search: object }

/** Filters may change below a form. After a session that ended, what was typed is there again. */
function isElsewhere(current: Place, next: Place): boolean {
  if (next.routeId === '/sign-in') return false
  return next.pathname !== current.pathname || whatIsEdited(next) !== whatIsEdited(current)
}

function whatIsEdited({ search }: Place): string {
  const { company, edit } = search as { company?: number; edit?: true }
  return `${company} ${edit}`
}
