const PROCESS_MS = 1000
/** Longer, so that a process that does not answer the parent is left out and the others are not. */
const PARENT_MS = 2000

/** One end of the channel between two processes. */
export type Peer = {
  on(event: 'message', listener: (message: unknown) => void): unknown
  send?(message: Message, done: (error: Error | null) => void): unknown
}

type Message = { metrics: 'asked'; id: number } | { metrics: 'told'; id: number; text: string }

/**
 * The metrics of all HTTP processes of a shared port. A request for metrics reaches one of them. It asks the parent, which asks
 * every process and marks each series with the number of its process: sums would fall when a process starts again.
 */
export class MetricsExchange {
  readonly #askers = new Map<number, () => Promise<string>>()

  /** A process that is started again takes the place of the former one. */
  join(process: number, child: Peer & { once(event: 'exit', listener: () => void): unknown }) {
    const ask = exchangeMetrics(child, () => this.#all(), PROCESS_MS)
    this.#askers.set(process, ask)
    child.once('exit', () => {
      if (this.#askers.get(process) === ask) this.#askers.delete(process)
    })
  }

  async #all(): Promise<string> {
    const asked = [...this.#askers].map(async ([process, ask]) => labelled(await ask(), process))
    return joinMetrics(await Promise.all(asked))
  }
}

/** Answers the questions of the other process, and returns a function that asks it. Its answer is empty if it takes too long. */
export function exchangeMetrics(
  peer: Peer,
  own: () => Promise<string>,
  patienceMs: number = PARENT_MS,
): () => Promise<string> {
  const waiting = new Map<number, (text: string) => void>()
  const send = (message: Message) => void peer.send?.(message, () => {}) // the other process may have ended
  let last = 0
  peer.on('message', async message => {
    if (!isMessage(message)) return
    if (message.metrics === 'told') waiting.get(message.id)?.(message.text)
    else send({ metrics: 'told', id: message.id, text: await own() })
  })
  return async () => {
    const id = ++last
    const { promise, resolve } = Promise.withResolvers<string>()
    waiting.set(id, resolve)
    const patience = setTimeout(resolve, patienceMs, '')
    send({ metrics: 'asked', id })
    return promise.finally(() => {
      clearTimeout(patience)
      waiting.delete(id)
    })
  }
}

const isMessage = (message: unknown): message is Message =>
  typeof message === 'object' && message !== null && 'metrics' in message

/** `name 1` becomes `name{process="2"} 1`, and `name{a="b"} 1` becomes `name{process="2",a="b"} 1`. */
const labelled = (text: string, process: number) =>
  text.replace(/^([\w:]+)(\{?)/gm, (_, name, brace) => `${name}{process="${process}"${brace ? ',' : '}'}`)

/** All series of a metric must follow each other, below one description. */
function joinMetrics(texts: string[]): string {
  const blocks = texts.flatMap(text => text.split(/^(?=# HELP )/m)).flatMap(block => descriptionAndSeries(block))
  const byDescription = Map.groupBy(blocks, ({ description }) => description)
  return [...byDescription]
    .map(([description, same]) => `${description}${same.map(({ series }) => series).join('\n')}\n`)
    .join('\n')
}

function descriptionAndSeries(block: string): { description: string; series: string }[] {
  const [, description, series] = /^(# HELP [^\n]*\n# TYPE [^\n]*\n)(.*)$/s.exec(block) ?? []
  return description === undefined || series === undefined ? [] : [{ description, series: series.trimEnd() }]
}
