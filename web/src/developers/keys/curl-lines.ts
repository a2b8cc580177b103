import type { ApiKey, Trial } from './keys.ts'

/** Commands that test a key. A person can copy them to a terminal and run them. */

export const balanceLine = ({ apiUrl }: Trial, key: string) =>
  `curl ${quoted(`${apiUrl}/balance`)} -H ${quoted(`Authorization: Bearer ${key}`)}`

export function messageLine({ apiUrl, senderName }: Trial, key: string, destination: string, content: string) {
  const message = JSON.stringify({ channelType: 'SMS', senderName, destination, content })
  return [
    `curl ${quoted(`${apiUrl}/message`)} -H ${quoted(`Authorization: Bearer ${key}`)}`,
    `-H 'Content-Type: application/json' -d ${quoted(message)}`,
  ].join(' \\\n  ')
}

export const maySend = (type: ApiKey['type']) => type === 'MESSAGE'

/** The digits of a typed number, or undefined while the number is incomplete. */
export function destinationIn(typed: string): string | undefined {
  const digits = typed.replace(/\D/g, '').replace(/^8(?=\d{10}$)/, '7')
  return digits.length >= 10 && digits.length <= 15 ? digits : undefined
}

/** Quotes a text for a shell: between single quotes only the single quote itself is special. */
const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`
