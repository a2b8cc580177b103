import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { freePort } from '../../src/testing/free-port.ts'
import { memoryOf, secondsOfTree } from './processes.ts'
import { SmscProcess } from './smsc.ts'
import { BINDS, type System, TEXT, WINDOW } from './system.ts'

const START_MS = 30_000
const PASSWORD = 'bench'

/**
 * Kannel from Debian: the `bearerbox` with its spool on the disk, and a `smsbox` with the HTTP API. It keeps its list of
 * expected receipts in memory, the default.
 */
export async function startKannel(reportUrl?: string): Promise<System> {
  installMissing('bearerbox', 'kannel')
  const folder = await mkdtemp(join(tmpdir(), 'tidings-kannel-'))
  await mkdir(join(folder, 'spool'))
  const smsc = await SmscProcess.start()
  const ports = {
    admin: await freePort(),
    smsbox: await freePort(),
    http: await freePort(),
  }
  const file = join(folder, 'kannel.conf')
  await writeFile(file, settingsOf(folder, ports, smsc.port))
  const kannel = new Kannel(file, smsc, ports.http)
  await kannel.start()

  const path = `/cgi-bin/sendsms?${new URLSearchParams({ username: 'bench', password: PASSWORD, from: 'ROMASHKA', text: TEXT })}`
  const reports = reportUrl ? `&${new URLSearchParams({ 'dlr-url': reportUrl })}` : ''
  return {
    name: 'Kannel',
    smsc,
    port: () => ports.http,
    request: { method: 'GET', path: `${path}&dlr-mask=3${reports}&to=DESTINATION`, headers: {}, body: undefined },
    processorSeconds: () => kannel.processorSeconds(),
    memoryBytes: () => kannel.memoryBytes(),
    kill: () => kannel.end('SIGKILL'),
    restart: () => kannel.start(),
    async stop() {
      await kannel.end('SIGKILL')
      smsc.stop()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** Installs a Debian package if its command is missing and this user may install. */
export function installMissing(command: string, debianPackage: string) {
  if (isThere(command)) return
  if (process.getuid?.() !== 0 || !isThere('apt-get')) {
    throw new Error(`this bench needs ${command}: install the package "${debianPackage}" of Debian or Ubuntu`)
  }
  execFileSync('apt-get', ['update'], { stdio: 'ignore' })
  execFileSync('apt-get', ['install', '-y', debianPackage], { stdio: 'ignore' })
}

function isThere(command: string): boolean {
  try {
    execFileSync('sh', ['-c', `command -v ${command}`], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

class Kannel {
  readonly #file: string
  readonly #smsc: SmscProcess
  readonly #httpPort: number
  #boxes: { bearerbox: ChildProcess; smsbox: ChildProcess } | undefined

  constructor(file: string, smsc: SmscProcess, httpPort: number) {
    this.#file = file
    this.#smsc = smsc
    this.#httpPort = httpPort
  }

  async start() {
    const boundBefore = (await this.#smsc.counts()).binds
    const bearerbox = startBox('bearerbox', this.#file)
    await until('bind to the SMSC', async () => (await this.#smsc.counts()).binds >= boundBefore + BINDS)
    const smsbox = startBox('smsbox', this.#file)
    this.#boxes = { bearerbox, smsbox }
    await until('answer HTTP requests', () => answers(`http://127.0.0.1:${this.#httpPort}/`))
  }

  async processorSeconds() {
    const { bearerbox, smsbox } = this.#running
    return { bearerbox: await secondsOfTree(bearerbox), smsbox: await secondsOfTree(smsbox) }
  }

  async memoryBytes() {
    const { bearerbox, smsbox } = this.#running
    return memoryOf([bearerbox, smsbox])
  }

  async end(signal: NodeJS.Signals) {
    const boxes = Object.values(this.#boxes ?? {})
    await Promise.all(boxes.map(box => endBox(box, signal)))
    this.#boxes = undefined
  }

  get #running() {
    const [bearerbox, smsbox] = [this.#boxes?.bearerbox.pid, this.#boxes?.smsbox.pid]
    if (bearerbox === undefined || smsbox === undefined) throw new Error('Kannel does not run')
    return { bearerbox, smsbox }
  }
}

const startBox = (box: string, file: string) => spawn(box, ['-v', '4', file], { stdio: 'ignore' })

async function endBox(box: ChildProcess, signal: NodeJS.Signals) {
  if (box.exitCode !== null || box.signalCode !== null) return
  const ended = once(box, 'exit')
  box.kill(signal)
  await ended
}

async function until(what: string, isDone: () => Promise<boolean>) {
  const begun = performance.now()
  while (!(await isDone())) {
    if (performance.now() - begun > START_MS)
      throw new Error(`Kannel did not ${what} within ${START_MS / 1000} seconds`)
    await pause(100)
  }
}

const answers = (url: string) =>
  fetch(url, { signal: AbortSignal.timeout(1000) }).then(
    () => true,
    () => false,
  )

type Ports = { admin: number; smsbox: number; http: number }

const settingsOf = (folder: string, ports: Ports, smscPort: number) => `
group = core
admin-port = ${ports.admin}
admin-password = ${PASSWORD}
admin-allow-ip = 127.0.0.1
smsbox-port = ${ports.smsbox}
box-allow-ip = 127.0.0.1
log-file = ${folder}/bearerbox.log
log-level = 4
store-type = spool
store-location = ${folder}/spool
dlr-storage = internal
${smscGroup(smscPort).repeat(BINDS)}
group = smsbox
bearerbox-host = 127.0.0.1
sendsms-port = ${ports.http}
log-file = ${folder}/smsbox.log
log-level = 4

group = sendsms-user
username = bench
password = ${PASSWORD}
max-messages = 3
concatenation = true
`

const smscGroup = (port: number) => `
group = smsc
smsc = smpp
smsc-id = operator
host = 127.0.0.1
port = ${port}
smsc-username = kannel
smsc-password = ${PASSWORD}
system-type = ""
transceiver-mode = true
max-pending-submits = ${WINDOW}
`
