/** What a list shows, as it stands in the address: a state, words, and the page from 1 on. */
export type ListSearch<State extends string> = {
  state?: State | undefined
  search?: string | undefined
  page?: number | undefined
}

export const MOST_CHARACTERS = 64

/** `undefined` removes what is wrong. */
export const listSearchOf =
  <State extends string>(states: readonly State[]) =>
  (search: Record<string, unknown>): ListSearch<State> => ({
    state: states.find(state => state === search.state),
    // The address writes a text of digits as a number.
    search:
      search.search === undefined || search.search === '' ? undefined : `${search.search}`.slice(0, MOST_CHARACTERS),
    page: Number.isSafeInteger(search.page) && Number(search.page) > 1 ? Number(search.page) : undefined,
  })

export function queryOf(companyId: number, given: ListSearch<string>): string {
  const all = Object.entries({ companyId, ...given })
  return `${new URLSearchParams(all.flatMap(([name, value]) => (value === undefined ? [] : [[name, `${value}`]])))}`
}

/** `edit` shows the form in place of the page. */
export const editOf = (search: Record<string, unknown>): { edit?: true | undefined } => ({
  edit: search.edit === true ? true : undefined,
})
