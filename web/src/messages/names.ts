import type { ChannelType } from '../../../src/base/channel-types.ts'
import type { Brand } from '../../../src/domain/numbering/brand.ts'
import type { StatusKind } from '../parts/content/status.tsx'

export const statusNames = ['sending', 'sent', 'delivered', 'undelivered', 'unsent'] as const
export type StatusName = (typeof statusNames)[number]

export const kindOfStatus: Record<StatusName, StatusKind> = {
  sending: 'wait',
  sent: 'sent',
  delivered: 'ok',
  undelivered: 'fail',
  unsent: 'fail',
}

export type ChannelName = ChannelType
export const channelNames: readonly ChannelName[] = [
  'SMS',
  'VIBER',
  'WHATSAPP',
  'VK',
  'TELEGRAM',
  'TELEGRAM_GATEWAY',
  'FLASHCALL',
  'VOICECODE',
  'TEXT_TO_SPEECH',
  'WEASY',
  'PUSH',
]

export const operatorNames: readonly (Brand | 'OTHER')[] = ['MTS', 'BEELINE', 'MEGAFON', 'TELE2', 'OTHER']

/** The reasons that the filter offers, frequent reasons first. */
export const reasonCodes = [
  603, 602, 601, 605, 607, 608, 610, 604, 606, 609, 7060, 7402, 7403, 7401, 7404, 7405, 402, 453, 454, 455, 456, 125,
  149, 150, 151, 152,
] as const

/** Advice for a reason. */
export const meaningOf = {
  125: 'bot',
  149: 'number',
  150: 'bot',
  151: 'refused',
  152: 'refused',
  402: 'money',
  453: 'time',
  454: 'stopped',
  455: 'route',
  456: 'refused',
  601: 'operator',
  602: 'number',
  603: 'away',
  604: 'refused',
  605: 'away',
  606: 'operator',
  607: 'away',
  608: 'refused',
  609: 'operator',
  610: 'sender',
  7060: 'away',
  7401: 'number',
  7402: 'blacklist',
  7403: 'sender',
  7404: 'text',
  7405: 'text',
} as const satisfies Record<(typeof reasonCodes)[number], string>

export const isKnownReason = (code: number): code is keyof typeof meaningOf => code in meaningOf

/** `+7 926 200-10-14`. Numbers of other countries are not grouped. */
export const groupedNumber = (number: string) =>
  number.replace(/^7(\d{3})(\d{3})(\d\d)(\d\d)$/, '7\u00a0$1\u00a0$2\u2011$3\u2011$4').replace(/^/, '+')
