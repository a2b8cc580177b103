import { acceptSingles } from '../src/domain/singles/singles.ts'
import { aSingle } from '../src/testing/factories.ts'
import { addSimulator, codesBehindDispatch } from './codes.ts'
import type { Figure, Options } from './figures.ts'
import { onStage, type Stage } from './stage.ts'

export const name = 'authorize'
export const about = 'from a code accepted to handed over, idle and while a dispatch of a million goes out'

/** How much later a code may be behind a million. */
const MOST_RATIO = 2

export function run({ dispatch }: Options): Promise<Figure[]> {
  return onStage(async stage => {
    await addSimulator(stage.sql)
    const service = await stage.startService()
    await stage.startEngine()
    return codesBehindDispatch(stage, service.port, () => acceptCode(stage), MOST_RATIO, dispatch)
  })
}

async function acceptCode({ sql, companyId, senderIds }: Stage): Promise<string> {
  const code = aSingle({ senderId: senderIds[0]!, senderName: 'ROMASHKA' })
  const context = { billingZone: 'Europe/Moscow', now: new Date() }
  const [answer] = await acceptSingles(sql, companyId, [code], context)
  if (answer?.kind !== 'accepted') throw new Error('a code was refused')
  return answer.uuid
}
