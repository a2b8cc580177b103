import { lazyRouteComponent } from '@tanstack/react-router'
import { type Me, queryClient } from '../session.ts'

/** The facts that are known when a page is opened, before it is drawn. */
export type Opened = {
  /** The company that is chosen in the header. */
  chosen: number | undefined
  /** The chosen company, else the person's own. */
  companyId: number | undefined
  params: Record<string, unknown>
  search: Record<string, unknown>
  me: Me
}

type Query = { queryKey: readonly unknown[]; initialPageParam?: unknown }
/** Queries of the server, and reads of what the browser keeps. */
type FirstReads = (opened: Opened) => (Query | Promise<void>)[]

type Opening = {
  context: { me: Me }
  params: Record<string, unknown>
  location: { search: Record<string, unknown> }
  cause: 'preload' | 'enter' | 'stay'
}

let begin = () => {}
/** When the first reads of the first page have been sent. Pages outside the shell have none. */
export const readsBegan = new Promise<void>(resolve => {
  begin = resolve
})

/** The longest wait for the data of a page. After that the page is drawn without them. */
const MOST_WAIT_MS = 150

/**
 * A page whose script is loaded when the page is opened, or when the pointer rests on a link to it. Its first
 * reads begin at the same moment, without waiting for the script, so that data that arrive soon are drawn without
 * placeholders first. Their modules belong to the start script, so they must not import components.
 */
export const pageOf = <Module extends object, Name extends keyof Module & string>(
  load: () => Promise<Module>,
  name: Name,
  firstReads: FirstReads = () => [],
) => ({
  component: lazyRouteComponent(load as () => Promise<Record<string, never>>, name),
  // A type that names the parameters would replace the types that the route derives from its path.
  loader: async (opening: unknown) => {
    const { context, params, location, cause } = opening as Opening
    if (cause === 'stay') return
    const { me } = context
    const { search } = location
    const chosen = typeof search.company === 'number' ? search.company : undefined
    const companyId = chosen ?? me.companyId ?? undefined
    const reads = firstReads({ me, chosen, companyId, params, search }).map(prefetch)
    begin()
    await Promise.race([Promise.all(reads), after(MOST_WAIT_MS)])
  },
})

/** First reads of a page about one company. None if no company is chosen. */
export const ofOneCompany =
  (queries: (companyId: number, opened: Opened) => Query[]): FirstReads =>
  opened =>
    opened.companyId === undefined ? [] : queries(opened.companyId, opened)

/** Ignores a failure here: the page asks again and shows it. */
function prefetch(read: Query | Promise<void>) {
  if (read instanceof Promise) return read
  return 'initialPageParam' in read
    ? queryClient.prefetchInfiniteQuery(read as Parameters<typeof queryClient.prefetchInfiniteQuery>[0])
    : queryClient.prefetchQuery(read as Parameters<typeof queryClient.prefetchQuery>[0])
}

const after = (ms: number) => new Promise<void>(resolve => setTimeout(resolve, ms))
