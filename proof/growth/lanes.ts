import { addVkSimulator } from '../../bench/many-lanes.ts'
import { aCompany } from '../../src/testing/factories.ts'
import { manyLanes } from '../../src/testing/lanes.ts'
import { pauseGateway } from './pause-gateway.ts'
import type { Axis, Side } from './sides.ts'

const SIZES = [0, 20_000]

/** The gateway of these lanes is paused, so that the neighbour waits and has no share of the engine. */
export const lanes: Axis = {
  name: 'lanes',
  about: 'lanes of another company, with messages that wait for their gateway',
  sides: SIZES.map(sideOf),
}

function sideOf(size: number): Side {
  return {
    label: size.toLocaleString('en'),
    async prepare({ sql, partner }) {
      const gateway = await addVkSimulator(sql)
      await pauseGateway(sql, gateway!, true)
      await manyLanes(sql, await aCompany(sql, partner), size, 'VK')
      await sql`analyze`
    },
  }
}
