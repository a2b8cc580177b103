import type { PassThrough } from 'node:stream'
import { pino } from 'pino'
import { beforeAll, describe, expect, test } from 'vitest'
import { connect } from '../../../db/sql.ts'
import { loadNumbering, type Numbering } from '../../../domain/numbering/numbering.ts'
import { deactivatePerson, requirePerson } from '../../../domain/people/people.ts'
import { hashSession } from '../../../domain/people/sign-in.ts'
import { useApp } from '../../../testing/api.ts'
import { aPerson, CabinetBrowser, ofCompany } from '../../../testing/cabinet.ts'
import { eventually } from '../../../testing/eventually.ts'
import { aDispatch, aWorld, someRecipients, start, type World } from '../../../testing/world.ts'
import { LiveDispatches } from './live.ts'

const { api } = useApp('/docs/partner.json')
const log = pino({ level: 'silent' })
let numbering: Numbering
let world: World

beforeAll(async () => {
  numbering = await loadNumbering(api.sql)
  world = await aWorld(api.sql)
})

async function signedIn(role = 'viewer') {
  const browser = new CabinetBrowser(() => api.app)
  const { personId, login } = await aPerson(api.sql, ofCompany(world.companyId), role)
  await browser.signIn(login)
  const sessionHash = hashSession(decodeURIComponent(browser.cookie!.split('=')[1]!))
  return { browser, personId, sessionHash }
}

const made = () => aDispatch(api.sql, numbering, world, someRecipients(4))

/** The events that a stream has sent so far. */
function heard(stream: PassThrough) {
  const pieces: string[] = []
  stream.on('data', piece => pieces.push(String(piece)))
  return () => pieces.join('')
}

/**
 * Waits for two rounds of events: a viewer of another process gets two events, so that more than a second has passed.
 */
async function aTurnOfAnother(viewer: Parameters<LiveDispatches['open']>[0], dispatchId: number) {
  const stream = new LiveDispatches(api.sql, () => new Date(), log).open(viewer, [dispatchId])
  const text = heard(stream)
  await eventually(() => expect(text()).toContain('CREATED'))
  await start(api.sql, world, dispatchId)
  await eventually(() => expect(text()).toContain('STARTED'))
  stream.destroy()
}

