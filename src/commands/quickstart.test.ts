import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { eventually } from '../testing/eventually.ts'
import { freePort } from '../testing/free-port.ts'
import { type Service, startService, useDataFolders } from '../testing/processes.ts'
import { bannerOf } from './service/banner.ts'
import type { Demo } from './service/demo.ts'

/**
 * What the pages say to paste is run as it stands, on a fresh demo, and prints what the pages say in its essentials.
 */

const project = fileURLToPath(new URL('../../', import.meta.url))
const has = (program: string) => spawnSync(program, ['--version']).status === 0
const hasCurl = has('curl') && has('bash')
const hasPython = has('python3')
/** Some ten seconds in all; a busy machine may need more. */

type Block = { language: string; text: string; printed: string | undefined }

const aDataFolder = useDataFolders()
const receiving: ReturnType<typeof spawn>[] = []
let folder: string
let service: Service
let env: Record<string, string>
/** What the page calls port 9000, by the language of the receiver. */
const ports: Record<string, string> = {}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tidings-pages-'))
  await mkdir(join(folder, 'bin'))
  await symlink(join(project, 'bin/tidings'), join(folder, 'bin/tidings'))
  const data = await aDataFolder()
  service = await startService(['serve'], { TIDINGS_DATA: data, TIDINGS_CALLBACK_ALLOW: '127.0.0.0/8' })
  env = {
    PATH: process.env.PATH!,
    HOME: tmpdir(),
    TIDINGS_DATA: data,
    NODE_COMPILE_CACHE: join(project, 'node_modules/.cache/tidings-tests'),
    TIDINGS_API: `${service.url}/api/v1`,
    TIDINGS_KEY: service.demo!.key!,
  }
  env.CALLBACK_SECRET = (await shell('bin/tidings callback secret --company 1')).trim()
})

afterAll(async () => {
  for (const child of receiving) child.kill()
  service?.child.kill('SIGTERM')
  await service?.ended
  await rm(folder, { recursive: true, force: true })
})

/** The blocks of a page, each with the block of its expected output. */
async function blocksOf(page: string, from = '', to = ''): Promise<Block[]> {
  const whole = await readFile(join(project, page), 'utf8')
  const end = to ? whole.indexOf(to) : whole.length
  const programs = /^```(sh|ts|python)\n(.*?)^```$(?:\n\n```(?:json)?\n(.*?)^```$)?/gms
  return [...whole.slice(whole.indexOf(from), end).matchAll(programs)].map(([, language, text, printed]) => ({
    language: language!,
    text: text!,
    printed,
  }))
}

const ofLanguage = (blocks: Block[], language: string) => blocks.filter(block => block.language === language)

/** In place of what a reader fills in. */
const filledIn = (text: string) =>
  text
    .replaceAll('http://localhost:8080', service.url)
    .replaceAll("'the one printed at the first start'", `'${service.demo!.password}'`)
    .replaceAll(/'the key (printed at the first start|that was printed)'/g, `'${service.demo!.key}'`)

async function run(program: string, words: string[], input = ''): Promise<string> {
  const child = spawn(program, words, { cwd: folder, env, stdio: ['pipe', 'pipe', 'pipe'] })
  const text = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', piece => {
      text[name] += piece
    })
  }
  child.stdin.end(input)
  const [code] = await once(child, 'close')
  expect({ code, stderr: text.stderr }, `${program} ${words.join(' ')}\n${text.stdout}`).toEqual({
    code: 0,
    stderr: '',
  })
  return text.stdout
}

const shell = (text: string) => run('bash', ['-eu', '-o', 'pipefail'], text)

const MARK = '=== the next block ==='
/**
 * Where a page waits a second or two, the tests wait until nothing is under way, however busy the machine is. Single
 * messages that wait for a time of their own do not count.
 */
