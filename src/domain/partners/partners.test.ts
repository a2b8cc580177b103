import { scryptSync } from 'node:crypto'
import { afterEach, describe, expect, test } from 'vitest'
import { networkOf } from '../../base/network/networks.ts'
import { connect } from '../../db/sql.ts'
import { countLockWaits, useDatabase } from '../../testing/database.ts'
import { eventually } from '../../testing/eventually.ts'
import { aPartner, type TestPartner } from '../../testing/factories.ts'
import { logIn } from './log-in.ts'
import { FAILURE_WINDOW_MS, FAILURES_ALLOWED, refusalOfLogin, refusalOfPassword, TOKEN_LIFETIME_MS } from './partner.ts'
import {
  changePassword,
  createPartner,
  createTokenReader,
  disablePartner,
  enablePartner,
  forgetOldLogins,
  listPartners,
  unlockPartner,
} from './partners.ts'
import { hashPassword, isOutdatedHash, isPassword, usePasswordCost } from './password.ts'

const db = useDatabase()

const now = new Date('2026-05-01T12:00:00Z')
const later = (ms: number) => new Date(now.getTime() + ms)

let nextAddress = 1
const anAddress = () => `198.51.100.${nextAddress++}`

const enter = (partner: TestPartner, given: { password?: string; address?: string } = {}, at = now) =>
  logIn(db.sql, { login: partner.login, password: partner.password, address: anAddress(), ...given }, at)

const partnerOf = (token: string, at = now) => createTokenReader(db.sql, () => at)(token)

async function tokensOf(partner: TestPartner): Promise<number> {
  const [row] = await db.sql<{ count: number }[]>`
    select count(*) from partner_tokens where partner_id = ${partner.partnerId}`
  return row!.count
}

const CHEAP = 4
afterEach(() => usePasswordCost(CHEAP))

describe('a password', () => {
  test('is kept as scrypt with its cost and a salt of its own', async () => {
    usePasswordCost(14)
    const [one, two] = await Promise.all([hashPassword('пароль 🔑'), hashPassword('пароль 🔑')])
    expect(one).not.toBe(two)
    const [name, N, r, p, salt, key] = one!.split('$')
    expect([name, Number(N) >= 16_384, r, p]).toEqual(['scrypt', true, '8', '1'])
    expect(Buffer.from(salt!, 'base64')).toHaveLength(16)
    const expected = scryptSync('пароль 🔑', Buffer.from(salt!, 'base64'), 32, { N: Number(N), r: 8, p: 1 })
    expect(key).toBe(expected.toString('base64'))
  })

  test('is right or wrong to the last character', async () => {
    const hash = await hashPassword('correct horse')
    expect(await isPassword('correct horse', hash)).toBe(true)
    for (const wrong of ['correct hors', 'correct horse ', 'Correct horse', '']) {
      expect(await isPassword(wrong, hash)).toBe(false)
    }
  })

  test('hashed at another cost still opens the door', async () => {
    const salt = Buffer.alloc(16, 7)
    const key = scryptSync('old', salt, 32, { N: 1024, r: 8, p: 1 })
    const hash = ['scrypt', 1024, 8, 1, salt.toString('base64'), key.toString('base64')].join('$')
    expect(await isPassword('old', hash)).toBe(true)
    expect(await isPassword('new', hash)).toBe(false)
  })

  test('of an old cost is hashed anew at the next right login, and not at a wrong one', async () => {
    const partner = await aPartner(db.sql)
    const hash = async () =>
      (await db.sql`select password_hash from partners where partner_id = ${partner.partnerId}`)[0]!.passwordHash
    const old = await hash()
    usePasswordCost(CHEAP + 1)
    expect(isOutdatedHash(old)).toBe(true)
    await expect(enter(partner, { password: 'wrong' })).rejects.toMatchObject({ kind: 'bad_credentials' })
    expect(await hash()).toBe(old)
    // Side by side: one of them replaces the hash, and all get in.
    const tokens = await Promise.all([enter(partner), enter(partner), enter(partner)])
    const renewed = await hash()
    expect([renewed !== old, isOutdatedHash(renewed), await isPassword(partner.password, renewed)]).toEqual([
      true,
      false,
      true,
    ])
    for (const { token } of tokens) expect(await partnerOf(token)).toBeDefined()
  })

  test('takes so much memory at the usual cost that the limit of Node.js must be raised, and still is right', async () => {
    usePasswordCost(17)
    const hash = await hashPassword('correct horse')
    expect(hash.split('$').slice(0, 4)).toEqual(['scrypt', '131072', '8', '1'])
    expect(await isPassword('correct horse', hash)).toBe(true)
  })

  test('never stands in the database', async () => {
    const partner = await aPartner(db.sql)
    const [row] = await db.sql`select partners::text as text from partners where partner_id = ${partner.partnerId}`
    expect(row!.text).not.toContain(partner.password)
  })
})

