import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { Agent, request } from 'node:http'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, expect } from 'vitest'
import { eventually } from './eventually.ts'
import { signal } from './signal.ts'

/** For tests: runs tidings in processes of its own, as operators do. */

const program = fileURLToPath(new URL('../../bin/tidings', import.meta.url))

export type Env = Record<string, string>
export type Ended = { code: number | null; signal: string | null; stdout: string; stderr: string }
export type User = { uid: number; gid: number }

export type Running = {
  child: ChildProcess
  pid: number
  stdout: () => string
  stderr: () => string
  ended: Promise<Ended>
}

/** The program gets no variable of the tests' environment except the search path. */
export const cleanEnv = (env: Env): Env => ({
  PATH: process.env.PATH!,
  HOME: tmpdir(),
  TIDINGS_LOG_LEVEL: 'warn',
  TIDINGS_ENV_FILE: '/dev/null', // not the settings of the person who runs the tests
  NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE!, // of vitest.config.ts
  TIDINGS_API_PROCESSES: '1', // the same on a machine with many cores
  TIDINGS_ENGINES: '1',
  TIDINGS_PASSWORD_COST: '14', // the least: services are started often, and each makes two logins
  ...env,
})

export function start(words: string[], env: Env, user?: User, from = program): Running {
  const child = spawn(from, words, { ...user, cwd: '/', env: cleanEnv(env), stdio: ['ignore', 'pipe', 'pipe'] })
  const text = { stdout: '', stderr: '' }
  for (const stream of ['stdout', 'stderr'] as const) {
    child[stream].setEncoding('utf8').on('data', piece => {
      text[stream] += piece
    })
  }
  const ended = once(child, 'close').then(([code, signal]) => ({ code, signal, ...text }))
  return { child, pid: child.pid!, stdout: () => text.stdout, stderr: () => text.stderr, ended }
}

export const run = (words: string[], env: Env): Promise<Ended> => start(words, env).ended

/** The value that a command prints with --json. */
export async function answerOf(words: string[], env: Env) {
  const { code, stdout, stderr } = await run([...words, '--json'], env)
  expect({ code, stderr }, `tidings ${words.join(' ')}`).toEqual({ code: 0, stderr: '' })
  return JSON.parse(stdout)
}

let passwordFiles = 0

/** The arguments that give a password to a command. The command reads it from a file beside the data folder. */
export async function withPassword(folder: string, password: string): Promise<string[]> {
  const path = join(dirname(folder), `password-${passwordFiles++}`)
  await writeFile(path, `${password}\n`)
  return ['--password-file', path]
}

/** Expects one sentence on stderr, the exit code 1, and no stack trace. */
export function expectSentence({ code, stdout, stderr }: Ended, sentence: RegExp) {
  expect(stderr).toMatch(/^tidings: [^\n]+\n$/)
  expect(stderr).toMatch(sentence)
  expect(stderr).not.toMatch(/Error:|\.ts\b/)
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
}

export type Service = Running & {
  url: string
  cabinet: string
  partnerApi: string
  docs: string
  data: string
  demo: Demo | undefined
}
type Demo = {
  login: string
  companyLogin: string
  staffLogin: string
  password?: string
  companyId: number
  senderIds: number[]
  key?: string
}

/** Starts a service on a free port, and waits until it prints its address. */
export async function startService(words: string[], env: Env, user?: User, from = program): Promise<Service> {
  const running = start([...words, '--json'], { PORT: '0', ...env }, user, from)
  return { ...running, ...JSON.parse(await firstOutput(running, /\n/)) }
}

/** Waits for this text, and returns the whole output. */
export async function firstOutput(running: Running, wanted: RegExp): Promise<string> {
  const isThere = eventually(() => expect(running.stdout()).toMatch(wanted))
  const isGone = running.ended.then(({ stdout, stderr }) => {
    if (!wanted.test(stdout)) throw new Error(`tidings ended early: ${stderr}`)
  })
  await Promise.race([isThere, isGone])
  return running.stdout()
}

export function stop(running: Running): Promise<Ended> {
  running.child.kill('SIGTERM')
  return running.ended
}

/** Paths of new data folders for one test file. Processes that still use them at the end are stopped. */
export function useDataFolders(): () => Promise<string> {
  const folders: string[] = []

  afterAll(async () => {
    for (const folder of folders) {
      for (const { pid } of await processesOf(folder)) signal(pid, 'SIGKILL')
      await eventually(() => expectNothingRunning(folder)).catch(() => {})
      await rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 })
    }
  })

  return async () => {
    const folder = await mkdtemp(join(tmpdir(), 'tidings-commands-'))
    await chmod(folder, 0o755)
    folders.push(folder)
    return join(folder, 'data')
  }
}

