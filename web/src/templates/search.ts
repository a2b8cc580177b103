import { type ListSearch, listSearchOf } from '../parts/lists/list-search.ts'

/** The names of the server. The page needs its own list, because it imports only types from the server. */
export const templateStates = ['approved', 'waiting', 'rejected', 'over'] as const
export type TemplateSearch = ListSearch<(typeof templateStates)[number]>
export const templateSearchOf: (search: Record<string, unknown>) => TemplateSearch = listSearchOf(templateStates)
