import { UsageError } from '../base/errors.ts'
import { normaliseNumber } from '../base/phone-number.ts'
import { simulatorOutbox, writeSimulatedInbound } from '../domain/gateways/gateways.ts'
import { type Call, type Command, withDatabase } from './command.ts'
import { channelOption } from './options.ts'
import { table } from './table.ts'

export const simulatorCommands: Command[] = [
  {
    name: 'simulator outbox',
    about: 'Lists what was handed to the simulated operators, in that order: the last 100,000 messages.',
    run: ({ config, print }) =>
      withDatabase(config, async ({ sql }) => {
        const messages = await simulatorOutbox(sql)
        print(
          messages.map(({ uuid, destination, channelType, text }) => ({
            messageUuid: uuid,
            destination,
            channelType,
            text,
          })),
          table(
            ['MESSAGE', 'CHANNEL', 'DESTINATION', 'TEXT'],
            messages.map(m => [m.uuid, m.channelType, m.destination, m.text.replaceAll(/\s+/g, ' ')]),
          ),
        )
      }),
  },
  {
    name: 'simulator inbound',
    about: 'Plays a subscriber who writes; a running engine takes it up within a second.',
    options: {
      channel: { value: 'CHANNEL', about: 'Through which channel, e.g. SMS', required: true },
      from: { value: 'NUMBER', about: "The subscriber's number", required: true },
      to: { value: 'NAME', about: 'The sender name that is written to', required: true },
      text: { value: 'TEXT', about: 'What is written', required: true },
    },
    run: writeInbound,
  },
]

async function writeInbound(call: Call) {
  const channel = channelOption(call)!
  const { to, text } = call.options as { to: string; text: string }
  const from = normaliseNumber(call.options.from!)
  if (from === undefined) throw new UsageError(`--from must be a phone number, not "${call.options.from}".`)
  await withDatabase(call.config, async ({ sql }) => {
    await writeSimulatedInbound(sql, channel, { from, to, text })
    call.print({ channel, from, to, text }, `${from} writes to ${to}.`)
  })
}
