import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Pool } from '../../db/sql.ts'
import { useDatabase } from '../../testing/database.ts'
import { eventually } from '../../testing/eventually.ts'
import { aMessageRequest } from '../../testing/message-requests.ts'
import { testOnOneServer } from '../../testing/one-server.ts'
import { aWorld, billingZone, type World } from '../../testing/world.ts'
import { verifyLedger } from '../audit/verify.ts'
import { loadNumbering, type Numbering } from '../numbering/numbering.ts'
import { verifyTraffic } from '../statistics/verify.ts'
import { approveTemplate, denyTemplate } from '../templates/moderation.ts'
import { createTemplate } from '../templates/templates.ts'
import { Intake } from './intake.ts'

/** Requests that are written together do not affect each other. */

const db = useDatabase()
let numbering: Numbering
let world: World

beforeAll(async () => {
  numbering = await loadNumbering(db.sql)
})

beforeEach(async () => {
  world = await aWorld(db.sql)
})

const anIntake = (sql: Pool = db.sql) =>
  new Intake({
    sql,
    clock: () => new Date(),
    numbering: () => numbering,
    billingZone,
    linkBase: 'http://localhost/s',
  })

const kept = () => db.sql`
  select text, xmin::text as transaction from messages where company_id = ${world.companyId} order by text`

describe('concurrent requests', () => {
  test('are written in one transaction, and each gets the results of its own messages', async () => {
    const intake = anIntake()
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        intake.accept(world.companyId, [
          aMessageRequest({ text: `${i}` }),
          aMessageRequest({ destination: 'no number' }),
        ]),
      ),
    )
    for (const answer of answers)
      expect(answer).toMatchObject([{ kind: 'accepted' }, { kind: 'refused', errorCode: 7401 }])
    const rows = await kept()
    expect(rows).toHaveLength(20)
    expect(new Set(rows.map(({ transaction }) => transaction)).size).toBe(1)
  })

  test('do not wait for a group before them that takes long to draft', async () => {
    const { promise: drafted, resolve: letDraft } = Promise.withResolvers<void>()
    const intake = anIntake(slowAtFirst(drafted))
    const slow = intake.accept(world.companyId, [aMessageRequest({ text: 'slow' })])
    await new Promise(resolve => setImmediate(resolve)) // its group is closed
    const [quick] = await intake.accept(world.companyId, [aMessageRequest({ text: 'quick' })])
    expect(quick).toMatchObject({ kind: 'accepted' })
    expect((await kept()).map(({ text }) => text)).toEqual(['quick'])
    letDraft()
    expect(await slow).toMatchObject([{ kind: 'accepted' }])
  })

  /** A pool whose first statement about senders ends when the promise is resolved. */
  function slowAtFirst(kept: Promise<void>): Pool {
    let isFirst = true
    return new Proxy(db.sql, {
      apply(target, self, args: [string[]]) {
        const query = Reflect.apply(target, self, args)
        if (!isFirst || !/s\.sender_name = any/.test(String(args[0]))) return query
        isFirst = false
        return kept.then(() => query)
      },
    })
  }

  testOnOneServer('are written, except the request that the database refuses', async () => {
    await db.sql.unsafe(`
      create function refuse_poison() returns trigger language plpgsql as $$
      begin
        if new.text = 'poison' then raise exception 'this row cannot be kept'; end if;
        return new;
      end $$;
      create trigger refuse_poison before insert on messages for each row execute function refuse_poison()`)
    try {
      const intake = anIntake()
      const texts = ['a', 'b', 'poison', 'c', 'd']
      const answers = await Promise.allSettled(
        texts.map(text => intake.accept(world.companyId, [aMessageRequest({ text })])),
      )
      expect(answers.map(({ status }) => status)).toEqual([
        'fulfilled',
        'fulfilled',
        'rejected',
        'fulfilled',
        'fulfilled',
      ])
      expect((await kept()).map(({ text }) => text)).toEqual(['a', 'b', 'c', 'd'])
      expect(await verifyLedger(db.sql, { companyId: world.companyId })).toEqual([])
      expect(await verifyTraffic(db.sql, { companyId: world.companyId })).toEqual([])
      expect(await intake.accept(world.companyId, [aMessageRequest({ text: 'e' })])).toMatchObject([
        { kind: 'accepted' },
      ])
    } finally {
      await db.sql.unsafe('drop trigger refuse_poison on messages; drop function refuse_poison')
    }
  })

  test('are written, except the request that has no price', async () => {
    const prices = await db.sql`delete from channel_prices where channel_type = 'WEASY' returning *`
    expect(prices.length).toBeGreaterThan(0)
    const intake = anIntake()
    const [one, other, third] = await Promise.allSettled([
      intake.accept(world.companyId, [aMessageRequest()]),
      intake.accept(world.companyId, [aMessageRequest({ channelType: 'WEASY', senderName: 'x' })]),
      intake.accept(world.companyId, [aMessageRequest()]),
    ])
    expect([one!.status, other!.status, third!.status]).toEqual(['fulfilled', 'rejected', 'fulfilled'])
    expect(await kept()).toHaveLength(2)
  })

  test('whose connection is lost at the commit are not written a second time', async () => {
    // The commit arrives and its response does not. The process cannot know which of the two was lost.
    let begun = 0
    const losing = new Proxy(db.sql, {
      get(target, name) {
        if (name !== 'begin') return Reflect.get(target, name)
        return async (work: Parameters<Pool['begin']>[1]) => {
          begun += 1
          await target.begin(work as never)
          throw Object.assign(new Error('write CONNECTION_CLOSED'), { code: 'CONNECTION_CLOSED' })
        }
      },
    }) as Pool
    const intake = anIntake(losing)
    const answers = await Promise.allSettled([
      intake.accept(world.companyId, [aMessageRequest({ text: 'a' })]),
      intake.accept(world.companyId, [aMessageRequest({ text: 'b' })]),
    ])
    expect(answers.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    expect((await kept()).map(({ text }) => text)).toEqual(['a', 'b'])
    expect(begun).toBe(1)
  })

  test('for a company that does not exist are refused, and the next request is accepted', async () => {
    const intake = anIntake()
    await expect(intake.accept(999_999_999, [aMessageRequest()])).rejects.toThrow('not found')
    expect(await intake.accept(world.companyId, [aMessageRequest()])).toMatchObject([{ kind: 'accepted' }])
  })
})

