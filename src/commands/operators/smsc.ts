import { UsageError } from '../../base/errors.ts'
import { type Smsc, type SmscSettings, startSmsc } from '../../channels/smpp/smsc/smsc.ts'
import type { Call } from '../command.ts'
import { given, textOption } from '../command-line.ts'

const COUNT_EVERY_MS = 3000

export async function runSmsc(call: Call) {
  const settings = settingsOf(call)
  const interrupted = new Promise<void>(resolve => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve())
  })
  const smsc = await listen(settings)
  const address = `smpp://${settings.host}:${smsc.port}`
  call.print({ address }, `The SMSC listens on ${address}.`)
  const counting = setInterval(() => count(call, smsc), COUNT_EVERY_MS)
  await interrupted
  clearInterval(counting)
  count(call, smsc)
  await smsc.stop()
}

function settingsOf(call: Call): SmscSettings & { host: string } {
  const accounts = (call.lists.account ?? []).map(readAccount)
  const partsPerSecond = wholeOption(call, 'rate', 1, 10_000_000)
  return {
    host: textOption(call, 'host'),
    port: given(wholeOption(call, 'port', 0, 65_535), '--port'),
    ...(accounts.length > 0 ? { accounts: Object.fromEntries(accounts) } : {}),
    ...(partsPerSecond === undefined ? {} : { partsPerSecond }),
    receiptMs: given(wholeOption(call, 'receipt-ms', 0, 24 * 3600_000), '--receipt-ms'),
    failRate: shareOption(call, 'fail-rate'),
    throttleRate: shareOption(call, 'throttle-rate'),
    disconnectRate: shareOption(call, 'disconnect-rate'),
    duplicateReceiptRate: shareOption(call, 'duplicate-rate'),
    earlyReceiptRate: shareOption(call, 'early-rate'),
    missingReceiptRate: shareOption(call, 'missing-rate'),
  }
}

/** The error does not repeat the value, because it contains a password. */
function readAccount(text: string): [id: string, password: string] {
  const colon = text.indexOf(':')
  if (colon < 1) throw new UsageError('--account must be written as ID:PASSWORD.')
  return [text.slice(0, colon), text.slice(colon + 1)]
}

function wholeOption(call: Call, name: string, least: number, most: number): number | undefined {
  const text = call.options[name]
  if (text === undefined) return undefined
  const value = Number(text)
  if (!/^\d{1,9}$/.test(text) || value < least || value > most) {
    throw new UsageError(`--${name} must be a whole number from ${least} to ${most}, not "${text}".`)
  }
  return value
}

function shareOption(call: Call, name: string): number {
  const text = textOption(call, name)
  const share = Number(text)
  if (!/^\d?(\.\d+)?$/.test(text) || !(share >= 0 && share <= 1)) {
    throw new UsageError(`--${name} must be a share from 0 to 1, not "${text}".`)
  }
  return share
}

function listen(settings: SmscSettings): Promise<Smsc> {
  return startSmsc(settings).catch(error => {
    throw new UsageError(`The SMSC cannot listen on ${settings.host}:${settings.port}: ${error.code ?? error.message}.`)
  })
}

function count({ print }: Call, { counts, bound }: Smsc) {
  const binds = [...bound.values()].reduce((sum, { now }) => sum + now, 0)
  const { messages, accepted: parts, receiptsAcknowledged: receipts, refused, throttled, disconnects } = counts
  const all = { messages, parts, receipts, binds, refused, throttled, disconnects }
  print(
    all,
    Object.entries(all)
      .map(([name, value]) => `${name} ${value}`)
      .join('  '),
  )
}
