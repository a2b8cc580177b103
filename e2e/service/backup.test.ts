import { copyFile, mkdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { eventually } from '../../src/testing/eventually.ts'
import { hasPostgres, PostgresCluster } from '../../src/testing/postgres-cluster.ts'
import { answerOf, type Env, type Service, startService, stop, useDataFolders } from '../../src/testing/processes.ts'

/** Follows the section "Backups" of docs/operations.md on real servers. */

const SECRET = 'invented for the tests, 32 characters and more'
const aDataFolder = useDataFolders()

const headersOf = (service: Service) => ({
  authorization: `Bearer ${service.demo!.key}`,
  'content-type': 'application/json',
})

async function post(service: Service, content: string): Promise<string> {
  const response = await fetch(`${service.url}/api/v1/message`, {
    method: 'POST',
    headers: headersOf(service),
    body: JSON.stringify({ channelType: 'SMS', senderName: 'ROMASHKA', destination: '79160000077', content }),
  })
  expect(response.status).toBe(200)
  return ((await response.json()) as { items: { messageUuid: string }[] }).items[0]!.messageUuid
}

/** Undefined for a message that the service does not know. */
async function statusOf(service: Service, uuid: string): Promise<string | undefined> {
  const response = await fetch(`${service.url}/api/v1/message/${uuid}`, { headers: headersOf(service) })
  if (response.status === 404) return undefined
  return ((await response.json()) as { status: string }).status
}

const untilDelivered = (service: Service, uuid: string) =>
  eventually(async () => expect(await statusOf(service, uuid)).toBe('delivered'))

async function expectExact(env: Env) {
  const commands = [
    ['ledger', 'verify'],
    ['statistics', 'verify'],
  ]
  expect(await Promise.all(commands.map(words => answerOf(words, env)))).toEqual([[], []])
}

test('an export of the embedded server under load starts in another data folder', async () => {
  const [folder, other] = [await aDataFolder(), await aDataFolder()]
  const env = { TIDINGS_DATA: folder, TIDINGS_LOG_LEVEL: 'fatal' }
  const service = await startService(['serve'], env)
  const accepted: string[] = []
  let isStopped = false
  const load = Promise.all(
    [1, 2].map(async () => {
      while (!isStopped) accepted.push(await post(service, `Message ${accepted.length}`))
    }),
  )
  await eventually(() => expect(accepted.length).toBeGreaterThan(50))
  const before = [...accepted]
  const file = join(dirname(other), 'all.export')
  await answerOf(['database', 'export', file], env)
  const after = accepted.length
  isStopped = true
  await load
  await stop(service)
  expect(after).toBeGreaterThan(before.length) // the service went on meanwhile

  const restored = { ...env, TIDINGS_DATA: other }
  await mkdir(other)
  await copyFile(join(folder, 'secret'), join(other, 'secret'))
  await answerOf(['database', 'import', file], restored)
  const again = { ...(await startService(['serve'], restored)), demo: service.demo }
  for (const uuid of before) await untilDelivered(again, uuid)
  await untilDelivered(again, await post(again, 'After the restore'))
  await expectExact(restored)
  await stop(again)
})

describe.skipIf(!hasPostgres)("point in time (needs Debian's postgresql)", () => {
  let cluster: PostgresCluster | undefined
  afterAll(() => cluster?.stop())

  test('a restore has everything up to a moment and nothing after it', async () => {
    const archiving = await PostgresCluster.startArchiving()
    cluster = archiving.cluster
    const { a, b } = cluster
    const env = {
      TIDINGS_DATA: await aDataFolder(),
      TIDINGS_SECRET: SECRET,
      TIDINGS_DEMO: 'true',
      TIDINGS_LOG_LEVEL: 'fatal',
      DATABASE_URL: a.url(),
    }
    const service = await startService(['serve'], env)
    await b.backUp(a)

    const first = await post(service, 'First')
    await untilDelivered(service, first)
    await answerOf(['gateway', 'pause', '--gateway', 'simulator-sms'], env)
    const waiting = await post(service, 'Waiting')
    const moment = await a.ask(async sql => {
      const [row] = await sql<{ at: string }[]>`select clock_timestamp()::text as at`
      return row!.at
    })
    const second = await post(service, 'Second')
    await answerOf(['gateway', 'resume', '--gateway', 'simulator-sms'], env)
    for (const uuid of [waiting, second]) await untilDelivered(service, uuid)
    await stop(service)
    await a.ask(sql => sql`select pg_switch_wal()`)
    await a.stop()

    await b.restore(archiving.archive, moment)
    const restored = { ...env, DATABASE_URL: b.url() }
    const statuses = () =>
      b.ask(
        sql => sql`
          select message_uuid as uuid, status::text from messages
          where message_uuid = any(${[first, waiting, second]}::uuid[]) order by message_uuid`,
      )
    expect(await statuses()).toEqual([
      { uuid: first, status: 'DELIVERED' },
      { uuid: waiting, status: 'CREATED' },
    ])
    await expectExact(restored)

    // A dump of pg_dump is as exact.
    await b.dumpInto('dumped')
    await expectExact({ ...env, DATABASE_URL: b.url('dumped') })

    // An operator had the waiting message after the moment: it is sent a second time, and charged once.
    await answerOf(['gateway', 'resume', '--gateway', 'simulator-sms'], restored)
    const again = { ...(await startService(['serve'], restored)), demo: service.demo }
    await untilDelivered(again, waiting)
    expect(await statusOf(again, second)).toBeUndefined()
    const outbox = await b.ask(
      sql => sql`select message_uuid as uuid from simulator_outbox() where text in ('Waiting', 'Second')`,
    )
    expect(outbox).toEqual([{ uuid: waiting }])
    await expectExact(restored)
    await stop(again)
  })
})
