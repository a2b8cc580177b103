import { readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openEmbeddedServer } from '../db/embedded/embedded.ts'
import { connect, type Pool } from '../db/sql.ts'
import { answerHere, runHere } from '../testing/command-line.ts'
import { eventually } from '../testing/eventually.ts'
import {
  type Client,
  type Env,
  expectNothingRunning,
  expectSentence,
  logIn,
  type Service,
  start,
  startService,
  stop,
  useDataFolders,
} from '../testing/processes.ts'

const aDataFolder = useDataFolders()

let env: Env
let folder: string
let service: Service
let client: Client
let sql: Pool
let leave: () => Promise<void>

beforeAll(async () => {
  folder = await aDataFolder()
  env = { TIDINGS_DATA: folder }
  service = await startService(['serve'], { ...env, TIDINGS_MODERATION: 'manual' })
  client = await logIn(service.partnerApi, 'demo', service.demo!.password!)
  const server = await openEmbeddedServer({ dataDir: folder })
  sql = connect(server.url, { max: 2 })
  leave = async () => {
    await sql.end()
    await server.release()
  }
})

afterAll(async () => {
  await leave()
  await stop(service)
  await expectNothingRunning(folder)
})

const refused = async (words: string[], sentence: RegExp) => expectSentence(await runHere(words, env), sentence)

async function aFile(name: string, ...lines: string[]): Promise<string> {
  const path = join(dirname(folder), name)
  await writeFile(path, lines.join('\r\n'))
  return path
}

const companyOf = async (companyId: number) =>
  (await answerHere(['company', 'list'], env)).find((one: { companyId: number }) => one.companyId === companyId)

