import { afterEach, expect, test, vi } from 'vitest'
import { type Host, nameOf, type Target } from '../base/database-address.ts'
import { eventually } from '../testing/eventually.ts'
import { ServerChoice, type ServerState } from './server-choice.ts'

type FakeServer = Partial<ServerState> & { fails?: string; hangs?: boolean }

const primary = { isStandby: false, isReadOnly: false, timeline: 1 }
const standby = { isStandby: true, isReadOnly: true, timeline: 0 }
const choices: ServerChoice[] = []
afterEach(() => {
  for (const choice of choices.splice(0)) choice.stop()
})

/** A choice between servers that a test changes while it runs. */
function choose(servers: Record<string, FakeServer>, target: Target = 'read-write') {
  const watch = {
    changes: 0,
    /** Of the last change. */
    openedBefore: 0,
    asked: 0,
    /** So many times more, each host. */
    untilAsked: (times: number) => {
      const wanted = watch.asked + times * Object.keys(servers).length
      return eventually(() => expect(watch.asked).toBeGreaterThan(wanted))
    },
  }
  const ask = async (host: Host): Promise<ServerState> => {
    watch.asked += 1
    const server = servers[host.host]!
    if (server.hangs) return new Promise(() => {})
    if (server.fails) throw Object.assign(new Error('refused'), { code: server.fails })
    return { startedAt: host.host, ...primary, ...server }
  }
  const choice = new ServerChoice({
    hosts: Object.keys(servers).map(host => ({ host, port: 5432 })),
    target,
    everyMs: 20,
    open: host => ({ ask: () => ask(host), close() {} }),
    onChange: openedBefore => {
      watch.changes += 1
      watch.openedBefore = openedBefore
    },
  })
  choices.push(choice)
  return { choice, watch }
}

const found = async (choice: ServerChoice) => nameOf(await choice.find())

test.each<[Target, string]>([
  ['read-write', 'c:5432'],
  ['primary', 'b:5432'],
  ['standby', 'a:5432'],
  ['prefer-standby', 'a:5432'],
])('%s takes %s', async (target, name) => {
  const servers = { a: standby, b: { ...primary, isReadOnly: true }, c: primary }
  const { choice } = choose(servers, target)
  expect(await found(choice)).toBe(name)
})

test('a host that is down and a host that does not answer do not stop the choice', async () => {
  const { choice } = choose({ a: { hangs: true }, b: { fails: 'ECONNREFUSED' }, c: primary })
  expect(await found(choice)).toBe('c:5432')
})

test('of two primaries the one of the newer timeline is taken, and the older one never again', async () => {
  const servers: Record<string, FakeServer> = { a: primary, b: { ...primary, timeline: 2 } }
  const { choice, watch } = choose(servers)
  expect(await found(choice)).toBe('b:5432')
  servers.b = { fails: 'ECONNREFUSED' }
  await watch.untilAsked(2)
  expect(choice.current?.host).toBe('b')
  servers.a = { ...primary, timeline: 3 }
  await eventually(() => expect(choice.current?.host).toBe('a'))
})

test('the chosen server is left when it becomes a standby and another one is the primary', async () => {
  const servers: Record<string, FakeServer> = { a: primary, b: standby }
  const { choice, watch } = choose(servers)
  expect(await found(choice)).toBe('a:5432')
  servers.a = standby
  servers.b = { ...primary, timeline: 2 }
  await eventually(() => expect(choice.current?.host).toBe('b'))
  expect(watch.changes).toBe(1)
})

test('a primary that was replaced is left although it still answers, or hangs', async () => {
  const servers: Record<string, FakeServer> = { a: primary, b: standby, c: standby }
  const { choice, watch } = choose(servers)
  await choice.find()
  servers.b = { ...primary, timeline: 2 }
  await eventually(() => expect(choice.current?.host).toBe('b'))
  servers.b = { hangs: true }
  servers.c = { ...primary, timeline: 3 }
  await eventually(() => expect(choice.current?.host).toBe('c'))
  expect(watch.changes).toBe(2)
})

test('among equals the chosen one stays', async () => {
  const servers: Record<string, FakeServer> = { a: { fails: 'ECONNREFUSED' }, b: standby, c: standby }
  const { choice, watch } = choose(servers, 'standby')
  expect(await found(choice)).toBe('b:5432')
  servers.a = standby
  await watch.untilAsked(2)
  expect(choice.current?.host).toBe('b')
  expect(watch.changes).toBe(0)
})

test('without a better server the former one stays, and its connections too', async () => {
  const servers: Record<string, FakeServer> = { a: primary, b: standby }
  const { choice, watch } = choose(servers)
  await choice.find()
  servers.a = { fails: '53300' } // no connection is left for the question
  await watch.untilAsked(2)
  expect(choice.current?.host).toBe('a')
  servers.a = primary
  await watch.untilAsked(2)
  expect(watch.changes).toBe(0)
})

test('a server that was started again ends its former connections, and keeps the new ones', async () => {
  const servers: Record<string, FakeServer> = { a: primary, b: standby }
  const { choice, watch } = choose(servers)
  await choice.find()
  const found = performance.now()
  await watch.untilAsked(2)
  servers.a = { fails: 'ECONNREFUSED' }
  await watch.untilAsked(2)
  const down = performance.now()
  servers.a = { ...primary, startedAt: 'later' }
  await eventually(() => expect(watch.changes).toBe(1))
  expect(choice.current?.host).toBe('a')
  expect(watch.openedBefore).toBeGreaterThan(found)
  expect(watch.openedBefore).toBeLessThan(down)
})

test('connections to a server that was replaced all end', async () => {
  const servers: Record<string, FakeServer> = { a: primary, b: standby }
  const { choice, watch } = choose(servers)
  await choice.find()
  servers.b = { ...primary, timeline: 2 }
  await eventually(() => expect(watch.openedBefore).toBe(Number.POSITIVE_INFINITY))
})

test('a single host is taken as soon as it answers, and a host that fails is not waited for', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'performance'] }) // no time passes
  try {
    expect(await found(choose({ a: primary }).choice)).toBe('a:5432')
    expect(await found(choose({ a: primary, b: { fails: 'ECONNREFUSED' } }).choice)).toBe('a:5432')
  } finally {
    vi.useRealTimers()
  }
})

test('without a server the error has the state of each host, and the code that all have', async () => {
  const mixed = choose({ a: standby, b: { fails: 'ECONNREFUSED' } })
  await expect(mixed.choice.find()).rejects.toMatchObject({
    code: 'ECONNREFUSED',
    message: 'no host is a primary that takes changes (a:5432: it is a standby; b:5432: refused)',
  })
  const wrongPassword = choose({ a: { fails: '28P01' }, b: { fails: '28P01' } })
  await expect(wrongPassword.choice.find()).rejects.toMatchObject({ code: '28P01' })
})
