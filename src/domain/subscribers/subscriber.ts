/** A number, and where a channel finds its owner: the chat with a bot, a push subscription. */
export type Subscriber = { destination: string; address: string }

/** Whose subscribers: those of a company's name in a channel. */
export type SubscribersOf = { companyId: number; channelType: string; senderName: string }

/** A chat that a bot was told of; `destination` when its number is known, `gone` when the bot is blocked in it. */
export type Chat = { address: string; destination?: string; gone: boolean }
