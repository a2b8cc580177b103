import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { UsageError } from '../base/errors.ts'
import { settings } from '../config.ts'
import { openEmbeddedServer } from '../db/embedded/embedded.ts'
import { newestVersion } from '../db/migrate.ts'
import { connect } from '../db/sql.ts'
import { answerHere, printedBy, runHere } from '../testing/command-line.ts'
import { eventually } from '../testing/eventually.ts'
import { numberOf } from '../testing/factories.ts'
import {
  answerOf,
  type Client,
  type Env,
  expectNothingRunning,
  expectSentence,
  logIn,
  newSender,
  processesOf,
  run,
  type Service,
  start,
  startService,
  stop,
  untilStatus,
  useDataFolders,
  withPassword,
} from '../testing/processes.ts'
import { commands } from './all-commands.ts'
import { helpOf, overviewOf } from './help.ts'

const aDataFolder = useDataFolders()

const ofGateway = ['--brands BRANDS', '--companies IDS', '--rate RATE', '--name NAME', '--set KEY=VALUE']

/** Every command, with the options that its help must list. */
const ofCodes = [
  '--name NAME',
  '--channels LIST',
  '--senders LIST',
  '--fallback SECONDS',
  '--length N',
  '--lifetime SECONDS',
  '--tries N',
  '--pause SECONDS',
  '--text LANG=TEXT',
  '--countries LIST',
  '--web-otp HOST',
  '--android-hash HASH',
  '--callback-url URL',
  '--per-number N',
  '--per-address N',
  '--per-prefix N',
  '--per-verifier N',
  '--per-company N',
  '--least-confirmed SHARE',
]

const ofPages = [
  '--origins LIST',
  '--captcha KIND',
  '--captcha-site-key KEY',
  '--captcha-secret SECRET',
  '--builder SWITCH',
]

