import { printable } from '../../base/printable.ts'
import type { Call } from '../command.ts'

const LINE_EVERY_MS = 5000

/** What a long command tells while it works: all of it on stderr. */
export type Talk = {
  /** The progress: one line that is written over; where stderr is no terminal, a line every few seconds. */
  show(line: string): void
  /** A sentence of its own. */
  say(sentence: string): void
  /** Lines of text, as they are; none with --json. */
  tell(text: string): void
  end(): void
  /** The last sentence: after it no progress is shown, though the work may still be ending. */
  leave(sentence: string): void
}

/** With --json only sentences are said. */
export function createTalk(call: Call): Talk {
  const isWatched = process.stderr.isTTY === true
  let hasLeft = false
  let shownAt = Number.NEGATIVE_INFINITY
  const end = () => {
    call.progress('')
    shownAt = Number.NEGATIVE_INFINITY
  }
  const say = (sentence: string) => {
    end()
    process.stderr.write(`tidings: ${printable(sentence)}\n`)
  }
  return {
    show(line) {
      if (hasLeft) return
      if (isWatched) return call.progress(line)
      if (call.switches.json || performance.now() - shownAt < LINE_EVERY_MS) return
      shownAt = performance.now()
      process.stderr.write(`${line}\n`)
    },
    say,
    tell(text) {
      end()
      if (!call.switches.json || isWatched) process.stderr.write(`${text}\n`)
    },
    end,
    leave(sentence) {
      say(sentence)
      hasLeft = true
    },
  }
}
