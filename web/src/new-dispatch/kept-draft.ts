import type { Draft } from './draft.ts'

/** Drafts by person. Files have their own store, because each write of a draft would copy the file. */
export const DATABASE = 'tidings-new-dispatch'
const stores = ['drafts', 'files'] as const
type Store = (typeof stores)[number]

function openDatabase(): Promise<IDBDatabase> {
  const request = indexedDB.open(DATABASE, 1)
  request.onupgradeneeded = () => {
    for (const store of stores) request.result.createObjectStore(store)
  }
  return resultOf(request)
}

function resultOf<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result)
    request.onerror = () => reject(request.error)
  })
}

async function inStore<T>(store: Store, mode: IDBTransactionMode, work: (store: IDBObjectStore) => IDBRequest<T>) {
  const database = await openDatabase()
  try {
    return await resultOf(work(database.transaction(store, mode).objectStore(store)))
  } finally {
    database.close()
  }
}

export const keepFile = (personId: number, file: Blob) =>
  inStore('files', 'readwrite', store => store.put(file, personId))
export const keptFile = (personId: number): Promise<Blob | undefined> =>
  inStore('files', 'readonly', store => store.get(personId))

export const keepDraft = (personId: number, draft: Draft) =>
  inStore('drafts', 'readwrite', store => store.put(draft, personId))
export const keptDraft = (personId: number): Promise<Draft | undefined> =>
  inStore('drafts', 'readonly', store => store.get(personId))

export async function forgetDraft(personId: number) {
  for (const name of stores) await inStore(name, 'readwrite', store => store.delete(personId))
}

/** The draft as the route has read it. The page takes it once, because another tab may change it later. */
let early: { personId: number; kept: Draft | undefined } | undefined

/** Reads the draft while the scripts of the page are loaded, so that the page is drawn with it at once. */
export async function readDraftEarly(personId: number): Promise<void> {
  early = undefined
  const kept = await keptDraft(personId).catch(() => undefined)
  early = { personId, kept }
}

export function takeDraftReadEarly(personId: number) {
  const taken = early?.personId === personId ? early : undefined
  early = undefined
  return taken
}
