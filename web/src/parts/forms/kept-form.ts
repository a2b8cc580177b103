import { useRouter } from '@tanstack/react-router'
import { useCallback, useEffect, useRef, useState } from 'react'
import { useMe } from '../../session.ts'

/** The draft of a form: the values that a person typed. */
export type Kept<Draft> = {
  draft: Draft
  change(part: Partial<Draft> | ((now: Draft) => Partial<Draft>)): void
  /** Whether the draft differs from the first values of the form. */
  isChanged: boolean
  /** Whether the draft is changed and was neither saved nor discarded. */
  isUnsaved(): boolean
  /** Whether the draft was restored after the page was loaded again. */
  isRestored: boolean
  startAgain(): void
  /** Removes the stored draft, after saving or discarding. */
  forget(): void
}

type Options = { secrets?: readonly string[] }

/**
 * Keeps the draft of a form in the storage of the tab, by person, page and form. It survives a reload, the end of a
 * session and a reopened tab. Fields named in `secrets` and addresses with a password are not stored.
 */
export function useKept<Draft extends object>(form: string, begin: Draft, { secrets = [] }: Options = {}): Kept<Draft> {
  const place = usePlace(form)
  const [start, setStart] = useState(begin)
  const write = writerWithout(secrets)
  const [restored] = useState(() => restore(place, start, write))
  const [isRestored, setIsRestored] = useState(restored !== undefined)
  const [draft, setDraft] = useState(restored ?? start)
  const isForgotten = useRef(false)
  const isChanged = JSON.stringify(draft) !== JSON.stringify(start)

  useEffect(() => {
    if (isForgotten.current) return
    if (isChanged) store(place, write({ start, draft }))
    else drop(place)
  }, [draft])

  return {
    draft,
    isChanged,
    isRestored,
    isUnsaved: () => isChanged && !isForgotten.current,
    change: part => {
      isForgotten.current = false
      setDraft(now => ({ ...now, ...(typeof part === 'function' ? part(now) : part) }))
    },
    startAgain: () => {
      setIsRestored(false)
      setStart(begin)
      setDraft(begin)
    },
    forget: () => {
      isForgotten.current = true
      drop(place)
    },
  }
}

/** Fills in a form of this page before it appears, as if the person had typed the values. */
export function useFillIn<Draft extends object>(form: string, start: Draft): (draft: Draft) => void {
  const place = usePlace(form)
  return useCallback(draft => store(place, writerWithout([])({ start, draft })), [place])
}

const PREFIX = 'tidings.form'

/** The path of the page at the moment when the form appears. */
function usePlace(form: string): string {
  const { personId } = useMe()
  const { location } = useRouter().state
  const { company }: { company?: unknown } = location.search
  return useState(() => [PREFIX, personId, location.pathname, company ?? '', form].join(' '))[0]
}

/** If another person changed a field meanwhile, the newer value wins. The other fields keep the typed values. */
function restore<Draft extends object>(place: string, start: Draft, write: Writer): Draft | undefined {
  const kept = read(place)
  if (!kept) return undefined
  const isSame = (a: unknown, b: unknown) => write(a) === write(b)
  const typed = Object.entries(kept.draft).filter(([name, value]) => {
    const before = kept.start[name]
    return !isSame(value, before) && isSame(before, start[name as keyof Draft])
  })
  const values = typed.map(([name, value]) => [name, withSecretsOf(start[name as keyof Draft], value)])
  return typed.length === 0 ? undefined : { ...start, ...Object.fromEntries(values) }
}

// Secrets ---------------------------------------------------------------------------------------------------------------

const SECRET = '\u0000secret'

type Writer = (value: unknown) => string | undefined

const writerWithout =
  (secrets: readonly string[]): Writer =>
  value =>
    JSON.stringify(value, (name, one) => (one && (secrets.includes(name) || hasPassword(one)) ? SECRET : one))

const hasPassword = (value: unknown) => typeof value === 'string' && /:\/\/[^/?#\s]*@/.test(value)

/** A secret is not stored, so it gets the first value of the form again. */
function withSecretsOf(start: unknown, value: unknown): unknown {
  if (value === SECRET) return start ?? ''
  if (typeof value !== 'object' || value === null) return value
  const before = (start ?? {}) as Record<string, unknown>
  if (Array.isArray(value)) return value.map((one, at) => withSecretsOf(before[at], one))
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, withSecretsOf(before[name], one)]))
}

// The storage of the tab ------------------------------------------------------------------------------------------------

type Stored = { start: Record<string, unknown>; draft: Record<string, unknown> }

function read(place: string): Stored | undefined {
  try {
    const stored = sessionStorage.getItem(place)
    return stored === null ? undefined : JSON.parse(stored)
  } catch {
    return undefined // no storage
  }
}

function store(place: string, written: string | undefined) {
  try {
    if (written) sessionStorage.setItem(place, written)
  } catch {
    // Without storage, or with a full one, the draft exists as long as the page.
  }
}

function drop(place: string) {
  try {
    sessionStorage.removeItem(place)
  } catch {
    // no storage
  }
}

/** Removes all drafts when the person signs out. */
export function dropAllKept() {
  try {
    const places = Object.keys(sessionStorage).filter(place => place.startsWith(PREFIX))
    places.forEach(drop)
  } catch {
    // no storage
  }
}
