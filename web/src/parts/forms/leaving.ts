import { useBlocker } from '@tanstack/react-router'

/** Blocks links and Back while a form is unsaved. A reload is allowed, because the draft is stored. */
export const useLeaving = (isUnsaved: () => boolean) =>
  useBlocker({
    shouldBlockFn: ({ current, next }) => isUnsaved() && isElsewhere(current, next),
    enableBeforeUnload: false,
    withResolver: true,
  })

type Place = { routeId: string; pathname: string; search: object }

/** Filters may change below a form. A move to the sign-in page is allowed, because the draft is restored afterwards. */
function isElsewhere(current: Place, next: Place): boolean {
  if (next.routeId === '/sign-in') return false
  return next.pathname !== current.pathname || whatIsEdited(next) !== whatIsEdited(current)
}

function whatIsEdited({ search }: Place): string {
  const { company, edit }: { company?: unknown; edit?: unknown } = search
  return `${company} ${edit}`
}