describe('companies', () => {
  test('a top-up is in the balance and in the books', async () => {
    const topUp = ['company', 'topup', '--company', '3', '--amount']
    expect(await answerHere([...topUp, '100.25', '--note', 'Invoice 7'], env)).toEqual({
      companyId: 3,
      amount: 100.25,
      balance: 100.25,
      currency: 'RUB',
    })
    expect((await runHere([...topUp, '0.0001'], env)).stdout).toBe('The balance of company 3 is 100.2501 RUB now.\n')
    expect(await companyOf(3)).toMatchObject({ balance: 100.2501, reserved: 0, spent: 0 })
    expect(await sql`select note from ledger_entries where company_id = 3 order by entry_id`).toEqual([
      { note: 'Invoice 7' },
      { note: null },
    ])
    const correct = ['company', 'correct', '--company', '3', '--reason', 'Invoice 7 twice']
    expect(await answerHere([...correct, '--take', '100.25'], env)).toEqual({
      companyId: 3,
      amount: -100.25,
      balance: 0.0001,
      currency: 'RUB',
    })
    expect((await runHere([...correct, '--add', '100.25'], env)).stdout).toContain('100.2501 RUB now.')
    await refused(['company', 'topup', '--company', '99', '--amount', '1'], /There is no company 99: `tidings company/)
  })

  test('are switched', async () => {
    expect(await companyOf(1)).toMatchObject({ billing: 'POSTPAID', inbound: true, rate: null })
    const set = ['company', 'set', '--company', '2']
    const changed = await answerHere([...set, '--billing', 'prepaid', '--inbound', 'on', '--rate', '50'], env)
    expect(changed).toMatchObject({ companyId: 2, billing: 'PREPAID', inbound: true, rate: 50 })
    expect(await answerHere([...set, '--rate', 'none'], env)).toMatchObject({
      billing: 'PREPAID',
      inbound: true,
      rate: null,
    })
    expect((await runHere([...set, '--billing', 'postpaid', '--inbound', 'off'], env)).stdout).toBe(
      'Company 2 is POSTPAID, with inbound messages off and no limit of its own.\n',
    )
    await refused(['company', 'set', '--company', '99', '--inbound', 'on'], /There is no company 99/)
  })
})

describe('tariffs', () => {
  test('are listed, with the prices of channels and countries', async () => {
    const { tariffs, channels, countries } = await answerHere(['tariff', 'list'], env)
    expect(tariffs).toContainEqual({
      tariffId: expect.any(Number),
      partnerId: null,
      senderType: 'COMMON',
      brand: 'MTS',
      trafficType: null,
      pricingModel: 'FIXED',
      currency: 'RUB',
      steps: [{ from: 0, price: 7.5, priceMauBatch: null }],
    })
    expect(channels).toContainEqual({ channelType: 'VIBER', price: 3.9 })
    expect(countries).toContainEqual({ country: 'KZ', price: 14.5 })
    expect(countries.at(-1)).toEqual({ country: '*', price: 28 })
    expect((await runHere(['tariff', 'list'], env)).stdout).toMatch(/COMMON +MTS +any +FIXED +0 +7\.5000 +-\n/)
  })

  test('of a partner are imported and come before the general ones', async () => {
    const own = { senderType: 'COMMON', brand: 'MTS', pricingModel: 'FIXED', steps: [{ from: 0, price: '5.10' }] }
    const file = await aFile('tariffs.json', JSON.stringify([own]))
    const words = ['tariff', 'import', file, '--partner', 'demo']
    expect(await answerHere(words, env)).toEqual({ added: 1, replaced: 0, unchanged: 0 })
    expect(await answerHere(words, env)).toEqual({ added: 0, replaced: 0, unchanged: 1 })
    const { tariffs } = await answerHere(['tariff', 'list', '--partner', 'demo'], env)
    const ofMts = tariffs.filter((tariff: typeof own) => tariff.senderType === 'COMMON' && tariff.brand === 'MTS')
    expect(ofMts).toMatchObject([{ partnerId: 1, steps: [{ price: 5.1 }] }])
    await refused(['tariff', 'import', file, '--partner', 'boris'], /There is no partner with the login "boris"/)
    await refused(['tariff', 'list', '--partner', 'boris'], /`tidings partner list` shows them/)
    const bad = await aFile(
      'bad-tariffs.csv',
      'senderType,brand,trafficType,pricingModel,from,price',
      'GOLD,,,FIXED,0,1',
    )
    await refused(['tariff', 'import', bad], /bad-tariffs\.csv: line 2: senderType "GOLD" is none of/)
  })

  test('prices of other channels and countries are imported too, for every partner alike', async () => {
    const file = await aFile('prices.csv', 'channelType,country,price', 'VIBER,,4.10', 'SMS,KZ,14.5', 'SMS,PT,9')
    expect(await answerHere(['tariff', 'import', file], env)).toEqual({ added: 1, replaced: 1, unchanged: 1 })
    const { channels, countries } = await answerHere(['tariff', 'list'], env)
    expect(channels).toContainEqual({ channelType: 'VIBER', price: 4.1 })
    expect(countries).toContainEqual({ country: 'PT', price: 9 })
    await refused(['tariff', 'import', file, '--partner', 'demo'], /the same for every partner: leave out --partner/)
  })
})

describe('gateways', () => {
  test('are added, changed, paused and removed', async () => {
    expect(await answerHere(['gateway', 'list'], env)).toContainEqual({
      gatewayId: expect.any(Number),
      name: 'simulator-viber',
      channel: 'VIBER',
      connector: 'simulator',
      brands: [],
      companies: [],
      rate: null,
      paused: false,
      drainUntil: null,
      state: expect.objectContaining({ bound: 0, wanted: 0, lastError: null, lastErrorAt: null }),
    })
    const settings = ['--set', 'receiptMs=20', '--set', 'ownIds=true', '--set', 'note=a=b']
    const add = ['gateway', 'add', '--channel', 'VIBER', '--connector', 'simulator', '--brands', 'mts,TELE2', '--rate']
    const added = await answerHere([...add, '70', ...settings], env)
    expect(added).toMatchObject({ name: 'simulator-viber-2', channel: 'VIBER', brands: ['MTS', 'TELE2'], rate: 70 })
    const settingsOf = async () => {
      const [row] = await sql`select settings from gateways where gateway_id = ${added.gatewayId}`
      return row!.settings
    }
    expect(await settingsOf()).toEqual({ receiptMs: 20, ownIds: true, note: 'a=b' })

    const id = ['--gateway', String(added.gatewayId)]
    const change = [
      '--name',
      'second',
      '--brands',
      'any',
      '--rate',
      'none',
      '--set',
      'receiptMs=5',
      '--set',
      'note=null',
    ]
    expect(await answerHere(['gateway', 'set', ...id, ...change], env)).toMatchObject({
      name: 'second',
      brands: [],
      rate: null,
    })
    expect(await settingsOf()).toEqual({ receiptMs: 5, ownIds: true })
    expect(await answerHere(['gateway', 'pause', '--gateway', 'second'], env)).toMatchObject({
      paused: true,
      enginesBehind: 0,
    })
    expect(await answerHere(['gateway', 'resume', ...id], env)).toMatchObject({ paused: false })
    expect(await answerHere(['gateway', 'remove', ...id], env)).toEqual({
      gatewayId: added.gatewayId,
      name: 'second',
      enginesBehind: 0,
    })
    await refused(['gateway', 'pause', '--gateway', 'second'], /There is no gateway "second": `tidings gateway list`/)
    await refused([...add, '70', '--name', 'simulator-sms'], /A gateway with the name "simulator-sms" exists already/)
  })
})

describe('tidings send', () => {
  const words = (file: string, name: string, ...more: string[]) => [
    'send',
    file,
    ...['--company', '3', '--name', name, '--text', 'Привет, {name}!', '--yes', ...more],
  ]

  test('creates, starts and follows a dispatch; the outbox has the full texts', async () => {
    const file = await aFile(
      'few.csv',
      '\ufeffname;Телефон;city',
      '"Анна; ""А""";79160000001;Омск',
      'Boris;+7 (903) 000-00-01;',
      'Vera;79260000003;Тула',
      'Again;8 916 000 00 01;',
      'Gleb;12;',
    )
    const ended = await runHere(words(file, 'Few', '--unique'), env)
    expect(ended).toMatchObject({ code: 0 })
    expect(ended.stdout).toMatch(
      /^Dispatch \d+ is COMPLETED: of 4 messages 2 were delivered and 2 failed\.\n( {2}1 x \d+ \S.*\n){2}$/,
    )
    expect(ended.stdout).toContain('1 x 7401 The number is not valid')
    expect(ended.stderr).toMatch(/\[#{20}\] 100 % 4 of 4 recipients\n/)
    const outbox = await answerHere(['simulator', 'outbox'], env)
    expect(outbox.slice(-3).sort((a: { text: string }, b: { text: string }) => a.text.localeCompare(b.text))).toEqual([
      expect.objectContaining({ destination: '79030000001', channelType: 'SMS', text: 'Привет, Boris!' }),
      expect.objectContaining({ destination: '79260000003', text: 'Привет, Vera!' }),
      { messageUuid: expect.any(String), destination: '79160000001', channelType: 'SMS', text: 'Привет, Анна; "А"!' },
    ])

    const again = await runHere(words(file, 'Few', '--unique', '--json'), env)
    expect(again.stderr).toMatch(/^tidings: Dispatch \d+ was sent before by this command: another --name sends it/)
    expect(JSON.parse(again.stdout)).toMatchObject({
      status: 'COMPLETED',
      total: 4,
      delivered: 2,
      failed: 2,
      parts: 3,
      failures: expect.arrayContaining([{ errorCode: 7401, reason: 'The number is not valid', count: 1 }]),
    })
    expect(await answerHere(['simulator', 'outbox'], env)).toHaveLength(outbox.length)
  })

  test('shows beforehand what it comes to, and a dry run sends nothing', async () => {
    const file = await aFile(
      'dry.csv',
      'tel;name',
      '79160000001;Анна',
      '8 (916) 000-00-01;Анна',
      '79030000001;"Boris; B"',
      '12;Gleb',
    )
    const [before] = await sql`select count(*) as dispatches from dispatches`
    const dry = await runHere([...words(file, 'Dry'), '--dry-run'], env)
    expect(dry).toMatchObject({ code: 0 })
    expect(dry.stdout).toMatch(/^Accepted +3 recipients, 3 parts$/m)
    expect(dry.stdout).toMatch(
      /^Rejected +1\n +1 x 7401 The number is not valid\n +their rows are in .*dry\.rejected\.csv$/m,
    )
    expect(dry.stdout).toMatch(/^Duplicates +1 row repeats a number: --unique leaves out such rows$/m)
    expect(dry.stdout).toMatch(/^Price +at most \d+\.\d+ RUB\nBalance +-?[\d,]+\.\d+ RUB \(POSTPAID\)/m)
    expect(dry.stdout).toMatch(/^First text +to 79160000001: Привет, Анна!$/m)
    expect(await readFile(join(dirname(folder), 'dry.rejected.csv'), 'utf8')).toBe(
      '\ufefftel;name;errorCode;reason\r\n12;Gleb;7401;The number is not valid\r\n',
    )
    const rejected = join(dirname(folder), 'elsewhere.csv')
    const value = await answerHere([...words(file, 'Dry'), '--dry-run', '--unique', '--rejected', rejected], env)
    expect(value).toMatchObject({
      rows: 4,
      encoding: 'UTF-8',
      column: 'tel',
      recipients: 3,
      accepted: 2,
      duplicates: 1,
      rejected: [{ errorCode: 7401, count: 1 }],
      rejectedFile: rejected,
      price: { currency: 'RUB' },
    })
    expect(await sql`select count(*) as dispatches from dispatches`).toEqual([before])
  })

  test('a dry run tells when the money would not do', async () => {
    const file = await aFile('poor.csv', 'phone,name', '79160000001,Anna')
    const company = ['--company', '2']
    const billing = (mode: string) => answerHere(['company', 'set', ...company, '--billing', mode], env)
    const poor = ['send', file, ...company, '--name', 'Poor', '--text', 'Hello, {name}!']
    await billing('prepaid')
    const dry = await runHere([...poor, '--dry-run'], env)
    expect(dry).toMatchObject({ code: 1 })
    expect(dry.stdout).toMatch(
      /\nThe balance of the company is too small: without --dry-run nothing would be sent\.\n$/,
    )
    const sent = await runHere([...poor, '--yes'], env)
    expect(sent).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/balance .* is too small: nothing was sent\.\n$/),
    })
    await billing('postpaid')
  })

  test('without a terminal it asks for --yes, and nothing accepted is a failure', async () => {
    const file = await aFile('none.csv', 'phone,name', '12,A', ',B')
    const unconfirmed = words(file, 'None').filter(word => word !== '--yes')
    await refused(unconfirmed, /There is no terminal to ask for confirmation: --yes sends without asking, --dry-run/)
    await refused(
      words(file, 'None', '--json'),
      /No recipient was accepted and nothing was sent: 2 x "The number is not valid"; the rows are in .*none\.rejected/,
    )
    expect((await runHere([...words(file, 'None'), '--dry-run'], env)).code).toBe(1)
  })

  test('killed while it brings in the recipients, it goes on with the missing ones', async () => {
    const file = await aFile('many.csv', 'destination,name', ...someLines(30_500))
    const running = start(words(file, 'Many'), env)
    await eventually(() => expect(running.stderr()).toMatch(/10,000 of 30,500 recipients/))
    running.child.kill('SIGKILL')
    await running.ended
    const [begun] = await sql`select dispatch_id as id, status from dispatches where name = 'Many'`
    expect(begun!.status).toBe('CREATED')

    const ended = await runHere(words(file, 'Many', '--json'), env)
    const waiting = /^tidings: Waiting for the operators' receipts of [\d,]+ messages?\.\n/gm // on a slow machine
    const told = ended.stderr.replaceAll(waiting, '')
    expect(told).toMatch(/^(tidings: Going on with dispatch \d+, which an earlier run began\.\n)?$/)
    expect(JSON.parse(ended.stdout)).toMatchObject({
      dispatchId: begun!.id,
      total: 30_500,
      delivered: 30_500,
      failed: 0,
    })
    const [order] = await sql`
      select count(distinct destination) as different, count(*) as messages from messages where dispatch_id = ${begun!.id}`
    expect(order).toEqual({ different: 30_500, messages: 30_500 })

    const report = start(['dispatch', 'report', String(begun!.id)], env)
    report.child.stdout!.once('data', () => report.child.stdout!.destroy())
    expect(await report.ended, 'a report whose reader goes away').toMatchObject({ code: 0, stderr: '' })
  })

  test('Ctrl-C leaves it running, and the same command follows it again', async () => {
    const file = await aFile('held.csv', 'destination,name', ...someLines(3))
    await answerHere(['gateway', 'pause', '--gateway', 'simulator-sms'], env)
    const running = start(words(file, 'Held'), env)
    await eventually(() => expect(running.stderr()).toMatch(/No gateway for SMS is up: simulator-sms is paused\./))
    expect(running.stderr()).toMatch(/0 delivered, 0 failed, 3 pending, 0\/s/)
    running.child.kill('SIGINT')
    const { code, stderr, stdout } = await running.ended
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toMatch(/tidings: Dispatch \d+ goes on by itself: the same command follows it again\.\n$/)

    const again = start(words(file, 'Held', '--json'), env)
    await eventually(() => expect(again.stderr()).toMatch(/Going on with dispatch/))
    await answerHere(['gateway', 'resume', '--gateway', 'simulator-sms'], env)
    const ended = await again.ended
    expect(ended.code).toBe(0)
    expect(JSON.parse(ended.stdout)).toMatchObject({ total: 3, delivered: 3 })
  })

  test('a dispatch that is stopped meanwhile is reported, and the same command starts it again', async () => {
    const file = await aFile('stopped.csv', 'destination,name', ...someLines(2))
    await answerHere(['gateway', 'pause', '--gateway', 'simulator-sms'], env)
    const running = start(words(file, 'Stopped', '--json'), env)
    const id = await eventually(async () => {
      const [row] = await sql`select dispatch_id as id from dispatches where name = 'Stopped' and status = 'STARTED'`
      expect(row).toBeDefined()
      return row!.id
    })
    expect((await client('POST', `/dispatches/${id}/stop`)).status).toBe(200)
    // On a slow machine a line before it says that no gateway is up.
    const { code, stdout, stderr } = await running.ended
    expect([code, stdout]).toEqual([1, ''])
    expect(stderr.trimEnd().split('\n').at(-1)).toBe(
      `tidings: Dispatch ${id} was stopped: the same command starts it again.`,
    )
    await answerHere(['gateway', 'resume', '--gateway', 'simulator-sms'], env)
    expect(JSON.parse((await runHere(words(file, 'Stopped', '--json'), env)).stdout)).toMatchObject({
      dispatchId: id,
      delivered: 2,
    })
  })

  test('a dispatch that is too expensive is refused before it is created', async () => {
    const file = await aFile('poor.csv', 'destination,name', ...someLines(2))
    expect((await client('PUT', '/company/2', { budget: 0 })).status).toBe(200)
    const poor = words(file, 'Poor').map(word => (word === '3' ? '2' : word))
    const ended = await runHere([...poor, '--json'], env)
    expectSentence(ended, /The monthly budget of the company would be exceeded: nothing was sent\./)
    expect(await sql`select from dispatches where name = 'Poor'`).toHaveLength(0)
    expect((await client('PUT', '/company/2', { budget: null })).status).toBe(200)
    expect(await runHere([...poor, '--json'], env)).toMatchObject({ code: 0 })
  })

  test('a wrong file, text or sender is told before anything is made', async () => {
    const [before] = await sql`select count(*) as dispatches from dispatches`
    const good = await aFile('good.csv', 'destination,name', '79160000001,A')
    await refused(
      words(await aFile('nameless.csv', 'destination', '79160000001'), 'X'),
      /The text wants {name}, and the/,
    )
    await refused(words(good, 'X', '--channel', 'VIBER'), /Company 3 has no approved sender name for VIBER/)
    await refused(words(good, 'X', '--senders', '1'), /there is no sender 1 in this company/)
    expect(await sql`select count(*) as dispatches from dispatches`).toEqual([before])
  })

  const someLines = (count: number) =>
    Array.from({ length: count }, (_, i) => `79${['16', '03', '26', '77'][i % 4]}${30_000 + Math.floor(i / 4)}77,N${i}`)
})

describe('a subscriber who writes', () => {
  const write = (text: string, from: string) =>
    answerHere(['simulator', 'inbound', '--channel', 'sms', '--from', from, '--to', 'ROMASHKA', '--text', text], env)

  test('only a stop word gets onto the blacklist of the company that has the name', async () => {
    expect(await write('Stop it, please', '79160000021')).toMatchObject({ channel: 'SMS', from: '79160000021' })
    await write(' стоп\n', '8 916 000-00-22')
    await eventually(async () => {
      expect(await sql`select company_id, destination from blacklist`).toEqual([
        { companyId: 1, destination: '79160000022' },
      ])
      expect(await sql`select from simulator_inbound`).toHaveLength(0)
    })
  })

  test('needs a simulated operator', async () => {
    const words = ['simulator', 'inbound', '--to', 'X', '--text', 'y', '--channel', 'PUSH', '--from']
    await answerHere(['gateway', 'remove', '--gateway', 'simulator-push'], env)
    await refused([...words, '79160000001'], /There is no simulated operator for PUSH/)
  })
})

describe('tidings ledger verify', () => {
  test('finds the ledger correct after all of this, and lists differences', async () => {
    expect(await runHere(['ledger', 'verify'], env)).toMatchObject({ code: 0, stdout: 'The books are in order.\n' })
    await sql`update accounts set balance = balance + 1 where company_id = 3`
    const ended = await runHere(['ledger', 'verify'], env)
    expect(ended.code).toBe(1)
    expect(ended.stdout).toMatch(/^COMPANY +EXPECTED +FOUND +WHAT +OF\n3 +-?[\d.]+ +-?[\d.]+ +balance +-\n$/)
    const listed = await runHere(['ledger', 'verify', '--company', '3', '--json'], env)
    expect(listed.code).toBe(1)
    expect(JSON.parse(listed.stdout)).toMatchObject([{ companyId: 3, what: 'balance' }])
    expect(await answerHere(['ledger', 'verify', '--company', '1'], env)).toEqual([])
    await refused(['ledger', 'verify', '--company', '99'], /There is no company 99/)
  })
})

describe('tidings statistics', () => {
  test('verify finds the traffic correct after all of this and lists differences, and rebuild corrects them', async () => {
    const right = { code: 0, stdout: 'The statistics equal the messages.\n' }
    expect(await runHere(['statistics', 'verify'], env)).toMatchObject(right)
    await sql`update traffic_hours set sent = sent + 1 where company_id = 3`
    const ended = await runHere(['statistics', 'verify', '--from', '2020-01-01'], env)
    expect(ended.code).toBe(1)
    expect(ended.stdout).toMatch(
      /^COMPANY +HOUR +CHANNEL +OPERATOR +TYPE +WHAT +ROLLED UP +COUNTED\n3 +[\dT-]+Z +SMS +/,
    )
    expect(await answerHere(['statistics', 'verify', '--to', '2020-01-01'], env)).toEqual([])
    await refused(['statistics', 'verify', '--company', '99'], /There is no company 99/)
    await refused(['statistics', 'verify', '--from', 'May'], /--from must be a day or a time/)
    expect((await runHere(['statistics', 'rebuild'], env)).stdout).toMatch(/^\d+ figures were mended\.\n$/)
    expect(await runHere(['statistics', 'verify'], env)).toMatchObject(right)
  })
})

test('without an engine `send` says so and waits on', async () => {
  await stop(service)
  const file = await aFile('alone.csv', 'destination', '79160000001')
  const running = start(['send', file, '--company', '3', '--name', 'Alone', '--text', 'Hello!', '--yes', '--json'], env)
  await eventually(() => expect(running.stderr()).toMatch(/^tidings: No engine is at work, so nothing is sent: /))
  expect(running.child.exitCode).toBeNull()
  running.child.kill('SIGINT')
  expect((await running.ended).stderr).toMatch(/\ntidings: Dispatch \d+ goes on by itself/)
})
