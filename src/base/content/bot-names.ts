/** The name of a Telegram bot without its @ sign: people write it with the sign or without it. */
export const plainName = (name: string) => name.replace(/^@/, '')

/** All spellings of a name in a channel, for a lookup. In channels without bots a name has one spelling. */
export function spellingsOf(channelType: string, name: string): string[] {
  return channelType === 'TELEGRAM' ? [plainName(name), `@${plainName(name)}`] : [name]
}
