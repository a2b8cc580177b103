import { setTimeout as pause } from 'node:timers/promises'
import { addVkSimulator } from '../../bench/many-lanes.ts'
import type { Stage } from '../../bench/stage.ts'
import { aCompany } from '../../src/testing/factories.ts'
import { manyLanes } from '../../src/testing/lanes.ts'
import type { Axis, Side } from './sides.ts'

const SIZES = [1, 100, 10_000]
const AT_ONCE = 8
const PATIENCE_MS = 600_000

/** Every company has sent a message through the engine before the measurement. */
export const companies: Axis = {
  name: 'companies',
  about: 'companies beside the company that is measured',
  sides: SIZES.map(sideOf),
}

function sideOf(size: number): Side {
  return {
    label: size.toLocaleString('en'),
    async prepare(stage) {
      await addVkSimulator(stage.sql)
      let left = size - 1
      const add = async () => {
        while (left-- > 0) await manyLanes(stage.sql, await aCompany(stage.sql, stage.partner), 1, 'VK')
      }
      await Promise.all(Array.from({ length: AT_ONCE }, add))
      await stage.sql`analyze`
      await untilSent(stage)
    },
  }
}

async function untilSent({ sql }: Stage) {
  const begun = performance.now()
  for (;;) {
    const [row] = await sql<{ isOpen: boolean }[]>`select exists (select from lanes where cursor < tail) as is_open`
    if (!row!.isOpen) return
    if (performance.now() - begun > PATIENCE_MS) throw new Error('the messages of other companies are not sent')
    await pause(200)
  }
}
