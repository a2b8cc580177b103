/** The channels that clients choose for messages and dispatches, as both APIs name them. */
export const channelTypes = [
  'SMS',
  'VIBER',
  'WHATSAPP',
  'VK',
  'TELEGRAM',
  'FLASHCALL',
  'VOICECODE',
  'TEXT_TO_SPEECH',
  'WEASY',
  'PUSH',
] as const

export type ClientChannel = (typeof channelTypes)[number]

/** All channels of messages. TELEGRAM_GATEWAY carries only verification codes. */
export const allChannelTypes = [...channelTypes, 'TELEGRAM_GATEWAY'] as const

export type ChannelType = (typeof allChannelTypes)[number]

/** The purposes of messages, the most urgent first. The traffic type decides the tariff and the priority. */
export const trafficTypes = ['AUTHORIZE', 'TRANSACT', 'SERVICE', 'PROMO'] as const

export type TrafficType = (typeof trafficTypes)[number]
