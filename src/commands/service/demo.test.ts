import { beforeEach, describe, expect, test } from 'vitest'
import { readDocument } from '../../domain/documents/documents.ts'
import { signIn } from '../../domain/people/sign-in.ts'
import { advanceDueSenders } from '../../domain/senders/moderation.ts'
import { requireSenderRequest } from '../../domain/senders/senders.ts'
import { waitingSenders } from '../../domain/senders/waiting.ts'
import { advanceDueTemplates } from '../../domain/templates/moderation.ts'
import { waitingTemplates } from '../../domain/templates/templates.ts'
import { aPerson, ofCompany, PASSWORD } from '../../testing/cabinet.ts'
import { useDatabase } from '../../testing/database.ts'
import { aCompany, aPartner } from '../../testing/factories.ts'
import { makeDemo } from './demo.ts'

const db = useDatabase()
const now = new Date()

beforeEach(async () => {
  await db.sql`truncate login_failures`
  await db.sql`truncate people cascade`
})

const mayEnter = (login: string, password: string) =>
  signIn(db.sql, { login, password, address: '203.0.113.9', agent: '' }, new Date()).then(
    () => true,
    () => false,
  )

const logins = ['company', 'demo', 'staff']
const whoEnters = async (password: string) => {
  const entered: string[] = []
  for (const login of logins) if (await mayEnter(login, password)) entered.push(login)
  return entered
}

/** The order matters: the demo partner is made by the first test, and stays. */
describe('the people of the demo', () => {
  test('are three, with one password', async () => {
    const demo = await makeDemo(db.sql, undefined, now)
    expect(demo).toMatchObject({ companyLogin: 'company', login: 'demo', staffLogin: 'staff' })
    expect(await whoEnters(demo.password!)).toEqual(logins)
    const [owner] = await db.sql`select kind, role, company_id from people where login = 'company'`
    expect(owner).toEqual({ kind: 'COMPANY', role: 'owner', companyId: demo.companyId })
  })

  test('get the owner of the company also in a world of an earlier version, with the password it has', async () => {
    await makeDemo(db.sql, 'the first password', now)
    await db.sql`delete from people where login = 'company'`
    const demo = await makeDemo(db.sql, undefined, now)
    expect(demo).toMatchObject({ companyLogin: 'company', password: undefined })
    expect(await whoEnters('the first password')).toContain('company')
  })

  test('take a new password, which ends the old one', async () => {
    await makeDemo(db.sql, 'the first password', now)
    await makeDemo(db.sql, 'the second password', now)
    expect(await whoEnters('the second password')).toEqual(expect.arrayContaining(['company', 'demo']))
    expect(await whoEnters('the first password')).toEqual([])
  })

  test('do not take the login from somebody of another company', async () => {
    const elsewhere = await aCompany(db.sql, await aPartner(db.sql))
    await aPerson(db.sql, ofCompany(elsewhere), 'viewer', 'company')
    const demo = await makeDemo(db.sql, 'the third password', now)
    expect(demo.companyLogin).toBeUndefined()
    expect(await mayEnter('company', PASSWORD)).toBe(true)
    expect(await mayEnter('company', 'the third password')).toBe(false)
  })
})

test('two requests of the demo wait for staff, although moderation is automatic and it is started more than once', async () => {
  for (const password of ['the first password', 'the second password']) await makeDemo(db.sql, password, now)
  await advanceDueSenders(db.sql, 'auto', () => null, now)
  await advanceDueTemplates(db.sql, 'auto', now)
  const senders = await waitingSenders(db.sql, 10)
  expect(senders).toMatchObject([{ senderName: 'ROMASHKI', companyName: 'Лавка у моста' }])
  expect(await waitingTemplates(db.sql, 10)).toMatchObject([{ companyName: 'Ромашка', senderName: null }])

  const { companyId, senderId } = senders[0]!
  const { documentIds } = await requireSenderRequest(db.sql, companyId, senderId)
  expect(await readDocument(db.sql, companyId, documentIds[0]!)).toMatchObject({ kind: 'pdf' })
})
