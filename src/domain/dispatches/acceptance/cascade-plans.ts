import type { Content } from '../../../base/content.ts'
import { compileTemplate } from '../../../base/text-template.ts'
import type { Transaction } from '../../../db/sql.ts'
import { copyCascades } from '../../cascades/cascade-rows.ts'
import type { CascadeStep, Dispatch, Recipient } from '../dispatch.ts'
import { compileContent, type FillContent, withText } from './step-content.ts'

const BATCH = 1000

type Cascading = Pick<
  Dispatch,
  'companyId' | 'dispatchId' | 'cascade' | 'options' | 'centerId' | 'callbackUrl' | 'callbackEvents'
>

/**
 * Keeps, for every accepted recipient of a cascade dispatch, the whole plan with its own substitutions filled in: the
 * later steps are written from it when their time comes, as those of single cascades are (`singles/single.ts`).
 */
export function copyPlans(sql: Transaction, dispatch: Cascading, accepted: Accepted[]): Promise<void> {
  return copyCascades(sql, dispatch, batchesOf(planner(dispatch), accepted))
}

type Accepted = { uuid: string; destination: string; recipient: Recipient }

function* batchesOf(planOf: ReturnType<typeof planner>, accepted: Accepted[]) {
  for (let from = 0; from < accepted.length; from += BATCH) {
    yield accepted.slice(from, from + BATCH).map(({ uuid, destination, recipient }) => {
      return { uuid, plan: planOf(destination, recipient) }
    })
  }
}

function planner({ cascade, options, centerId, callbackUrl, callbackEvents }: Cascading) {
  const steps = cascade!.map(step => ({
    step,
    template: compileTemplate(step.text),
    fillContent: compileContent(step.content),
  }))
  const { rate: _, rateTerm: __, localSendTime: ___, ...kept } = options ?? {}

  // With a plus: the digits alone could be read as another number when the step is written.
  return (destination: string, { substitutions }: Recipient) =>
    steps.map(({ step, template, fillContent }) => {
      const text = template.render(substitutions)! // whoever lacks a substitution for any step was refused
      const { channelType, senderName } = step
      const said = { text, content: contentOf(step, fillContent, substitutions, text) }
      const told = { callbackUrl, callbackEvents, externalId: null, centerId, trafficType: null, method: 'API' }
      const request = {
        channelType,
        senderName,
        destination: `+${destination}`,
        ...said,
        ...told,
        options: { ...kept, ttl: step.ttl },
      }
      return { request, condition: step.condition ?? 'not_delivered', ttlSeconds: step.ttl }
    })
}

/** The content of a step as this recipient gets it. */
function contentOf(
  { content }: CascadeStep,
  fillContent: FillContent | undefined,
  substitutions: Recipient['substitutions'],
  text: string,
): Content | null {
  const filled = fillContent ? (fillContent(substitutions) as Content) : content // as with the text
  return filled && withText(filled, text)
}
