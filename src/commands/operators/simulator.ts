import { UsageError } from '../../base/errors.ts'
import { normaliseNumber } from '../../base/phone/phone-number.ts'
import { simulatorOutbox, writeSimulatedInbound } from '../../domain/gateways/gateways.ts'
import { type Call, withDatabase } from '../command.ts'
import { given, textOption } from '../command-line.ts'
import { channelOption } from '../options.ts'
import { table } from '../table.ts'

export async function listOutbox({ config, print }: Call) {
  await withDatabase(config, async ({ sql }) => {
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
  })
}

export async function writeInbound(call: Call) {
  const channel = given(channelOption(call), '--channel')
  const { to, text } = call.options as { to: string; text: string }
  const from = normaliseNumber(textOption(call, 'from'))
  if (from === undefined) throw new UsageError(`--from must be a phone number, not "${call.options.from}".`)
  await withDatabase(call.config, async ({ sql }) => {
    await writeSimulatedInbound(sql, channel, { from: `+${from}`, to, text })
    call.print({ channel, from, to, text }, `${from} writes to ${to}.`)
  })
}
