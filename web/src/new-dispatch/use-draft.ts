import { useCallback, useEffect, useMemo, useRef, useState } from 'react'
import { type Draft, newDraft } from './draft.ts'
import { DATABASE, forgetDraft, keepDraft, keptDraft, takeDraftReadEarly } from './kept-draft.ts'

export type DraftUse = {
  draft: Draft
  change(part: Partial<Draft>): void
  /** Changes the draft and waits until it is stored. */
  store(part: Partial<Draft>): Promise<void>
  discard(): Promise<void>
  /**
   * Removes the stored draft of a started dispatch. This page still shows the result; the next page begins a new draft.
   */
  forget(): Promise<void>
  /** Another tab has changed or sent the draft. This tab would overwrite it or send it twice. */
  isElsewhere: boolean
  /** Continues with the draft of the other tab. */
  takeOver(): void
}

/**
 * Holds the newest version of a draft and writes it to the browser's database. Changes during a write are written
 * together afterwards.
 */
class DraftSaver {
  readonly #personId: number
  #latest: Draft | undefined
  #saved = Promise.resolve()
  #isSaveWaiting = false

  constructor(personId: number) {
    this.#personId = personId
  }

  get hasDraft() {
    return this.#latest !== undefined
  }

  async load(companyId: number | undefined): Promise<Draft> {
    return completed(await keptDraft(this.#personId).catch(() => undefined), companyId)
  }

  /** Begins with the draft that the route has read, if it was read before the scripts were loaded. */
  beginEarly(companyId: number | undefined): Draft | undefined {
    const early = takeDraftReadEarly(this.#personId)
    this.#latest = early && completed(early.kept, companyId)
    return this.#latest
  }

  begin(draft: Draft | undefined) {
    this.#latest = draft
  }

  change(part: Partial<Draft>): Draft {
    this.#latest = { ...newDraft(undefined), ...this.#latest, ...part, savedAt: new Date().toISOString() }
    return this.#latest
  }

  /** Saves at once, because a reload may follow at any moment. */
  save(onSaved: () => void): Promise<void> {
    if (this.#isSaveWaiting) return this.#saved
    this.#isSaveWaiting = true
    this.#saved = this.#saved.then(async () => {
      this.#isSaveWaiting = false
      if (!this.#latest) return
      await keepDraft(this.#personId, this.#latest).catch(() => {})
      onSaved()
    })
    return this.#saved
  }

  /** Removes the stored draft. The page goes on with `next`. */
  async remove(next: Draft | undefined): Promise<Draft | undefined> {
    this.#latest = next
    await this.#saved
    await forgetDraft(this.#personId).catch(() => {})
    return this.#latest
  }
}

/** A draft of an earlier version may lack fields. */
const completed = (kept: Draft | undefined, companyId: number | undefined): Draft => ({
  ...newDraft(companyId),
  ...kept,
})

/**
 * The person's draft, undefined until it is read. Without a database in the browser, it exists as long as the page is
 * open.
 */
export function useDraft(personId: number, companyId: number | undefined): DraftUse | undefined {
  const saver = useMemo(() => new DraftSaver(personId), [personId])
  const [draft, setDraft] = useState(() => saver.beginEarly(companyId))
  const { isElsewhere, setIsElsewhere, tellOthers } = useOtherTabs(personId, () => saver.hasDraft)
  useLoading(saver, companyId, isElsewhere, setDraft)

  const change = useCallback(
    (part: Partial<Draft>) => {
      setDraft(saver.change(part))
      void saver.save(tellOthers)
    },
    [saver, tellOthers],
  )
  const store = useCallback(
    async (part: Partial<Draft>) => {
      change(part)
      await saver.save(tellOthers)
    },
    [change, saver, tellOthers],
  )
  const discard = useCallback(async () => {
    const next = await saver.remove(newDraft(draft?.companyId))
    tellOthers()
    setDraft(next)
  }, [saver, draft?.companyId, tellOthers])

  const forget = useCallback(async () => {
    await saver.remove(undefined)
    tellOthers()
  }, [saver, tellOthers])

  const takeOver = () => {
    saver.begin(undefined)
    setDraft(undefined)
    setIsElsewhere(false)
  }
  return draft && { draft, change, store, discard, forget, isElsewhere, takeOver }
}

/** Reads the draft when the page opens, unless the route has read it, and again when the person takes it over from another tab. */
function useLoading(
  saver: DraftSaver,
  companyId: number | undefined,
  isElsewhere: boolean,
  setDraft: (draft: Draft) => void,
) {
  // `companyId` counts only for a new draft. Later the page changes the company in the draft.
  useEffect(() => {
    if (isElsewhere || saver.hasDraft) return
    let isHere = true
    void saver.load(companyId).then(draft => {
      if (!isHere) return
      saver.begin(draft)
      setDraft(draft)
    })
    return () => {
      isHere = false
    }
  }, [saver, isElsewhere])
}

/** The tabs of a person share one draft. Each tab tells the others when it has stored or removed the draft. */
function useOtherTabs(personId: number, hasDraft: () => boolean) {
  const [isElsewhere, setIsElsewhere] = useState(false)
  const others = useRef<BroadcastChannel>(undefined)
  const latest = useRef(hasDraft)
  latest.current = hasDraft
  useEffect(() => {
    const channel = new BroadcastChannel(`${DATABASE} ${personId}`)
    channel.onmessage = () => latest.current() && setIsElsewhere(true)
    others.current = channel
    return () => channel.close()
  }, [personId])
  const tellOthers = useCallback(() => others.current?.postMessage('changed'), [])
  return { isElsewhere, setIsElsewhere, tellOthers }
}
