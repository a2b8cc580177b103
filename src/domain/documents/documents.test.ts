import { expect, test } from 'vitest'
import { useDatabase } from '../../testing/database.ts'
import { aCompany, aPartner } from '../../testing/factories.ts'
import { refusalByQuota } from './document.ts'
import { listDocuments, storeDocument } from './documents.ts'

const db = useDatabase()
const MIB = 1024 * 1024
const fileOf = (mib: number) => ({
  filename: 'charter.pdf',
  content: Buffer.concat([Buffer.from('%PDF-1.7\n'), Buffer.alloc(mib * MIB - 9)]),
})
const quota = { companyMib: 3, partnerMib: 4 }
const store = (companyId: number, mib: number) => db.sql.begin(tx => storeDocument(tx, companyId, fileOf(mib), quota))

test('the documents of a company, and of all companies of a partner, keep their quota', async () => {
  const partner = await aPartner(db.sql)
  const [first, second] = [await aCompany(db.sql, partner), await aCompany(db.sql, partner)]
  const foreign = await aCompany(db.sql, await aPartner(db.sql))
  await store(foreign, 3)
  await store(first, 2)
  await expect(store(first, 2)).rejects.toThrow("file: the company's documents have 2 MB, with this one more than 3 MB")
  await store(first, 1)
  await expect(store(second, 2)).rejects.toThrow(
    "file: the partner's documents have 3 MB, with this one more than 4 MB",
  )
  await store(second, 1)
  expect(await listDocuments(db.sql, first)).toHaveLength(2)
})

test('uploads at the same time keep the quota together', async () => {
  const partner = await aPartner(db.sql)
  const companyId = await aCompany(db.sql, partner)
  const results = await Promise.allSettled(Array.from({ length: 5 }, () => store(companyId, 1)))
  expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(3)
  expect(await listDocuments(db.sql, companyId)).toHaveLength(3)
})

test('the number of documents is bounded too', () => {
  const usage = { companyCount: 1000, companyBytes: 1000, partnerCount: 1000, partnerBytes: 1000 }
  expect(refusalByQuota(usage, 1, quota)).toBe('the company has 1000 documents, at most 1000')
  const many = { ...usage, companyCount: 10, partnerCount: 10_000 }
  expect(refusalByQuota(many, 1, quota)).toBe('the partner has 10000 documents, at most 10000')
})
