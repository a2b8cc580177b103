import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { openConnection } from '../client.ts'
import type { Figure } from '../figures.ts'
import { inventRecipients } from '../recipients.ts'
import { untilSettled } from './dispatches.ts'
import { startKannel } from './kannel.ts'
import { bytesFor } from './measuring.ts'
import { withSystem } from './running.ts'
import type { System } from './system.ts'
import { startTidings } from './tidings.ts'

const CONNECTIONS = 64
const NUMBERS = 200_000
const KILL_AFTER_MS = 5000
/** Kannel has this time after its restart to pass on receipts. */
const REPORTS_MS = 15_000

/** What each system loses when all its processes are killed with -9 under load, and started again. */
export async function crashes(): Promise<Figure[]> {
  return [...(await crashOfKannel()), ...(await crashOfTidings())]
}

/** Kannel calls an address for every final receipt; it forgets the receipts that it expected before the crash. */
async function crashOfKannel(): Promise<Figure[]> {
  const reported = new Set<string>()
  const receiver = await receiveReports(number => reported.add(number))
  const { port } = receiver.address() as AddressInfo
  const start = () => startKannel(`http://127.0.0.1:${port}/?to=%p&state=%d`)
  try {
    return await withSystem(start, async kannel => {
      const accepted = await killUnderLoad(kannel)
      await pause(REPORTS_MS)
      return lossesOf(kannel, accepted, number => reported.has(number))
    })
  } finally {
    receiver.close()
  }
}

function crashOfTidings(): Promise<Figure[]> {
  return withSystem(startTidings, async tidings => {
    const accepted = await killUnderLoad(tidings)
    await untilSettled(tidings)
    const rows = await tidings.sql<{ destination: string }[]>`
      select destination from messages where company_id = ${tidings.company.companyId} and status = 'DELIVERED'`
    const delivered = new Set(rows.map(({ destination }) => destination))
    return lossesOf(tidings, accepted, number => delivered.has(number))
  })
}

/** Sends messages over all connections, kills the system in the middle, and starts it again. The numbers of accepted messages. */
async function killUnderLoad(system: System): Promise<string[]> {
  const numbers = inventDistinct(NUMBERS)
  const accepted: string[] = []
  const sending = Promise.all(Array.from({ length: CONNECTIONS }, () => sendAll(system, numbers, accepted)))
  await pause(KILL_AFTER_MS)
  await system.kill()
  await sending
  await system.restart()
  await system.smsc.untilQuiet()
  return accepted
}

/** Ends when the connection is lost. */
async function sendAll(system: System, numbers: string[], accepted: string[]) {
  const connection = await openConnection(system.port())
  for (let number = numbers.pop(); number !== undefined; number = numbers.pop()) {
    const answer = await connection.ask(bytesFor(system, number)).catch(() => undefined)
    if (!answer) break
    accepted.push(number)
  }
  connection.close()
}

async function lossesOf(
  system: System,
  accepted: string[],
  isReported: (number: string) => boolean,
): Promise<Figure[]> {
  const taken = await system.smsc.taken()
  const what = `${system.name}, killed under load`
  const id = `${system.name.toLowerCase()}.killed`
  const count = (matches: (number: string) => boolean) => accepted.filter(matches).length
  return [
    { id: `${id}.accepted`, what: `${what}: accepted before`, value: accepted.length, unit: 'messages' },
    {
      id: `${id}.unsent`,
      what: `${what}: never sent`,
      value: count(number => !taken.has(number)),
      unit: 'messages',
      ...promiseOf(system),
    },
    {
      id: `${id}.twice`,
      what: `${what}: sent twice`,
      value: count(number => (taken.get(number) ?? 0) > 1),
      unit: 'messages',
    },
    {
      id: `${id}.unreported`,
      what: `${what}: receipt lost`,
      value: count(number => taken.has(number) && !isReported(number)),
      unit: 'messages',
      ...promiseOf(system),
    },
  ]
}

/** Tidings promises to lose nothing. */
const promiseOf = ({ name }: System): Pick<Figure, 'target'> => (name === 'Tidings' ? { target: { most: 0 } } : {})

async function receiveReports(onReport: (number: string) => void): Promise<Server> {
  const server = createServer((request, response) => {
    const { searchParams } = new URL(request.url ?? '/', 'http://localhost')
    const number = searchParams.get('to')
    if (number !== null) onReport(number.trim().replace(/^\+/, ''))
    response.end()
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return server
}

const inventDistinct = (count: number) => [...new Set(inventRecipients(count).map(({ destination }) => destination))]
