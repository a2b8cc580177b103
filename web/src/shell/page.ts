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
type Page = { firstQueries?(opened: Opened): Query[] }

type Opening = {
  context: { me: Me }
  params: Record<string, unknown>
  location: { search: Record<string, unknown> }
  cause: 'preload' | 'enter' | 'stay'
}

/** The longest wait for the data of a page. After that the page is drawn without them. */
const MOST_WAIT_MS = 150

/**
 * A page whose script is loaded when the page is opened, or when the pointer rests on a link to it. Its `firstQueries`
 * are sent at the same moment, so that data that arrive soon are drawn without placeholders first.
 */
export const pageOf = <Module extends object, Name extends keyof Module & string>(
  load: () => Promise<Module>,
  name: Name,
) => ({
  component: lazyRouteComponent(load as () => Promise<Record<string, never>>, name),
  // A type that names the parameters would replace the types that the route derives from its path.
  loader: async (opening: unknown) => {
    const { context, params, location, cause } = opening as Opening
    if (cause === 'stay') return
    const module = await load().catch(() => undefined)
    if (!module) return // `component` loads it again, and reloads the page where a new version has replaced its script
    const { firstQueries } = module[name] as Page
    const { me } = context
    const { search } = location
    const chosen = typeof search.company === 'number' ? search.company : undefined
    const companyId = chosen ?? me.companyId ?? undefined
    const queries = firstQueries?.({ me, chosen, companyId, params, search }) ?? []
    await Promise.race([Promise.all(queries.map(prefetch)), after(MOST_WAIT_MS)])
  },
})

/** First queries of a page about one company. None if no company is chosen. */
export const ofOneCompany =
  (queries: (companyId: number, opened: Opened) => Query[]) =>
  (opened: Opened): Query[] =>
    opened.companyId === undefined ? [] : queries(opened.companyId, opened)

/** Ignores a failure here: the page asks again and shows it. */
const prefetch = (query: Query) =>
  'initialPageParam' in query
    ? queryClient.prefetchInfiniteQuery(query as Parameters<typeof queryClient.prefetchInfiniteQuery>[0])
    : queryClient.prefetchQuery(query as Parameters<typeof queryClient.prefetchQuery>[0])

const after = (ms: number) => new Promise<void>(resolve => setTimeout(resolve, ms))
