import type { Content, TemplateContent } from '../../../base/content/content.ts'
import { compileTemplate } from '../../../base/content/text-template.ts'
import { invalidField } from '../../../base/errors.ts'
import type { FieldMistake } from '../../../base/field-mistake.ts'
import type { Sql } from '../../../db/sql.ts'
import { matchedTemplates } from '../../templates/approved.ts'
import type { CompanyBudget } from '../../templates/effort.ts'
import type { ApprovedTemplate } from '../../templates/matching.ts'
import { type FilledTemplate, fillNamed } from '../../templates/named.ts'
import { fillPlaces } from '../../templates/pattern.ts'
import { whyTemplatesAreUnusable } from '../../templates/templates.ts'
import type { CascadeStep, ClientDispatch, Purpose } from '../dispatch.ts'
import { DEFAULT_TRAFFIC_TYPE, purposeOf } from './purpose.ts'

/**
 * The purpose of a dispatch whose first step may name a registered template. The named template decides, and its filled
 * pattern is the text of the dispatch. Refuses a step whose template is unusable or has another number of places.
 */
export async function withNamedTemplates(
  sql: Sql,
  companyId: number,
  templates: readonly ApprovedTemplate[],
  dispatch: ClientDispatch,
  budget: CompanyBudget,
): Promise<{ dispatch: ClientDispatch; purpose: Purpose }> {
  const steps = dispatch.cascade ?? []
  const unusable = await whyTemplatesAreUnusable(sql, companyId, unknownIds(templates, steps))
  const [first] = steps.map((step, i) => filledTemplateOf(templates, step, i, unusable))
  const content = steps[0]?.content
  if (content?.contentType !== 'template') {
    return { dispatch, purpose: await purposeOf(templates, dispatch, undefined, budget) }
  }
  if (!first?.fits) return { dispatch, purpose: { trafficType: DEFAULT_TRAFFIC_TYPE, templateId: null } }

  const { templateId, trafficType, pattern } = first.template
  const text = fillPlaces(pattern, content.parameters ?? [])
  return { dispatch: { ...dispatch, text }, purpose: { trafficType, templateId } }
}

function unknownIds(templates: readonly ApprovedTemplate[], steps: CascadeStep[]): number[] {
  const known = new Set(templates.map(({ templateId }) => templateId))
  return steps.flatMap(({ content }) => idIn(content) ?? []).filter(id => !known.has(id))
}

function idIn(content: Content | null): number | undefined {
  return content?.contentType === 'template' && typeof content.templateId === 'number' ? content.templateId : undefined
}

function filledTemplateOf(
  templates: readonly ApprovedTemplate[],
  { content, senderName }: CascadeStep,
  index: number,
  unusable: ReadonlyMap<number, FieldMistake>,
): FilledTemplate | undefined {
  if (content?.contentType !== 'template') return undefined
  const filled = fillNamed(templates, withSampleValues(content), senderName)
  if (!filled || !('field' in filled)) return filled
  const { field, reason } = unusable.get(idIn(content) ?? 0) ?? filled
  throw invalidField(field, reason, index)
}

/** A value that every kind of place accepts. */
const SAMPLE_VALUE = '1'

/** Values with placeholders are checked for each recipient, when the substitutions are known. */
const withSampleValues = (content: TemplateContent): TemplateContent => ({
  ...content,
  parameters: (content.parameters ?? []).map(value => (compileTemplate(value).names.length > 0 ? SAMPLE_VALUE : value)),
})

/** The templates that steps name by their ids, also templates that are no longer approved. */
export async function templatesNamedBy(sql: Sql, companyId: number, steps: CascadeStep[]) {
  const ids = steps.flatMap(({ content }) => idIn(content) ?? [])
  const templates = ids.length > 0 ? await matchedTemplates(sql, companyId, ids) : []
  return (content: Content | null) => templates.find(({ templateId }) => templateId === idIn(content))
}
