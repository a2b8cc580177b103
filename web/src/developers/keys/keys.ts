import { queryOptions, useMutation, useQueryClient } from '@tanstack/react-query'
import type { KeyChange, KeysAnswer, ListedKey } from '../../../../src/http/cabinet/developers/keys.ts'
import { ask, ServerError, type Wire } from '../../api.ts'
import { useWords } from '../../words/words.ts'

export type ApiKey = Wire<ListedKey>
export type Keys = Wire<KeysAnswer>
export type Trial = Keys['trial']

export const kinds = ['MESSAGE', 'ENTITY', 'VERIFIER', 'BUILDER_WIDGET'] as const satisfies ApiKey['type'][]

export const KEYS = ['keys'] as const

export const keysQuery = (companyId: number) =>
  queryOptions({
    queryKey: [...KEYS, companyId],
    queryFn: () => ask<KeysAnswer>('GET', keyPath(companyId)),
    refetchInterval: 15_000,
  })

export const keyPath = (companyId: number, rest = '') => `/keys${rest}?companyId=${companyId}`

/** The displayed name of a key: its name, or its id if it has none. */
export function useNameOfKey() {
  const { say } = useWords()
  return ({ keyId, name }: Pick<ApiKey, 'keyId' | 'name'>) => name || say('keys.unnamed', { id: String(keyId) })
}

export function useKeyChange(companyId: number, keyId: number) {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (change: KeyChange) => ask<void>('PATCH', keyPath(companyId, `/${keyId}`), change),
    onSuccess: () => client.invalidateQueries({ queryKey: KEYS }),
  })
}

/** One address per line. Commas also separate addresses. */
export const addressesIn = (text: string) =>
  text
    .split(/[\n,;]/)
    .map(entry => entry.trim())
    .filter(entry => entry !== '')

/** The reason why the server refused the addresses. */
export function useAddressProblem() {
  const { say } = useWords()
  return (error: unknown): string | undefined => {
    if (!(error instanceof ServerError) || !/^addresses\b/.test(error.message)) return undefined
    const entry = /not "(.*)"$/s.exec(error.message)?.[1]
    return entry === undefined ? say('keys.addresses.tooMany', { most: 100 }) : say('keys.addresses.wrong', { entry })
  }
}
