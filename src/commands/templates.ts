import type { Pool } from '../db/sql.ts'
import { approveTemplate, denyTemplate, rejectTemplate } from '../domain/templates/moderation.ts'
import type { Template } from '../domain/templates/template.ts'
import { listAllTemplates } from '../domain/templates/templates.ts'
import { orAdvise } from './advice.ts'
import { type Call, type Command, withDatabase } from './command.ts'
import { idOption } from './command-line.ts'
import { optionalId } from './options.ts'
import { table } from './table.ts'

const template = { value: 'ID', about: 'The template: `tidings template list` shows them', required: true }
const NO_COMMENT = 'Rejected'
const comment = { value: 'TEXT', about: 'What the company reads as managerComment' }

export const templateCommands: Command[] = [
  {
    name: 'template list',
    about: 'Lists message templates, those waiting for review first.',
    options: { company: { value: 'N', about: 'Only those of one company' } },
    async run(call) {
      const companyId = optionalId(call, 'company')
      await withDatabase(call.config, async ({ sql }) => {
        const templates = await listAllTemplates(sql, companyId)
        call.print(templates.map(present), tableOf(templates))
      })
    },
  },
  {
    name: 'template approve',
    about: 'Passes what is left of the review; the template is APPROVED once its first day has come.',
    options: { template, comment },
    run: call => decide(call, (sql, templateId) => approveTemplate(sql, templateId, new Date(), call.options.comment)),
  },
  {
    name: 'template reject',
    about: 'Sends a template under review back to its company, with a comment.',
    options: { template, comment: { ...comment, about: `${comment.about}; without one "${NO_COMMENT}"` } },
    run: call =>
      decide(call, (sql, templateId) =>
        rejectTemplate(sql, templateId, call.options.comment ?? NO_COMMENT, new Date()),
      ),
  },
  {
    name: 'template deny',
    about: 'Forbids a template for good.',
    options: { template, comment },
    run: call => decide(call, (sql, templateId) => denyTemplate(sql, templateId, call.options.comment, new Date())),
  },
]

async function decide(call: Call, decision: (sql: Pool, templateId: number) => Promise<Template>) {
  const templateId = idOption(call, 'template')
  await withDatabase(call.config, async ({ sql }) => {
    const decided = await orAdvise(noTemplate(templateId), decision(sql, templateId))
    call.print(present(decided), `Template ${templateId} is ${decided.status}.`)
  })
}

const noTemplate = (templateId: number) => `There is no template ${templateId}: \`tidings template list\` shows them.`

const present = (t: Template) => ({
  id: t.templateId,
  companyId: t.companyId,
  channelType: t.channelType,
  templateType: t.templateType,
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
      t.templateType,
      t.senderName,
      t.status,
      oneLine(t.pattern),
    ]),
  )

const oneLine = (text: string) => text.replaceAll(/\s+/g, ' ')
