import type { Content } from '../../../base/content/content.ts'
import { compileTemplate } from '../../../base/content/text-template.ts'
import type { Transaction } from '../../../db/sql.ts'
import { copyCascades } from '../../cascades/cascade-rows.ts'
import type { CascadeStep, Dispatch, Recipient } from '../dispatch.ts'
import { compileContent, type FillContent, withText } from './step-content.ts'

const BATCH = 1000

type Cascading = Pick<
  Dispatch,
  'companyId' | 'dispatchId' | 'options' | 'centerId' | 'callbackUrl' | 'callbackEvents'
> & { cascade: CascadeStep[] }

/**
 * Stores the plan of each accepted recipient of a cascade dispatch, with its substitutions filled in. The later steps are
 * written from the plan when they are due, as in single cascades (`cascade-steps/cascade-steps.ts`).
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
  const steps = cascade.map(step => ({
    step,
    template: compileTemplate(step.text),
    fillContent: compileContent(step.content),
  }))
  const { rate: _, rateTerm: __, localSendTime: ___, ...kept } = options ?? {}

  // The plus is necessary: the digits alone could mean another number when the step is written.
  return (destination: string, { substitutions }: Recipient) =>
    steps.map(({ step, template, fillContent }) => {
      const text = template.render(substitutions)
      if (text === undefined) throw notAccepted()
      const { channelType, senderName } = step
      const rendered = { text, content: contentOf(step, fillContent, substitutions, text) }
      const callback = { callbackUrl, callbackEvents, externalId: null, centerId, trafficType: null, method: 'API' }
      const request = {
        channelType,
        senderName,
        destination: `+${destination}`,
        ...rendered,
        ...callback,
        options: { ...kept, ttl: step.ttl },
      }
      return { request, condition: step.condition ?? 'not_delivered', ttlSeconds: step.ttl }
    })
}

/** The content of a step for this recipient. */
function contentOf(
  { content }: CascadeStep,
  fillContent: FillContent | undefined,
  substitutions: Recipient['substitutions'],
  text: string,
): Content | null {
  const filled = fillContent ? fillContent(substitutions) : content
  if (typeof filled === 'number') throw notAccepted()
  return filled && withText(filled, text)
}

/** Acceptance rejects a recipient that lacks a substitution for any step. */
const notAccepted = () => new Error('A cascade step cannot be rendered for an accepted recipient')
