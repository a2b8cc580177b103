import { beforeAll, expect, test, vi } from 'vitest'
import { createTemplate } from '../../domain/templates/templates.ts'
import { useDatabase } from '../../testing/database.ts'
import { aCompany, anApprovedSender, aPartner } from '../../testing/factories.ts'
import { runCommandLine } from '../command-line.ts'
import { templateCommands } from '../definitions/companies/templates.ts'

const db = useDatabase()
let companyId: number
let senderId: number

beforeAll(async () => {
  companyId = await aCompany(db.sql, await aPartner(db.sql))
  senderId = (await anApprovedSender(db.sql, companyId)).senderId
})

async function aTemplate(pattern: string, of = companyId): Promise<string> {
  const { templateId } = await db.sql.begin(sql =>
    createTemplate(
      sql,
      of,
      {
        channelType: 'SMS',
        trafficType: 'AUTHORIZE',
        pattern,
        senderId: of === companyId ? senderId : null,
        content: null,
        validFrom: new Date('2026-01-01T00:00:00Z'),
        validTo: null,
      },
      new Date(),
    ),
  )
  await db.sql`update templates set status = 'PRE_REVIEW' where template_id = ${templateId}`
  return String(templateId)
}

/** What the command prints, or the sentence that it ends with. */
async function printedBy(...words: string[]): Promise<string> {
  const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true)
  try {
    await runCommandLine(templateCommands, ['template', ...words], () => ({
      DATABASE_URL: db.url,
      TIDINGS_SECRET: 'a secret of the tests, long enough',
    }))
    return write.mock.calls.map(([text]) => text).join('')
  } finally {
    write.mockRestore()
  }
}
const answerOf = async (...words: string[]) => JSON.parse(await printedBy(...words, '--json'))

test('template list shows the templates of all companies, or of one', async () => {
  const other = await aCompany(db.sql, await aPartner(db.sql))
  const ours = await aTemplate('Ваш код:\n%d')
  const theirs = await aTemplate('Заказ %w', other)
  expect(await answerOf('list', '--company', String(other))).toEqual([
    {
      id: Number(theirs),
      companyId: other,
      channelType: 'SMS',
      templateType: 'AUTHORIZE',
      senderName: null,
      pattern: 'Заказ %w',
      status: 'PRE_REVIEW',
      managerComment: null,
    },
  ])
  expect((await answerOf('list')).map(({ id }: { id: number }) => String(id))).toEqual([ours, theirs])
  expect(await printedBy('list')).toMatch(
    new RegExp(`^ID +COMPANY +CHANNEL +TYPE +NAME +STATUS +PATTERN\n${ours} .* ROMASHKA +PRE_REVIEW +Ваш код: %d\n`),
  )
})

test('template approve, reject and deny change the review status, and report impossible changes', async () => {
  const [approved, rejected, denied] = [await aTemplate('a'), await aTemplate('b'), await aTemplate('c')]
  expect(await answerOf('approve', '--template', approved, '--comment', 'Clear')).toMatchObject({
    status: 'APPROVED',
    managerComment: 'Clear',
  })
  expect(await answerOf('reject', '--template', rejected)).toMatchObject({
    status: 'REJECTED',
    managerComment: 'Rejected',
  })
  expect(await printedBy('deny', '--template', denied)).toBe(`Template ${denied} is DENIED.\n`)
  await expect(printedBy('approve', '--template', denied)).rejects.toThrow(
    `Template ${denied} is DENIED and cannot be approved`,
  )
  await expect(printedBy('deny', '--template', '987654')).rejects.toThrow(
    'There is no template 987654: `tidings template list` shows them.',
  )
  await expect(printedBy('approve')).rejects.toThrow('--template is required')
})
