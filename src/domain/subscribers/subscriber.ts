/** A number and its address in a channel: the chat with a bot, or a push subscription. */
export type Subscriber = { destination: string; address: string }

/** The company, channel and sender name that the subscribers belong to. */
export type SubscribersOf = { companyId: number; channelType: string; senderName: string }

/** A chat with a bot. `destination`: its number, if known. `gone`: the subscriber blocked the bot. */
export type Chat = { address: string; destination?: string; gone: boolean }
