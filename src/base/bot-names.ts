/** Bots of Telegram have names that are written with the sign or without it; this one is without. */
export const plainName = (name: string) => name.replace(/^@/, '')

/** Every way to write a name in a channel, for a lookup. Where there are no bots, a name is as it is written. */
export function spellingsOf(channelType: string, name: string): string[] {
  return channelType === 'TELEGRAM' ? [plainName(name), `@${plainName(name)}`] : [name]
}
