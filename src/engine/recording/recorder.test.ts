import { setTimeout as pause } from 'node:timers/promises'
import { pino } from 'pino'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Pool } from '../../db/sql.ts'
import { loadNumbering, type Numbering } from '../../domain/numbering/numbering.ts'
import { matchReceipts } from '../../domain/receipts/receipts.ts'
import type { StatusReport } from '../../domain/receipts/status-report.ts'
import { useDatabase } from '../../testing/database.ts'
import { aGateway, fatesOf } from '../../testing/engines.ts'
import { eventually } from '../../testing/eventually.ts'
import { aNodeOf } from '../../testing/missing-node.ts'
import { aDispatch, aWorld, billingZone, someRecipients, start, type World } from '../../testing/world.ts'
import { PendingReports } from './pending-reports.ts'
import { Recorder } from './recorder.ts'
import { SetAside } from './set-aside.ts'

const db = useDatabase()
let numbering: Numbering
let world: World

beforeAll(async () => {
  numbering = await loadNumbering(db.sql)
})

beforeEach(async () => {
  world = await aWorld(db.sql)
})

type Line = { msg: string; [field: string]: unknown }

function aRecorder(sql: Pool = db.sql) {
  const lines: Line[] = []
  const log = pino({}, { write: line => void lines.push(JSON.parse(line)) })
  const recorder = new Recorder({ sql, clock: () => new Date(), billingZone, log })
  const note = (statusReport: StatusReport) => recorder.note(world.companyId, statusReport)
  const told = (msg: string) => lines.filter(line => line.msg === msg)
  return { recorder, note, told }
}

async function someMessages(count: number) {
  const dispatchId = await aDispatch(db.sql, numbering, world, someRecipients(count))
  await start(db.sql, world, dispatchId)
  const rows = await db.sql<
    { uuid: string }[]
  >`select message_uuid as uuid from messages where dispatch_id = ${dispatchId} order by 1`
  return { dispatchId, uuids: rows.map(({ uuid }) => uuid) }
}

const sent = (uuid: string): StatusReport => ({ uuid, sentAt: new Date() })

test('a status report that cannot be written is set aside, logged once without texts, and delays no other report', async () => {
  const { dispatchId, uuids } = await someMessages(20)
  const { recorder, note, told } = aRecorder()
  const bad: StatusReport = { uuid: 'nonsense', refused: { at: new Date(), errorCode: 601, operatorError: 'a word' } }
  const notes = [...uuids.slice(0, 13), bad, ...uuids.slice(13)].map(one =>
    note(typeof one === 'string' ? sent(one) : one),
  )
  const results = await Promise.allSettled(notes)

  expect(results.map(({ status }) => status)).toEqual(notes.map((_, i) => (i === 13 ? 'rejected' : 'fulfilled')))
  expect((results[13] as PromiseRejectedResult).reason).toBeInstanceOf(SetAside)
  expect(await fatesOf(db.sql, dispatchId)).toEqual({ SENT: 20 })
  const [line, ...more] = told('status_report.set_aside')
  expect(more).toEqual([])
  expect(line).toMatchObject({
    companyId: world.companyId,
    messageUuid: 'nonsense',
    learned: ['refused'],
    code: '22P02',
  })
  expect(JSON.stringify(line)).not.toContain('a word')

  await note({ uuid: uuids[0]!, final: { status: 'DELIVERED', at: new Date() } })
  expect(await fatesOf(db.sql, dispatchId)).toEqual({ SENT: 19, DELIVERED: 1 })
  await recorder.stop()
})

test.each(['CONNECTION_CLOSED', 'ECONNREFUSED', '40P01', '53100'])(
  'while the database cannot write (%s) no report is set aside, and all are written later',
  async code => {
    const { dispatchId, uuids } = await someMessages(2)
    let failures = 5
    const away = new Proxy(db.sql, {
      get(sql, name, receiver) {
        if (name !== 'begin' || failures === 0) return Reflect.get(sql, name, receiver)
        failures -= 1
        return () => Promise.reject(Object.assign(new Error('away'), { code }))
      },
    })
    const { recorder, note, told } = aRecorder(away)
    await Promise.all(uuids.map(uuid => note(sent(uuid))))
    expect(await fatesOf(db.sql, dispatchId)).toEqual({ SENT: 2 })
    expect(told('status_reports.not_recorded')).toHaveLength(5)
    expect(told('status_report.set_aside')).toEqual([])
    await recorder.stop()
  },
)

