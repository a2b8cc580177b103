import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import { formOf, useApp } from '../../../testing/api.ts'
import { aPerson, CabinetBrowser, ofCompany, ofPartner, staff } from '../../../testing/cabinet.ts'
import { aCompany, aPartner, aSender } from '../../../testing/factories.ts'
import type { DocumentsAnswer } from './documents.ts'

const { api } = useApp('/docs/partner.json')
const PDF = '%PDF-1.7\nthe charter'
const PNG = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 1, 2, 3])
let partnerId: number
let companyId: number
let foreign: { partnerId: number; companyId: number; documentId: string }

beforeAll(async () => {
  const [partner, other] = [await aPartner(api.sql), await aPartner(api.sql)]
  partnerId = partner.partnerId
  companyId = await aCompany(api.sql, partner)
  const theirs = await aCompany(api.sql, other)
  const { upload } = await signedIn(ofCompany(theirs), 'owner')
  foreign = { partnerId: other.partnerId, companyId: theirs, documentId: (await upload('theirs.pdf', PDF)).body.id }
})

async function signedIn(...person: [Parameters<typeof aPerson>[1], string]) {
  const browser = new CabinetBrowser(() => api.app)
  await browser.signIn((await aPerson(api.sql, ...person)).login)
  const upload = (filename: string, content: string | Buffer, query = '', name = 'file') => {
    const form = formOf({ name, filename, content })
    return browser.ask('POST', `/documents${query}`, form.body, form)
  }
  const list = async (query = '') => (await browser.ask('GET', `/documents${query}`)).body as DocumentsAnswer
  const open = (id: string, query = '') =>
    api.app.inject({
      url: `/cabinet/api/documents/${id}/content${query}`,
      headers: { host: 'localhost:8080', cookie: browser.cookie! },
    })
  return { browser, upload, list, open }
}

describe('documents of a company', () => {
  test('are uploaded, listed with the newest first, and downloaded unchanged', async () => {
    const { upload, list, open } = await signedIn(ofPartner(partnerId), 'manager')
    const whose = `?companyId=${companyId}`
    const charter = await upload('Устав 2026.pdf', PDF, whose)
    expect(charter.status).toBe(201)
    expect(charter.body).toMatchObject({ filename: 'Устав 2026.pdf', kind: 'pdf', sizeBytes: PDF.length })
    const stamp = await upload('../stamp.png', PNG, whose)
    expect((await list(whose)).documents.map(({ filename }) => filename)).toEqual(['stamp.png', 'Устав 2026.pdf'])
    expect((await open(charter.body.id, whose)).body).toBe(PDF)
    expect((await open(stamp.body.id, whose)).rawPayload).toEqual(PNG)
  })

  test('are served so that no document can act as a page of the cabinet, with any name', async () => {
    const { upload, open } = await signedIn(ofCompany(companyId), 'owner')
    const { id } = (await upload('page.html\r\nx: y".svg', `${PDF}<script>alert(1)</script>`)).body
    const { headers } = await open(id)
    expect(headers).toMatchObject({
      'content-type': 'application/pdf',
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store',
      'cross-origin-resource-policy': 'same-origin',
    })
    expect(headers['content-security-policy']).toMatch(/^default-src 'none'; .*; frame-ancestors 'self'; sandbox$/)
    expect(headers['content-disposition']).toMatch(/^inline; filename\*=UTF-8''[\w.%-]+$/)
    expect((await open(id, '?download=true')).headers['content-disposition']).toMatch(/^attachment; /)
  })

  test.each([
    ['an HTML page', 'page.pdf', '<!doctype html><script>alert(1)</script>', /PDF, JPG or PNG/],
    ['an SVG', 'drawing.png', '<svg xmlns="http://www.w3.org/2000/svg"/>', /PDF, JPG or PNG/],
    ['an empty file', 'empty.pdf', '', /is empty/],
    ['a file above 10 MB', 'large.pdf', Buffer.concat([Buffer.from(PDF), Buffer.alloc(10 << 20)]), /at most 10 MB/],
  ])('cannot be %s', async (_, filename, content, message) => {
    const { upload } = await signedIn(ofCompany(companyId), 'owner')
    const { status, body } = await upload(filename, content)
    expect([status, body.error.msg]).toEqual([400, expect.stringMatching(message)])
  })

  test('are deleted unless a request for a sender name has them', async () => {
    const { browser, upload, list } = await signedIn(ofCompany(companyId), 'owner')
    const [letter, stamp] = [(await upload('letter.pdf', PDF)).body.id, (await upload('stamp.png', PNG)).body.id]
    await aSender(api.sql, companyId, { documentIds: [letter] })
    const used = (await list()).documents.filter(({ isUsed }) => isUsed)
    expect(used.map(({ id }) => id)).toEqual([letter])
    const refused = await browser.ask('DELETE', `/documents/${letter}`)
    expect([refused.status, refused.body.error.msg]).toEqual([400, expect.stringContaining('cannot be deleted')])
    expect((await browser.ask('DELETE', `/documents/${stamp}`)).status).toBe(204)
    expect((await browser.ask('DELETE', `/documents/${stamp}`)).status).toBe(404)
    expect((await list()).documents.map(({ id }) => id)).not.toContain(stamp)
  })

  test('are uploaded in a form with exactly one part named file', async () => {
    const { upload, browser } = await signedIn(ofCompany(companyId), 'owner')
    expect((await upload('charter.pdf', PDF, '', 'other')).status).toBe(400)
    expect((await browser.ask('POST', '/documents', { file: PDF })).status).toBe(400)
  })
})

