import type { Tracer } from '../../base/tracing/tracer.ts'
import type { SendResult } from '../../channels/channel.ts'

/** The spans of submissions: from the moment in which a message is submitted until the answer of the operator. */
export class SendSpans {
  readonly #tracer: Tracer
  readonly #clock: () => Date
  readonly #begun = new Map<string, Date>()

  constructor(tracer: Tracer, clock: () => Date) {
    this.#tracer = tracer
    this.#clock = clock
  }

  begin(messageUuid: string): void {
    if (this.#tracer.isTraced(messageUuid)) this.#begun.set(messageUuid, this.#clock())
  }

  end(messageUuid: string, { kind: result }: SendResult, gatewayId: number): void {
    const startedAt = this.#begun.get(messageUuid)
    if (!startedAt) return
    this.#begun.delete(messageUuid)
    this.#tracer.step(messageUuid, 'send', {
      kind: 'client',
      startedAt,
      endedAt: this.#clock(),
      isFailed: result !== 'accepted',
      attributes: { 'tidings.gateway_id': gatewayId, 'tidings.result': result },
    })
  }
}
