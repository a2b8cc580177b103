import { addVkSimulator } from '../../bench/many-lanes.ts'
import { secret } from '../../bench/secret.ts'
import { changeGateway } from '../../src/domain/gateways/gateways.ts'
import { gatewayKey } from '../../src/domain/gateways/secrets.ts'
import { aCompany } from '../../src/testing/factories.ts'
import { manyLanes } from '../../src/testing/lanes.ts'
import type { Axis, Side } from './sides.ts'

const SIZES = [0, 20_000]
/** A pause changes no settings, so there is nothing to check. */
const UNCHECKED = { key: gatewayKey(secret), secretNames: [], check: () => {} }

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
      await changeGateway(sql, gateway!.gatewayId, { paused: true }, UNCHECKED)
      await manyLanes(sql, await aCompany(sql, partner), size, 'VK')
      await sql`analyze`
    },
  }
}
