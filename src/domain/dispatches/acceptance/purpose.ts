import type { ChannelType, TrafficType } from '../../../base/channel-types.ts'
import { compileTemplate } from '../../../base/content/text-template.ts'
import { databaseNow } from '../../../db/clock.ts'
import type { Pool, Sql } from '../../../db/sql.ts'
import { currentTemplates } from '../../templates/approved.ts'
import { budgetOf, type CompanyBudget, Effort, forAllTemplates } from '../../templates/effort.ts'
import { type ApprovedTemplate, matchTexts } from '../../templates/matching.ts'
import type { NewDispatch, Purpose, Recipient } from '../dispatch.ts'

/** The traffic type of a dispatch without a matching template, and of a message that does not match its template. */
export const DEFAULT_TRAFFIC_TYPE: TrafficType = 'PROMO'

export async function withPurpose(
  sql: Sql,
  pool: Pool,
  request: { companyId: number; dispatch: NewDispatch; recipients: readonly Recipient[] },
): Promise<NewDispatch & Purpose> {
  const { companyId, dispatch, recipients } = request
  const { templates } = await currentTemplates(sql, pool, companyId, await databaseNow(sql))
  return { ...dispatch, ...(await purposeOf(templates, dispatch, recipients[0], budgetOf(pool, companyId))) }
}

/**
 * Finds the approved template that the text of a dispatch can match; its traffic type is the purpose of the dispatch. A
 * placeholder may stand for a word or a number. So the text is compared three times: with the substitutions of the first
 * recipient, with a word in all places, and with a number in all places. The result is a guess: the text of each
 * recipient is compared again at acceptance. The custom text of the first recipient is ignored, because it does not
 * describe the other recipients.
 */
export async function purposeOf(
  templates: readonly ApprovedTemplate[],
  dispatch: { channelType: ChannelType; text: string; senderName?: string | null },
  first: Recipient | undefined,
  budget: CompanyBudget,
): Promise<Purpose> {
  if (templates.length === 0) return { trafficType: DEFAULT_TRAFFIC_TYPE, templateId: null }
  const template = compileTemplate(dispatch.text)
  const filled = (value: string) => template.render(Object.fromEntries(template.names.map(name => [name, value])))
  const { channelType, senderName } = dispatch
  const texts = [template.render(first?.substitutions), filled('word'), filled('1')]
    .filter(text => text !== undefined)
    .map(text => ({ channelType, senderName, text }))
  const matches = await matchTexts(templates, texts, new Effort(forAllTemplates, budget))
  const match = texts.flatMap(text => matches.get(text) ?? [])[0]
  if (!match) return { trafficType: DEFAULT_TRAFFIC_TYPE, templateId: null }
  return { trafficType: match.template.trafficType, templateId: match.template.templateId }
}