/** Processes that have the folder in their environment or on their command line: services, engines, servers. */
export async function processesOf(folder: string): Promise<{ pid: number; command: string }[]> {
  const all = process.platform === 'linux' ? processesInProc(folder) : await processesByPs(folder)
  return all.filter(({ pid }) => pid !== process.pid)
}

/** Without promises, and the environment only where necessary: tests repeat this many times while they wait. */
function processesInProc(folder: string) {
  const pids = readdirSync('/proc').filter(name => /^\d+$/.test(name))
  return pids.flatMap(pid => {
    const command = readProc(pid, 'cmdline') // empty for threads of the kernel and for ended processes
    const isOfFolder = command !== '' && (command.includes(folder) || readProc(pid, 'environ').includes(folder))
    return isOfFolder ? [{ pid: Number(pid), command: command.replaceAll('\0', ' ').trim() }] : []
  })
}

function readProc(pid: string, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8')
  } catch {
    return ''
  }
}

async function processesByPs(folder: string) {
  const { stdout } = await promisify(execFile)('ps', ['-axwwE', '-o', 'pid=,command='], { maxBuffer: 64_000_000 })
  const lines = [...stdout.matchAll(/^ *(\d+) (.*)$/gm)].filter(([line]) => line.includes(folder))
  return lines.map(([, pid, command]) => ({ pid: Number(pid), command: command! }))
}

export async function expectNothingRunning(folder: string) {
  expect((await processesOf(folder)).map(({ command }) => command)).toEqual([])
}

export const enginesOf = (folder: string): Promise<number[]> => childrenOf(folder, 'engine')

/** The processes of a command that `serve` has started. */
export async function childrenOf(folder: string, command: 'api' | 'engine'): Promise<number[]> {
  const words = new RegExp(`main\\.ts ${command}( |$)`)
  return (await processesOf(folder)).filter(({ command }) => words.test(command)).map(({ pid }) => pid)
}

// biome-ignore lint/suspicious/noExplicitAny: each test checks the content
export type Answer = { status: number; body: any }

export type Client = {
  (method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>
  token: string
}

/** The partner API over a real connection, logged in. */
export async function logIn(partnerApi: string, login: string, password: string): Promise<Client> {
  const { status, body } = await call(partnerApi, '', 'POST', '/auth/token', { login, password })
  expect({ status, body }).toMatchObject({ status: 200 })
  return clientOf(partnerApi, body.token)
}

export const clientOf = (partnerApi: string, token: string): Client =>
  Object.assign((...request: Parameters<Client>) => call(partnerApi, token, ...request), { token })

async function call(partnerApi: string, token: string, ...request: Parameters<Client>): Promise<Answer> {
  const [method, path, body, headers] = request
  const response = await fetch(partnerApi + path, {
    method,
    headers: {
      ...headers,
      ...(token ? { authorization: `Bearer ${token}` } : {}),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    body: body === undefined ? null : JSON.stringify(body),
  })
  return { status: response.status, body: await response.json() }
}

/** Sends a request all but its last byte, and waits until the service has read them. */
export async function beginRequest(client: Client, url: string, body: string) {
  const bytes = Buffer.from(body)
  const sent = request(url, {
    method: 'POST',
    agent: new Agent({ keepAlive: true }),
    headers: {
      authorization: `Bearer ${client.token}`,
      'content-type': 'application/json',
      'content-length': bytes.length,
      expect: '100-continue',
    },
  })
  const answered = once(sent, 'response')
  sent.flushHeaders()
  await once(sent, 'continue')
  sent.write(bytes.subarray(0, -1))

  return {
    async finish() {
      sent.end(bytes.subarray(-1))
      const [response] = await answered
      let text = ''
      for await (const piece of response.setEncoding('utf8')) text += piece
      return { status: response.statusCode, body: JSON.parse(text) }
    },
  }
}

/** Registers a sender name and returns its id. */
export async function newSender(client: Client, companyId: number): Promise<number> {
  const { status, body } = await client('POST', '/senders', {
    companyId,
    senderName: 'VETEROK',
    channelType: 'SMS',
    commonType: 'COMMON',
    brand: 'MTS',
    dateFrom: '2026-01-01T00:00:00Z',
  })
  expect({ status, body }).toMatchObject({ status: 201 })
  return body.id
}

export const untilStatus = (client: Client, senderId: number, status: string) =>
  eventually(async () => expect((await client('GET', `/senders/${senderId}`)).body.status).toBe(status))