test('while one batch is committed, the next one is written, and a third one waits', async () => {
  const { dispatchId, uuids } = await someMessages(3)
  const [first, second, third] = uuids as [string, string, string]
  const answers = Promise.withResolvers<void>()
  const notes: Promise<void>[] = []
  let begun = 0
  // The answer to the first commit is slow. Another report comes before that commit.
  const slow = new Proxy(db.sql, {
    get(sql, name, receiver) {
      if (name !== 'begin' || ++begun > 1) return Reflect.get(sql, name, receiver)
      return async (work: Parameters<Pool['begin']>[1]) => {
        notes.push(note(sent(second)))
        await sql.begin(work as never)
        await answers.promise
      }
    },
  })
  const { recorder, note } = aRecorder(slow)
  notes.push(note(sent(first)))
  await eventually(async () => expect(await fatesOf(db.sql, dispatchId)).toMatchObject({ SENT: 2 }))
  notes.push(note(sent(third)))
  await expect(Promise.race([...notes.slice(0, 1), pause(100, 'unanswered')])).resolves.toBe('unanswered')
  expect(begun).toBe(2)
  answers.resolve()
  await Promise.all(notes)
  expect(await fatesOf(db.sql, dispatchId)).toEqual({ SENT: 3 })
  await recorder.stop()
})

test('a message that waits for its receipt has a place in the submission window, and is not counted as unrecorded', async () => {
  const { dispatchId, uuids } = await someMessages(16)
  const { recorder } = aRecorder(db.sql)
  const reservation = await recorder.window.reserve(16)
  const pending = new PendingReports()
  for (const uuid of uuids) {
    recorder.window.enter(reservation)
    const statusReport = { ...sent(uuid), ids: { gatewayId: 1, providerIds: [uuid] } }
    recorder.noteFor(pending, world.companyId, statusReport, { places: 1, mayWait: true })
  }
  expect(recorder.unrecorded).toBe(15) // one of 16 waits, to learn how prompt the receipts are
  await eventually(() => expect(recorder.window.open).toBe(1))
  expect(recorder.unrecorded).toBe(0)
  await recorder.stop()
  expect(await fatesOf(db.sql, dispatchId)).toEqual({ SENT: 16 })
})

describe('while the node of a company is away', () => {
  test('reports that come again are refused at once, and all reports are written when the node is back', async () => {
    const { dispatchId, uuids } = await someMessages(3)
    const [unique, found, late] = uuids as [string, string, string]
    const node = aNodeOf(db.sql)
    const { recorder, note, told } = aRecorder(node.sql)
    const noteSoon = (uuid: string) => recorder.noteSoon(world.companyId, sent(uuid))
    node.isAway = true
    const waiting = note(sent(unique))
    await expect(noteSoon(found)).rejects.toMatchObject({ code: '08006' })
    await expect(noteSoon(late)).rejects.toMatchObject({ code: '08006' })
    expect(told('status_reports.not_recorded').length).toBeGreaterThan(0)
    expect(await fatesOf(db.sql, dispatchId)).toEqual({ CREATED: 3 })

    node.isAway = false
    await waiting
    await noteSoon(found)
    await recorder.stop()
    expect(await fatesOf(db.sql, dispatchId)).toEqual({ SENT: 3 })
  })

  test('a report that comes again is refused, also when it joins the result of a submission', async () => {
    const { dispatchId, uuids } = await someMessages(1)
    const [uuid] = uuids as [string]
    const node = aNodeOf(db.sql)
    const { recorder, note } = aRecorder(node.sql)
    node.isAway = true
    const submitted = note(sent(uuid))
    const final = { status: 'DELIVERED' as const, at: new Date() }
    await expect(recorder.noteSoon(world.companyId, { uuid, final })).rejects.toMatchObject({ code: '08006' })
    node.isAway = false
    await submitted
    await recorder.stop()
    expect(await fatesOf(db.sql, dispatchId)).toEqual({ DELIVERED: 1 })
  })

  test('its messages hold no places of the submission window', async () => {
    const { uuids } = await someMessages(2)
    const [first, second] = uuids as [string, string]
    const node = aNodeOf(db.sql)
    const { recorder } = aRecorder(node.sql)
    const submit = async (uuid: string) => {
      recorder.window.enter(await recorder.window.reserve(1))
      const pending = new PendingReports()
      recorder.noteFor(pending, world.companyId, sent(uuid), { places: 1 })
      return pending.recorded()
    }
    node.isAway = true
    const notes = [submit(first)]
    await eventually(() => expect(recorder.window.open).toBe(0))
    notes.push(submit(second))
    await eventually(() => expect(recorder.window.open).toBe(0))
    node.isAway = false
    await Promise.all(notes)
    expect(recorder.window.open).toBe(0)
    await recorder.stop()
  })
})

