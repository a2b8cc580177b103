import type { ApiKey, Trial } from './keys.ts'

/** Lines for a terminal that try a key as it is: they can be copied and run. */

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

/** Digits alone; a number that is not whole yet gives nothing. */
export function destinationIn(typed: string): string | undefined {
  const digits = typed.replace(/\D/g, '').replace(/^8(?=\d{10}$)/, '7')
  return digits.length >= 10 && digits.length <= 15 ? digits : undefined
}

/** For a shell: between single quotes everything stands for itself, but for the quote. */
const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`
