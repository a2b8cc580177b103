import { databaseNow } from '../../db/clock.ts'
import type { Pool } from '../../db/sql.ts'
import type { AuditAction } from '../../domain/audit-log/entry.ts'
import { approveTemplate, denyTemplate, rejectTemplate } from '../../domain/templates/moderation.ts'
import type { Template } from '../../domain/templates/template.ts'
import { listAllTemplates } from '../../domain/templates/templates.ts'
import { orAdvise } from '../advice.ts'
import { type Call, withDatabase } from '../command.ts'
import { idOption, textOption } from '../command-line.ts'
import { optionalId } from '../options.ts'
import { recorded } from '../recorded.ts'
import { table } from '../table.ts'

export async function listSome(call: Call) {
  const companyId = optionalId(call, 'company')
  await withDatabase(call.config, async ({ sql }) => {
    const templates = await listAllTemplates(sql, companyId)
    call.print(templates.map(present), tableOf(templates))
  })
}

export const approveOne = (call: Call) =>
  decide(call, 'template.approved', async (sql, templateId) =>
    approveTemplate(sql, templateId, await databaseNow(sql), call.options.comment),
  )

export const rejectOne = (call: Call) =>
  decide(call, 'template.rejected', async (sql, templateId) =>
    rejectTemplate(sql, templateId, textOption(call, 'comment'), await databaseNow(sql)),
  )

export const denyOne = (call: Call) =>
  decide(call, 'template.denied', async (sql, templateId) =>
    denyTemplate(sql, templateId, call.options.comment, await databaseNow(sql)),
  )

async function decide(call: Call, what: AuditAction, decision: (sql: Pool, templateId: number) => Promise<Template>) {
  const templateId = idOption(call, 'template')
  await withDatabase(call.config, async ({ sql }) => {
    const decided = await recorded(sql, async (tx, record) => {
      const template = await orAdvise(noTemplate(templateId), decision(tx, templateId))
      const { companyId, status, managerComment: comment } = template
      const subject = { kind: 'template', id: templateId, name: template.senderName ?? '' }
      await record({ what, subject, companyId, after: { status, comment } })
      return template
    })
    call.print(present(decided), `Template ${templateId} is ${decided.status}.`)
  })
}

const noTemplate = (templateId: number) => `There is no template ${templateId}: \`tidings template list\` shows them.`

const present = (t: Template) => ({
  id: t.templateId,
  companyId: t.companyId,
  channelType: t.channelType,
  templateType: t.trafficType,
  senderName: t.senderName,
  pattern: t.pattern,
  status: t.status,
  managerComment: t.managerComment,
})

const tableOf = (templates: Template[]) =>
  table(
    ['ID', 'COMPANY', 'CHANNEL', 'TYPE', 'NAME', 'STATUS', 'PATTERN'],
    templates.map(t => [
      t.templateId,
      t.companyId,
      t.channelType,
      t.trafficType,
      t.senderName,
      t.status,
      oneLine(t.pattern),
    ]),
  )

const oneLine = (text: string) => text.replaceAll(/\s+/g, ' ')