test('a report that is set aside causes no unhandled rejection when no caller waits for it', async () => {
  const { recorder, note, told } = aRecorder()
  void note(sent('nonsense'))
  await recorder.stop()
  expect(told('status_report.set_aside')).toHaveLength(1)
})

test('a NUL character or an endless id from a channel is not written, and everything else is', async () => {
  const { gatewayId } = await aGateway(db.sql)
  const { dispatchId, uuids } = await someMessages(3)
  const [controls, endless, failed] = uuids as [string, string, string]
  const { recorder, note, told } = aRecorder()
  const operatorError = `\u{1f600}err\0or${'!'.repeat(300)}`
  await Promise.all([
    note({ ...sent(controls), ids: { gatewayId, providerIds: ['12\u00003', 'ok'] } }),
    note({ ...sent(endless), ids: { gatewayId, providerIds: ['7'.repeat(60_000)] } }),
    note({ ...sent(failed), final: { status: 'FAILED', at: new Date(), errorCode: 601, operatorError } }),
  ])
  expect(told('status_reports.not_recorded')).toEqual([])
  expect(await fatesOf(db.sql, dispatchId)).toEqual({ SENT: 2, 'FAILED 601': 1 })
  expect(
    await db.sql`select message_uuid as uuid, provider_id as id from submissions where company_id = ${world.companyId} order by 2`,
  ).toEqual([
    { uuid: controls, id: '123' },
    { uuid: controls, id: 'ok' },
  ])
  const [row] = await db.sql<
    { word: string }[]
  >`select operator_error as word from messages where message_uuid = ${failed}`
  expect(row!.word).toMatch(/^\u{1f600}err or!+$/u)
  expect(row!.word.length).toBeLessThanOrEqual(200)
  await recorder.stop()
})

test('receipts with such ids are matched or left out, and do not delay the other receipts', async () => {
  const { gatewayId } = await aGateway(db.sql, { name: 'another' })
  const { uuids } = await someMessages(2)
  const { recorder, note } = aRecorder()
  await Promise.all(
    uuids.map((uuid, i) => note({ ...sent(uuid), ids: { gatewayId, providerIds: [i === 0 ? '77' : '78', ''] } })),
  )
  const receipt = (providerId: string) => ({
    providerId,
    status: 'FAILED' as const,
    errorCode: 601,
    happenedAt: new Date(),
  })
  const { matched, unmatched } = await matchReceipts(
    db.sql,
    gatewayId,
    ['7\u00007', '', '\0', '7'.repeat(201), '78', 'unknown'].map(receipt),
  )
  expect(matched.map(({ statusReport }) => statusReport.uuid).sort()).toEqual(uuids.toSorted())
  expect(unmatched.map(({ providerId }) => providerId)).toEqual(['unknown'])
  await recorder.stop()
})
