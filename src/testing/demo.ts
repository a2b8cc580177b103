import { pino } from 'pino'
import { afterAll, beforeAll } from 'vitest'
import { makeDemo } from '../commands/service/demo.ts'
import { loadNumbering } from '../domain/numbering/numbering.ts'
import { type App, buildApp } from '../http/app.ts'
import { type TestDatabase, useDatabase } from './database.ts'
import { secret } from './verification.ts'

export type TestDemo = TestDatabase & {
  /** The app in demo mode, and the app without it. */
  app: App
  plainApp: App
  companyId: number
}

/** All HTTP APIs on a database with the demo data. The test creates the widget. */
export function useDemo(publicUrl: string): TestDemo {
  const demo = useDatabase() as TestDemo

  beforeAll(async () => {
    const numbering = await loadNumbering(demo.sql)
    const context = {
      sql: demo.sql,
      clock: () => new Date(),
      numbering: () => numbering,
      log: pino({ level: 'silent' }),
      billingZone: 'Europe/Moscow',
      publicUrl,
      trustedProxies: [],
      metrics: false,
      secret,
    }
    demo.app = await buildApp({ ...context, demo: true })
    demo.plainApp = await buildApp(context)
    demo.companyId = (await makeDemo(demo.sql, 'a password of the demo', new Date())).companyId!
  })

  afterAll(() => Promise.all([demo.app?.close(), demo.plainApp?.close()]))

  return demo
}
