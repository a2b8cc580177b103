import { type DragEvent, useRef, useState } from 'react'
import type { VerifierChannel } from '../../../../src/domain/verifiers/verifier.ts'

/** A person changes the order by dragging a row onto another row, or with the arrow buttons, which keep the focus. */
export function useChannelOrder(channels: VerifierChannel[], onChange: (channels: VerifierChannel[]) => void) {
  const list = useRef<HTMLOListElement>(null)
  const [dragged, setDragged] = useState<VerifierChannel>()
  const put = (channel: VerifierChannel, place: number) => {
    const rest = channels.filter(each => each !== channel)
    onChange([...rest.slice(0, place), channel, ...rest.slice(place)])
  }
  const focusOn = (channel: VerifierChannel, way: 'up' | 'down') =>
    requestAnimationFrame(() => {
      const buttons = [way, way === 'up' ? 'down' : 'up'].map(each =>
        list.current?.querySelector<HTMLButtonElement>(`[data-move="${channel} ${each}"]`),
      )
      buttons.find(button => button && !button.disabled)?.focus()
    })
  return {
    list,
    dragged,
    start: (event: DragEvent, channel: VerifierChannel) => {
      // A drag that begins inside of an input selects its text.
      if (event.target instanceof HTMLInputElement) return event.preventDefault()
      event.dataTransfer.effectAllowed = 'move'
      event.dataTransfer.setData('text/plain', channel)
      setDragged(channel)
    },
    over: (event: DragEvent, channel: VerifierChannel) => {
      if (dragged === undefined) return
      event.preventDefault()
      if (dragged !== channel) put(dragged, channels.indexOf(channel))
    },
    end: () => setDragged(undefined),
    move: (channel: VerifierChannel, by: -1 | 1) => {
      put(channel, channels.indexOf(channel) + by)
      focusOn(channel, by < 0 ? 'up' : 'down')
    },
  }
}
