import { spawnSync } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { UsageError } from './base/errors.ts'
import { type Config, environmentExample, loadConfig, settings, settingsPage, withEnvFile } from './config.ts'

const DATABASE_URL = 'postgres://tidings:hush@db.example:5432/tidings'
const SECRET = 'x'.repeat(32)

describe('defaults', () => {
  test('with the embedded server', () => {
    expect(loadConfig({})).toEqual({
      port: 8080,
      host: 'localhost',
      publicUrl: undefined,
      databaseUrl: undefined,
      readUrl: undefined,
      readLagSeconds: 5,
      listenUrl: undefined,
      prepare: true,
      databaseConnections: 10,
      migrate: true,
      apiProcesses: undefined,
      engines: undefined,
      dataDir: undefined,
      demo: true,
      demoPassword: undefined,
      passwordCost: 17,
      secret: undefined,
      moderation: 'auto',
      billingZone: 'Europe/Moscow',
      trustedProxies: [],
      drainSeconds: 0,
      connections: 5000,
      connectionsPerAddress: 1000,
      documentsOfCompanyMib: 500,
      documentsOfPartnerMib: 5000,
      callbackAllow: [],
      callbackRetrySeconds: 300,
      callbackSourceIp: undefined,
      stopWords: ['STOP', 'СТОП', 'UNSUBSCRIBE'],
      smtp: undefined,
      mailFrom: undefined,
      mailLanguage: 'en',
      recaptchaUrl: 'https://www.google.com',
      hcaptchaUrl: undefined,
      turnstileUrl: 'https://challenges.cloudflare.com',
      keepMonths: undefined,
      keepTextsDays: undefined,
      metrics: true,
      metricsAllow: ['loopback'],
      tracesUrl: undefined,
      tracesShare: 1,
      tracesHeaders: {},
      logLevel: 'info',
      envFile: undefined,
    } satisfies Config)
  })

  test('with a database of ones own: no demo, staff decide, no metrics', () => {
    expect(loadConfig({ DATABASE_URL })).toEqual({
      ...loadConfig({}),
      databaseUrl: DATABASE_URL,
      demo: false,
      moderation: 'manual',
      metrics: false,
    })
  })

  test('an empty value is as good as none', () => {
    const empty = Object.fromEntries(Object.values(settings).map(({ name }) => [name, '']))
    expect(loadConfig(empty)).toEqual(loadConfig({}))
  })
})

