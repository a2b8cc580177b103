import { fork } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { createDispatch } from '../src/domain/dispatches/creating.ts'
import { startDispatch } from '../src/domain/dispatches/lifecycle.ts'
import { addGateway } from '../src/domain/gateways/gateways.ts'
import { loadNumbering } from '../src/domain/numbering/numbering.ts'
import { type Child, startChild } from './child.ts'
import { openAmong } from './engine.ts'
import { type Bench, type Figure, median } from './figures.ts'
import { inventRecipients } from './recipients.ts'
import { onStage, type Stage } from './stage.ts'

const MESSAGES = 100_000
const ROUNDS = 3
const BINDS = 2
const WINDOW = 100
/** One part without placeholders: the measurement begins with the start of the dispatch. */
const TEXT = 'Your order 1234 is ready for collection. We wait for you every day from 9 to 21.'

const MANY_DISPATCHES = 10
const PATIENCE_MS = 300_000

export const smpp: Bench = {
  name: 'smpp',
  about:
    'a dispatch over SMPP, from its start to all of it delivered and settled, beside a bare loop of the package smpp',
  run: () => withEngine(measureSpeed),
}

export const smppMemory: Bench = {
  name: 'smpp-memory',
  about: 'the memory of an engine over a million messages by SMPP',
  run: () => withEngine(measureMemory),
}

type Scene = { stage: Stage; smsc: Child; engine: Child }

/** An SMSC and an engine, each in a process of its own. */
export function withEngine(measure: (scene: Scene) => Promise<Figure[]>): Promise<Figure[]> {
  return onStage(async stage => {
    const smsc = await startChild('smpp-smsc.ts', {})
    let engine: Child | undefined
    try {
      await stage.sql`update senders set status = 'APPROVED'`
      await addGateway(stage.sql, {
        name: 'smpp',
        channelType: 'SMS',
        connector: 'smpp',
        brands: [],
        settings: { host: '127.0.0.1', port: smsc.port, systemId: 'tidings', binds: BINDS, window: WINDOW },
        partsPerSecond: null,
      })
      engine = await stage.startEngine()
      return await measure({ stage, smsc, engine })
    } finally {
      await engine?.stop() // first: it would miss its operator
      await smsc.stop()
    }
  })
}

async function measureSpeed({ stage, smsc }: Scene): Promise<Figure[]> {
  const rounds: { ours: number; floor: number }[] = []
  await sendDispatch(stage, MESSAGES / 10) // warms up everything that the bare loop has no need of
  for (let i = 0; i < ROUNDS; i++) {
    const floor = await bareLoop(smsc.port)
    const ours = (MESSAGES * 1000) / (await sendDispatch(stage, MESSAGES))
    rounds.push({ floor, ours })
  }
  return [
    { what: 'messages through the engine', value: median(rounds.map(({ ours }) => ours)), unit: 'messages/s' },
    { what: 'by the package smpp alone', value: median(rounds.map(({ floor }) => floor)), unit: 'messages/s' },
    {
      what: 'through the engine, to the package smpp',
      value: median(rounds.map(({ ours, floor }) => ours / floor)),
      unit: '',
      target: { least: 0.85 },
    },
  ]
}

/** Peaks only grow, so what the second half adds to the first is all that could be a leak. */
async function measureMemory({ stage, engine }: Scene): Promise<Figure[]> {
  const peaks: number[] = []
  for (let i = 0; i < MANY_DISPATCHES; i++) {
    await sendDispatch(stage, MESSAGES)
    peaks.push((await engine.peakBytes()) / 1024 / 1024)
  }
  const [half, whole] = [peaks[MANY_DISPATCHES / 2 - 1]!, peaks.at(-1)!]
  return [
    ...peaks.map((peak, i) => ({ what: `most after ${((i + 1) * MESSAGES) / 1000},000`, value: peak, unit: 'MiB' })),
    { what: 'most memory of the second half, to the first', value: whole / half, unit: '', target: { most: 1.15 } },
  ]
}

/** Milliseconds from its start until it is COMPLETED: every message delivered and settled. */
async function sendDispatch(stage: Stage, messages: number): Promise<number> {
  const { sql, partner, companyId, senderIds } = stage
  const { dispatchId } = await createDispatch(sql, await loadNumbering(sql), {
    partner,
    companyId,
    recipients: inventRecipients(messages).map(({ destination }) => ({ destination })),
    once: undefined,
    dispatch: {
      name: 'Collection',
      channelType: 'SMS',
      text: TEXT,
      senderIds,
      schedule: undefined,
      callbackUrl: undefined,
      callbackEvents: undefined,
    },
  })
  const begun = performance.now()
  await startDispatch(sql, partner, dispatchId, { billingZone: 'Europe/Moscow', now: new Date() })
  while ((await openAmong(sql, companyId, [dispatchId])) > 0) {
    if (performance.now() - begun > PATIENCE_MS) throw new Error('the dispatch is not COMPLETED after five minutes')
    await pause(20)
  }
  return performance.now() - begun
}

/** Messages a second. A process of its own each time, as an engine has one. */
async function bareLoop(port: number): Promise<number> {
  const child = fork(fileURLToPath(new URL('smpp-bare.ts', import.meta.url)), {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  try {
    await once(child, 'message')
    child.send({ port, binds: BINDS, window: WINDOW, messages: MESSAGES, text: TEXT })
    const [{ ms }] = await once(child, 'message')
    return (MESSAGES * 1000) / ms
  } finally {
    child.disconnect()
  }
}
