import { describe, expect, test } from 'vitest'
import { nameOf, placeOf, readDatabaseAddress } from './database-address.ts'
import { UsageError } from './errors.ts'

const hostsOf = (url: string) => readDatabaseAddress(url).hosts.map(nameOf)

describe('the hosts', () => {
  test.each([
    ['postgres://u:p@db/tidings', ['db:5432']],
    ['postgres://u:p@a:5432,b:5433/tidings', ['a:5432', 'b:5433']],
    ['postgresql://u:p@a,b:5433/tidings', ['a:5432', 'b:5433']],
    ['postgres://u:p@[::1]:5433,[fe80::2]/tidings', ['[::1]:5433', '[fe80::2]:5432']],
    ['postgres://u:p@/tidings?host=a,b', ['a:5432', 'b:5432']],
    ['postgres://u:p@/tidings?host=a,b&port=5433', ['a:5433', 'b:5433']],
    ['postgres://u:p@/tidings?host=a,b&port=5433,5434', ['a:5433', 'b:5434']],
    ['postgres://u:p@ignored:5433/tidings?host=a,b', ['a:5433', 'b:5433']],
    ['postgres://u:p@localhost:5433/tidings?host=%2Frun%2Fpostgresql', ['/run/postgresql/.s.PGSQL.5433']],
    ['postgres:///tidings?host=/run/a,b', ['/run/a/.s.PGSQL.5432', 'b:5432']],
    ['postgres:///tidings', ['localhost:5432']],
    ['postgres://u:p@ss@a,b/tidings?x=@', ['a:5432', 'b:5432']],
  ])('%s', (url, hosts) => {
    expect(hostsOf(url)).toEqual(hosts)
  })
})

test('the driver gets an address without the parts that it reads otherwise', () => {
  const url =
    'postgres://u:p%40@a,b:5433/tidings?host=c&sslmode=require&sslrootcert=/ca.pem&target_session_attrs=read-write&port=1&channel_binding=prefer&options=-x'
  expect(readDatabaseAddress(url).driverUrl).toBe('postgres://u:p%40@localhost/tidings?options=-x')
})

test.each([
  ['', undefined],
  ['sslmode=disable', undefined],
  ['sslmode=prefer', 'prefer'],
  ['sslmode=require', 'require'],
  ['sslmode=require&sslrootcert=/ca.pem', 'verify-ca'],
  ['sslmode=verify-full&sslrootcert=/ca.pem', 'verify-full'],
  ['sslrootcert=system', 'verify-full'],
  ['ssl=true', 'verify-full'],
])('TLS with %s: %s', (query, mode) => {
  expect(readDatabaseAddress(`postgres://u@a,b/tidings?${query}`).tls?.mode).toBe(mode)
})

test('the files of TLS', () => {
  const { tls } = readDatabaseAddress('postgres://u@a/x?sslmode=verify-ca&sslrootcert=/r&sslcert=/c&sslkey=/k')
  expect(tls).toMatchObject({ rootFile: '/r', certificateFile: '/c', keyFile: '/k', isDirect: false })
})

test.each([
  ['sslmode=require', false],
  ['sslmode=require&sslnegotiation=postgres', false],
  ['sslmode=require&sslnegotiation=direct', true],
  ['sslrootcert=system&sslnegotiation=direct', true],
])('TLS with %s comes first: %s', (query, isDirect) => {
  expect(readDatabaseAddress(`postgres://u@a/x?${query}`).tls?.isDirect).toBe(isDirect)
})

test('the address for people names all hosts and no password', () => {
  expect(placeOf('postgres://u:hush@a,b:5433/tidings?target_session_attrs=any&password=hush')).toBe(
    'a:5432,b:5433/tidings',
  )
  expect(placeOf('postgres://u:hush@x/tidings?host=/run')).toBe('/run/.s.PGSQL.5432')
})

test.each([undefined, 'any', 'read-write', 'primary', 'standby', 'prefer-standby'])(
  'target_session_attrs %s',
  target => {
    const query = target ? `?target_session_attrs=${target}` : ''
    expect(readDatabaseAddress(`postgres://u@a,b/tidings${query}`).target).toBe(target)
  },
)

test.each([
  ['postgres://u@a,b/x?target_session_attrs=writable', /^target_session_attrs of .* must be one of any, .*"writable"/],
  ['postgres://u@a,b/x?target_session_attrs=read-only', /must be one of any, read-write, primary/],
  ['postgres://u@a,b,c/x?port=1,2', /^The address of the database has 3 hosts and 2 ports\.$/],
  ['postgres://u@a:70000,b/x', /^The address of the database has a host or port that cannot be read\.$/],
  ['postgres://u@::1/x', /cannot be read/],
  ['postgres://u@a,b/x?load_balance_hosts=random', /has load_balance_hosts, which Tidings does not know\.$/],
  ['postgres://u@a/x?hostaddr=10.0.0.1', /has hostaddr/],
  ['postgres://u@a/x?sslmode=verify_full', /^sslmode of .* must be one of disable, allow, .*"verify_full"/],
  ['postgres://u@a/x?sslrootcert=/ca.pem', /has sslrootcert and no sslmode\.$/],
  ['postgres://u@a/x?sslcert=/c.pem&sslkey=/k.pem', /has sslcert and no sslmode\.$/],
  ['postgres://u@a/x?sslkey=/k.pem', /has sslkey and no sslmode\.$/],
  ['postgres://u@a/x?sslnegotiation=direct', /has sslnegotiation and no sslmode\.$/],
  ['postgres://u@a/x?sslmode=require&sslnegotiation=Direct', /^sslnegotiation of .* postgres or direct, not "Direct"/],
  ['postgres://u@a/x?sslmode=require&sslcrl=/crl.pem', /has sslcrl/],
])('%s is refused in one sentence', (url, sentence) => {
  expect(() => readDatabaseAddress(url)).toThrow(UsageError)
  expect(() => readDatabaseAddress(url)).toThrow(sentence)
})
