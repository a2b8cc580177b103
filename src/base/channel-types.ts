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

/** Every channel that a message can take. TELEGRAM_GATEWAY carries verification codes and nothing else. */
export const allChannelTypes = [...channelTypes, 'TELEGRAM_GATEWAY'] as const

export type ChannelType = (typeof allChannelTypes)[number]

/** What a message is about: it decides the tariff and the place in the queue. Listed from the most urgent on. */
export const trafficTypes = ['AUTHORIZE', 'TRANSACT', 'SERVICE', 'PROMO'] as const

export type TrafficType = (typeof trafficTypes)[number]
