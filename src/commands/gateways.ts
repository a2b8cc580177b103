import { UsageError } from '../base/errors.ts'
import type { Pool } from '../db/sql.ts'
import type { Gateway, GatewayChange } from '../domain/gateways/gateway.ts'
import { addGateway, changeGateway, listGateways, removeGateway, requireGateway } from '../domain/gateways/gateways.ts'
import { brandIds, brandOf, OTHER_BRAND_ID } from '../domain/numbering/brand.ts'
import { connectorNames } from '../engine/connectors.ts'
import { noGateway, orAdvise } from './advice.ts'
import { type Call, type Command, withDatabase } from './command.ts'
import { channelOption, choiceOption, rateOption } from './options.ts'
import { table } from './table.ts'

const OTHER = 'OTHER'
const brandNames = [...Object.keys(brandIds), OTHER]

const gateway = { value: 'GATEWAY', about: 'Its id or name: `tidings gateway list` shows them', required: true }
const shared = {
  brands: { value: 'BRANDS', about: `Operators it serves, of ${brandNames.join(',')}; any for all of them` },
  rate: { value: 'RATE', about: 'Most parts a second, or none' },
  name: { value: 'NAME', about: 'What it is called' },
  set: { value: 'KEY=VALUE', about: 'A setting of the connector; null removes it', many: true },
}

export const gatewayCommands: Command[] = [
  {
    name: 'gateway list',
    about: 'Lists the gateways: the ways to the operators.',
    run: ({ config, print }) =>
      withDatabase(config, async ({ sql }) => {
        const gateways = await listGateways(sql)
        print(gateways.map(present), tableOf(gateways))
      }),
  },
  {
    name: 'gateway add',
    about: 'Adds a gateway; running engines use it within a second.',
    options: {
      channel: { value: 'CHANNEL', about: 'The channel it serves, e.g. SMS', required: true },
      connector: { value: 'CONNECTOR', about: `How it is reached: ${connectorNames().join(', ')}`, required: true },
      ...shared,
    },
    run: addOne,
  },
  {
    name: 'gateway set',
    about: 'Changes a gateway; what is not named stays as it is.',
    options: { gateway, ...shared },
    async run(call) {
      const change = changeIn(call)
      if (Object.keys(change).length === 0) {
        throw new UsageError('There is nothing to change: give --brands, --rate, --name or --set.')
      }
      await changeOne(call, change, ({ name }) => `Gateway ${name} was changed.`)
    },
  },
  {
    name: 'gateway pause',
    about: 'Hands nothing more to a gateway; others of the same operators take over, or messages wait.',
    options: { gateway },
    run: call => changeOne(call, { paused: true }, ({ name }) => `Gateway ${name} is paused.`),
  },
  {
    name: 'gateway resume',
    about: 'Ends the pause of a gateway.',
    options: { gateway },
    run: call => changeOne(call, { paused: false }, ({ name }) => `Gateway ${name} is at work again.`),
  },
  {
    name: 'gateway remove',
    about: 'Removes a gateway; in demo mode the simulated operators come back at the next start.',
    options: { gateway },
    run: call =>
      onGateway(call, async (sql, { gatewayId, name }) => {
        await removeGateway(sql, gatewayId)
        call.print({ gatewayId, name }, `Gateway ${name} was removed.`)
      }),
  },
]

async function addOne(call: Call) {
  const channelType = channelOption(call)!
  const connector = choiceOption(call, 'connector', connectorNames())!
  const { name, brands = [], settings = {}, partsPerSecond = null } = changeIn(call)
  const wanted = { channelType, connector, brands, settings, partsPerSecond }
  await withDatabase(call.config, async ({ sql }) => {
    const added = name === undefined ? await addUnnamed(sql, wanted) : await addGateway(sql, { ...wanted, name })
    if (!added) throw new UsageError(`A gateway with the name "${name}" exists already.`)
    call.print(present(added), `Gateway ${added.gatewayId} (${added.name}) was added.`)
  })
}

/** Called after its connector and channel, with a number behind it from the second on. */
async function addUnnamed(sql: Pool, wanted: Omit<Gateway, 'gatewayId' | 'paused' | 'name'>): Promise<Gateway> {
  const plain = `${wanted.connector}-${wanted.channelType.toLowerCase()}`
  for (let count = 1; ; count += 1) {
    const added = await addGateway(sql, { ...wanted, name: count === 1 ? plain : `${plain}-${count}` })
    if (added) return added
  }
}

const changeOne = (call: Call, change: GatewayChange, sentence: (changed: Gateway) => string) =>
  onGateway(call, async (sql, { gatewayId }) => {
    const changed = await changeGateway(sql, gatewayId, change)
    call.print(present(changed), sentence(changed))
  })

async function onGateway(call: Call, work: (sql: Pool, found: Gateway) => Promise<void>) {
  const called = call.options.gateway!
  await withDatabase(call.config, async ({ sql }) => {
    const found = await orAdvise(noGateway(called), requireGateway(sql, called))
    await work(sql, found)
  })
}

function changeIn(call: Call): GatewayChange {
  const { name, brands } = call.options
  const rate = rateOption(call)
  const { set } = call.lists
  return {
    ...(name === undefined ? {} : { name }),
    ...(brands === undefined ? {} : { brands: readBrands(brands) }),
    ...(rate === undefined ? {} : { partsPerSecond: rate }),
    ...(set === undefined ? {} : { settings: Object.fromEntries(set.map(readSetting)) }),
  }
}

function readBrands(text: string): number[] {
  if (text.toLowerCase() === 'any') return []
  const names = text.split(',').map(name => name.trim().toUpperCase())
  const wrong = names.find(name => !brandNames.includes(name))
  if (wrong !== undefined) {
    throw new UsageError(`--brands must be any, or some of ${brandNames.join(',')}, not "${wrong}".`)
  }
  return [...new Set(names)].map(name => (name === OTHER ? OTHER_BRAND_ID : brandIds[name as keyof typeof brandIds]))
}

/** A value that reads as JSON is that value, e.g. a number; anything else is a text. */
function readSetting(text: string): [string, unknown] {
  const end = text.indexOf('=')
  if (end < 1) throw new UsageError(`--set must be written as KEY=VALUE, not "${text}".`)
  const value = text.slice(end + 1)
  try {
    return [text.slice(0, end), JSON.parse(value)]
  } catch {
    return [text.slice(0, end), value]
  }
}

/** Without its settings: there may be passwords in them. */
const present = (g: Gateway) => ({
  gatewayId: g.gatewayId,
  name: g.name,
  channel: g.channelType,
  connector: g.connector,
  brands: brandsOf(g),
  rate: g.partsPerSecond,
  paused: g.paused,
})

const brandsOf = ({ brands }: Gateway): string[] => brands.map(brandId => brandOf(brandId) ?? OTHER)

const tableOf = (gateways: Gateway[]) =>
  table(
    ['ID', 'CHANNEL', 'CONNECTOR', 'BRANDS', 'RATE', 'STATE', 'NAME'],
    gateways.map(g => [
      g.gatewayId,
      g.channelType,
      g.connector,
      brandsOf(g).join(',') || 'any',
      g.partsPerSecond,
      g.paused ? 'paused' : 'at work',
      g.name,
    ]),
  )
