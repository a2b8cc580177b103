import { acceptSingles } from '../src/domain/singles/singles.ts'
import { aSingle } from '../src/testing/factories.ts'
import { addSimulator, codesBehindDispatch } from './codes.ts'
import type { Bench } from './figures.ts'
import { withEngine } from './smpp.ts'
import { onStage, type Stage } from './stage.ts'

/** How much later a code may be behind a million. */
const MOST_RATIO = 2

export const authorize: Bench = {
  name: 'authorize',
  about: 'from a code accepted to handed over, idle and while a dispatch of a million goes out',
  run: ({ dispatch }) =>
    onStage(async stage => {
      await addSimulator(stage.sql)
      const service = await stage.startService()
      await stage.startEngine()
      return codesBehindDispatch(stage, service.port, () => acceptCode(stage), MOST_RATIO, dispatch)
    }),
}

/** The operator works on the same cores. */
export const authorizeSmpp: Bench = {
  name: 'authorize-smpp',
  about: 'as authorize, with an SMSC instead of a simulated operator',
  run: ({ dispatch }) =>
    withEngine(async ({ stage }) => {
      const service = await stage.startService()
      return codesBehindDispatch(stage, service.port, () => acceptCode(stage), undefined, dispatch)
    }),
}

async function acceptCode({ sql, companyId, senderIds }: Stage): Promise<string> {
  const code = aSingle({ senderId: senderIds[0]!, senderName: 'ROMASHKA' })
  const context = { billingZone: 'Europe/Moscow', now: new Date() }
  const [answer] = await acceptSingles(sql, companyId, [code], context)
  if (answer?.kind !== 'accepted') throw new Error('a code was refused')
  return answer.uuid
}
