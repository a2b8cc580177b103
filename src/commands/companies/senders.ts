import { UsageError } from '../../base/errors.ts'
import { databaseNow } from '../../db/clock.ts'
import type { Pool } from '../../db/sql.ts'
import type { AuditAction } from '../../domain/audit-log/entry.ts'
import { senderFeeTable } from '../../domain/pricing/pricing.ts'
import { approveSender, denySender, rejectSender } from '../../domain/senders/moderation.ts'
import type { Sender } from '../../domain/senders/sender.ts'
import { listAllSenders, setSenderRate } from '../../domain/senders/senders.ts'
import { noSender, orAdvise } from '../advice.ts'
import { type Call, withDatabase } from '../command.ts'
import { idOption, textOption } from '../command-line.ts'
import { optionalId, rateOption } from '../options.ts'
import { recorded } from '../recorded.ts'
import { table } from '../table.ts'

export async function listSome(call: Call) {
  const companyId = optionalId(call, 'company')
  await withDatabase(call.config, async ({ sql }) => {
    const senders = await listAllSenders(sql, companyId)
    call.print(senders.map(present), tableOf(senders))
  })
}

export const approveOne = (call: Call) =>
  decide(call, 'sender.approved', async (sql, senderId) =>
    approveSender(sql, senderId, await senderFeeTable(sql), await databaseNow(sql), call.options.comment),
  )

export const rejectOne = (call: Call) =>
  decide(call, 'sender.rejected', async (sql, senderId) =>
    rejectSender(sql, senderId, textOption(call, 'comment'), await databaseNow(sql)),
  )

export const denyOne = (call: Call) =>
  decide(call, 'sender.denied', async (sql, senderId) =>
    denySender(sql, senderId, call.options.comment, await databaseNow(sql)),
  )

async function decide(call: Call, what: AuditAction, decision: (sql: Pool, senderId: number) => Promise<Sender>) {
  const senderId = idOption(call, 'sender')
  await withDatabase(call.config, async ({ sql }) => {
    const decided = await recorded(sql, async (tx, record) => {
      const sender = await orAdvise(noSender(senderId), decision(tx, senderId))
      const { status, managerComment: comment } = sender
      await record({ what, ...subjectOf(sender), after: { status, comment } })
      return sender
    })
    call.print(present(decided), `Sender ${senderId} (${decided.senderName}) is ${decided.status}.`)
  })
}

export async function setOne(call: Call) {
  const senderId = idOption(call, 'sender')
  const rate = rateOption(call)
  if (rate === undefined) throw new UsageError('There is nothing to change: give --rate.')
  await withDatabase(call.config, async ({ sql }) => {
    const changed = await recorded(sql, async (tx, record) => {
      const sender = await orAdvise(noSender(senderId), setSenderRate(tx, senderId, rate))
      await record({ what: 'sender.changed', ...subjectOf(sender), after: { rate } })
      return sender
    })
    const limit = rate === null ? 'has no limit of its own' : `sends at most ${rate} parts a second`
    call.print(present(changed), `Sender ${senderId} (${changed.senderName}) ${limit}.`)
  })
}

const subjectOf = ({ senderId, senderName, companyId }: Sender) => ({
  subject: { kind: 'sender', id: senderId, name: senderName },
  companyId,
})

const present = (s: Sender) => ({
  id: s.senderId,
  companyId: s.companyId,
  senderName: s.senderName,
  channelType: s.channelType,
  brand: s.brand,
  status: s.status,
  suspended: s.suspended,
  managerComment: s.managerComment,
  rate: s.partsPerSecond,
})

const tableOf = (senders: Sender[]) =>
  table(
    ['ID', 'COMPANY', 'CHANNEL', 'BRAND', 'TYPE', 'STATUS', 'RATE', 'NAME'],
    senders.map(s => [
      s.senderId,
      s.companyId,
      s.channelType,
      s.brand,
      s.commonType,
      s.status,
      s.partsPerSecond,
      s.senderName,
    ]),
  )