const template = {
  channelType: 'SMS',
  trafficType: 'TRANSACT',
  pattern: 'Order %d is here',
  senderId: null,
  content: null,
  validFrom: new Date('2026-01-01T00:00:00Z'),
  validTo: null,
} as const

const aDraft = (companyId: number) => db.sql.begin(tx => createTemplate(tx, companyId, template, new Date()))

describe('a template that is approved while a message is being accepted', () => {
  /** Runs the work at the beginning of every transaction, when the message is already drafted. */
  const interrupted = (work: (time: number) => Promise<unknown>) => {
    let begun = 0
    return new Proxy(db.sql, {
      get(target, name) {
        if (name !== 'begin') return Reflect.get(target, name)
        return async (accept: Parameters<Pool['begin']>[1]) => {
          await work(++begun)
          return target.begin(accept as never)
        }
      },
    }) as Pool
  }

  const typesOf = () => db.sql`
    select traffic_type as type, template_id as template from messages where company_id = ${world.companyId}`

  test('is applied to the message', async () => {
    const { companyId } = world
    const { templateId } = await aDraft(companyId)
    const intake = anIntake(
      interrupted(async time => time === 1 && (await approveTemplate(db.sql, templateId, new Date()))),
    )
    const request = aMessageRequest({ text: 'Order 17 is here' })
    expect(await intake.accept(companyId, [request])).toMatchObject([{ kind: 'accepted' }])
    expect(await typesOf()).toEqual([{ type: 'TRANSACT', template: templateId }])
    expect(await verifyLedger(db.sql, { companyId })).toEqual([])
    expect(await verifyTraffic(db.sql, { companyId })).toEqual([])
  })

  test('and is approved and denied again and again makes the client retry, and writes nothing', async () => {
    const { companyId } = world
    const intake = anIntake(
      interrupted(async () => {
        const { templateId } = await aDraft(companyId)
        await approveTemplate(db.sql, templateId, new Date())
        await denyTemplate(db.sql, templateId, undefined, new Date())
      }),
    )
    await expect(intake.accept(companyId, [aMessageRequest()])).rejects.toMatchObject({ kind: 'not_ready' })
    expect(await typesOf()).toEqual([])
  })
})