describe('a partner', () => {
  test('has a login of its own', async () => {
    await createPartner(db.sql, 'romashka', 'one')
    await expect(createPartner(db.sql, 'romashka', 'two')).rejects.toMatchObject({ kind: 'invalid' })
    await expect(
      logIn(db.sql, { login: 'romashka', password: 'one', address: anAddress() }, now),
    ).resolves.toBeDefined()
  })

  test('that is not there cannot change its password', async () => {
    await expect(changePassword(db.sql, 'unknown', 'x')).rejects.toMatchObject({
      kind: 'not_found',
      message: 'There is no partner with the login "unknown"',
    })
  })
})

describe('a disabled partner', () => {
  test('loses its tokens at once, cannot log in, and can again when it is enabled', async () => {
    const [partner, other] = [await aPartner(db.sql), await aPartner(db.sql)]
    const node = createTokenReader(db.sql, () => new Date())
    await disablePartner(db.sql, partner.login)
    expect([await node(partner.token), (await node(other.token))?.login]).toEqual([undefined, other.login])
    await expect(enter(partner)).rejects.toMatchObject({ kind: 'bad_credentials' })
    const shown = (await listPartners(db.sql)).find(({ login }) => login === partner.login)
    expect(shown!.disabledAt).toBeInstanceOf(Date)

    await disablePartner(db.sql, partner.login)
    await enablePartner(db.sql, partner.login)
    expect(await node(partner.token)).toBeUndefined()
    await expect(enter(partner)).resolves.toBeDefined()
  })

  test('gets no token from a login whose password was checked before', async () => {
    const partner = await aPartner(db.sql)
    await db.sql`update partners set disabled_at = now() where partner_id = ${partner.partnerId}`
    expect(await partnerOf(partner.token, new Date())).toBeUndefined()
    await db.sql`delete from partner_tokens where partner_id = ${partner.partnerId}`
    await expect(enter(partner)).rejects.toMatchObject({ kind: 'bad_credentials' })
    expect(await tokensOf(partner)).toBe(0)
  })

  test('must exist', async () => {
    for (const change of [disablePartner, enablePartner, unlockPartner]) {
      await expect(change(db.sql, 'unknown')).rejects.toMatchObject({ kind: 'not_found' })
    }
  })
})

describe('the allowed values', () => {
  test.each(['anna', 'A', 'anna.k-2_x', '7', 'anna@example.com', 'a+b@mail.example.co.uk', `${'a'.repeat(64)}`])(
    'login %s',
    login => expect(refusalOfLogin(login)).toBeUndefined(),
  )

  test.each([
    '',
    ' anna',
    'anna ',
    'an na',
    'анна',
    '-anna',
    'anna.',
    'anna@',
    'anna@localhost',
    'a@b@example.com',
    'an\nna',
    '\u202eanna',
    'a'.repeat(65),
    `${'a'.repeat(190)}@example.com`,
    '<b>',
  ])('not as a login: %j', login =>
    expect(refusalOfLogin(login)).toMatch(/^must be a plain name .* or an e-mail address$/),
  )

  test.each<[string, RegExp | undefined]>([
    ['correct horse', undefined],
    ['пароль 🔑🔑🔑', undefined],
    ['123456789', /10 to 1024 characters/],
    ['🔑🔑🔑🔑🔑', /10 to 1024 characters/],
    ['x'.repeat(1025), /10 to 1024 characters/],
    ['correct\thorse', /control characters/],
    [' correct horse', /begin or end with a space/],
  ])('password %j', (password, refusal) => {
    if (refusal) expect(refusalOfPassword(password)).toMatch(refusal)
    else expect(refusalOfPassword(password)).toBeUndefined()
  })
})