describe('live dispatches', () => {
  test('a viewer gets the current state first, and then only changes', async () => {
    const dispatchId = await made()
    const live = new LiveDispatches(api.sql, () => new Date(), log)
    const stream = live.open(await signedIn(), [dispatchId])
    const text = heard(stream)
    await eventually(() => expect(text()).toContain(`"dispatchId":${dispatchId}`))
    await start(api.sql, world, dispatchId)
    await eventually(() => expect(text()).toContain('"status":"STARTED"'))
    expect(text().match(/data:/g)).toHaveLength(2)
    stream.destroy()
  })

  test('the stream ends when the session ends, and when the person is deactivated', async () => {
    const dispatchId = await made()
    const live = new LiveDispatches(api.sql, () => new Date(), log)
    const [leaves, isOut] = [await signedIn(), await signedIn()]
    const streams = [leaves, isOut].map(viewer => live.open(viewer, [dispatchId]))
    const texts = streams.map(heard)
    await leaves.browser.ask('DELETE', '/session')
    await api.sql.begin(async tx =>
      deactivatePerson(tx, await requirePerson(tx, ofCompany(world.companyId), isOut.personId)),
    )
    await eventually(() => expect(streams.map(({ destroyed }) => destroyed)).toEqual([true, true]))
    for (const text of texts) expect(text()).toContain('event: over')
  })

  /** Companies of the dispatches, counters, sessions, and disabled companies. */
  const MOST_QUERIES = 4

  test('a thousand viewers cause a few queries a second, and no query after they have left', async () => {
    const ids = [await made(), await made()]
    const viewer = await signedIn()
    const pool = connect(api.url, { max: 1 })
    await pool`select 1`
    const asked: { text: string; at: number }[] = []
    const debug = (_: number, text: string) => void asked.push({ text, at: performance.now() })
    Object.assign(pool.options, { debug })
    const live = new LiveDispatches(pool, () => new Date(), log)
    const streams = Array.from({ length: 1000 }, (_, i) => live.open({ ...viewer, personId: i }, [ids[i % 2]!]))
    const texts = streams.map(heard)
    const begun = performance.now() // the first turn has not begun
    await eventually(() => expect(texts.every(text => text().includes('data:'))).toBe(true))
    await start(api.sql, world, ids[0]!)
    await eventually(() => expect(texts.filter(text => text().includes('STARTED'))).toHaveLength(500))
    const turns = asked.filter(({ text }) => text.includes('from dispatch_ids')) // the first query of each turn
    expect(turns.length).toBeGreaterThan(1)
    // A timer may fire a little early.
    for (const [i, { at }] of turns.entries()) expect(at - begun).toBeGreaterThanOrEqual(i * 990)
    expect(asked.length).toBeLessThanOrEqual(MOST_QUERIES * turns.length)

    for (const stream of streams) stream.destroy()
    const before = asked.length
    await aTurnOfAnother(viewer, ids[1]!)
    expect(asked.length - before).toBeLessThanOrEqual(MOST_QUERIES) // a turn may have been running
    await pool.end()
  })

  test('a person has at most ten live pages, and can open another after closing one', async () => {
    const live = new LiveDispatches(api.sql, () => new Date(), log)
    const viewer = await signedIn()
    const dispatchId = await made()
    const streams = Array.from({ length: 10 }, () => live.open(viewer, [dispatchId]))
    expect(() => live.open(viewer, [dispatchId])).toThrow(expect.objectContaining({ kind: 'too_many_requests' }))
    streams[0]!.destroy()
    await eventually(() => streams.push(live.open(viewer, [dispatchId])))
    for (const stream of streams) stream.destroy()
  })

  test('a process has at most two thousand live pages', async () => {
    const live = new LiveDispatches(api.sql, () => new Date(), log)
    const { sessionHash } = await signedIn()
    const streams = Array.from({ length: 2000 }, (_, personId) => live.open({ personId, sessionHash }, [1]))
    expect(() => live.open({ personId: -1, sessionHash }, [1])).toThrow(expect.objectContaining({ kind: 'not_ready' }))
    for (const stream of streams) stream.destroy()
  })

  test('the stream of a reader that reads nothing is closed', async () => {
    const dispatchId = await made()
    const live = new LiveDispatches(api.sql, () => new Date(), log)
    const stream = live.open(await signedIn(), [dispatchId])
    stream.write('x'.repeat(300 * 1024))
    await eventually(() => expect(stream.destroyed).toBe(true))
  })
})

describe('the route', () => {
  test('does not find dispatches of another company, and says which mistake a list has', async () => {
    const foreign = await aDispatch(api.sql, numbering, await aWorld(api.sql), someRecipients(1))
    const { browser } = await signedIn('owner')
    const status = async (list: string) => (await browser.ask('GET', `/live?dispatches=${list}`)).status
    expect(await status(`${await made()},${foreign}`)).toBe(404)
    expect(await status('1,x')).toBe(400)
    expect(await status(Array.from({ length: 51 }, (_, i) => i + 1).join())).toBe(400)
    expect((await new CabinetBrowser(() => api.app).ask('GET', `/live?dispatches=${foreign}`)).status).toBe(401)
  })

  test('streams until the session ends', async () => {
    const dispatchId = await made()
    const { browser } = await signedIn()
    const whole = api.app.inject({
      url: `/cabinet/api/live?dispatches=${dispatchId}`,
      headers: { host: 'localhost:8080', cookie: browser.cookie! },
    })
    await browser.ask('DELETE', '/session')
    const { body, headers } = await whole
    expect(headers['content-type']).toContain('text/event-stream')
    expect(body).toContain('event: over')
  })
})
