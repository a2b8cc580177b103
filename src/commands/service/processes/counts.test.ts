import { describe, expect, test } from 'vitest'
import { connectionsForCodes, connectionsOf, countByCores, fittingCounts, inWords, wantedCounts } from './counts.ts'

const own = { databaseUrl: 'postgres://db.example.com/tidings', databaseConnections: 10 }
const embedded = { databaseUrl: undefined, databaseConnections: 10 }
const none = { api: undefined, engines: undefined }

describe('the wanted numbers', () => {
  test('an option comes before its setting', () => {
    expect(wantedCounts({ api: '3' }, { apiProcesses: 2, engines: 5 })).toEqual({ api: 3, engines: 5 })
    expect(wantedCounts({}, { apiProcesses: undefined, engines: undefined })).toEqual(none)
  })

  test.each([
    ['api', '0', /--api must be a whole number above zero, not "0"/],
    ['engines', 'two', /--engines must be a whole number above zero, not "two"/],
    ['engines', '1.5', /--engines must be a whole number above zero/],
    ['api', '65', /--api must be at most 64, not "65"/],
  ])('--%s %s is refused in one sentence', (name, value, sentence) => {
    expect(() => wantedCounts({ [name]: value }, { apiProcesses: undefined, engines: undefined })).toThrow(sentence)
  })
})

test('one process of each kind for every four cores, from one to four', () => {
  const cores = [1, 2, 4, 7, 8, 12, 16, 64]
  expect(cores.map(count => countByCores(count))).toEqual([1, 1, 1, 1, 2, 3, 4, 4])
})

describe('the connections of the database', () => {
  test('the codes thread has a third of the connections of an engine, at most three', () => {
    expect([1, 2, 3, 8, 10, 50].map(connectionsForCodes)).toEqual([0, 0, 1, 2, 3, 3])
  })

  test('each process has a pool, each thread of an engine one connection more, and the embedded server one for each, and the codes thread two for recording', () => {
    expect(connectionsOf({ api: 1, engines: 1 }, own)).toBe(10 + 14)
    expect(connectionsOf({ api: 2, engines: 2 }, own)).toBe(2 + 20 + 28)
    expect(connectionsOf({ api: 2, engines: 2 }, embedded)).toBe(3 + 22 + 32)
  })

  test('each address whose hosts are watched has one connection more for each thread', () => {
    const several = { databaseUrl: 'postgres://a,b/tidings', databaseConnections: 10 }
    const both = { api: 2, engines: 2 }
    expect(connectionsOf(both, several)).toBe(3 + 22 + 32)
    expect(connectionsOf(both, { ...own, databaseUrl: `${own.databaseUrl}?target_session_attrs=read-write` })).toBe(57)
    expect(connectionsOf(both, { ...several, readUrl: 'postgres://a,b/tidings' })).toBe(3 + 24 + 32)
    expect(connectionsOf(both, { ...several, readUrl: 'postgres://c/tidings' })).toBe(3 + 22 + 32)
    expect(connectionsOf(both, { ...own, listenUrl: 'postgres://a,b/tidings' })).toBe(2 + 20 + 32)
    expect(connectionsOf({ api: 1, engines: 1 }, { ...own, databaseConnections: 2 })).toBe(2 + 3) // without a codes thread
    expect(fittingCounts(none, several, 45, 2)).toEqual({ api: 1, engines: 1 })
  })

  test('numbers that the machine chose become smaller until they fit', () => {
    expect(fittingCounts(none, own, 98, 4)).toEqual({ api: 4, engines: 4 })
    expect(fittingCounts(none, own, 60, 4)).toEqual({ api: 2, engines: 2 })
    expect(fittingCounts({ api: undefined, engines: 3 }, own, 64, 4)).toEqual({ api: 2, engines: 3 })
  })

  test('one of each starts also where the server allows few', () => {
    expect(fittingCounts(none, own, 15, 4)).toEqual({ api: 1, engines: 1 })
  })

  test('numbers that the operator chose are refused if they do not fit', () => {
    expect(fittingCounts({ api: 4, engines: 4 }, own, 98, 1)).toEqual({ api: 4, engines: 4 })
    expect(() => fittingCounts({ api: 5, engines: 4 }, own, 95, 1)).toThrow(
      '5 HTTP processes and 4 engines may open 108 connections to the database, which allows 95: run fewer, lower TIDINGS_DATABASE_CONNECTIONS (10), or raise max_connections of the server.',
    )
  })
})

test('the counts in words', () => {
  expect(inWords({ api: 1, engines: 1 })).toBe('1 HTTP process and 1 engine')
  expect(inWords({ api: 2, engines: 3 })).toBe('2 HTTP processes and 3 engines')
})