const expected: Record<string, string[]> = {
  serve: ['--api N', '--engines N', '--stop-with-parent'],
  api: ['--connections-from-parent'],
  engine: [],
  migrate: ['--plan', '--stop-older', '--distribute', '--shards N'],
  'database export': ['FILE'],
  'database import': ['FILE'],
  'database upgrade': [],
  version: [],
  health: ['--engine', '--pid PID', '--wait SECONDS'],
  config: [],
  send: [
    'FILE',
    '--company N',
    '--name NAME',
    '--text TEXT',
    '--column NAME',
    '--senders IDS',
    '--channel CHANNEL',
    '--unique',
    '--rejected FILE',
    '--dry-run',
    '--yes',
  ],
  'partner list': [],
  'partner create': ['--login LOGIN', '--password-file FILE'],
  'partner password': ['--login LOGIN', '--password-file FILE'],
  'partner disable': ['LOGIN'],
  'partner enable': ['LOGIN'],
  'partner unlock': ['LOGIN'],
  'person invite': [
    '--company N',
    '--partner LOGIN',
    '--staff',
    '--login LOGIN',
    '--role ROLE',
    '--name NAME',
    '--no-mail',
  ],
  'person list': ['--company N', '--partner LOGIN', '--staff'],
  'person link': ['LOGIN', '--no-mail'],
  'person role': ['LOGIN', '--role ROLE'],
  'person deactivate': ['LOGIN'],
  'person activate': ['LOGIN'],
  'staff list': [],
  'staff create': ['--login LOGIN', '--role ROLE', '--password-file FILE'],
  'staff password': ['--login LOGIN', '--password-file FILE'],
  'audit list': ['--company N', '--person LOGIN', '--what WHAT', '--from TIME', '--to TIME', '--limit N'],
  'audit drop': ['--before DAY'],
  erase: ['NUMBER', '--yes'],
  'company list': [],
  'company create': [
    '--partner LOGIN',
    '--name NAME',
    '--inn INN',
    '--type TYPE',
    '--kpp KPP',
    '--address TEXT',
    '--budget AMOUNT',
  ],
  'company show': ['--company N'],
  'company disable': ['--company N'],
  'company enable': ['--company N'],
  'dispatch list': ['--company N', '--status STATUS', '--limit N'],
  'dispatch show': ['ID'],
  'dispatch start': ['ID'],
  'dispatch stop': ['ID'],
  'dispatch report': ['ID', '--to FILE'],
  'message find': [
    '--to NUMBER',
    '--id ID',
    '--company N',
    '--dispatch ID',
    '--sender NAME',
    '--channel CHANNEL',
    '--status STATUS',
    '--from TIME',
    '--until TIME',
    '--limit N',
  ],
  'message show': ['ID', '--company N'],
  'blacklist list': ['--company N', '--limit N'],
  'blacklist add': ['NUMBER', '--company N', '--comment TEXT'],
  'blacklist remove': ['NUMBER', '--company N'],
  'document list': ['--company N'],
  'document save': ['ID', '--company N', '--to FILE'],
  'callback list': ['--company N'],
  'callback attempts': ['--company N', '--callback ID'],
  'callback replay': ['--company N', '--callback ID'],
  'callback secret': ['--company N', '--new'],
  'company topup': ['--company N', '--amount AMOUNT', '--note TEXT'],
  'company correct': ['--company N', '--take AMOUNT', '--add AMOUNT', '--reason TEXT'],
  'company set': ['--company N', '--billing MODE', '--inbound SWITCH', '--rate RATE'],
  'key create': ['--company N', '--type TYPE', '--addresses LIST', '--center NAME'],
  'key list': ['--company N'],
  'key set': ['--key ID', '--addresses LIST'],
  'key deactivate': ['--key ID'],
  'key activate': ['--key ID'],
  'key reissue': ['--key ID'],
  'sender list': ['--company N'],
  'sender approve': ['--sender ID', '--comment TEXT'],
  'sender reject': ['--sender ID', '--comment TEXT'],
  'sender deny': ['--sender ID', '--comment TEXT'],
  'sender set': ['--sender ID', '--rate RATE'],
  'template list': ['--company N'],
  'template approve': ['--template ID', '--comment TEXT'],
  'template reject': ['--template ID', '--comment TEXT'],
  'template deny': ['--template ID', '--comment TEXT'],
  'verifier create': ['--company N', ...ofCodes],
  'verifier list': ['--company N'],
  'verifier show': ['--gateway ID'],
  'verifier set': ['--gateway ID', ...ofCodes],
  'verifier delete': ['--gateway ID'],
  'verifier stats': ['--company N', '--gateway ID', '--from DAY', '--to DAY'],
  'verifier blocked': ['--company N'],
  'verifier unblock': ['--company N', '--subject SUBJECT'],
  'widget create': ['--company N', ...ofPages, ...ofCodes],
  'widget list': ['--company N'],
  'widget show': ['--widget ID'],
  'widget set': ['--widget ID', ...ofPages, ...ofCodes],
  'widget delete': ['--widget ID'],
  'widget errors': ['--company N', '--widget ID', '--code N', '--limit N'],
  'widget stats': ['--widget ID', '--from DAY', '--to DAY'],
  'tariff list': ['--partner LOGIN'],
  'tariff import': ['FILE', '--partner LOGIN'],
  'ledger verify': ['--company N'],
  'statistics verify': ['--company N', '--from TIME', '--to TIME'],
  'statistics rebuild': [],
  'month list': [],
  'month detach': ['--month MONTH'],
  'gateway list': [],
  'gateway add': ['--channel CHANNEL', '--connector CONNECTOR', ...ofGateway],
  'gateway set': ['--gateway GATEWAY', ...ofGateway],
  'gateway pause': ['--gateway GATEWAY'],
  'gateway drain': ['--gateway GATEWAY', '--hours HOURS'],
  'gateway resume': ['--gateway GATEWAY'],
  'gateway remove': ['--gateway GATEWAY'],
  'gateway test': ['--gateway GATEWAY', '--to NUMBER', '--sender NAME', '--text TEXT', '--wait SECONDS'],
  'inbound rule add': ['--company N', '--channel CHANNEL', '--sender NAME', '--url URL', '--center NAME'],
  'inbound rule list': ['--company N'],
  'inbound rule remove': ['--company N', '--rule ID'],
  'inbound center list': ['--company N'],
  'inbound center add': ['--company N', '--name NAME'],
  'inbound center default': ['--company N', '--name NAME'],
  'simulator outbox': [],
  'simulator inbound': ['--channel CHANNEL', '--from NUMBER', '--to NAME', '--text TEXT'],
  'simulator widget': [
    '--widget ID',
    '--destination NUMBER',
    '--origin URL',
    '--channel CHANNEL',
    '--lang LANG',
    '--key KEY',
    '--code CODE',
    '--again',
    '--url URL',
  ],
  smsc: [
    '--port N',
    '--host ADDRESS',
    '--account ACCOUNT',
    '--rate N',
    '--receipt-ms N',
    '--fail-rate X',
    '--throttle-rate X',
    '--disconnect-rate X',
    '--duplicate-rate X',
    '--early-rate X',
    '--missing-rate X',
  ],
  'numbering import': ['FILE', '--replace'],
  'numbering export': ['FILE'],
  'ported import': ['FILE', '--replace'],
  'ported export': ['FILE'],
}

