import { beforeEach, describe, expect, test, vi } from 'vitest'
import { setSwitches } from '../../domain/companies/companies.ts'
import { local, useCallbackSender } from '../../testing/callback-sender.ts'
import { aGateway, useEngines } from '../../testing/engines.ts'
import { eventually } from '../../testing/eventually.ts'
import { aCompany, anApprovedSender } from '../../testing/factories.ts'
import { commands } from '../all-commands.ts'
import { runCommandLine } from '../command-line.ts'

const world = useCallbackSender()
const { db, aReceiver } = world
const { anEngine } = useEngines(db)
let of: string[]

beforeEach(async () => {
  await db.sql`delete from gateways`
  await db.sql`delete from inbound_rules`
  of = ['--company', String(world.companyId)]
})

/** What a command prints, in this process. */
async function tidings(...words: string[]): Promise<string> {
  const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true)
  try {
    await runCommandLine(commands, words, () => ({
      DATABASE_URL: db.url,
      TIDINGS_SECRET: 'a secret of the tests, 32 or longer',
    }))
    return write.mock.calls.map(([text]) => text).join('')
  } finally {
    write.mockRestore()
  }
}

const answerOf = async (...words: string[]) => JSON.parse(await tidings(...words, '--json'))
const url = 'https://anna:a%20word@client.example/inbound'
const add = ['inbound', 'rule', 'add', '--channel', 'whatsapp', '--url', url]

describe('rules', () => {
  test('are added for some names or for all, listed without passwords, and removed', async () => {
    const { companyId } = world
    await setSwitches(db.sql, companyId, { inbound: true })
    for (const senderName of ['Shop', 'Help']) {
      await anApprovedSender(db.sql, companyId, { channelType: 'WHATSAPP', senderName })
    }
    const named = await answerOf(...add, ...of, '--sender', 'Shop', '--sender', 'Help', '--center', 'Counter')
    expect(named).toEqual({
      ruleId: expect.any(Number),
      companyId,
      channelType: 'WHATSAPP',
      senderNames: ['Shop', 'Help'],
      trafficCenterId: expect.any(Number),
      trafficCenterName: 'Counter',
      callbackUrl: 'https://anna:***@client.example/inbound',
    })
    expect(await tidings(...add, ...of)).toMatch(
      /^Rule \d+: inbound messages of WHATSAPP to any name belong to Default\.\n$/,
    )
    expect(await db.sql`select distinct callback_url as url from inbound_rules`).toEqual([{ url }])

    const listed = await answerOf('inbound', 'rule', 'list', ...of)
    expect(listed).toEqual([
      named,
      {
        ...named,
        ruleId: named.ruleId + 1,
        senderNames: [],
        trafficCenterId: expect.any(Number),
        trafficCenterName: 'Default',
      },
    ])
    expect(await answerOf('inbound', 'rule', 'list')).toEqual(listed)
    expect(await tidings('inbound', 'rule', 'list')).toMatch(
      /^ID +COMPANY +CHANNEL +CENTER +NAMES +URL\n\d+ +\d+ +WHATSAPP +Counter +Shop,Help +https:\/\/anna:\*\*\*@.*\n\d+ .* Default +any /,
    )

    const rule = ['--rule', String(named.ruleId)]
    expect(await answerOf('inbound', 'rule', 'remove', ...of, ...rule)).toEqual({ companyId, ruleId: named.ruleId })
    expect(await answerOf('inbound', 'rule', 'list')).toEqual([listed[1]])
    await expect(tidings('inbound', 'rule', 'remove', ...of, ...rule)).rejects.toThrow(
      `Company ${companyId} has no rule ${named.ruleId}: \`tidings inbound rule list\` shows them.`,
    )
  })

  test('of a company that may not be written to say so', async () => {
    expect(await tidings(...add, ...of)).toMatch(/\nIt waits .*: `tidings company set --company \d+ --inbound on`\.\n$/)
  })

  test('need a company that exists, and names that are its own', async () => {
    await expect(tidings(...add, '--company', '987654')).rejects.toThrow(/^There is no company 987654/)
    await expect(tidings('inbound', 'rule', 'list', '--company', '987654')).rejects.toThrow(
      /^There is no company 987654/,
    )
    await expect(tidings(...add, ...of, '--sender', 'Shop')).rejects.toThrow(
      'The company has no sender name "Shop" for WHATSAPP',
    )
    expect(await answerOf('inbound', 'rule', 'list')).toEqual([])
  })
})

test('centers are listed and added, and one of them is the default', async () => {
  const { companyId } = world
  const center = (verb: string, ...more: string[]) => answerOf('inbound', 'center', verb, ...of, ...more)
  const first = { trafficCenterId: expect.any(Number), companyId, name: 'Default', isDefault: true }
  expect(await center('list')).toEqual([first])
  const counter = { ...first, name: 'Counter', isDefault: false }
  expect(await center('add', '--name', 'Counter')).toEqual(counter)
  expect(await center('add', '--name', 'Counter')).toEqual(counter)
  expect(await center('list')).toEqual([first, counter])

  expect(await tidings('inbound', 'center', 'default', ...of, '--name', 'Counter')).toBe(
    `Counter is the default traffic center of company ${companyId}.\n`,
  )
  expect(await tidings('inbound', 'center', 'list', ...of)).toMatch(
    /^ID +DEFAULT +NAME\n\d+ +no +Default\n\d+ +yes +Counter\n$/,
  )
  const other = String(await aCompany(db.sql, world.partner))
  await expect(tidings('inbound', 'center', 'default', '--company', other, '--name', 'Counter')).rejects.toThrow(
    `Company ${other} has no traffic center "Counter": \`tidings inbound center list\` shows them.`,
  )
})

test('from an empty company to a callback by commands alone', async () => {
  const receiver = await aReceiver()
  await anApprovedSender(db.sql, world.companyId, { channelType: 'WHATSAPP', senderName: 'Bakery' })
  await aGateway(db.sql, { channelType: 'WHATSAPP' })
  await anEngine({ callbacks: local })
  await tidings('company', 'set', ...of, '--inbound', 'on')
  await tidings('inbound', 'rule', 'add', ...of, '--channel', 'WHATSAPP', '--url', receiver.url, '--center', 'Bread')
  const text = 'When do you open?'
  await tidings(
    'simulator',
    'inbound',
    '--channel',
    'WHATSAPP',
    '--from',
    '375290000061',
    '--to',
    'Bakery',
    '--text',
    text,
  )

  await eventually(() => expect(receiver.requests).toHaveLength(1))
  const [bread] = (await answerOf('inbound', 'center', 'list', ...of)).slice(-1)
  expect(receiver.requests[0]!.event).toMatchObject([
    {
      callback_event: 'inbound_sent',
      channel_type: 'WHATSAPP',
      item: {
        destination: '375290000061',
        senderName: 'Bakery',
        content: text,
        trafficCenterId: bread.trafficCenterId,
      },
    },
  ])
})
