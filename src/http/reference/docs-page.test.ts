import { expect, test } from 'vitest'
import { usePartnerApi } from '../../testing/api.ts'
import { answerErrors, messageErrors, widgetErrors } from './errors.ts'

const api = usePartnerApi()

const pages = ['/docs', '/docs/errors']

test.each([...pages, '/docs/reference.js', '/docs/docs.css', '/docs/scalar.js'])(
  '%s needs no other origin and cannot be framed',
  async path => {
    const { statusCode, headers, body } = await api.app.inject(path)
    expect(statusCode).toBe(200)
    const policy = String(headers['content-security-policy'])
    expect(policy).toContain("default-src 'none'")
    expect(policy).toContain("frame-ancestors 'none'")
    expect(policy).not.toMatch(/https?:|\*|unsafe-eval/)
    expect(policy).not.toMatch(/script-src [^;]*unsafe-inline/)
    expect(headers['x-frame-options']).toBe('DENY')
    expect(headers['x-content-type-options']).toBe('nosniff')
    // Scalar's own addresses stand in its bundle; the settings and the policy above keep it from calling them.
    if (!path.includes('scalar')) expect(body.replaceAll("'http://www.w3.org/2000/svg'", '')).not.toMatch(/https?:\/\//)
  },
)

test('the settings of the reference switch everything off that leaves our origin', async () => {
  const { body } = await api.app.inject('/docs/reference.js')
  for (const setting of ['withDefaultFonts: false', 'telemetry: false', 'agent: { disabled: true }']) {
    expect(body).toContain(setting)
  }
  expect(body).not.toContain('proxyUrl')
})

test('pages and scripts are compressed for browsers that can read it', async () => {
  const headers = { 'accept-encoding': 'gzip, br' }
  for (const path of [...pages, '/docs/scalar.js']) {
    const [zipped, plain] = [await api.app.inject({ url: path, headers }), await api.app.inject(path)]
    expect(zipped.headers['content-encoding']).toBe('gzip')
    expect(zipped.rawPayload.length).toBeLessThan(plain.rawPayload.length)
  }
})

test('/docs/errors has an anchor, a meaning, a cause and a remedy for every code', async () => {
  const { body } = await api.app.inject('/docs/errors')
  for (const { code, title } of [...answerErrors, ...messageErrors]) {
    expect(body).toContain(`<section id="${code}">`)
    expect(body).toContain(`<a href="#${code}">${code}</a> ${title}`)
  }
  expect(body.match(/<dt>What to do<\/dt>/g)).toHaveLength(
    answerErrors.length + messageErrors.length + widgetErrors.length,
  )
})
