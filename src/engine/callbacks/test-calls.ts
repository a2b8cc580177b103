import type { Logger } from 'pino'
import type { BoxKey } from '../../base/secret-box.ts'
import type { Pool } from '../../db/sql.ts'
import { callbackSecretOf } from '../../domain/callbacks/secrets.ts'
import { signedHeaders, signerOf } from '../../domain/callbacks/signature.ts'
import { type AskedTest, bodyOfTest, finishTest, idOfTest, takeTests } from '../../domain/callbacks/test-calls.ts'
import { type Poster, targetOf } from './request.ts'

const AT_ONCE = 16

type TestContext = { sql: Pool; clock: () => Date; log: Logger; poster: Poster; key: BoxKey | undefined }

/** Sends each requested test call once and stores its result. A slow receiver does not delay the test calls of others. */
export class TestCalls {
  readonly #context: TestContext
  readonly #underWay = new Set<Promise<void>>()

  constructor(context: TestContext) {
    this.#context = context
  }

  async sendNext(): Promise<void> {
    const room = AT_ONCE - this.#underWay.size
    if (room === 0) return
    for (const test of await takeTests(this.#context.sql, this.#context.clock(), room)) this.#send(test)
  }

  ended = () => Promise.all(this.#underWay)

  #send(test: AskedTest) {
    const sending = sendTest(this.#context, test)
      .catch(err => this.#context.log.error({ err, companyId: test.companyId }, 'callback_test.failed'))
      .finally(() => this.#underWay.delete(sending))
    this.#underWay.add(sending)
  }
}

async function sendTest({ sql, clock, poster, key }: TestContext, test: AskedTest) {
  const now = clock()
  const target = targetOf(test.url)
  const body = bodyOfTest(test.api, now)
  const sign = signerOf(await callbackSecretOf(sql, test.companyId, key))
  const begun = performance.now()
  const result = target
    ? await poster.post(target, signedHeaders(sign, idOfTest(test), body, now), body)
    : { kind: 'failed' as const, error: 'no http or https address' }
  if (result.kind === 'abandoned') return
  const stored = {
    body,
    statusCode: result.kind === 'answered' ? result.statusCode : null,
    answer: result.kind === 'answered' ? result.answer : null,
    error: result.kind === 'failed' ? result.error : null,
    tookMs: Math.round(performance.now() - begun),
  }
  await finishTest(sql, test, stored, clock())
}
