import { startSmsc } from '../../src/channels/smpp/smsc/smsc.ts'

/** Arrival times are kept for the first messages alone, so that the memory of a long run has a bound. */
const MOST_ARRIVALS = 2_000_000

/** The operator of one system. It accepts every message, and sends its receipt at once. */
const arrivals = new Map<string, number>()
const codes = new Map<string, string>()
const smsc = await startSmsc({
  port: 0,
  onMessage: ({ to, text }) => {
    const code = /^\D*(\d{4,8})\D*$/.exec(text)?.[1]
    if (code !== undefined) codes.set(to, code)
    if (arrivals.size < MOST_ARRIVALS && !arrivals.has(to)) arrivals.set(to, performance.timeOrigin + performance.now())
  },
})

process.on('SIGINT', () => {})
process.on('disconnect', () => process.exit())
process.on('message', question => process.send?.(answerTo(question)))
process.send?.({ port: smsc.port })

function answerTo(question: unknown) {
  if (question === 'codes') return Object.fromEntries(codes)
  if (typeof question === 'object' && question && 'behave' in question) smsc.behave(question.behave as object)
  if (question === 'arrivals') return Object.fromEntries(arrivals)
  if (question === 'taken') return Object.fromEntries(smsc.taken)
  return smsc.counts
}
