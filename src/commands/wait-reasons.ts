import type { WaitReason } from '../domain/waiting/waiting.ts'

/** Why a dispatch waits, as a sentence for people. */
export function waitSentence(reason: WaitReason): string {
  switch (reason.kind) {
    case 'engine':
      return 'No engine is at work, so nothing is sent: start one with `tidings serve` or `tidings engine`.'
    case 'company':
      return 'The company is disabled: `tidings company enable` lets it send again.'
    case 'sender':
      return `The sender name ${reason.senderName} is ${reason.status}: its messages wait.`
    case 'window':
      return `The sending window is closed until ${reason.until.toISOString()}.`
    case 'gateways':
      return `No gateway for ${reason.channelType} is up: ${reason.gateways.map(gatewayInWords).join(', ')}.`
    case 'limit':
      return `At most ${counted(reason.partsPerSecond, 'part')} a second can go out: this is the limit of ${limitedThing(reason)}.`
    case 'receipts':
      return `Waiting for the operators' receipts of ${counted(reason.messages, 'message')}.`
  }
}

type Gateway = Extract<WaitReason, { kind: 'gateways' }>['gateways'][number]

function gatewayInWords({ name, paused, lastError }: Gateway): string {
  if (paused) return `${name} is paused`
  return `${name} is down${lastError ? ` (${lastError})` : ''}`
}

function limitedThing({ of, name }: Extract<WaitReason, { kind: 'limit' }>): string {
  if (of === 'sender') return `the sender name ${name}`
  if (of === 'gateway') return `the gateways that serve it (${name})`
  return `the ${of}`
}

const counted = (count: number, thing: string) => `${count.toLocaleString('en')} ${thing}${count === 1 ? '' : 's'}`