const patience = `
ask() { curl -s -H "Authorization: Bearer $TIDINGS_KEY" "$TIDINGS_API/$1"; }
isQuiet() {
  ask 'dispatch?status=sending&per_page=1' | grep -q '"total":0,' &&
    ! ask 'message?dispatch=false&status=sending&status=sent&per_page=1000' | sed 's/{"createdTime"/\\n&/g' |
      grep '"createdTime"' | grep -v '"hours":\\[' | grep -q -v '"localSendTime":"'
}
sleep() {
  command sleep $1
  until isQuiet; do command sleep 0.2; done
}
`

/** A block that only sets variables and functions, for the blocks after it. */
const isSetup = ({ text }: Block) =>
  text.split('\n').every(line => line === '' || /^((export )?\w+=|\w+\(\)|[ }#])/.test(line))

/** Each block in its place: in one shell, or in a shell of its own that knows nothing but the variables of the page. */
async function printedBy(blocks: Block[], { alone = false } = {}): Promise<string[]> {
  const script = blocks.map(block => {
    const text = filledIn(block.text)
    return `${alone && !isSetup(block) ? `(\n${text}\n)` : text}\necho; echo '${MARK}'\n`
  })
  return (await shell(patience + script.join(''))).split(MARK)
}

const isPassing = (word: string) => /[0-9a-f]{8}-[0-9a-f]{4}|\d{4}-\d\d-\d\d|\w{20}|\d\.\d|\.\.\.|\/s\/\w/.test(word)
const ownNames = ['id', 'companyId', 'dispatchId', 'trafficCenterId', 'RUB', 'total', 'createdTime']

/** Every member that the page shows, and every line of plain text, but for ids, times and amounts. */
function expectEssentials(output: string, { text, printed = '' }: Block) {
  const squeezed = (lines: string) => lines.replaceAll(/\s+/g, ' ')
  const members = [...printed.matchAll(/"(\w+)":("[^"]*"|-?[\d.]+|true|false|null)(?=[,}\]\s])/g)]
  const lasting = members.filter(([, name, value]) => !ownNames.includes(name!) && !isPassing(value!))
  const lines = members.length > 0 ? [] : printed.split('\n').filter(line => !/^\.*$/.test(line) && !isPassing(line))
  for (const wanted of [...lasting.map(([member]) => member), ...lines]) {
    expect(squeezed(output), text).toContain(squeezed(wanted))
  }
}

async function expectPageHolds(blocks: Block[]) {
  const printed = await printedBy(blocks)
  expect(printed).toHaveLength(blocks.length + 1)
  for (const [i, block] of blocks.entries()) expectEssentials(printed[i]!, block)
}

/** The last block first, each by itself: none needs what another one did. */
async function expectAnyOrder(blocks: Block[]) {
  const order = [...blocks.filter(isSetup), ...blocks.filter(block => !isSetup(block)).reverse()]
  const printed = await printedBy(order, { alone: true })
  for (const [i, block] of order.entries()) {
    if (!block.printed?.includes('"error"')) expect(printed[i], block.text).not.toContain('{"error":')
  }
}

async function startReceiver(language: 'python' | 'ts'): Promise<() => string> {
  ports[language] = String(await freePort())
  const [block] = ofLanguage(await blocksOf('docs/callbacks.md'), language)
  const file = join(folder, language === 'python' ? 'receiver.py' : 'receiver.mts')
  await writeFile(file, block!.text.replaceAll('9000', ports[language]))
  const child = spawn(language === 'python' ? 'python3' : process.execPath, [file], { cwd: folder, env })
  receiving.push(child)
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', piece => (output += piece))
  return () => output
}

function bannerLines(): string[] {
  const { url, cabinet, partnerApi, docs, data, demo } = service
  const addresses = { url, cabinet, partnerApi, messagingApi: `${url}/api/v1`, docs }
  const banner = bannerOf(addresses, { data, demo: demo as Demo }, url)
  return banner.split('\n').filter(line => /^ +(TOKEN=|DISPATCH=|curl)/.test(line))
}

/** The words that all pages begin with, and what a page says itself. */
async function shellPage(page: string, receiver: 'python' | 'ts' = 'ts'): Promise<Block[]> {
  const words = ofLanguage(await blocksOf('docs/quickstart/README.md'), 'sh').filter(({ text }) => /^AUTH=/.test(text))
  const own = ofLanguage(await blocksOf(page), 'sh').filter(({ text }) => !text.includes('receiver.py'))
  expect(words).toHaveLength(1)
  return [...words, ...own].map(block => ({ ...block, text: block.text.replaceAll('9000', ports[receiver] ?? '') }))
}

describe.skipIf(!hasCurl).concurrent('with curl', () => {
  test('docs/quickstart/sms.md, with a receiver that checks signatures', async () => {
    const receiver = hasPython ? 'python' : 'ts'
    const received = await startReceiver(receiver)
    await expectPageHolds(await shellPage('docs/quickstart/sms.md', receiver))
    await eventually(() => {
      for (const event of ['sent', 'delivered', 'price']) {
        expect(received()).toMatch(new RegExp(`'?callback_event'?: '${event}', *'?external_message_id'?: 'order-18'`))
      }
    })
  })

  test('docs/quickstart/whatsapp.md, with a receiver of what subscribers write', async () => {
    const received = await startReceiver('ts')
    await expectPageHolds(await shellPage('docs/quickstart/whatsapp.md'))
    await eventually(() => expect(received()).toMatch(/callback_event: 'inbound_sent'(?s:.*)When do you open\?/))
  })

  test.each([
    ['docs/verification.md', 9],
    ['docs/widget.md', 4],
  ])('%s', async (page, least) => {
    const blocks = ofLanguage(await blocksOf(page), 'sh').filter(({ text }) => !text.includes('docs/examples/'))
    expect(blocks.length).toBeGreaterThanOrEqual(least)
    await expectPageHolds(
      blocks.map(block => ({ ...block, text: block.text.replace(/--name (Login|Shop|Form)/, `$& ${patientCodes}`) })),
    )
  })

  test.each(['cascade', 'codes-by-call'])('docs/quickstart/%s.md', async page => {
    await expectPageHolds(await shellPage(`docs/quickstart/${page}.md`))
  })
})

describe.concurrent('and then', () => {
  const pages = ['sms', 'cascade', 'codes-by-call', 'whatsapp']

  test.skipIf(!hasCurl)(
    'the lines of the banner, and after them every page with curl, in any order and twice',
    async () => {
      const [token, ...lines] = bannerLines()
      expect(await shell([patience, token, ...lines].join('\n'))).toMatch(/STARTED.*"Hello, Anna!".*"DELIVERED"/s)

      const readme = ofLanguage(await blocksOf('README.md', '## A first message', '## Where to go next'), 'sh')
      const partner = ofLanguage(await blocksOf('docs/partner-api.md'), 'sh')
      const messaging = ofLanguage(await blocksOf('docs/messaging-api.md'), 'sh')
      for (const blocks of [messaging, partner, readme]) await expectAnyOrder(blocks)
      for (const blocks of [readme, partner, messaging]) {
        expect(blocks.length).toBeGreaterThan(6)
        await expectPageHolds(blocks)
      }
    },
  )

  test.each(pages)('docs/quickstart/%s.md in TypeScript', async page => {
    await expectProgramHolds(page, 'ts', process.execPath, `${page}.mts`)
  })

  test.skipIf(!hasPython).each(pages)('docs/quickstart/%s.md in Python', async page => {
    await expectProgramHolds(page, 'python', 'python3', `${page}.py`)
  })
})

describe.concurrent('a login by code works with the example', () => {
  test('in TypeScript', () => expectLoginHolds(process.execPath, 'login-by-code.mts', '79160590001'))
  test.skipIf(!hasPython)('in Python', () => expectLoginHolds('python3', 'login-by-code.py', '79160600001'))
})

async function expectLoginHolds(program: string, file: string, phone: string) {
  const site = await startLoginServer(program, file)
  expect(await site.post('/login/send', { phone }, '')).toMatchObject({ status: 403 })
  const page = await fetch(site.url)
  expect(await page.text()).toContain('autocomplete="one-time-code"')
  const visitor = cookieOf(page)
  expect(await site.post('/login/check', { code: '123456' }, visitor)).toMatchObject({ status: 409 })
  expect(await site.post('/login/send', { phone: '12' }, visitor)).toMatchObject({ status: 400 })
  expect(await site.post('/login/send', { phone }, visitor)).toMatchObject({ status: 200 })
  const second = await site.post('/login/send', { phone }, visitor)
  expect(second.status).toBe(429)
  expect(second.message).toBe(`Too many codes: try again in ${second.headers.get('retry-after')} seconds.`)

  const code = await codeSentTo(phone)
  const wrong = await site.post('/login/check', { code: 'wrong' }, visitor)
  expect(wrong).toMatchObject({ status: 401, message: 'The code is wrong.' })
  expect(await site.whoIs(visitor)).toBe('You are not logged in.')
  const right = await site.post('/login/check', { code }, visitor)
  expect(right).toMatchObject({ status: 200, message: 'You are logged in.' })
  expect(await site.whoIs(cookieOf(right))).toBe(`You are ${phone}.`)
  expect(await site.whoIs(visitor)).toBe('You are not logged in.')
}

async function startLoginServer(program: string, file: string) {
  const made = await shell(
    `bin/tidings verifier create --company 1 ${patientCodes} --json; bin/tidings key create --company 1 --type VERIFIER --json`,
  )
  const [{ gatewayId }, { key }] = made
    .trim()
    .split('\n')
    .map(line => JSON.parse(line))
  const port = String(await freePort())
  const ownEnv = { ...env, TIDINGS_KEY: key, GATEWAY_ID: gatewayId, PORT: port }
  receiving.push(spawn(program, [join(project, 'docs/examples', file)], { env: ownEnv, stdio: 'ignore' }))
  const url = `http://127.0.0.1:${port}`
  await eventually(() => fetch(`${url}/me`))
  return {
    url,
    async post(path: string, body: object, cookie: string) {
      const headers = { 'content-type': 'application/json', cookie }
      const answer = await fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) })
      const { message } = (await answer.json()) as { message: string }
      return { status: answer.status, message, headers: answer.headers }
    },
    async whoIs(cookie: string) {
      const answer = await fetch(`${url}/me`, { headers: { cookie } })
      return ((await answer.json()) as { message: string }).message
    },
  }
}

const cookieOf = ({ headers }: { headers: Headers }) => headers.get('set-cookie')!.split(';')[0]!

const codeSentTo = (phone: string): Promise<string> =>
  eventually(async () => {
    const found = new RegExp(`${phone}  Your code: (\\d+)`).exec(await shell('bin/tidings simulator outbox'))
    expect(found).not.toBeNull()
    return found![1]!
  })

async function expectProgramHolds(page: string, language: string, program: string, file: string) {
  const [block, ...more] = ofLanguage(await blocksOf(`docs/quickstart/${page}.md`), language)
  expect(more).toEqual([])
  await writeFile(join(folder, file), block!.text)
  const output = await run(program, [file])
  expect(output).toMatch(ends[page]!)
  expectEssentials(output, block!)
}

/** Codes and pauses that outlast the test on the busiest machine. */
const patientCodes = '--lifetime 3600 --pause 3600'

/** What the pages promise of both languages in words. */
const ends: Record<string, RegExp> = {
  sms: /^accepted as \S{36}\n(?s:.*)delivered\s*$/,
  cascade: /^1 VIBER undelivered\n2 SMS undelivered\n$/,
  'codes-by-call': /^\S{36} NUMBER_VERIFIED\n$/,
  whatsapp: /^Your order 17 is ready\. delivered read\n17 delivered read\n471100 delivered read\n$/,
}
