import { pino } from 'pino'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { loadNumbering } from '../../domain/numbering/numbering.ts'
import { aPerson, CabinetBrowser, ofCompany } from '../../testing/cabinet.ts'
import { useDatabase } from '../../testing/database.ts'
import { aSingleMessage } from '../../testing/traffic.ts'
import { aWorld } from '../../testing/world.ts'
import { type App, buildApp } from '../app.ts'

const db = useDatabase()
let app: App
let owner: CabinetBrowser
let message: string
/** Reads that may go to the standby. */
let reads = 0

beforeAll(async () => {
  const numbering = await loadNumbering(db.sql)
  app = await buildApp({
    sql: db.sql,
    reading: {
      read: work => {
        reads += 1
        return work(db.sql)
      },
      upToDate: async () => db.sql,
      state: () => ({ isReplica: true, lagMs: 0 }),
    },
    clock: () => new Date(),
    numbering: () => numbering,
    log: pino({ level: 'silent' }),
    billingZone: 'Europe/Moscow',
    publicUrl: 'http://localhost:8080',
    trustedProxies: [],
    metrics: false,
    secret: 'a secret of the tests, 32 or longer',
  })
  const world = await aWorld(db.sql)
  message = await aSingleMessage(db.sql, numbering, world, { destination: '79162001078' })
  owner = new CabinetBrowser(() => app)
  await owner.signIn((await aPerson(db.sql, ofCompany(world.companyId), 'owner')).login)
})
afterAll(() => app?.close())

const readsOf = async (path: string) => {
  reads = 0
  expect((await owner.ask('GET', path)).status).toBe(200)
  return reads
}

test('a person finds a message that was just accepted, by its id or number, and sees changes in the overview', async () => {
  const paths = [`/messages?q=${message}`, '/messages?q=8%20916%20200-10-78', `/messages/${message}`, '/overview']
  for (const path of paths) expect([path, await readsOf(path)]).toEqual([path, 0])
})

test('searches that read many messages, and counts, may go to the standby', async () => {
  const paths = ['/messages', '/messages?q=order', '/messages/counts', '/messages/incoming?q=order']
  for (const path of paths) expect([path, await readsOf(path)]).toEqual([path, 1])
})
