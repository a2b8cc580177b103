/** The filters of a list in the address: state, words, and the page from 1 on. */
export type ListSearch<State extends string> = {
  state?: State | undefined
  search?: string | undefined
  page?: number | undefined
}

export const MOST_CHARACTERS = 64

/** `undefined` removes an invalid value from the address. */
export const listSearchOf =
  <State extends string>(states: readonly State[]) =>
  (search: Record<string, unknown>): ListSearch<State> => ({
    state: states.find(state => state === search.state),
    // The router reads a text of digits from the address as a number.
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