test('a request whose texts take too long to match is refused as a whole, and concurrent requests are accepted', async () => {
  const { companyId } = world
  // Older versions could store such patterns, because they had no limit.
  const patterns = Array.from({ length: 8 }, (_, i) => `%w{1,${100 - i}}${' a %w{1,100}'.repeat(49)} ${i}`)
  await db.sql`
    insert into templates (company_id, template_id, channel_type, traffic_type, pattern, valid_from, status)
    select ${companyId}, 2000000 + n, 'SMS', 'TRANSACT', pattern, now(), 'APPROVED'
    from unnest(${[...patterns, 'Order %d is here']}::text[]) with ordinality q (pattern, n)`
  await approveTemplate(db.sql, (await aDraft(companyId)).templateId, new Date()) // a new version
  const intake = anIntake()
  const hostile = Array.from({ length: 20 }, (_, i) => aMessageRequest({ text: `${'a b '.repeat(1000)}${i}` }))
  const [refused, accepted] = await Promise.allSettled([
    intake.accept(companyId, [aMessageRequest({ text: 'Hello' }), ...hostile]),
    intake.accept(companyId, [aMessageRequest({ text: 'Order 17 is here' })]),
  ])
  expect(refused).toMatchObject({ status: 'rejected', reason: { kind: 'invalid' } })
  expect(accepted).toMatchObject({ status: 'fulfilled', value: [{ kind: 'accepted' }] })
  const kept = await db.sql`select text, traffic_type as type from messages where company_id = ${companyId}`
  expect(kept).toEqual([{ text: 'Order 17 is here', type: 'TRANSACT' }])
})

test('requests are refused while too many bytes wait, including bytes of later steps, and accepted again afterwards', async () => {
  const intake = anIntake()
  const long = aMessageRequest({ destination: 'no number', text: 'я'.repeat(4096) })
  const filling = Array.from({ length: 8192 }, () => long)
  const waiting = intake.accept(world.companyId, filling)
  const plan = Array.from({ length: 2 }, () => ({ request: long, condition: 'not_read' as const, ttlSeconds: 60 }))
  for (const more of [aMessageRequest(), { ...aMessageRequest({ text: '' }), cascade: { step: 1 as const, plan } }])
    expect(() => intake.accept(world.companyId, [more])).toThrow('try again in a moment')
  expect(() =>
    intake.accept(world.companyId, [aMessageRequest()], { owner: 'a', key: 'b', request: Buffer.from('') }),
  ).toThrow()
  expect(await waiting).toHaveLength(8192)
  await eventually(async () => expect(await intake.accept(world.companyId, [aMessageRequest()])).toHaveLength(1))
})

test('requests are refused while too many messages wait, and accepted again afterwards', async () => {
  const intake = anIntake()
  const many = Array.from({ length: 50_001 }, () => aMessageRequest({ destination: 'no number' }))
  expect(() => intake.accept(world.companyId, many)).toThrow('try again in a moment')
  expect(await intake.accept(world.companyId, many.slice(1))).toHaveLength(50_000)
  await eventually(async () => expect(await intake.accept(world.companyId, many.slice(1))).toHaveLength(50_000))
})
