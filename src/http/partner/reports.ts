import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { withoutFormula } from '../../base/formula.ts'
import type { Sql } from '../../db/sql.ts'
import type { Dispatch } from '../../domain/dispatches/dispatch.ts'
import { requireDispatch } from '../../domain/dispatches/reading.ts'
import type { Message } from '../../domain/messages/message.ts'
import { everyMessage } from '../../domain/messages/messages.ts'
import { type Context, readingOf, usualLimits } from '../context.ts'
import { ReportLimit, sendFile, streamOf } from '../report-limit.ts'
import { ById, ErrorAnswer } from '../schemas.ts'
import { presentMessage } from './messages.ts'

const columns = [
  'messageUuid',
  'destination',
  'status',
  'errorCode',
  'parts',
  'price',
  'senderId',
  'brandId',
  'createdAt',
  'sentAt',
  'deliveredAt',
  'text',
] as const

const schema = {
  tags: ['Dispatches'],
  summary: 'Every message of a dispatch and its result, as CSV',
  description: `A line for each message, in the order submitted, under the names \`${columns.join(',')}\`.`,
  params: ById,
  response: {
    200: {
      description: 'The lines of the report',
      content: { 'text/csv': { schema: { type: 'string' } } },
    },
    default: ErrorAnswer,
  },
}

export const reportRoutes =
  ({ sql, reading, limits }: Context): FastifyPluginAsyncTypebox =>
  async api => {
    const { upToDate } = readingOf({ sql, reading })
    const { reports, reportsPerPartner, reportStallMs } = { ...usualLimits, ...limits }
    const limit = new ReportLimit(reports, reportsPerPartner)

    api.get('/:id/report', { schema }, async (request, reply) => {
      const dispatch = await requireDispatch(sql, request.partner, request.params.id)
      reply
        .type('text/csv; charset=utf-8')
        .header('content-disposition', `attachment; filename="dispatch-${dispatch.dispatchId}.csv"`)
      const pool = await upToDate()
      const open = () => streamOf(reportLines(pool, dispatch), reportStallMs)
      return sendFile(request.method, reply, () => limit.admit(request.partner.partnerId, open))
    })
  }

/** Yields one piece for each page. The next page is read after the client has read the last. Reading ends with the connection. */
export async function* reportLines(sql: Sql, dispatch: Dispatch): AsyncGenerator<string> {
  yield `${columns.join(',')}\r\n`
  for await (const page of everyMessage(sql, dispatch)) yield page.map(lineOf).join('')
}

function lineOf(message: Message): string {
  const fields: Partial<Record<(typeof columns)[number], string | number | null>> = presentMessage(message)
  return `${columns.map(column => cell(fields[column])).join(',')}\r\n`
}

function cell(value: string | number | null | undefined): string {
  if (typeof value !== 'string') return String(value ?? '')
  const text = withoutFormula(value)
  return needsQuotes.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

const needsQuotes = /[",;\t\r\n]/