describe('reading', () => {
  test.each<[string, string, Partial<Config>]>([
    ['PORT', '0', { port: 0 }],
    ['PORT', '65535', { port: 65_535 }],
    ['HOST', '0.0.0.0', { host: '0.0.0.0' }],
    ['TIDINGS_PUBLIC_URL', 'https://sms.example/base/', { publicUrl: 'https://sms.example/base' }],
    ['DATABASE_URL', DATABASE_URL, { databaseUrl: DATABASE_URL }],
    ['DATABASE_URL', 'postgresql://db.example/tidings', { databaseUrl: 'postgresql://db.example/tidings' }],
    ['DATABASE_URL', 'postgres://u:a,%2F@one:1,two:2/db', { databaseUrl: 'postgres://u:a,%2F@one:1,two:2/db' }],
    ['TIDINGS_RECAPTCHA_URL', 'https://www.recaptcha.net/', { recaptchaUrl: 'https://www.recaptcha.net' }],
    ['TIDINGS_HCAPTCHA_URL', 'https://captcha.example', { hcaptchaUrl: 'https://captcha.example' }],
    ['TIDINGS_TURNSTILE_URL', 'https://captcha.example', { turnstileUrl: 'https://captcha.example' }],
    ['TIDINGS_DATABASE_CONNECTIONS', '2', { databaseConnections: 2 }],
    ['TIDINGS_MIGRATE', 'false', { migrate: false }],
    ['TIDINGS_DRAIN_SECONDS', '5', { drainSeconds: 5 }],
    ['TIDINGS_DATA', '/srv/tidings', { dataDir: '/srv/tidings' }],
    ['TIDINGS_ENV_FILE', '/etc/tidings.env', { envFile: '/etc/tidings.env' }],
    ['TIDINGS_DEMO', 'off', { demo: false }],
    ['TIDINGS_DEMO', 'No', { demo: false }],
    ['TIDINGS_DEMO', '1', { demo: true }],
    ['TIDINGS_DEMO_PASSWORD', ' as it is ', { demoPassword: ' as it is ' }],
    ['TIDINGS_SECRET', SECRET, { secret: SECRET }],
    ['TIDINGS_MODERATION', 'manual', { moderation: 'manual' }],
    ['TIDINGS_BILLING_ZONE', 'Asia/Yekaterinburg', { billingZone: 'Asia/Yekaterinburg' }],
    [
      'TIDINGS_TRUSTED_PROXIES',
      '10.0.0.0/8, 192.0.2.7,2001:db8::/32, loopback',
      { trustedProxies: ['10.0.0.0/8', '192.0.2.7', '2001:db8::/32', 'loopback'] },
    ],
    ['TIDINGS_KEEP_MONTHS', '2', { keepMonths: 2 }],
    ['TIDINGS_KEEP_TEXTS_DAYS', '30', { keepTextsDays: 30 }],
    ['TIDINGS_METRICS', 'false', { metrics: false }],
    ['TIDINGS_LOG_LEVEL', 'silent', { logLevel: 'silent' }],
    ['TIDINGS_TRACES_URL', 'http://localhost:4318/v1/traces', { tracesUrl: 'http://localhost:4318/v1/traces' }],
    ['TIDINGS_TRACES_SHARE', '0.25', { tracesShare: 0.25 }],
    [
      'TIDINGS_TRACES_HEADERS',
      'Authorization=Bearer%20a%2Cb, x-team = sms',
      { tracesHeaders: { authorization: 'Bearer a,b', 'x-team': 'sms' } },
    ],
  ])('%s=%s', (name, text, expected) => {
    expect(loadConfig({ [name]: text })).toMatchObject(expected)
  })

  test.each([
    [
      'smtp://u:p%40s%23@mail.example',
      { host: 'mail.example', port: 587, tls: 'starttls', user: 'u', password: 'p@s#' },
    ],
    ['smtp://mail.example:2525', { host: 'mail.example', port: 2525, tls: 'starttls' }],
    ['smtps://u:p@[::1]/', { host: '::1', port: 465, tls: 'direct', user: 'u', password: 'p' }],
    ['smtp://relay?tls=off', { host: 'relay', port: 25, tls: 'none' }],
    ['smtp://u:p@localhost:1025?tls=off', { host: 'localhost', port: 1025, tls: 'none', user: 'u', password: 'p' }],
  ])('TIDINGS_SMTP_URL=%s', (url, smtp) => {
    const mailFrom = 'Tidings <no-reply@sms.example>'
    const env = { TIDINGS_SMTP_URL: url, TIDINGS_MAIL_FROM: mailFrom, TIDINGS_PUBLIC_URL: 'https://sms.example' }
    expect(loadConfig(env)).toMatchObject({ smtp, mailFrom })
    const missing = (name: string) => () => loadConfig({ ...env, [name]: '' })
    expect(missing('TIDINGS_MAIL_FROM')).toThrow('TIDINGS_SMTP_URL needs TIDINGS_MAIL_FROM, the sender of the mails.')
    expect(missing('TIDINGS_PUBLIC_URL')).toThrow(/^TIDINGS_SMTP_URL needs TIDINGS_PUBLIC_URL: the links/)
  })

  test.each(['a@b', 'Tidings <a@b>', '"Tidings" <a@b>', '"Tidings, support (sms)" <a@b>'])(
    'TIDINGS_MAIL_FROM=%s',
    from => {
      expect(loadConfig({ TIDINGS_MAIL_FROM: from })).toMatchObject({ mailFrom: from })
    },
  )

  test('a setting that is given wins over the default for the database', () => {
    const said = { DATABASE_URL, TIDINGS_DEMO: 'true', TIDINGS_MODERATION: 'auto', TIDINGS_METRICS: 'on' }
    expect(loadConfig(said)).toMatchObject({ demo: true, moderation: 'auto', metrics: true })
  })
})

