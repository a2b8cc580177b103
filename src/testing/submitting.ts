import type { Channel, Outgoing, SendResult } from '../channels/channel.ts'

/** Submits messages to a channel, and returns the result of each. */
export async function submitTo(channel: Channel, ...messages: Outgoing[]): Promise<SendResult[]> {
  const results: SendResult[] = []
  await channel.submit(
    messages,
    (index, result) => {
      results[index] = result
    },
    () => true,
  )
  return results
}
