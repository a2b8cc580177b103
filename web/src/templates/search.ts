import { type ListSearch, listSearchOf } from '../parts/lists/list-search.ts'

/** As the server names them; a list of its own, because the page imports types of the server alone. */
export const templateStates = ['approved', 'waiting', 'rejected', 'over'] as const
export type TemplateSearch = ListSearch<(typeof templateStates)[number]>
export const templateSearchOf: (search: Record<string, unknown>) => TemplateSearch = listSearchOf(templateStates)
