import { queryOptions } from '@tanstack/react-query'
import type { ClientChannel } from '../../../src/base/channel-types.ts'
import type { PriceAnswer, SendAnswer, SendForm } from '../../../src/http/cabinet/messages/send.ts'
import type { MessageAgain } from '../../../src/http/cabinet/messages/send-again.ts'
import { ask, type Wire } from '../api.ts'

export type Price = Wire<PriceAnswer>
export type PricedStep = Price['steps'][number]

/** The typed values of one step. `minutes` and `condition` belong to every step except the last. */
export type StepDraft = {
  channelType: ClientChannel
  senderName: string
  text: string
  image: string
  buttonText: string
  buttonUrl: string
  minutes: number
  condition: 'not_delivered' | 'not_read'
}

export type SendDraft = { destination: string; shortUrl: boolean; startAt: string; steps: StepDraft[] }

export const emptyStep = (channelType: ClientChannel): StepDraft => ({
  channelType,
  senderName: channelType === 'VOICECODE' ? 'voicecode' : '',
  text: '',
  image: '',
  buttonText: '',
  buttonUrl: '',
  minutes: 60,
  condition: 'not_delivered',
})

export const emptyDraft = (destination = ''): SendDraft => ({
  destination,
  shortUrl: false,
  startAt: '',
  steps: [emptyStep('SMS')],
})

/** A failed message that is sent again. */
export const draftOf = ({ destination, channelType, ...fields }: MessageAgain): SendDraft => ({
  ...emptyDraft(`+${destination}`),
  steps: [{ ...emptyStep(channelType), ...fields }],
})

/** The name under which the draft is stored. A number in the address begins another message. */
export const formFor = (companyId: number, to = '') => `send ${companyId} ${to}`

export const MOST_STEPS = 10

/** The first reason why the message cannot be sent yet. */
export function faultOf({ destination, steps }: SendDraft) {
  return destination.trim() === '' ? ('send.fault.number' as const) : faultInSteps(steps)
}

export function faultInSteps(steps: StepDraft[]) {
  if (steps.some(({ senderName }) => senderName.trim() === '')) return 'send.fault.sender'
  if (steps.some(({ text }) => text.trim() === '')) return 'send.fault.text'
  if (steps.some(isHalfButton)) return 'send.fault.button'
}

const isHalfButton = ({ channelType, buttonText, buttonUrl }: StepDraft) =>
  channelType === 'VIBER' && (buttonText.trim() === '') !== (buttonUrl.trim() === '')

/** The message in the format of the messaging API. */
export function formOf({ destination, shortUrl, startAt, steps }: SendDraft): SendForm {
  return {
    destination: destination.trim(),
    steps: stepsOf(steps),
    ...(shortUrl ? { shortUrl } : {}),
    ...(startAt ? { localSendTime: `${startAt.replace('T', ' ')}:00` } : {}),
  }
}

export const stepsOf = (steps: StepDraft[]): SendForm['steps'] =>
  steps.map((step, at) => ({
    channelType: step.channelType,
    senderName: step.senderName.trim(),
    content: contentOf(step),
    ...(at < steps.length - 1 ? { ttl: step.minutes * 60, condition: step.condition } : {}),
  }))

function contentOf({ channelType, text, image, buttonText, buttonUrl }: StepDraft) {
  switch (channelType) {
    case 'SMS':
    case 'WEASY':
    case 'VK':
      return text
    case 'FLASHCALL':
      return text.trim()
    case 'TEXT_TO_SPEECH':
      return { contentType: 'tts', text }
    case 'PUSH':
      return { text }
    case 'VIBER': {
      const button = buttonText.trim() ? { button: { text: buttonText.trim(), url: buttonUrl.trim() } } : {}
      return { contentType: 'text', text, ...(image.trim() ? { image: image.trim() } : {}), ...button }
    }
    default:
      return { contentType: 'text', text }
  }
}

/** The price that the server would hold. The page asks while the person types. */
export const priceQuery = (form: SendForm, companyId: number, isWhole: boolean) =>
  queryOptions({
    queryKey: ['send', 'price', companyId, form],
    queryFn: () => ask<PriceAnswer>('POST', `/send/price?companyId=${companyId}`, form),
    enabled: isWhole,
    retry: false,
  })

export const send = (form: SendForm, companyId: number, key: string) =>
  ask<SendAnswer>('POST', `/send?companyId=${companyId}`, form, key)