describe('help', () => {
  test('the overview lists every command', async () => {
    const { code, stdout } = await run(['--help'], {})
    expect(code).toBe(0)
    const listed = [...stdout.matchAll(/^ {2}(\w+(?: \w+)*) {2,}\S/gm)].map(([, name]) => name)
    expect(listed.sort()).toEqual(Object.keys(expected).sort())
  })

  test.each(Object.entries(expected))('tidings %s --help lists every option', async (name, options) => {
    const stdout = await printedBy([...name.split(' '), '--help'])
    expect(stdout).toMatch(new RegExp(`^Usage: tidings ${name}( [A-Z]+)? \\[OPTIONS\\]\\n\\n\\S.*\\.\\n\\n`))
    const listed = [...stdout.matchAll(/^ {2}(\S+(?: [A-Z=]+)?) {2,}\S/gm)].map(([, option]) => option)
    expect(listed.sort()).toEqual([...options, '--json', '--help'].sort())
  })

  test('and the version are printed also where the file of settings is wrong', async () => {
    const env = { TIDINGS_ENV_FILE: '/nowhere/missing.env' }
    for (const words of [['--help'], ['--version'], ['gateway', 'list', '--help']]) {
      expect(await run(words, env), words.join(' ')).toMatchObject({ code: 0, stderr: '' })
    }
    expect(await run(['gateway', 'list'], env)).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/missing\.env cannot be read/),
    })
  })

  test('`help COMMAND` is the same as `COMMAND --help`', async () => {
    expect(await printedBy(['help', 'sender', 'approve'])).toBe(await printedBy(['sender', 'approve', '--help']))
    expect(await printedBy(['help', 'sender'])).toBe(await printedBy(['sender', '--help']))
    expect(await printedBy(['help'])).toBe(await printedBy(['--help']))
    await expect(printedBy(['help', 'fly'])).rejects.toThrow('There is no command "fly"')
  })

  test('the version is the one of the package', async () => {
    const { version } = JSON.parse(await readFile(new URL('../../package.json', import.meta.url), 'utf8'))
    expect(await printedBy(['--version'])).toBe(`tidings ${version}\n`)
    expect(JSON.parse(await printedBy(['--version', '--json']))).toEqual({ version })
  })

  test('a terminal gets lines that fit, and commands under headings', () => {
    const overview = overviewOf(commands, 80)
    expect(overview.split('\n').filter(line => line.length > 80)).toEqual([])
    expect(overview).toMatch(/\nSending:\n {2}send {2,}\S/)
    expect(commands.filter(({ group }) => group === undefined)).toEqual([])
    for (const command of commands) {
      const tooLong = helpOf(command, 80)
        .split('\n')
        .filter(line => line.length > 80 && line.trim().includes(' ') && !line.startsWith('Usage:'))
      expect(tooLong).toEqual([])
    }
  })

  test('a group lists its own commands', async () => {
    const stdout = await printedBy(['sender', '--help'])
    expect(stdout).toContain('sender approve')
    expect(stdout).not.toContain('partner create')
  })
})

const addGateway = ['gateway', 'add', '--channel', 'SMS', '--connector', 'simulator']
const createKey = ['key', 'create', '--company', '1', '--type']
const addRule = ['inbound', 'rule', 'add', '--company', '1']
const inbound = ['simulator', 'inbound', '--channel', 'SMS', '--to', 'X', '--text', 'y']
const order = ['--company', '1', '--name', 'News', '--text', 'Hello!', '--yes']