describe('a token', () => {
  test('leads to its partner for 24 hours, and is kept as a hash alone', async () => {
    const partner = await aPartner(db.sql)
    const { token } = await enter(partner)
    expect(await partnerOf(token)).toEqual({ partnerId: partner.partnerId, login: partner.login, currency: 'RUB' })
    expect(await partnerOf(token, later(TOKEN_LIFETIME_MS - 1))).toBeDefined()
    expect(await partnerOf(token, later(TOKEN_LIFETIME_MS))).toBeUndefined()
    const rows = await db.sql`select encode(token_hash, 'escape') as text from partner_tokens`
    expect(rows.some(row => row.text.includes(token))).toBe(false)
  })

  test('that the service did not issue is refused', async () => {
    expect(await partnerOf('')).toBeUndefined()
    expect(await partnerOf('made-up')).toBeUndefined()
  })

  test('ends when the password changes, at once and on every node; tokens of other partners stay valid', async () => {
    const [partner, other] = [await aPartner(db.sql), await aPartner(db.sql)]
    const [node, anotherNode] = [createTokenReader(db.sql, () => now), createTokenReader(db.sql, () => now)]
    const { token } = await enter(partner)
    const { token: othersToken } = await enter(other)
    expect([await node(token), await anotherNode(token)]).not.toContain(undefined)

    await changePassword(db.sql, partner.login, 'battery staple')
    expect([await node(token), await anotherNode(token)]).toEqual([undefined, undefined])
    expect(await node(othersToken)).toBeDefined()
    await expect(enter(partner)).rejects.toMatchObject({ kind: 'bad_credentials' })
    const { token: newToken } = await enter(partner, { password: 'battery staple' })
    expect(await node(newToken)).toBeDefined()
  })

  test('is forgotten once it is over', async () => {
    const partner = await aPartner(db.sql)
    await db.sql`delete from partner_tokens`
    await enter(partner)
    await enter(partner, {}, later(1000))
    await forgetOldLogins(db.sql, later(TOKEN_LIFETIME_MS))
    expect(await tokensOf(partner)).toBe(1)
  })
})

describe('reading tokens', () => {
  test('requests that arrive together share one statement, and each gets its own answer', async () => {
    const partners = await Promise.all([aPartner(db.sql), aPartner(db.sql), aPartner(db.sql)])
    const statements: string[] = []
    const pool = connect(db.url, { max: 4 })
    Object.assign(pool.options, { debug: (_: number, text: string) => statements.push(text) })
    await pool`select 1` // connections ask for the types of the database first
    statements.length = 0

    const read = createTokenReader(pool, () => new Date())
    const asked = Array.from({ length: 60 }, (_, i) => partners[i % 4]?.token ?? `unknown-${i}`)
    const answers = await Promise.all(asked.map(read))
    expect(answers.map(answer => answer?.partnerId)).toEqual(asked.map((_, i) => partners[i % 4]?.partnerId))
    expect(statements.filter(text => text.includes('partner_tokens'))).toHaveLength(1)

    await read(asked[0]!)
    expect(statements.filter(text => text.includes('partner_tokens'))).toHaveLength(2)
    await pool.end()
  })

  test('a failure of the database rejects the requests of that statement, and no later request', async () => {
    const partner = await aPartner(db.sql)
    let broken = true
    const flaky = ((...args: Parameters<typeof db.sql>) => {
      if (broken) throw new Error('the database is away')
      return db.sql(...args)
    }) as unknown as typeof db.sql
    const read = createTokenReader(flaky, () => new Date())
    const answers = await Promise.allSettled([read(partner.token), read('other')])
    expect(answers.map(answer => answer.status)).toEqual(['rejected', 'rejected'])
    broken = false
    expect(await read(partner.token)).toBeDefined()
  })
})

