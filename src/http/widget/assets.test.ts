import fastify from 'fastify'
import { expect, test } from 'vitest'
import { answerError } from '../error-handler.ts'
import { registerWidgetAssets } from './assets.ts'

function anApp(folder?: URL) {
  const app = fastify()
  app.setErrorHandler(answerError)
  registerWidgetAssets(app, folder)
  return app
}

test.each([
  ['VerifyWidget.umd.min.js', 'text/javascript; charset=utf-8'],
  ['VerifyWidget.css', 'text/css; charset=utf-8'],
  ['VerifyWidget.d.ts', 'text/plain; charset=utf-8'],
])('pages of any origin get %s', async (name, type) => {
  const { statusCode, headers, body } = await anApp().inject(`/widget/${name}`)
  expect({ statusCode, headers }).toMatchObject({
    statusCode: 200,
    headers: {
      'content-type': type,
      'cache-control': 'public, max-age=300',
      'access-control-allow-origin': '*',
      'cross-origin-resource-policy': 'cross-origin',
      'x-content-type-options': 'nosniff',
    },
  })
  expect(body.length).toBeGreaterThan(500)
})

test('a file that the browser has is not sent again, gzipped or not', async () => {
  const app = anApp()
  const plain = await app.inject('/widget/VerifyWidget.umd.min.js')
  const zipped = await app.inject({
    url: '/widget/VerifyWidget.umd.min.js',
    headers: { 'accept-encoding': 'gzip, br' },
  })
  expect(zipped.headers['content-encoding']).toBe('gzip')
  expect(zipped.rawPayload.length).toBeLessThan(plain.rawPayload.length / 2)
  expect(zipped.headers.etag).toBe(plain.headers.etag)
  const known = await app.inject({
    url: '/widget/VerifyWidget.umd.min.js',
    headers: { 'if-none-match': String(plain.headers.etag) },
  })
  expect({ status: known.statusCode, body: known.body }).toEqual({ status: 304, body: '' })
})

test('a widget that was not built is answered by 503 and what to do', async () => {
  const answer = await anApp(new URL('nowhere/', import.meta.url)).inject('/widget/VerifyWidget.umd.min.js')
  expect(answer.statusCode).toBe(503)
  expect(answer.body).toContain('npm run build:widget')
})