/** None of these gets as far as a database. */
describe('a mistake in the words is told in one sentence', () => {
  test.each<[string[], RegExp]>([
    [['fly'], /There is no command "fly"/],
    [['fly', '--help'], /There is no command "fly"/],
    [['--fast'], /There is no command "--fast"/],
    [
      ['partner'],
      /`tidings partner` needs one more word: partner list, partner create, partner password, partner disable/,
    ],
    [['partner', 'forget'], /`tidings partner` needs one more word/],
    [['company', 'list', '--fast'], /Unknown option '--fast'\. `tidings company list --help`/],
    [['company', 'list', 'all'], /"all" is one word too many/],
    [['company', 'list', '--json=yes'], /--json' does not take an argument/],
    [['partner', 'create', '--login', 'anna'], /There is no terminal to ask for the password: --password-file FILE/],
    [['partner', 'create', '--login', 'anna', '--password', 'correct horse'], /^--password would show the password to/],
    [['partner', 'create', '--password-file', '/dev/null'], /--login is required/],
    [['partner', 'create', '--login', '--password-file', '/dev/null'], /'--login' argument is ambiguous/],
    [['partner', 'create', '--login', 'anna', '--password-file'], /'--password-file <value>' argument missing/],
    [['partner', 'create', '--login', '', '--password-file', '/dev/null'], /--login must not be empty/],
    [
      ['partner', 'create', '--login', ' anna', '--password-file', '/dev/null'],
      /--login must be a plain name .* or an/,
    ],
    [['partner', 'create', '--login', 'anna', '--password-file', '/dev/null'], /The password must be 10 to 1024/],
    [['partner', 'create', '--login', 'anna', '--password-file', '/nowhere'], /There is no file "\/nowhere"/],
    [['partner', 'create', '--login', 'anna', '--password-file', '/'], /"\/" cannot be read: EISDIR/],
    [['staff', 'create', '--login', 'anna anna', '--password-file', '/dev/null'], /--login must be a plain name/],
    [['partner', 'disable'], /LOGIN is missing/],
    [
      ['key', 'create', '--company', 'first', '--type', 'MESSAGE'],
      /--company must be a whole number above zero, not "first"/,
    ],
    [['key', 'create', '--company', '0', '--type', 'MESSAGE'], /--company must be a whole number above zero/],
    [
      ['key', 'create', '--company', '1', '--type', 'GOLDEN'],
      /--type must be one of MESSAGE, ENTITY, VERIFIER, BUILDER_WIDGET, not "GOLDEN"/,
    ],
    [[...createKey, 'MESSAGE', '--addresses', '192.0.2.1,home'], /--addresses must be addresses or .*, not "home"/],
    [[...createKey, 'MESSAGE', '--addresses', '192.0.2.1,'], /--addresses must be addresses or networks .*, not ""/],
    [[...createKey, 'MESSAGE', '--center', 'x'.repeat(101)], /--center must be 1 to 100 characters/],
    [[...createKey, 'ENTITY', '--center', 'Shop'], /--center is for keys of the type MESSAGE only/],
    [['key', 'set', '--key', '1'], /--addresses is required/],
    [['key', 'set', '--key', '1', '--addresses', '192.0.2.0/33'], /--addresses must be .*, not "192\.0\.2\.0\/33"/],
    [['key', 'deactivate', '--key', 'abc='], /--key must be a whole number above zero, not "abc="/],
    [['key', 'reissue'], /--key is required/],
    [['sender', 'list', '--company', '-1'], /'--company' argument is ambiguous/],
    [['sender', 'approve'], /--sender is required/],
    [['sender', 'approve', '--sender', '1.5'], /--sender must be a whole number above zero, not "1.5"/],
    [['sender', 'set', '--sender', '1'], /There is nothing to change: give --rate/],
    [['sender', 'set', '--sender', '1', '--rate', 'fast'], /--rate must be from 1 to 1000000 .*, or none, not "fast"/],
    [['month', 'detach'], /--month is required/],
    ...['May', '2026-13', '2026-5', '2026-05-01'].map((month): [string[], RegExp] => [
      ['month', 'detach', '--month', month],
      new RegExp(`--month must be a month such as 2026-05, not "${month}"`),
    ]),
    [['numbering', 'import'], /FILE is missing/],
    [['numbering', 'import', '/nowhere/register.csv'], /There is no file "\/nowhere\/register.csv"/],
    [['ported', 'import', '/'], /"\/" is a folder: a file is needed/],
    ...['0', '1e3', '1.00001', 'much', '100000000000000'].map((amount): [string[], RegExp] => [
      ['company', 'topup', '--company', '1', '--amount', amount],
      new RegExp(`--amount must be an amount above zero such as 1500.50, not "${amount}"`),
    ]),
    [['company', 'correct', '--company', '1', '--reason', 'x'], /Give either --take or --add/],
    [['company', 'set', '--company', '1'], /There is nothing to change: give --billing, --inbound or --rate/],
    [
      ['company', 'set', '--company', '1', '--billing', 'later'],
      /--billing must be one of POSTPAID, PREPAID, not "later"/,
    ],
    [['company', 'set', '--company', '1', '--inbound', 'yes'], /--inbound must be one of on, off, not "yes"/],
    [['company', 'set', '--company', '1', '--rate', '0'], /--rate must be from 1 to 1000000 parts a second, or none/],
    [['gateway', 'add', '--channel', 'MAIL', '--connector', 'simulator'], /--channel must be one of SMS, .*not "MAIL"/],
    [['gateway', 'add', '--channel', 'SMS', '--connector', 'pigeon'], /--connector must be one of .*not "pigeon"/],
    [[...addGateway, '--brands', 'CELLO'], /--brands must be any, or some of MTS,BEELINE,.*, not "CELLO"/],
    [[...addGateway, '--set', 'password:hunter2'], /^--set needs KEY=VALUE\.$/],
    [[...addGateway, '--set', '=hunter2'], /^--set needs KEY=VALUE\.$/],
    [['gateway', 'add', '--connector', 'simulator'], /--channel is required/],
    [['gateway', 'add', '--channel', 'SMS'], /--connector is required/],
    [[...addGateway, '--rate', '-5'], /'--rate' argument is ambiguous/],
    [[...addGateway, '--rate', '0'], /--rate must be from 1 to 1000000 parts a second, or none, not "0"/],
    [[...addGateway, '--rate', '1.5'], /--rate must be from 1 to 1000000 parts a second, or none, not "1\.5"/],
    [[...addGateway, '--brands', ','], /--brands must be any, or some of MTS,.*, not ""/],
    [[...addGateway, '--seting', 'window=5'], /Unknown option '--seting'\. `tidings gateway add --help`/],
    [['gateway', 'show'], /`tidings gateway` needs one more word: gateway list, gateway add, /],
    ...['set', 'pause', 'resume', 'remove', 'test'].map((verb): [string[], RegExp] => [
      ['gateway', verb],
      new RegExp(`^--gateway is required: \`tidings gateway ${verb} --help\``),
    ]),
    [['gateway', 'pause', '1'], /^--gateway is required: did you mean `--gateway 1`\?$/],
    [['gateway', 'test', '--gateway', '1', '--to', '79160000001'], /--sender is required/],
    [[...addGateway, '--set', 'a=1', '--set', ''], /--set must not be empty/],
    [
      ['gateway', 'set', '--gateway', '1'],
      /There is nothing to change: give --brands, --rate, --companies, --name or --set/,
    ],
    [[...inbound, '--from', 'me'], /--from must be a phone number, not "me"/],
    [['inbound', 'rule'], /`tidings inbound` needs one more word: inbound rule add, .*, inbound center default\./],
    [[...addRule, '--channel', 'SMS', '--url', 'http://a.example'], /--channel must be one of WHATSAPP, not "SMS"/],
    [[...addRule, '--channel', 'whatsapp', '--url', 'ftp://a.example'], /--url must be an http or https address/],
    [[...addRule, '--channel', 'whatsapp', '--url', 'http://a.example', '--sender', ''], /--sender must not be empty/],
    [['inbound', 'center', 'add', '--company', '1', '--name', ' x'], /--name must be 1 to 100 characters/],
    [['inbound', 'rule', 'remove', '--company', '1'], /--rule is required/],
    [['send', '/nowhere.csv', ...order], /There is no file "\/nowhere\.csv"/],
    [
      ['send', '/nowhere.csv', ...order, '--senders', '1,two'],
      /--senders must be a whole number above zero, not "two"/,
    ],
    [['send', '/nowhere.csv', ...order, '--channel', 'MAIL'], /--channel must be one of SMS/],
  ])('tidings %s', async (words, sentence) => {
    const failure = await printedBy(words, { TIDINGS_DATA: '/dev/null/nowhere' }).catch(error => error)
    expect(failure).toBeInstanceOf(UsageError)
    expect(failure.message).toMatch(sentence)
    expect(failure.message).not.toContain('\n')
  })

  test('on stderr, with exit code 1', async () => {
    expectSentence(
      await run(['partner', 'create', '--login', 'anna'], {}),
      /There is no terminal to ask for the password/,
    )
  })

  test('a wrong setting as well', async () => {
    expectSentence(await run(['company', 'list'], { PORT: 'http' }), /PORT must be a whole number/)
  })

  test.each(['/dev/null/x', '/proc/x'])('and a data folder that cannot be made, such as %s', async folder => {
    expectSentence(
      await run(['migrate'], { TIDINGS_DATA: folder }),
      new RegExp(`The data folder ${folder} cannot be written by this user`),
    )
  })
})

describe('tidings config', () => {
  test('prints every setting, and of a secret only that it is set', async () => {
    const secrets = {
      DATABASE_URL: 'postgres://tidings:hush@db.example/tidings',
      TIDINGS_SECRET: 'hush'.repeat(8),
      TIDINGS_DEMO_PASSWORD: 'hush',
    }
    const env = { ...secrets, TIDINGS_TRUSTED_PROXIES: '192.0.2.1,192.0.2.2' }
    const printed = await answerOf(['config'], env)
    expect(Object.keys(printed)).toEqual(Object.values(settings).map(({ name }) => name))
    expect(printed).toMatchObject({
      PORT: 8080,
      TIDINGS_MODERATION: 'manual',
      TIDINGS_DATA: null,
      TIDINGS_TRUSTED_PROXIES: ['192.0.2.1', '192.0.2.2'],
      ...Object.fromEntries(Object.keys(secrets).map(name => [name, '(set)'])),
    })

    const { stdout } = await run(['config'], env)
    for (const { name } of Object.values(settings)) expect(stdout).toMatch(new RegExp(`^${name} = ?.*\\w`, 'm'))
    expect(stdout).toMatch(/^PORT = 8080 \(default\)\n {2}Port of the HTTP server/)
    expect(stdout).toMatch(/^TIDINGS_TRUSTED_PROXIES = 192\.0\.2\.1,192\.0\.2\.2$/m)
    expect(stdout + JSON.stringify(printed)).not.toContain('hush')
  })

  test('tells where the data of the embedded server is', async () => {
    expect((await answerOf(['config'], {})).TIDINGS_DATA).toMatch(/^\/.+/)
    expect(await answerOf(['config'], { TIDINGS_DATA: '/srv/tidings' })).toMatchObject({ TIDINGS_DATA: '/srv/tidings' })
  })

  test('a reader that goes away early is no error', async () => {
    const running = start(['config'], {})
    running.child.stdout!.destroy()
    expect(await running.ended).toMatchObject({ code: 0, stderr: '' })
  })
})

describe('without a service', () => {
  let env: Env
  let folder: string

  beforeAll(async () => {
    folder = await aDataFolder()
    env = { TIDINGS_DATA: folder }
  })

  test('a command starts the embedded server for its own time', async () => {
    expect(await answerOf(['migrate'], env)).toEqual({
      applied: expect.arrayContaining(['1 partners-companies-and-people']),
    })
    await expectNothingRunning(folder)
    expect(await answerOf(['migrate'], env)).toEqual({ applied: [] })
    const schema = await newestVersion()
    expect(await answerOf(['migrate', '--plan'], env)).toEqual({ schema, minimum: 0, program: schema, pending: [] })
    const database = { schema, minimum: 0, processes: [] }
    expect(await answerOf(['version'], env)).toEqual({ version: expect.any(String), schema, database })
    await expectNothingRunning(folder)
  })

  test('also when it fails, and what one command made the next one finds', async () => {
    const create = ['partner', 'create', '--login', 'anna', ...(await withPassword(folder, 'correct horse'))]
    expect(await answerOf(create, env)).toEqual({ partnerId: 1, login: 'anna' })
    expectSentence(await run(create, env), /A partner with the login "anna" exists already/)
    await expectNothingRunning(folder)
  })

  test('also when a signal ends it half-way', async () => {
    const file = join(folder, '..', 'register.csv')
    await writeFile(file, '903;0000000;0000009;10;ООО "Т2 Мобайл";;Омская область;7743895280')
    const server = await openEmbeddedServer({ dataDir: folder })
    const sql = connect(server.url, { max: 2, idleInTransactionMs: 0 })
    // Keeps the import waiting; it ends when the server does.
    const held = Promise.withResolvers<void>()
    const lock = sql.begin(async locking => {
      await locking`select from numbering_version for update`
      held.resolve()
      await locking`select pg_sleep(600)` // at work: an idle transaction would be ended by the server
    })
    lock.catch(() => {})
    await held.promise

    const running = start(['numbering', 'import', file], env)
    await eventually(async () => {
      expect(await sql`select from pg_stat_activity where wait_event_type = 'Lock'`).toHaveLength(1)
    })
    await server.release()
    running.child.kill('SIGINT')
    await expect(running.ended).resolves.toMatchObject({ code: 1, stdout: '' })
    await expectNothingRunning(folder)
    await sql.end({ timeout: 0 })
  })
})

describe('beside a running service', () => {
  let env: Env
  let folder: string
  let service: Service
  let client: Client

  beforeAll(async () => {
    folder = await aDataFolder()
    env = { TIDINGS_DATA: folder }
    service = await startService(['serve'], { ...env, TIDINGS_MODERATION: 'manual' })
    client = await logIn(service.partnerApi, 'demo', service.demo!.password!)
  })

  afterAll(async () => {
    await stop(service)
    await expectNothingRunning(folder)
  })

  const refused = async (words: string[], sentence: RegExp) => expectSentence(await runHere(words, env), sentence)

  test('a partner made by command logs in, and is out at once when it is disabled', async () => {
    const create = ['partner', 'create', '--login', 'anna', ...(await withPassword(folder, 'correct horse'))]
    expect(await answerHere(create, env)).toEqual({ partnerId: 2, login: 'anna' })
    const anna = await logIn(service.partnerApi, 'anna', 'correct horse')
    expect((await anna('GET', '/company')).status).toBe(200)
    expect(await answerHere(['partner', 'disable', 'anna'], env)).toEqual({ login: 'anna', disabled: true })
    expect((await anna('GET', '/company')).status).toBe(401)
  })

  test('company list', async () => {
    const list = await answerHere(['company', 'list'], env)
    expect(list).toHaveLength(3)
    expect(list[0]).toEqual({
      companyId: 1,
      partnerId: 1,
      name: 'Ромашка',
      counteragentInn: '7700000017',
      status: 'ACTIVE',
      budget: { value: 50_000, currency: 'RUB' },
      currency: 'RUB',
      balance: 0 - list[0].spent, // without a charge yet, -0 would not equal 0
      reserved: expect.any(Number),
      spent: expect.any(Number),
      billing: 'POSTPAID',
      inbound: true,
      rate: null,
    })
    expect(list[0].reserved + list[0].spent).toBeGreaterThan(0) // of the dispatch that the demo sends
    expect(list[1]).toMatchObject({ balance: 0, reserved: 0, spent: 0 })
    expect(list[2]).toMatchObject({ companyId: 3, budget: null, inbound: false })
    expect((await runHere(['company', 'list'], env)).stdout).toMatch(
      /^ID +PARTNER +STATUS +BILLING +BUDGET +BALANCE +RESERVED +SPENT +NAME\n1 +1 +ACTIVE +POSTPAID +50000\.00\d* .*Ромашка\n/,
    )
  })

  test('key create', async () => {
    const made = await answerHere(['key', 'create', '--company', '1', '--type', 'MESSAGE'], env)
    expect(made).toEqual({ keyId: expect.any(Number), key: expect.any(String) })
    expect(Buffer.from(made.key, 'base64').toString()).toMatch(/^[\w-]+:[\w-]{32}$/)
    expect(Buffer.from(made.key, 'base64').toString('base64')).toBe(made.key)
    await refused(
      ['key', 'create', '--company', '99', '--type', 'MESSAGE'],
      /There is no company 99: `tidings company list` shows them/,
    )
  })

  test('key list, set, deactivate, activate and reissue', async () => {
    const isTaken = async (value: string) => {
      const headers = { authorization: `Bearer ${value}` }
      const answer = await fetch(`${service.url}/api/v1/balance`, { headers, signal: AbortSignal.timeout(60_000) })
      return answer.ok || ((await answer.json()) as { error: { code: number } }).error.code
    }
    const options = ['--addresses', '127.0.0.0/8, ::1', '--center', 'Shop']
    const { keyId, key } = await answerHere(['key', 'create', '--company', '2', '--type', 'message', ...options], env)
    const id = ['--key', String(keyId)]
    const listed = {
      keyId,
      companyId: 2,
      type: 'MESSAGE',
      name: '',
      active: true,
      addresses: ['127.0.0.0/8', '::1'],
      trafficCenterId: expect.any(Number),
      trafficCenterName: 'Shop',
      createdAt: expect.stringMatching(/^\d{4}-.*Z$/),
    }
    expect(await answerHere(['key', 'list', '--company', '2'], env)).toEqual([listed])
    expect(await answerHere(['key', 'list'], env)).toEqual(
      expect.arrayContaining([listed, expect.objectContaining({ companyId: 1, trafficCenterName: 'Default' })]),
    )
    const { stdout } = await runHere(['key', 'list', '--company', '2'], env)
    expect(stdout).toMatch(/^ID +COMPANY +TYPE +STATE +CENTER +CREATED +ADDRESSES\n\d+ +2 +MESSAGE +active +Shop /)
    expect(stdout).not.toContain(key)
    expect(await isTaken(key)).toBe(true)

    const elsewhere = await answerHere(['key', 'set', ...id, '--addresses', '192.0.2.1'], env)
    expect(elsewhere).toEqual({ ...listed, addresses: ['192.0.2.1'] })
    expect(await isTaken(key)).toBe(4013)
    expect((await runHere(['key', 'set', ...id, '--addresses', 'any'], env)).stdout).toBe(
      `Key ${keyId} is active and may be used from anywhere.\n`,
    )
    expect(await isTaken(key)).toBe(true)

    expect(await answerHere(['key', 'deactivate', ...id], env)).toMatchObject({ keyId, active: false })
    expect(await isTaken(key)).toBe(4010)
    expect(await answerHere(['key', 'activate', ...id], env)).toMatchObject({ keyId, active: true })
    expect(await isTaken(key)).toBe(true)

    const reissued = await answerHere(['key', 'reissue', ...id], env)
    expect(reissued).toEqual({ keyId, key: expect.any(String) })
    expect([await isTaken(key), await isTaken(reissued.key)]).toEqual([4010, true])

    await refused(['key', 'list', '--company', '99'], /There is no company 99/)
    await refused(['key', 'reissue', '--key', '987654'], /There is no key 987654: `tidings key list` shows them/)
  })

  test('sender list, approve, reject and deny', async () => {
    const ids = [await newSender(client, 1), await newSender(client, 1), await newSender(client, 2)].map(String)
    for (const id of ids) await untilStatus(client, Number(id), 'PRE_REVIEW')
    const list = await answerHere(['sender', 'list', '--company', '1'], env)
    expect(list.map((sender: { companyId: number }) => sender.companyId)).toEqual(Array(8).fill(1))
    expect(list[0]).toEqual({
      id: Number(ids[0]),
      companyId: 1,
      senderName: 'VETEROK',
      channelType: 'SMS',
      brand: 'MTS',
      status: 'PRE_REVIEW',
      suspended: false,
      managerComment: null,
      rate: null,
    })

    const [approved, rejected, denied] = ids as [string, string, string]
    const decide = (verb: string, id: string, ...more: string[]) =>
      answerHere(['sender', verb, '--sender', id, ...more], env)
    expect(await decide('approve', approved, '--comment', 'Well named')).toMatchObject({
      status: 'APPROVED',
      managerComment: 'Well named',
    })
    expect(await decide('reject', rejected, '--comment', 'Too windy')).toMatchObject({
      status: 'REJECTED',
      managerComment: 'Too windy',
    })
    expect(await decide('deny', denied)).toMatchObject({ status: 'DENIED', managerComment: null })
    await untilStatus(client, Number(rejected), 'REJECTED')
    await refused(
      ['sender', 'approve', '--sender', denied],
      new RegExp(`Sender ${denied} is DENIED and cannot be approved`),
    )
    await refused(['sender', 'reject', '--sender', '999'], /There is no sender 999: `tidings sender list` shows them/)
  })

  test('sender set', async () => {
    const set = ['sender', 'set', '--sender', '1', '--rate']
    expect(await answerHere([...set, '20'], env)).toMatchObject({ id: 1, companyId: 1, rate: 20 })
    expect((await answerHere(['sender', 'list'], env)).find(({ id }: { id: number }) => id === 1)).toMatchObject({
      rate: 20,
    })
    expect((await runHere([...set, 'none'], env)).stdout).toMatch(/^Sender 1 \(\w+\) has no limit of its own\.\n$/)
    expect((await runHere([...set, '5'], env)).stdout).toMatch(/^Sender 1 \(\w+\) sends at most 5 parts a second\.\n$/)
    await answerHere([...set, 'none'], env)
    await refused(['sender', 'set', '--sender', '999', '--rate', '5'], /There is no sender 999: `tidings sender list`/)
  })

  test('month list and month detach', async () => {
    const current = new Date().toISOString().slice(0, 7)
    const server = await openEmbeddedServer({ dataDir: folder })
    const sql = connect(server.url, { max: 1 })
    try {
      await sql`select ensure_message_month('2020-02-01')`
      await sql`
        insert into messages (company_id, message_uuid, price, final_price, status, parts, brand_id, destination)
        values (1, uuid7_floor('2020-02-10T00:00:00Z'), 0, 0, 'FAILED', 0, 0, 'no number')`
      const of = async (month: string) =>
        (await answerHere(['month', 'list'], env)).find((one: { month: string }) => one.month === month)
      const february = { month: '2020-02', state: 'closable', messages: 1, sizeBytes: expect.any(Number), reason: null }
      expect(await of('2020-02')).toEqual(february)
      expect(await of(current)).toMatchObject({ state: 'open', reason: 'it is the current month' })
      expect((await runHere(['month', 'list'], env)).stdout).toMatch(
        /^MONTH +STATE +MESSAGES +SIZE +IN THE WAY\n2020-02 +closable +1 +\d+ kB +-\n/,
      )
      await refused(['month', 'detach', '--month', current], /cannot be detached: it is the current month\./)
      await refused(
        ['month', 'detach', '--month', '2020-01'],
        /Month 2020-01 cannot be detached: there is no such month\./,
      )
      const withTexts = async (month: string) =>
        (await runHere(['month', 'detach', '--month', month], { ...env, TIDINGS_KEEP_TEXTS_DAYS: '30' })).stderr
      expect(await withTexts('2020-02')).toMatch(
        /Month 2020-02 cannot be detached: its texts are not removed yet\. Engines remove texts when they are older than 30 days/,
      )
      expect(await withTexts('2020-01')).toMatch(/Month 2020-01 cannot be detached: there is no such month\./)
      expect(await withTexts(current)).toMatch(/cannot be detached: it is the current month\./)
      const detached = { month: '2020-02', messages: 1, table: 'messages_2020_02' }
      expect(await answerHere(['month', 'detach', '--month', '2020-02'], env)).toEqual(detached)
      expect(await of('2020-02')).toEqual({ ...february, state: 'detached' })
      expect(await answerHere(['ledger', 'verify'], env)).toEqual([])
    } finally {
      await sql.end()
      await server.release()
    }
  })

  describe('numbers', () => {
    const aFile = async (name: string, ...lines: string[]) => {
      const path = join(folder, '..', name)
      await writeFile(path, lines.join('\r\n'))
      return path
    }

    /** A number of Beeline in the built-in plan. The imported files change its operator. */
    const number = numberOf.BEELINE
    const senderOf = { 1: 1, 2: 2, 3: 3, 4: 4 }

    /**
     * Which of the demo's senders, one for each brand, a message to the number would go out with; none when refused.
     */
    const senderFor = async (destination: string): Promise<number | undefined> => {
      const { status, body } = await client('POST', '/dispatches?dryRun=true', {
        companyId: 1,
        name: 'Trial',
        senderIds: service.demo!.senderIds,
        channelType: 'SMS',
        text: 'Hello!',
        messages: [{ destination }],
      })
      expect(status).toBe(200)
      return body.messages[0]?.senderId
    }
    const untilSenderFor = (destination: string, senderId: number | undefined) =>
      eventually(async () => expect(await senderFor(destination)).toBe(senderId))

    const heading = 'АВС/ DEF;От;До;Емкость;Оператор;Регион;Территория ГАР;ИНН'
    const range = '903;0000000;0000009;10;ООО "Т2 Мобайл";Омская обл.;Омская область;7743895280'

    test('a ported number changes its operator in the running service', async () => {
      expect(await senderFor(number)).toBe(senderOf[2])
      const file = await aFile('ported.csv', `${number};MEGAFON`, '79030000007;MTS')
      expect(await answerHere(['ported', 'import', file], env)).toEqual({ lines: 2, ported: 2 })
      await untilSenderFor(number, senderOf[3])
    })

    test('the register as well, once the number is no longer ported; one of no range is refused with 7401', async () => {
      const back = await aFile('ported-back.csv', '79030000007;MTS')
      expect(await answerHere(['ported', 'import', back, '--replace'], env)).toEqual({ lines: 1, ported: 1 })
      const file = await aFile('register.csv', heading, range)
      expect(await answerHere(['numbering', 'import', file], env)).toEqual({ ranges: 1, codes: 1, unknownRegions: [] })
      await untilSenderFor(number, senderOf[4])
      await untilSenderFor('79031234567', undefined)

      const { body } = await client('POST', '/dispatches', {
        companyId: 1,
        name: 'News',
        senderIds: service.demo!.senderIds,
        channelType: 'SMS',
        text: 'Hello!',
        messages: [{ destination: number }, { destination: '79031234567' }],
      })
      const messages = (await client('GET', `/messages?dispatchId=${body.id}`)).body.items
      expect(messages).toMatchObject([
        { destination: number, brandId: 4, status: 'CREATED' },
        { destination: '79031234567', status: 'FAILED', errorCode: 7401 },
      ])
    })

    test('a file that cannot be read tells its line and changes nothing', async () => {
      const register = await aFile(
        'bad-register.csv',
        heading,
        range,
        '903;0000020;0000010;10;ООО "Т2 Мобайл";;Омская область;',
      )
      await refused(['numbering', 'import', register], /bad-register\.csv: line 3: the range ends \(0000010\) before/)
      const overlap = await aFile('overlap.csv', range, range.replace('0000000', '0000005'))
      await refused(['numbering', 'import', overlap], /overlap\.csv: line 2: the range overlaps the one of line 1/)
      const ported = await aFile('bad-ported.csv', '79030000001;MTS', '79030000002;CELLO')
      await refused(['ported', 'import', ported], /bad-ported\.csv: line 2: "CELLO" is not a brand/)
      await refused(['ported', 'import', await aFile('empty.csv', '')], /empty\.csv: The file has no entries/)
      expect(await answerHere(['ported', 'import', await aFile('one.csv', '79030000008;MTS')], env)).toEqual({
        lines: 1,
        ported: 2,
      })
    })
  })

  test('none of the commands has left anything running', async () => {
    const kinds = (await processesOf(folder)).map(({ command }) =>
      /main\.ts (\w+)|(postgres)/.exec(command)?.slice(1).join(''),
    )
    expect(new Set(kinds)).toEqual(new Set(['serve', 'engine', 'postgres']))
    expect(kinds.filter(kind => kind !== 'postgres')).toHaveLength(2)
  })
})
