import {
  addToBlacklist,
  type BlacklistEntry,
  listBlacklist,
  removeFromBlacklist,
} from '../../domain/blacklist/blacklist.ts'
import { requireAnyCompany } from '../../domain/companies/companies.ts'
import { noCompany, orAdvise } from '../advice.ts'
import { type Call, withDatabase } from '../command.ts'
import { argumentOf, idOption } from '../command-line.ts'
import { limitOption, readNumber } from '../options.ts'
import { recorded } from '../recorded.ts'
import { moreNote, table } from '../table.ts'

export async function listSome(call: Call) {
  const companyId = idOption(call, 'company')
  const limit = limitOption(call)
  await withDatabase(call.config, async ({ sql }) => {
    await orAdvise(noCompany(companyId), requireAnyCompany(sql, companyId))
    const { total, items } = await listBlacklist(sql, companyId, limit)
    call.print({ total, items: items.map(present) }, tableOf(items) + moreNote(items.length, total))
  })
}

export async function addOne(call: Call) {
  const companyId = idOption(call, 'company')
  const msisdn = readNumber(argumentOf(call), 'NUMBER')
  await withDatabase(call.config, async ({ sql }) => {
    await orAdvise(noCompany(companyId), requireAnyCompany(sql, companyId))
    await recorded(sql, async (tx, record) => {
      const { comment } = call.options
      await addToBlacklist(tx, companyId, msisdn, comment)
      await record({ what: 'blacklist.added', subject: { kind: 'number', id: msisdn }, companyId, after: { comment } })
    })
    call.print({ companyId, msisdn, blacklist: true }, `${msisdn} is on the blacklist of company ${companyId}.`)
  })
}

export async function removeOne(call: Call) {
  const companyId = idOption(call, 'company')
  const msisdn = readNumber(argumentOf(call), 'NUMBER')
  await withDatabase(call.config, async ({ sql }) => {
    await orAdvise(noCompany(companyId), requireAnyCompany(sql, companyId))
    const wasThere = await recorded(sql, async (tx, record) => {
      const isRemoved = await removeFromBlacklist(tx, companyId, msisdn)
      const subject = { kind: 'number', id: msisdn }
      await record(isRemoved ? { what: 'blacklist.removed', subject, companyId } : undefined)
      return isRemoved
    })
    call.print(
      { companyId, msisdn, blacklist: false },
      wasThere
        ? `${msisdn} is no longer on the blacklist of company ${companyId}.`
        : `${msisdn} was not on the blacklist of company ${companyId}.`,
    )
  })
}

const present = ({ destination, comment, createdAt }: BlacklistEntry) => ({
  msisdn: destination,
  comment,
  createdAt: createdAt.toISOString(),
})

const tableOf = (entries: BlacklistEntry[]) =>
  table(
    ['NUMBER', 'SINCE', 'COMMENT'],
    entries.map(({ destination, comment, createdAt }) => [destination, createdAt.toISOString().slice(0, 10), comment]),
  )