describe('a password changed while someone logs in', () => {
  test('refuses the login whose password was checked before, and whose token would be written after', async () => {
    const partner = await aPartner(db.sql)
    let login: Promise<unknown> | undefined
    await db.sql.begin(async tx => {
      await tx`update partners set password_hash = ${await hashPassword('new')} where partner_id = ${partner.partnerId}`
      await tx`delete from partner_tokens where partner_id = ${partner.partnerId}`
      login = enter(partner)
      login.catch(() => {})
      await eventually(async () => expect(await countLockWaits(db.sql)).toBeGreaterThan(0))
    })
    await expect(login).rejects.toMatchObject({ kind: 'bad_credentials' })
    expect(await tokensOf(partner)).toBe(0)
  })

  test('never leaves a live token of the old one', async () => {
    for (let round = 0; round < 8; round++) {
      const partner = await aPartner(db.sql)
      const logins = Array.from({ length: 6 }, () => enter(partner).catch(error => error))
      await Promise.all([...logins, changePassword(db.sql, partner.login, `new ${round}`)])
      expect(await tokensOf(partner)).toBe(0)
    }
  })
})

describe('guessing', () => {
  const wrong = { password: 'wrong' }
  const guessed = { kind: 'bad_credentials', message: 'Bad credentials' }
  const slowedDown = { kind: 'too_many_requests' }

  async function guess(partner: TestPartner, times: number, given: { address?: string } = {}, at = now) {
    for (let i = 0; i < times; i++)
      await expect(enter(partner, { ...wrong, ...given }, at)).rejects.toMatchObject(guessed)
  }

  test('is stopped after ten failures of a login, for the right password too, until the ten minutes are over', async () => {
    const partner = await aPartner(db.sql)
    await guess(partner, FAILURES_ALLOWED - 1)
    await expect(enter(partner)).resolves.toBeDefined()
    await guess(partner, 1)
    await expect(enter(partner)).rejects.toMatchObject({ ...slowedDown, retryAfterSeconds: 600, limit: 10 })
    await expect(enter(partner, {}, later(FAILURE_WINDOW_MS - 1))).rejects.toMatchObject({ retryAfterSeconds: 1 })
    await expect(enter(partner, {}, later(FAILURE_WINDOW_MS))).resolves.toBeDefined()
  })

  test('is stopped after ten failures from an address, for any login', async () => {
    const address = anAddress()
    for (let i = 0; i < FAILURES_ALLOWED; i++) {
      const attempt = logIn(db.sql, { login: `unknown-${i}`, password: 'x', address }, now)
      await expect(attempt).rejects.toMatchObject(guessed)
    }
    const partner = await aPartner(db.sql)
    await expect(enter(partner, { address })).rejects.toMatchObject(slowedDown)
    await expect(enter(partner)).resolves.toBeDefined()
  })

  test('ten mistakes with one name block it at its address, and no other partner behind that address', async () => {
    const [clumsy, other] = [await aPartner(db.sql), await aPartner(db.sql)]
    const address = anAddress()
    await expect(enter(clumsy, { address })).resolves.toBeDefined()
    await guess(clumsy, FAILURES_ALLOWED, { address })
    await expect(enter(clumsy, { address })).rejects.toMatchObject(slowedDown)
    await expect(enter(other, { address })).resolves.toBeDefined()
  })

  test('from elsewhere does not keep a partner out of a network where it logged in before', async () => {
    const victim = await aPartner(db.sql)
    const home = anAddress()
    await expect(enter(victim, { address: home })).resolves.toBeDefined()
    await guess(victim, FAILURES_ALLOWED)
    await expect(enter(victim)).rejects.toMatchObject(slowedDown)
    await expect(enter(victim, { address: home })).resolves.toBeDefined()
    // And neither does trying many names at home.
    for (let i = 0; i < FAILURES_ALLOWED; i++) {
      const attempt = logIn(db.sql, { login: `stranger-${i}`, password: 'x', address: home }, now)
      await expect(attempt).rejects.toMatchObject(guessed)
    }
    await expect(enter(await aPartner(db.sql), { address: home })).rejects.toMatchObject(slowedDown)
    await expect(enter(victim, { address: home })).resolves.toBeDefined()
  })

  test('of a changed password makes no network known', async () => {
    const partner = await aPartner(db.sql)
    const home = anAddress()
    await enter(partner, { address: home })
    await changePassword(db.sql, partner.login, 'another horse')
    await guess(partner, FAILURES_ALLOWED)
    const attempt = enter(partner, { password: 'another horse', address: home })
    await expect(attempt).rejects.toMatchObject(slowedDown)
  })

  test('from a name made to look like a name at an address counts for that name alone', async () => {
    const partner = await aPartner(db.sql)
    const home = anAddress()
    await enter(partner, { address: home })
    for (let i = 0; i < FAILURES_ALLOWED; i++) {
      for (const login of [`${home} ${partner.login}`, `\n${home} ${partner.login}`]) {
        await logIn(db.sql, { login, password: 'x', address: anAddress() }, now).catch(() => {})
      }
    }
    await expect(enter(partner, { address: home })).resolves.toBeDefined()
  })

  test('is forgotten when staff unlock the login', async () => {
    const partner = await aPartner(db.sql)
    await guess(partner, FAILURES_ALLOWED)
    await expect(enter(partner)).rejects.toMatchObject(slowedDown)
    await unlockPartner(db.sql, partner.login)
    await expect(enter(partner)).resolves.toBeDefined()
    const home = anAddress()
    await enter(partner, { address: home })
    await guess(partner, FAILURES_ALLOWED, { address: home })
    await unlockPartner(db.sql, partner.login)
    await expect(enter(partner, { address: home })).resolves.toBeDefined()
  })

  test('counts anew once the ten minutes are over', async () => {
    const partner = await aPartner(db.sql)
    await guess(partner, FAILURES_ALLOWED)
    await guess(partner, 1, {}, later(FAILURE_WINDOW_MS))
    await expect(enter(partner, {}, later(FAILURE_WINDOW_MS))).resolves.toBeDefined()
    await forgetOldLogins(db.sql, later(2 * FAILURE_WINDOW_MS))
    expect(await db.sql`select 1 from login_failures where subject = ${`login:${partner.login}`}`).toEqual([])
  })

  test('side by side is no faster: ten are checked, and the right one among the rest gets no token', async () => {
    const partner = await aPartner(db.sql)
    await db.sql`delete from partner_tokens where partner_id = ${partner.partnerId}`
    const address = anAddress()
    const guesses = Array.from({ length: 300 }, () => enter(partner, { ...wrong, address }).catch(error => error.kind))
    const right = enter(partner, { address }).catch(error => error.kind)

    expect(await right).toBe('too_many_requests')
    const outcomes = await Promise.all(guesses)
    expect(outcomes.filter(kind => kind === 'bad_credentials')).toHaveLength(FAILURES_ALLOWED)
    expect(outcomes.filter(kind => kind === 'too_many_requests')).toHaveLength(300 - FAILURES_ALLOWED)
    const [row] = await db.sql`select failures from login_failures where subject = ${`login:${partner.login}`}`
    expect(row!.failures).toBe(FAILURES_ALLOWED)
    expect(await tokensOf(partner)).toBe(0)
  })
})

test.each([
  ['198.51.100.7', '198.51.100.7'],
  ['::ffff:198.51.100.7', '198.51.100.7'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:DB8:1:2::9', '2001:db8:1:2::/64'],
  ['2001:db8::9', '2001:db8:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
  ['no address', 'no address'],
])('the network of %s is %s', (address, network) => {
  expect(networkOf(address)).toBe(network)
})