describe('rights', () => {
  test('a foreign company and its documents are not found', async () => {
    const query = `?companyId=${foreign.companyId}`
    for (const place of [ofCompany(companyId), ofPartner(partnerId)]) {
      const { browser, upload, open } = await signedIn(place, 'owner')
      expect((await browser.ask('GET', `/documents${query}`)).status).toBe(404)
      expect((await upload('charter.pdf', PDF, query)).status).toBe(404)
      expect((await open(foreign.documentId, query)).statusCode).toBe(404)
      for (const whose of [query, `?companyId=${companyId}`])
        expect((await browser.ask('DELETE', `/documents/${foreign.documentId}${whose}`)).status).toBe(404)
      expect((await open(foreign.documentId, `?companyId=${companyId}`)).statusCode).toBe(404)
      expect((await open(randomUUID(), `?companyId=${companyId}`)).statusCode).toBe(404)
      expect((await open('nonsense', `?companyId=${companyId}`)).statusCode).toBe(404)
    }
  })

  test.each([
    ['COMPANY', 'viewer', 200, 403],
    ['COMPANY', 'sender', 200, 403],
    ['COMPANY', 'finance', 403, 403],
    ['PARTNER', 'viewer', 200, 403],
    ['STAFF', 'moderator', 200, 403],
    ['STAFF', 'support', 200, 403],
    ['STAFF', 'admin', 200, 201],
  ] as const)('%s in the role %s: to look %i, to upload %i', async (kind, role, look, change) => {
    const place = { COMPANY: ofCompany(companyId), PARTNER: ofPartner(partnerId), STAFF: staff }[kind]
    const { browser, upload } = await signedIn(place, role)
    const query = `?companyId=${companyId}`
    expect((await browser.ask('GET', `/documents${query}`)).status).toBe(look)
    expect((await upload('charter.pdf', PDF, query)).status).toBe(change)
    const gone = await browser.ask('DELETE', `/documents/${randomUUID()}${query}`)
    expect(gone.status).toBe(change === 201 ? 404 : 403)
  })

  test('a person who is not signed in is refused', async () => {
    const response = await api.app.inject(`/cabinet/api/documents/${foreign.documentId}/content`)
    expect(response.statusCode).toBe(401)
  })
})