describe('mistakes are told in one sentence', () => {
  test.each([
    ['PORT', 'http', 'PORT must be a whole number from 0 to 65535, not "http".'],
    ['PORT', '65536', 'PORT must be a whole number from 0 to 65535, not "65536".'],
    ['PORT', '-1', 'PORT must be a whole number from 0 to 65535, not "-1".'],
    ['PORT', '8e3', 'PORT must be a whole number from 0 to 65535, not "8e3".'],
    ['TIDINGS_KEEP_MONTHS', '1', 'TIDINGS_KEEP_MONTHS must be a whole number from 2 to 1200, not "1".'],
    ['TIDINGS_PUBLIC_URL', 'sms.example', 'TIDINGS_PUBLIC_URL must be an http or https address, not "sms.example".'],
    ['TIDINGS_PUBLIC_URL', 'http://', 'TIDINGS_PUBLIC_URL must be an http or https address, not "http://".'],
    ['DATABASE_URL', 'mysql://db.example', 'DATABASE_URL must begin with postgres:// or postgresql://.'],
    [
      'TIDINGS_READ_URL',
      'postgres://u@a,b/db?target_session_attrs=primary',
      'TIDINGS_READ_URL is for standbys; target_session_attrs=primary asks for a primary.',
    ],
    [
      'DATABASE_URL',
      'postgres://u@a,b/db?target_session_attrs=prefer-standby',
      'DATABASE_URL needs a server that takes changes; target_session_attrs=prefer-standby does not.',
    ],
    [
      'TIDINGS_DATABASE_CONNECTIONS',
      '1',
      'TIDINGS_DATABASE_CONNECTIONS must be a whole number from 2 to 1000, not "1".',
    ],
    [
      'TIDINGS_TRACES_URL',
      'http://a:b@collector.example/v1/traces',
      'TIDINGS_TRACES_URL must have no password: TIDINGS_TRACES_HEADERS is for it.',
    ],
    ['TIDINGS_TRACES_SHARE', '1.5', 'TIDINGS_TRACES_SHARE must be from 0 to 1, not "1.5".'],
    [
      'TIDINGS_TRACES_HEADERS',
      'Bearer abc',
      'TIDINGS_TRACES_HEADERS must be name=value, separated by commas, with values encoded as in addresses.',
    ],
    ['TIDINGS_DEMO', 'maybe', 'TIDINGS_DEMO must be one of true, 1, yes, on, false, 0, no, off, not "maybe".'],
    ['TIDINGS_SECRET', 'short', 'TIDINGS_SECRET must have 32 characters or more; this one has 5.'],
    ['TIDINGS_MODERATION', 'Auto', 'TIDINGS_MODERATION must be one of auto, manual, not "Auto".'],
    [
      'TIDINGS_BILLING_ZONE',
      'Mars/Olympus',
      'TIDINGS_BILLING_ZONE must be a time zone such as Europe/Moscow, not "Mars/Olympus".',
    ],
    ['TIDINGS_BILLING_ZONE', '+03:00', 'TIDINGS_BILLING_ZONE must be a time zone such as Europe/Moscow, not "+03:00".'],
    ...['proxy.example', '10.0.0.0/33', '10.0.0.0/', '10.0.0.0/8/8', '::1/129', '10.0.0.1,,10.0.0.2'].map(text => [
      'TIDINGS_TRUSTED_PROXIES',
      text,
      `TIDINGS_TRUSTED_PROXIES must be addresses or networks such as 10.0.0.0/8 or loopback, linklocal, uniquelocal, separated by commas, not "${text.includes(',,') ? '' : text}".`,
    ]),
    ...['loopback', '127.0.0.0/8,linklocal', 'localhost'].map(text => [
      'TIDINGS_CALLBACK_ALLOW',
      text,
      `TIDINGS_CALLBACK_ALLOW must be addresses or networks such as 10.0.0.0/8, separated by commas, not "${text.split(',').at(-1)}".`,
    ]),
    ['TIDINGS_METRICS', '2', 'TIDINGS_METRICS must be one of true, 1, yes, on, false, 0, no, off, not "2".'],
    [
      'TIDINGS_LOG_LEVEL',
      'loud',
      'TIDINGS_LOG_LEVEL must be one of fatal, error, warn, info, debug, trace, silent, not "loud".',
    ],
  ])('%s=%s', (name, text, sentence) => {
    expect(() => loadConfig({ [name!]: text })).toThrow(new UsageError(sentence))
  })

  test.each([
    'smtp://u:hu#sh@mail.example',
    'smtp://u:hu/sh@mail.example',
    'smtp://u:hu?sh@mail.example',
    'smtp://u:hush%@mail.example',
    'smtps://u:hush@mail.example?tls=off',
    'smtp://u:hush@mail.example?tls=off',
    'smtp://u:hush@mail.example?pool=true',
    'smtp://u:hush@mail.example:0',
    'smtp://:hush@mail.example',
    'smtp://u:hush@',
    'mail.hush.example',
    'https://u:hush@mail.example',
  ])('TIDINGS_SMTP_URL=%s is refused without showing its password', url => {
    const read = () => loadConfig({ TIDINGS_SMTP_URL: url })
    expect(read).toThrow(UsageError)
    expect(read).toThrow(/^TIDINGS_SMTP_URL (?:must (?:be smtp:|have a user)|has a password)[^\n]*\.$/)
    expect(read).not.toThrow(/hu|sh/)
  })

  test.each([
    'an address without a sign',
    'a@b, c@d',
    'A, B <a@b>',
    'A <a@b',
    'a@b\r\nBcc: c@d',
    '<>',
    '"A <a@b>',
    '"A" B <a@b>',
    '"A <c@d>" <a@b>',
  ])('TIDINGS_MAIL_FROM=%j is refused', from =>
    expect(() => loadConfig({ TIDINGS_MAIL_FROM: from })).toThrow(/^TIDINGS_MAIL_FROM must be an address such as/),
  )

  test.each(['postgres://u:hu#sh@db.example/x', 'postgres://u:hu/sh@db.example/x', 'postgres://u:hush%@db.example/x'])(
    '%s is refused without showing its password',
    url => {
      const read = () => loadConfig({ DATABASE_URL: url })
      expect(read).toThrow(UsageError)
      expect(read).toThrow(/^DATABASE_URL cannot be read: [^\n]*%40 %2F %23 %25\.$/)
      expect(read).not.toThrow(/hu/)
    },
  )
})

