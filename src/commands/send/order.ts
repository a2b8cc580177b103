import { createHash } from 'node:crypto'
import { type ClientChannel, channelTypes } from '../../base/channel-types.ts'
import { compileTemplate } from '../../base/content/text-template.ts'
import { UsageError } from '../../base/errors.ts'
import type { Pool } from '../../db/sql.ts'
import { requireAnyCompany } from '../../domain/companies/companies.ts'
import type { NewDispatch } from '../../domain/dispatches/dispatch.ts'
import { loadNumbering, type Numbering } from '../../domain/numbering/numbering.ts'
import type { Partner } from '../../domain/partners/partner.ts'
import { requirePartner } from '../../domain/partners/partners.ts'
import { isInternational, type Sender } from '../../domain/senders/sender.ts'
import { listSenders } from '../../domain/senders/senders.ts'
import { noCompany, orAdvise } from '../advice.ts'
import type { Call } from '../command.ts'
import { argumentOf, idOption } from '../command-line.ts'
import { choiceOption, idsOption } from '../options.ts'
import { isTerminal } from '../terminal.ts'
import type { RecipientsFile } from './recipients-file.ts'
import { rejectedPathOf } from './rejected-file.ts'

const LONGEST_NAME = 255

/** The options of the command line. */
export type Order = {
  path: string
  companyId: number
  name: string
  text: string
  channelType: ClientChannel
  senderIds: number[] | undefined
  column: string | undefined
  rejectedPath: string
  isUnique: boolean
  isDryRun: boolean
  isConfirmed: boolean
}

export function orderIn(call: Call): Order {
  const { name, text, column, rejected } = call.options as {
    name: string
    text: string
    column?: string
    rejected?: string
  }
  if (name.length > LONGEST_NAME) throw new UsageError(`--name must be 1 to ${LONGEST_NAME} characters.`)
  const order = {
    path: argumentOf(call),
    companyId: idOption(call, 'company'),
    name,
    text,
    channelType: choiceOption(call, 'channel', channelTypes) ?? 'SMS',
    senderIds: idsOption(call, 'senders'),
    column,
    rejectedPath: rejected ?? rejectedPathOf(argumentOf(call)),
    isUnique: call.switches.unique === true,
    isDryRun: call.switches['dry-run'] === true,
    isConfirmed: call.switches.yes === true,
  }
  if (!order.isDryRun && !order.isConfirmed && !isTerminal()) {
    throw new UsageError(
      'There is no terminal to ask for confirmation: --yes sends without asking, --dry-run shows what would be sent.',
    )
  }
  return order
}

/** Every recipient would be refused. */
export function refuseMissingColumns({ text }: Order, { columns }: RecipientsFile) {
  const missing = compileTemplate(text).names.find(name => !columns.includes(name))
  if (missing === undefined) return
  throw new UsageError(`The text wants {${missing}}, and the file has only the columns ${columns.join(', ')}.`)
}

/** An order with everything that is needed to carry it out. */
export type Job = {
  sql: Pool
  order: Order
  file: RecipientsFile
  partner: Partner
  numbering: Numbering
  dispatch: NewDispatch
  /** The same for the same command with the same file: by it an interrupted run is found again. */
  key: string
}

export async function prepareJob(sql: Pool, order: Order, file: RecipientsFile): Promise<Job> {
  const { partnerId } = await orAdvise(noCompany(order.companyId), requireAnyCompany(sql, order.companyId))
  const { companyId, name, text, channelType } = order
  return {
    sql,
    order,
    file,
    partner: await requirePartner(sql, partnerId),
    numbering: await loadNumbering(sql),
    dispatch: {
      name,
      channelType,
      text,
      senderIds: order.senderIds ?? (await approvedSenders(sql, companyId, channelType)),
      schedule: undefined,
      callbackUrl: undefined,
      callbackEvents: undefined,
    },
    key: keyOf(order, file),
  }
}

function keyOf(order: Order, { digest, numberColumn }: RecipientsFile): string {
  const { companyId, name, text, channelType, senderIds = null, isUnique } = order
  const words = JSON.stringify([companyId, name, text, channelType, senderIds, isUnique, numberColumn, digest])
  return createHash('sha256').update(words).digest('hex')
}

/** The oldest sender name of each brand, and the oldest for numbers outside Russia: a dispatch accepts no more. */
async function approvedSenders(sql: Pool, companyId: number, channelType: ClientChannel): Promise<number[]> {
  const found = await listSenders(sql, companyId, { status: ['APPROVED'], channelType: [channelType] })
  const usable = found.filter(sender => !sender.suspended)
  if (usable.length === 0) {
    throw new UsageError(
      `Company ${companyId} has no approved sender name for ${channelType}: \`tidings sender list --company ${companyId}\` shows its names.`,
    )
  }
  const places = Map.groupBy(usable, sender => placeOf(sender))
  return [...places.values()].map(([oldest]) => oldest!.senderId)
}

const placeOf = (sender: Sender) => (isInternational(sender) ? 'INTERNATIONAL' : sender.brand)
