import type { Logger } from 'pino'
import type { BoxKey } from '../../base/secret-box.ts'
import type { Pool } from '../../db/sql.ts'
import { callbackSecretOf } from '../../domain/callbacks/secrets.ts'
import { signedHeaders, signerOf } from '../../domain/callbacks/signature.ts'
import { type AskedTest, bodyOfTest, finishTest, idOfTest, takeTests } from '../../domain/callbacks/test-calls.ts'
import { type Poster, targetOf } from './request.ts'

const AT_ONCE = 16

type TestContext = { sql: Pool; clock: () => Date; log: Logger; poster: Poster; key: BoxKey | undefined }

/** Sends the test calls that somebody asked for, each once, and writes what came of it. A slow receiver delays no other. */
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
  const body = bodyOfTest(test.format, now)
  const sign = signerOf(await callbackSecretOf(sql, test.companyId, key))
  const begun = performance.now()
  const answer = target
    ? await poster.post(target, signedHeaders(sign, idOfTest(test), body, now), body)
    : { kind: 'failed' as const, error: 'no http or https address' }
  if (answer.kind === 'abandoned') return
  const result = {
    body,
    statusCode: answer.kind === 'answered' ? answer.statusCode : null,
    answer: answer.kind === 'answered' ? answer.answer : null,
    error: answer.kind === 'failed' ? answer.error : null,
    tookMs: Math.round(performance.now() - begun),
  }
  await finishTest(sql, test, result, clock())
}
