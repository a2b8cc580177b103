import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openEmbeddedServer } from '../src/db/embedded.ts'
import { migrate } from '../src/db/migrate.ts'
import { connect, type Pool } from '../src/db/sql.ts'
import { createCompany } from '../src/domain/companies/companies.ts'
import { type Brand, brandIds } from '../src/domain/numbering/brand.ts'
import { createPartner, logIn } from '../src/domain/partners/partners.ts'
import { createSender } from '../src/domain/senders/senders.ts'
import { type Child, startChild } from './child.ts'

/** What a bench plays on: a fresh database with every commit on disk, and a partner with a name at each operator. */
export type Stage = {
  sql: Pool
  partnerId: number
  companyId: number
  senderIds: number[]
  token: string
  startService(): Promise<Child>
  startBare(): Promise<Child>
}

/** Sets the stage for one bench, and clears it whatever happens: children, server and folder are gone afterwards. */
export async function onStage<T>(play: (stage: Stage) => Promise<T>): Promise<T> {
  const cleanups: (() => Promise<unknown>)[] = []
  let cleared: Promise<void> | undefined
  const clear = () => (cleared ??= clearAll(cleanups))
  const leave = () => void clear().finally(() => process.exit(130))
  process.once('SIGINT', leave).once('SIGTERM', leave)
  try {
    return await play(await setStage(cleanups))
  } finally {
    process.off('SIGINT', leave).off('SIGTERM', leave)
    await clear()
  }
}

async function clearAll(cleanups: (() => Promise<unknown>)[]) {
  for (const cleanup of cleanups.reverse()) await cleanup().catch(error => console.error(error))
}

async function setStage(cleanups: (() => Promise<unknown>)[]): Promise<Stage> {
  const dataDir = await mkdtemp(join(tmpdir(), 'tidings-bench-'))
  cleanups.push(() => rm(dataDir, { recursive: true, force: true }))
  const server = await openEmbeddedServer({ dataDir })
  cleanups.push(() => server.release())
  const sql = connect(server.url, { name: 'tidings bench' })
  cleanups.push(() => sql.end({ timeout: 0 }))
  await migrate(sql)

  const { partnerId, token } = await aPartner(sql)
  const { companyId } = await aCompany(sql, partnerId)
  const senderIds = await senderAtEachOperator(sql, companyId)
  const start = async (file: string) => {
    const child = await startChild(file, { DATABASE_URL: server.url, PARTNER_ID: String(partnerId) })
    cleanups.push(child.stop)
    return child
  }
  return {
    sql,
    partnerId,
    companyId,
    senderIds,
    token,
    startService: () => start('service.ts'),
    startBare: () => start('bare.ts'),
  }
}

async function aPartner(sql: Pool) {
  const [login, password] = ['bench', 'bench password']
  const { partnerId } = await createPartner(sql, login, password)
  return { partnerId, ...(await logIn(sql, { login, password, address: '192.0.2.1' }, new Date())) }
}

function aCompany(sql: Pool, partnerId: number) {
  return createCompany(
    sql,
    { partnerId, login: 'bench', currency: 'RUB' },
    { name: 'Ромашка', counteragentType: 'LEGAL', counteragentInn: '7700000001', budget: null },
  )
}

function senderAtEachOperator(sql: Pool, companyId: number): Promise<number[]> {
  const senders = (Object.keys(brandIds) as Brand[]).map(async brand => {
    const sender = await sql.begin(tx =>
      createSender(tx, companyId, {
        senderName: 'ROMASHKA',
        channelType: 'SMS',
        commonType: 'COMMON',
        brand,
        countryCode: 'RU',
        dateFrom: new Date('2026-01-01T00:00:00Z'),
        description: undefined,
        documentIds: [],
      }),
    )
    return sender.senderId
  })
  return Promise.all(senders)
}