describe('the pages about it', () => {
  const read = (path: string) => readFile(new URL(`../${path}`, import.meta.url), 'utf8')
  const STALE = 'is stale: `npm run docs:config` writes it'

  test('are what the code says', async () => {
    expect(await read('docs/configuration.md'), `docs/configuration.md ${STALE}`).toBe(settingsPage())
    expect(await read('.env.example'), `.env.example ${STALE}`).toBe(environmentExample())
  })

  test('have every setting with its default', () => {
    for (const { name } of Object.values(settings)) {
      expect(settingsPage()).toMatch(new RegExp(`^\\| \`${name}\` \\| \\S.* \\| \\S.*\\. \\|$`, 'm'))
      expect(environmentExample()).toMatch(new RegExp(`^# .*\\.\\n# Default: \\S.*\\.\\n#${name}=$`, 'm'))
    }
    expect(settingsPage()).toContain('| `PORT` | 8080 |')
  })

  test('what the example says is the default is the default', () => {
    const lines = environmentExample()
      .split('\n')
      .filter(line => /^#?[A-Z_]+=/.test(line))
    expect(lines).toHaveLength(Object.keys(settings).length)
    const env = Object.fromEntries(lines.map(line => line.replace('#', '').split('=')))
    expect(loadConfig(env)).toEqual(loadConfig({}))
  })
})

describe('the file of settings', () => {
  let folder: string

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tidings-config-'))
  })
  afterAll(() => rm(folder, { recursive: true, force: true }))

  const write = (...lines: string[]) => writeFile(join(folder, '.env'), lines.join('\n'))
  const read = (env: NodeJS.ProcessEnv = {}) => loadConfig(withEnvFile(env, folder))

  test('need not be there', () => {
    expect(read()).toEqual(loadConfig({}))
  })

  test('sets what the environment leaves open', async () => {
    await write('\ufeff# ours', 'PORT=8081', "TIDINGS_DEMO_PASSWORD='a # word'", 'export HOST=0.0.0.0', 'HOME=/nowhere')
    expect(read()).toMatchObject({ port: 8081, demoPassword: 'a # word', host: '0.0.0.0' })
    expect(read({ PORT: '9000', HOST: '' })).toMatchObject({ port: 9000, host: '0.0.0.0' })
    expect(withEnvFile({ HOME: '/home/anna' }, folder).HOME).toBe('/home/anna')
  })

  test('has its paths beside it, wherever a command is run from', async () => {
    await write('TIDINGS_DATA=data')
    expect(read().dataDir).toBe(join(folder, 'data'))
    expect(read({ TIDINGS_DATA: 'other' }).dataDir).toBe('other')
  })

  test('may have another name, and then must be there', async () => {
    await write('PORT=8081')
    await writeFile(join(folder, 'other.env'), 'PORT=8082')
    expect(read({ TIDINGS_ENV_FILE: join(folder, 'other.env') }).port).toBe(8082)
    const missing = join(folder, 'missing.env')
    expect(() => read({ TIDINGS_ENV_FILE: missing })).toThrow(
      new UsageError(`The file of settings ${missing} cannot be read: ENOENT.`),
    )
  })

  test('with a misspelt setting is refused; names of other programs may stand there', async () => {
    await write('PORT=8081', 'TIDINGS_DEMO_PASWORD=hush', 'TIDING_SECRET=x')
    expect(() => read()).toThrow(
      new UsageError(
        `The file ${join(folder, '.env')} has TIDINGS_DEMO_PASWORD, which is no setting: docs/configuration.md lists them all.`,
      ),
    )
    await write('PORT=8081', 'PGHOST=elsewhere')
    expect(read().port).toBe(8081)
  })

  test('that cannot be read is told', async () => {
    await rm(join(folder, '.env'))
    await mkdir(join(folder, '.env'))
    expect(() => read()).toThrow(`The file of settings ${join(folder, '.env')} cannot be read: EISDIR.`)
  })

  test('is ignored by git', context => {
    const { status, error } = spawnSync('git', ['check-ignore', '-q', '.env'], { cwd: import.meta.dirname })
    if (error || status === 128) return context.skip('this is no git repository')
    expect(status).toBe(0)
  })
})
