import { useEffect, useState } from 'react'
import type { LiveEvent } from '../../../src/http/cabinet/overview/live.ts'
import { queryClient, sessionQuery } from '../session.ts'

const FIRST_WAIT_MS = 1000
const LONGEST_WAIT_MS = 30_000

type Live = { isConnected: boolean; changes: ReadonlyMap<number, LiveEvent> }

const nothing: Live = { isConnected: false, changes: new Map() }

/** Live figures of these dispatches while the page shows them. */
export function useLive(dispatchIds: number[]): Live {
  const [live, setLive] = useState(nothing)
  const list = dispatchIds.join()
  useEffect(() => {
    if (list === '') return setLive(nothing)
    const connection = new LiveConnection(list, {
      onConnected: isConnected => setLive(before => ({ ...before, isConnected })),
      onChange: change =>
        setLive(before => ({ ...before, changes: new Map(before.changes).set(change.dispatchId, change) })),
    })
    return () => connection.close()
  }, [list])
  return live
}

type Listener = { onConnected(isConnected: boolean): void; onChange(change: LiveEvent): void }

/**
 * Server-sent events. After an error it reconnects, each time after a longer wait, so that a restart of the service
 * does not cause a burst of connections.
 */
class LiveConnection {
  readonly #url: URL
  readonly #listener: Listener
  #source: EventSource | undefined
  #timer: ReturnType<typeof setTimeout> | undefined
  #waitMs = FIRST_WAIT_MS

  constructor(list: string, listener: Listener) {
    this.#url = new URL(`api/live?dispatches=${list}`, document.baseURI)
    this.#listener = listener
    this.#connect()
  }

  close() {
    clearTimeout(this.#timer)
    this.#source?.close()
  }

  #connect() {
    const source = new EventSource(this.#url)
    this.#source = source
    source.onopen = () => {
      this.#waitMs = FIRST_WAIT_MS
      this.#listener.onConnected(true)
    }
    source.onmessage = ({ data }) => this.#listener.onChange(JSON.parse(data))
    source.onerror = () => this.#connectLater()
    // The server says that the session is over. The query of the session then leads to the sign-in page.
    source.addEventListener('over', () => {
      this.close()
      void queryClient.invalidateQueries({ queryKey: sessionQuery.queryKey })
    })
  }

  #connectLater() {
    this.close()
    this.#listener.onConnected(false)
    this.#timer = setTimeout(() => this.#connect(), this.#waitMs * (0.5 + Math.random()))
    this.#waitMs = Math.min(this.#waitMs * 2, LONGEST_WAIT_MS)
  }
}
